/* ulb-bench formats */
#include "harness/cli/commands/print_record.h"
#include "harness/cli/measure_options.h"
#include "harness/cli/table.h"
#include "kernels/kernel.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "rows-avx2": what tells the kernels of a format apart. */
static json_t *short_name(const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "kernel")),
               *begin = name ? strchr(name, '-') : NULL;
    const char *end = begin ? strrchr(name, '-') : NULL;
    return begin && end > begin ? json_stringn(begin + 1, (size_t)(end - begin - 1)) : json_null();
}

static long long number(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

/* Rows whose activations are int8, with both errors. */
static void print_outliers(const json_t *formats, FILE *out)
{
    static const struct ulb_column columns[] = {{"format", "format", 0},
                                                {"activation", "x", 0},
                                                {"bits_per_weight", "bits", 3},
                                                {"error_outliers", "outliers", 4},
                                                {"error_smoothed", "smoothed", 4}};
    const json_t *rule = json_object_get(formats, "outliers");
    json_t *rows = json_array(), *row;
    size_t i;
    json_array_foreach(json_object_get(formats, "rows"), i, row)
    {
        if (json_is_number(json_object_get(row, "error_outliers")))
            json_array_append(rows, row);
    }
    if (json_array_size(rows) > 0) {
        fputc('\n', out);
        ulb_print_wrapped_as(
            out, "",
            "Products with int8 activations, %lld of %lld channels %lld times as large: relative error, as "
            "they are and smoothed (SmoothQuant, alpha %.1f: part of an outlier moves into its weights)",
            number(rule, "channels"), number(rule, "columns"), number(rule, "times"),
            json_number_value(json_object_get(rule, "alpha")));
        fflush(out);
        ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    }
    json_decref(rows);
}

void ulb_report_formats(const struct ulb_record *record, FILE *out)
{
    static const struct ulb_column columns[] = {{"format", "format", 0},
                                                {"activation", "x", 0},
                                                {"bits_per_weight", "bits", 3},
                                                {"rmse", "rmse", 4},
                                                {"max_error", "max", 2},
                                                {"exact", "sums", 0},
                                                {"short_name", "kernel", 0},
                                                {"gamma_cycles", "gamma", 2},
                                                {"weights_per_cycle", "w/cycle", 1},
                                                {"in_place_gamma_cycles", "in place", 2},
                                                {"repack_ns_per_weight", "repack", 2}};
    static const struct ulb_column group_columns[] = {{"format", "format", 0},
                                                      {"columns", "columns a scale", 0},
                                                      {"bits_per_weight", "bits", 3},
                                                      {"rmse", "rmse", 4},
                                                      {"max_error", "max", 3}};
    const json_t *formats = json_object_get(record->root, "formats");
    json_t *rows = json_deep_copy(json_object_get(formats, "rows")), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_object_set_new(row, "short_name", short_name(row));
        json_object_set_new(row, "exact",
                            json_string(json_is_true(json_object_get(row, "lossless")) ? "exact" : "float"));
    }
    ulb_print_wrapped_as(
        out, "",
        "Formats: bits with scales; errors: %s; gamma in cycles per 32 weights, of the fastest kernel and of "
        "the one that reads files in place; w/cycle: weights per cycle of a core, memory included; repack in "
        "ns per weight",
        json_string_value(json_object_get(formats, "error_of")));
    fflush(out);
    ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    print_outliers(formats, out);
    fprintf(out, "\nColumns that share a scale (half precision): fewer keep more and cost more\n");
    fflush(out);
    ulb_print_table(json_object_get(formats, "groups"), group_columns,
                    sizeof group_columns / sizeof *group_columns);
    json_decref(rows);
}

/* Every format of the table, as a list; to be freed. */
static char *all_formats(void)
{
    size_t bytes = 1;
    for (size_t i = 0; i < ulb_kernel_count; i++)
        bytes += strlen(ulb_kernels[i]->layout->format->name) + 1;
    char *list = malloc(bytes), *end = list;
    for (size_t i = 0; list && i < ulb_kernel_count; i++) {
        if (ulb_kernel_begins_format(i))
            end += sprintf(end, "%s%s", end > list ? "," : "", ulb_kernels[i]->layout->format->name);
    }
    return list;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct ulb_section_command command = {
        .stage = ULB_STAGE_FORMATS, .section = "formats", .print = ulb_report_formats};
    struct ulb_measure_options options;
    bool done;
    enum ulb_status status = ulb_measure_parse(argc, argv, ULB_FOR_FORMATS,
                                               "Shows every weight format side by side: bits, error, "
                                               "exactness, cost on this machine, time of repacking.",
                                               &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    char *all = NULL;
    if (!options.settings.formats && !options.settings.kernels) {
        options.settings.formats = all = all_formats();
        if (!all)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of formats");
    }
    status = ulb_section_measure(&command, &options, err);
    free(all);
    return status;
}

const struct ulb_command ulb_command_formats = {"formats",
                                                "every weight format side by side: bits, error, cost", run};
