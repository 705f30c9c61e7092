#include "harness/cli/commands/run_count.h"

#include "harness/compute/callgrind.h"
#include "harness/cli/table.h"

#include <stdio.h>

/* How many rows from number i on have no count for the same reason; 0 when an earlier one has it too. */
static size_t rows_without(const json_t *counts, size_t i)
{
    static const char key[] = "instructions_per_step_reason";
    const json_t *reason = json_object_get(json_array_get(counts, i), key);
    size_t same = 0;
    for (size_t j = 0; reason && j < json_array_size(counts); j++) {
        if (!json_equal(reason, json_object_get(json_array_get(counts, j), key)))
            continue;
        if (j < i)
            return 0;
        same++;
    }
    return same;
}

static void print_counts(const struct ulb_record *record)
{
    static const struct ulb_column columns[] = {
        {"kernel", "kernel", 0}, {"instructions_per_step", "per 32 weights", 3}, {"source", "counted by", 0}};
    const json_t *counts = json_object_get(record->root, "counts");
    json_t *rows = json_array();
    for (size_t i = 0; i < json_array_size(counts); i++) {
        json_t *count = json_array_get(counts, i);
        if (json_is_number(json_object_get(count, "instructions_per_step")))
            json_array_append(rows, count);
    }
    ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    json_decref(rows);
    for (size_t i = 0; i < json_array_size(counts); i++) {
        size_t without = rows_without(counts, i);
        char head[48];
        snprintf(head, sizeof head, "%zu not counted: ", without);
        if (without > 0)
            ulb_print_wrapped(stdout, head,
                              json_string_value(json_object_get(json_array_get(counts, i),
                                                                "instructions_per_step_reason")));
    }
}

static enum ulb_status finish(const struct ulb_measure_options *options, const struct ulb_record *record,
                              struct ulb_error *err)
{
    char stem[4096], path[4128];
    ulb_output_stem(options->out, "count", stem, sizeof stem);
    snprintf(path, sizeof path, "%s.json", stem);
    enum ulb_status status = ulb_record_write_new(record, path, sizeof path, err);
    if (status != ULB_OK)
        return status;
    fprintf(stderr, "record: %s\n", path);
    if (options->json)
        return ulb_print_json(json_incref(record->root), err);
    print_counts(record);
    return ULB_OK;
}

enum ulb_status ulb_count_run(struct ulb_measure_options *options, struct ulb_error *err)
{
    static const char *const idle[] = {"models", "shapes", "split", "warm", "aa", "quick", "ring-mib", NULL};
    if (ulb_under_valgrind())
        return ulb_callgrind_loops(&options->settings, err);
    enum ulb_status status = ulb_refuse_idle(
        options, idle, "with --count, which counts a loop of each kernel and times nothing", err);
    if (status == ULB_OK)
        status = ulb_make_folder(options->out, "out", err);
    if (status != ULB_OK)
        return status;
    struct ulb_record record;
    status = ulb_measure_run(options, ULB_STAGE_COUNT, &record, err);
    if (status == ULB_OK)
        status = finish(options, &record, err);
    ulb_record_free(&record);
    return status;
}
