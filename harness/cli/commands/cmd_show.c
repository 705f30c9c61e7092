/* ulb-bench show: any part of a record, as the command that measured it prints it. */
#include "harness/cli/cli.h"
#include "harness/cli/commands/decode_print.h"
#include "harness/cli/commands/print_devices.h"
#include "harness/cli/commands/print_record.h"
#include "harness/cli/commands/print_summary.h"
#include "results/summary/record_summary.h"

#include <argp.h>
#include <string.h>

enum { OPTION_SECTION = 0x100 };

#define SECTION_NAMES "summary|machine|beta|devices|gamma|cells|overlap|decode|formats|all"

struct request {
    const char *record, *section;
    bool json;
};

/* ---- sections ---- */

static enum ulb_status print_summary(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    return ulb_print_summary(record, NULL, out, err);
}

static enum ulb_status print_beta(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    (void)err;
    ulb_report_beta(record, out);
    return ULB_OK;
}

static enum ulb_status print_devices(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    ulb_report_devices(record, out);
    return ulb_report_published_times(record, out, err);
}

static enum ulb_status print_gamma(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    (void)err;
    ulb_report_gamma(record, out);
    return ULB_OK;
}

static enum ulb_status print_cells(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    (void)err;
    bool gemm = json_array_size(json_object_get(record->root, "best")) > 0;
    (gemm ? ulb_report_gemm : ulb_report_cells)(record, out);
    return ULB_OK;
}

static enum ulb_status print_machine(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    (void)err;
    ulb_report_machine(record, out);
    return ULB_OK;
}

static enum ulb_status print_overlap(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    (void)err;
    ulb_report_overlap(record, out);
    return ULB_OK;
}

static enum ulb_status print_formats(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    if (json_is_object(json_object_get(record->root, "formats")))
        ulb_report_formats(record, out);
    return ulb_print_model_formats(record, out, err);
}

static enum ulb_status print_all(const struct ulb_record *record, FILE *out, struct ulb_error *err);

/* key: of the record, which --json prints; NULL: the summary, or the whole record. */
static const struct section {
    const char *name, *key;
    enum ulb_status (*print)(const struct ulb_record *record, FILE *out, struct ulb_error *err);
} sections[] = {
    {"summary", NULL, print_summary},      {"machine", "machine", print_machine},
    {"beta", "beta", print_beta},          {"devices", "devices", print_devices},
    {"gamma", "gamma", print_gamma},       {"cells", "cells", print_cells},
    {"overlap", "overlap", print_overlap}, {"decode", "decode", ulb_print_decode},
    {"formats", NULL, print_formats},      {"all", NULL, print_all},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static enum ulb_status print_all(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i + 1 < SECTIONS && status == ULB_OK; i++) {
        if (sections[i].print == print_devices && !json_object_get(record->root, "devices"))
            continue;
        if (i > 0)
            fputc('\n', out);
        status = sections[i].print(record, out, err);
    }
    return status;
}

static const struct section *find_section(const char *name, struct ulb_error *err)
{
    for (size_t i = 0; i < SECTIONS; i++) {
        if (strcmp(sections[i].name, name) == 0)
            return &sections[i];
    }
    ulb_fail(err, ULB_BAD_INPUT, "--section '%s': must be " SECTION_NAMES, name);
    return NULL;
}

static enum ulb_status print_json(const struct ulb_record *record, const struct section *section,
                                  struct ulb_error *err)
{
    json_t *value = NULL;
    if (section->print == print_all)
        return ulb_print_json(json_incref(record->root), err);
    if (section->key) {
        json_t *part = json_object_get(record->root, section->key);
        return ulb_print_json(json_pack("{s:O?}", section->key, part), err);
    }
    enum ulb_status status = ulb_summary_of(record, &value, err);
    return status == ULB_OK ? ulb_print_json(value, err) : status;
}

/* ---- command ---- */

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case OPTION_SECTION:
        request->section = argument;
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

/* Whether the record has nothing of a section that is made of cells or runs. */
static bool lacks(const struct ulb_record *record, const struct section *section)
{
    const json_t *part = section->key ? json_object_get(record->root, section->key) : NULL;
    const char *rows = section->key && strcmp(section->key, "decode") == 0 ? "runs" : "cells";
    if (!section->key || section->print == print_machine)
        return false;
    return json_array_size(json_is_array(part) ? part : json_object_get(part, rows)) == 0;
}

static enum ulb_status show(const struct request *request, const struct section *section,
                            struct ulb_error *err)
{
    struct ulb_record record;
    enum ulb_status status = ulb_record_read(&record, request->record, err);
    if (status != ULB_OK)
        return status;
    if (request->json)
        status = print_json(&record, section, err);
    else if (lacks(&record, section))
        status =
            ulb_fail(err, ULB_BAD_INPUT, "%s has no %s; 'ulb-bench show' without --section tells what it has",
                     request->record, section->name);
    else if (section->print == print_summary)
        status = ulb_print_summary(&record, request->record, stdout, err);
    else
        status = section->print(&record, stdout, err);
    ulb_record_free(&record);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"section", OPTION_SECTION, SECTION_NAMES, 0, "part of the record (default: summary)", 0},
        {"json", 'j', NULL, 0, "one JSON document on standard output", 0},
        {0},
    };
    static const struct argp parser = {
        options, parse_option, "RECORD", "Shows a record: the answer first, any other part by --section.",
        NULL,    NULL,         NULL};
    struct request request = {.section = "summary"};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (!request.record)
        return ulb_fail(err, ULB_BAD_INPUT, "name a record; try 'ulb-bench show RECORD'");
    const struct section *section = find_section(request.section, err);
    return section ? show(&request, section, err) : ULB_BAD_INPUT;
}

const struct ulb_command ulb_command_show = {"show", "any part of a record, the answer first", run};
