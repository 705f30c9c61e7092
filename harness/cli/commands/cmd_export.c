/* ulb-bench export: a record in the formats of other programs. */
#include "harness/cli/cli.h"
#include "harness/cli/named_records.h"
#include "harness/cli/option.h"
#include "results/export/export.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_TO = 0x100, OPTION_SECTION, OPTION_SUMMARY };

struct request {
    char *record;
    const char *format_name;
    struct ulb_export_options what;
    const struct ulb_export_format *format;
    bool json;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case OPTION_TO:
        request->format_name = argument;
        return 0;
    case OPTION_SECTION:
        request->what.section = argument;
        return 0;
    case OPTION_SUMMARY:
        request->what.summary = true;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (request->record)
            return ARGP_ERR_UNKNOWN;
        request->record = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The text in an object of its own: as it is where it is JSON itself. */
static json_t *wrapped(const struct ulb_export_format *format, const char *text, size_t bytes)
{
    if (format->json)
        return json_pack("{s:s, s:o}", "format", format->name, "document", json_loadb(text, bytes, 0, NULL));
    return json_pack("{s:s, s:s%}", "format", format->name, "text", text, bytes);
}

static enum ulb_status export_record(struct ulb_record *record, size_t i, void *context,
                                     struct ulb_error *err)
{
    (void)i;
    const struct request *request = context;
    char *text;
    size_t bytes;
    enum ulb_status status = ulb_export(record, request->format, &request->what, &text, &bytes, err);
    if (status != ULB_OK)
        return status;
    if (request->json)
        status = ulb_print_json(wrapped(request->format, text, bytes), err);
    else if (fwrite(text, 1, bytes, stdout) != bytes)
        status = ulb_fail(err, ULB_ENVIRONMENT, "standard output could not be written: %s", strerror(errno));
    free(text);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"to", OPTION_TO, "csv|md|sql|googlebench|gha-bigger|gha-smaller|bmf|prometheus", 0, "the format", 0},
        {"section", OPTION_SECTION, "SECTION", 0,
         "array that a CSV holds (default: cells): " ULB_EXPORT_SECTIONS, 0},
        {"summary", OPTION_SUMMARY, NULL, 0, "one value per format, kernel and model, in place of all", 0},
        {"json", 'j', NULL, 0, "the export inside one JSON document", 0},
        {0},
    };
    static const struct argp parser = {
        options, parse_option, "RECORD", "Writes a record in another program's format to standard output.",
        NULL,    NULL,         NULL};
    struct request request = {0};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (!request.record || !request.format_name)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "name a record and a format; try 'ulb-bench export RECORD --to csv'");
    request.format = ulb_export_find(request.format_name, err);
    const struct ulb_named_records one = {&request.record, 1};
    return request.format ? ulb_read_named(&one, ulb_record_read, export_record, &request, err)
                          : ULB_BAD_INPUT;
}

const struct ulb_command ulb_command_export = {
    "export", "a record as CSV, Markdown, SQL, or input of benchmark services", run};
