/* ulb-bench report: one page of one or more records. */
#include "common/file.h"
#include "harness/cli/cli.h"
#include "harness/cli/commands/draw_figures.h"
#include "harness/cli/named_records.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPTION_FORCE = 0x100 };

struct request {
    const char *out;
    struct ulb_named_records records;
    bool json, force;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'o':
        request->out = argument;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case OPTION_FORCE:
        request->force = true;
        return 0;
    case ARGP_KEY_ARGS:
        return ulb_take_records(&request->records, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum ulb_status write_report(const struct request *request, const struct ulb_report_record *records,
                                    struct ulb_error *err)
{
    size_t bytes;
    enum ulb_status status = ulb_write_report(records, request->records.n, request->out, &bytes, err);
    if (status != ULB_OK)
        return status;
    if (request->json) {
        json_t *path = json_string(request->out);
        if (!path)
            return ulb_fail(err, ULB_BAD_INPUT, "the name %s is not UTF-8, which JSON needs", request->out);
        return ulb_print_json(json_pack("{s:o, s:I, s:I}", "report", path, "records",
                                        (json_int_t)request->records.n, "bytes", (json_int_t)bytes),
                              err);
    }
    printf("%s\n", request->out);
    return ULB_OK;
}

/* -o takes the next word, which may be a record's by mistake. */
static enum ulb_status refuse_to_overwrite(const struct request *request, struct ulb_error *err)
{
    struct stat page, record;
    for (size_t i = 0; i < request->records.n && stat(request->out, &page) == 0; i++) {
        if (stat(request->records.paths[i], &record) == 0 && page.st_dev == record.st_dev &&
            page.st_ino == record.st_ino)
            return ulb_fail(err, ULB_BAD_INPUT, "--out %s is one of the records; name another file",
                            request->out);
    }
    struct ulb_record there;
    if (ulb_record_read(&there, request->out, &(struct ulb_error){""}) != ULB_OK)
        return request->force
                   ? ULB_OK
                   : ulb_file_may_replace(request->out, "name another file with --out, or give --force", err);
    ulb_record_free(&there);
    return ulb_fail(err, ULB_BAD_INPUT, "--out %s is a record; name another file, or remove it",
                    request->out);
}

/* The page shows all records side by side, so that none is freed before it is written. */
static enum ulb_status hold_record(struct ulb_record *record, size_t i, void *context, struct ulb_error *err)
{
    (void)err;
    struct ulb_record *held = context;
    held[i] = *record;
    record->root = NULL;
    return ULB_OK;
}

static enum ulb_status read_and_write(const struct request *request, struct ulb_error *err)
{
    size_t n = request->records.n;
    struct ulb_record *read = calloc(n, sizeof *read);
    struct ulb_report_record *records = calloc(n, sizeof *records);
    enum ulb_status status = read && records
                                 ? ulb_read_named(&request->records, ulb_record_read, hold_record, read, err)
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the records");
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        records[i] = (struct ulb_report_record){&read[i], base_name(request->records.paths[i])};
    if (status == ULB_OK)
        status = write_report(request, records, err);
    for (size_t i = 0; i < n && read; i++)
        ulb_record_free(&read[i]);
    free(records);
    free(read);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"out", 'o', "FILE", 0, "the page; default: report.html", 0},
        {"force", OPTION_FORCE, NULL, 0, "replace also a file that ulb-bench has not drawn", 0},
        {"json", 'j', NULL, 0, "print the name of the page as a JSON document", 0},
        {0},
    };
    static const struct argp parser = {
        options,     parse_option,
        "RECORD...", "Makes one page of records that needs no network: what they say, figures, every cell.",
        NULL,        NULL,
        NULL};
    struct request request = {.out = "report.html"};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (request.records.n == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "no record is named; try 'ulb-bench report " ULB_RESULTS_FOLDER
                        "/RUN.json -o report.html'");
    status = refuse_to_overwrite(&request, err);
    return status == ULB_OK ? read_and_write(&request, err) : status;
}

const struct ulb_command ulb_command_report = {"report",
                                               "one page of records to share: verdict, figures, cells", run};
