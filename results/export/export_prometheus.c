/* The text format of Prometheus: https://prometheus.io/docs/instrumenting/exposition_formats */
#include "common/text.h"
#include "results/export/export_formats.h"
#include "results/summary/dashboard.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_LABELS = 12 };

/* One metric: each row that has a number at key is a sample. */
struct family {
    const char *name, *help;
    const struct ulb_section *section; /* NULL: the rows are the dashboard's */
    const char *key;
    double factor; /* from the record's unit to Prometheus' base unit */
    const char *labels[MOST_LABELS + 1];
};

#define CELL_LABELS                                                                                          \
    {                                                                                                        \
        "kernel", "format", "layout", "model", "layer", "m", "k", "n", "set", "threads", "split", "mode"     \
    }
#define DECODE_LABELS                                                                                        \
    {                                                                                                        \
        "model", "format", "set", "threads", "split", "tokens", "context", "prompt", "batch"                 \
    }

static const struct family families[] = {
    {"ulb_cell_time_seconds", "Median time of one call.", &ulb_section_cells, "us", 1e-6, CELL_LABELS},
    {"ulb_cell_read_bytes_per_second", "Weight bytes of one call over its median time.", &ulb_section_cells,
     "gbps", 1e9, CELL_LABELS},
    {"ulb_cell_yardstick_bytes_per_second", "Best plain read of memory beside the cell.", &ulb_section_cells,
     "yardstick_gbps", 1e9, CELL_LABELS},
    {"ulb_cell_efficiency_ratio", "Share of the yardstick that the cell reached.", &ulb_section_cells,
     "efficiency", 1, CELL_LABELS},
    {"ulb_kernel_gamma_cycles",
     "Core cycles per 32 weights without memory.",
     &ulb_section_gamma,
     "gamma_cycles",
     1,
     {"kernel", "format", "isa", "class"}},
    {"ulb_kernel_instructions",
     "Instructions per 32 weights.",
     &ulb_section_counts,
     "instructions_per_step",
     1,
     {"kernel", "format", "isa", "source"}},
    {"ulb_beta_bytes_per_second",
     "Read bandwidth of one level.",
     &ulb_section_beta,
     "gbps",
     1e9,
     {"set", "threads", "level"}},
    {"ulb_yardstick_bytes_per_second",
     "Best plain read of memory, median over the run.",
     &ulb_section_yardstick,
     "gbps",
     1e9,
     {"set", "threads"}},
    {"ulb_decode_tokens_per_second", "Tokens decoded per second.", &ulb_section_decode, "tokens_per_s", 1,
     DECODE_LABELS},
    {"ulb_decode_token_energy_joules", "Energy per token decoded, less that at rest.", &ulb_section_decode,
     "joule_per_token", 1, DECODE_LABELS},
};

static const struct summary_family {
    const char *array; /* of the dashboard */
    struct family family;
} summary_families[] = {
    {"formats",
     {"ulb_format_efficiency_ratio",
      "Share of the yardstick that a format reached.",
      NULL,
      "efficiency",
      1,
      {"format"}}},
    {"kernels",
     {"ulb_kernel_efficiency_ratio",
      "Share of the yardstick that a kernel reached.",
      NULL,
      "efficiency",
      1,
      {"kernel", "format"}}},
    {"models",
     {"ulb_model_tokens_per_second",
      "Tokens per second of a model in a format.",
      NULL,
      "tokens_per_s",
      1,
      {"model", "format"}}},
};

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the export");
}

static void put_head(FILE *out, const char *name, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_label_value(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", out);
        else
            fprintf(out, *text == '\\' || *text == '"' ? "\\%c" : "%c", *text);
    }
}

/* Labels without a value are left out: to Prometheus that is the same. */
static void put_labels(FILE *out, const json_t *row, const char *const *labels)
{
    const char *between = "";
    for (; *labels; labels++) {
        const json_t *value = json_object_get(row, *labels);
        if (!json_is_integer(value) && json_string_length(value) == 0)
            continue;
        fprintf(out, "%s%s=\"", between, *labels);
        if (json_is_integer(value))
            fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        else
            put_label_value(out, json_string_value(value));
        putc('"', out);
        between = ",";
    }
}

