#include "results/export/export.h"

#include "common/text.h"
#include "results/export/export_formats.h"
#include "results/record/record.h"

#include <stdlib.h>
#include <string.h>

const struct ulb_export_format ulb_export_formats[] = {
    {"csv", "one table, for spreadsheets and data frames", false, ulb_export_csv},
    {"md", "Markdown tables", false, ulb_export_markdown},
    {"sql", "a script for sqlite3", false, ulb_export_sql},
    {"googlebench", "Google Benchmark's JSON: its compare.py, Conbench, Bencher", true,
     ulb_export_googlebench},
    {"gha-bigger", "github-action-benchmark, customBiggerIsBetter: efficiencies", true,
     ulb_export_gha_bigger},
    {"gha-smaller", "github-action-benchmark, customSmallerIsBetter: times, gamma, instructions", true,
     ulb_export_gha_smaller},
    {"bmf", "Bencher Metric Format, with bounds", true, ulb_export_bmf},
    {"prometheus", "Prometheus' text format, for its node exporter or a push gateway", false,
     ulb_export_prometheus},
};
const size_t ulb_export_format_count = sizeof ulb_export_formats / sizeof *ulb_export_formats;

const struct ulb_export_format *ulb_export_find(const char *name, struct ulb_error *err)
{
    char known[128] = "";
    for (size_t i = 0; i < ulb_export_format_count; i++) {
        if (strcmp(ulb_export_formats[i].name, name) == 0)
            return &ulb_export_formats[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ulb_export_formats[i].name);
    }
    ulb_fail(err, ULB_BAD_INPUT, "unknown export format '%.64s'; formats are %s", name, known);
    return NULL;
}

const char *ulb_export_text(const struct ulb_record *record, const char *place)
{
    const char *text = ulb_record_text(record, place);
    return text ? text : "";
}

enum ulb_status ulb_export(const struct ulb_record *record, const struct ulb_export_format *format,
                           const struct ulb_export_options *options, char **text, size_t *bytes,
                           struct ulb_error *err)
{
    struct ulb_text written;
    *text = NULL;
    if (options->section && format->write != ulb_export_csv)
        return ulb_fail(err, ULB_BAD_INPUT, "--section goes with csv; %s holds the whole record",
                        format->name);
    if (options->section && options->summary)
        return ulb_fail(err, ULB_BAD_INPUT, "--summary is a table of its own; leave out --section %.64s",
                        options->section);
    if (options->summary && format->write == ulb_export_sql)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--summary goes with every format but sql; name another with --to");
    if (!ulb_text_open(&written))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the export");
    enum ulb_status status = format->write(record, options, written.out, err);
    if (!ulb_text_close(&written) && status == ULB_OK)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the export");
    if (status != ULB_OK) {
        free(written.data);
        return status;
    }
    *text = written.data;
    *bytes = written.bytes;
    return ULB_OK;
}