/* The labels of a row as text, to be freed; NULL: no memory. */
static char *labels_of(const json_t *row, const char *const *labels)
{
    struct ulb_text text;
    if (!ulb_text_open(&text))
        return NULL;
    put_labels(text.out, row, labels);
    return ulb_text_close(&text) ? text.data : NULL;
}

/* One sample; of rows with the same labels the first counts, for a series may stand in a text once. */
static enum ulb_status put_sample(FILE *out, const struct family *family, const json_t *row, json_t *seen,
                                  struct ulb_error *err)
{
    const json_t *value = json_object_get(row, family->key);
    if (!json_is_number(value))
        return ULB_OK;
    char *labels = labels_of(row, family->labels);
    if (!labels)
        return no_memory(err);
    enum ulb_status status = ULB_OK;
    if (!json_object_get(seen, labels)) {
        if (json_object_size(seen) == 0)
            put_head(out, family->name, family->help);
        fprintf(out, "%s{%s} %.9g\n", family->name, labels, family->factor * json_number_value(value));
        if (json_object_set_new(seen, labels, json_true()) != 0)
            status = no_memory(err);
    }
    free(labels);
    return status;
}

static enum ulb_status put_family(FILE *out, const json_t *rows, const struct family *family, size_t *samples,
                                  struct ulb_error *err)
{
    json_t *seen = json_object();
    enum ulb_status status = seen ? ULB_OK : no_memory(err);
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (status == ULB_OK)
            status = put_sample(out, family, row, seen, err);
    }
    *samples += json_object_size(seen);
    json_decref(seen);
    return status;
}

/* Which machine and build the samples are of; other series join it by their instance. */
static void put_record(FILE *out, const struct ulb_record *record)
{
    static const struct {
        const char *label, *place;
    } facts[] = {
        {"cpu_model", "machine.cpu_model"}, {"version", "build.version"},      {"commit", "build.commit"},
        {"compiler", "build.compiler"},     {"cycles", "clock.cycles_source"},
    };
    struct tm created = {0};
    const char *end = strptime(ulb_export_text(record, "created"), "%Y-%m-%dT%H:%M:%S", &created);
    put_head(out, "ulb_record_info", "Machine and build of the record.");
    for (size_t f = 0; f < sizeof facts / sizeof *facts; f++) {
        fprintf(out, "%s%s=\"", f ? "," : "ulb_record_info{", facts[f].label);
        put_label_value(out, ulb_export_text(record, facts[f].place));
        putc('"', out);
    }
    fputs("} 1\n", out);
    if (!end)
        return;
    put_head(out, "ulb_record_timestamp_seconds", "When the record was made, in seconds since 1970.");
    fprintf(out, "ulb_record_timestamp_seconds %lld\n", (long long)timegm(&created));
}

static enum ulb_status put_families(FILE *out, const struct ulb_record *record, size_t *samples,
                                    struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t f = 0; f < sizeof families / sizeof *families && status == ULB_OK; f++)
        status =
            put_family(out, ulb_section_array(record->root, families[f].section), &families[f], samples, err);
    return status;
}

static enum ulb_status put_summary(FILE *out, const struct ulb_record *record, size_t *samples,
                                   struct ulb_error *err)
{
    json_t *dashboard;
    enum ulb_status status = ulb_dashboard_of(record, &dashboard, err);
    if (status != ULB_OK)
        return status;
    for (size_t f = 0; f < sizeof summary_families / sizeof *summary_families && status == ULB_OK; f++)
        status = put_family(out, json_object_get(dashboard, summary_families[f].array),
                            &summary_families[f].family, samples, err);
    json_decref(dashboard);
    return status;
}

enum ulb_status ulb_export_prometheus(const struct ulb_record *record,
                                      const struct ulb_export_options *options, FILE *out,
                                      struct ulb_error *err)
{
    size_t samples = 0;
    put_record(out, record);
    enum ulb_status status =
        options->summary ? put_summary(out, record, &samples, err) : put_families(out, record, &samples, err);
    if (status == ULB_OK && samples == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the record has nothing for this format: no measured values");
    return status;
}
