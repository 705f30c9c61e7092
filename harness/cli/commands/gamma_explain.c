#include "harness/cli/kernel_filter.h"
#include "harness/cli/commands/gamma_explain.h"

#include "common/filter.h"
#include "common/words.h"
#include "harness/session/selection.h"
#include "harness/cli/option.h"
#include "harness/cli/table.h"
#include "harness/analysis/explain.h"
#include "harness/session/json_number.h"
#include "harness/verify/test_case.h"
#include "shapes/shapes.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ULB_COUNT(array) (sizeof(array) / sizeof *(array))

/* --- which kernels --- */

/* Adds the kernels of one word: the one of that name, else all that it matches as a regular expression. */
static enum ulb_status choose_word(const char *word, bool *chosen, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX];
    bool found = false;
    regex_t filter;
    for (size_t i = 0; i < ulb_kernel_count && !found; i++) {
        found = strcmp(ulb_kernel_name(ulb_kernels[i], name), word) == 0;
        chosen[i] |= found;
    }
    if (found)
        return ULB_OK;
    enum ulb_status status = ulb_filter_compile(&filter, "--explain", word, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        bool matches;
        status = ulb_filter_match(&filter, ulb_kernel_name(ulb_kernels[i], name), &matches, err);
        chosen[i] |= matches;
        found |= matches;
    }
    regfree(&filter);
    if (status != ULB_OK)
        return status;
    if (!found)
        return ulb_refuse_kernel_filter(word, NULL, err);
    return ULB_OK;
}

static enum ulb_status choose(const char *list, bool *chosen, struct ulb_error *err)
{
    char *copy = strdup(list), *rest = NULL;
    if (!copy)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory");
    enum ulb_status status = ulb_words_differ("kernel", list, err);
    if (strspn(list, ",") == strlen(list))
        status =
            ulb_fail(err, ULB_BAD_INPUT, "--explain names no kernel; 'ulb-bench list kernels' names all");
    for (char *word = strtok_r(copy, ",", &rest); word && status == ULB_OK; word = strtok_r(NULL, ",", &rest))
        status = choose_word(ulb_current_kernels(word), chosen, err);
    free(copy);
    return status;
}

/* --- printing --- */

/* The mix of a document or of its tile. */
static void print_mix(const char *title, const json_t *document)
{
    const json_t *mix = json_object_get(document, "mix");
    char text[512] = "";
    int bits = (int)json_integer_value(json_object_get(document, "vector_bits"));
    int chains = (int)json_integer_value(json_object_get(document, "chains"));
    if (json_is_null(mix)) {
        ulb_print_wrapped_as(stdout, "", "%s: %s", title,
                             json_string_value(json_object_get(document, "mix_reason")));
        return;
    }
    for (enum ulb_op op = 0; op < ULB_OP_COUNT; op++) {
        double count = json_number_value(json_object_get(mix, ulb_op_name(op)));
        size_t used = strlen(text);
        if (count > 0)
            snprintf(text + used, sizeof text - used, "%s%s %g", used ? ", " : "", ulb_op_name(op), count);
    }
    char accumulators[40] = "";
    if (chains > 0)
        snprintf(accumulators, sizeof accumulators, ", %d chains of accumulators", chains);
    ulb_print_wrapped_as(stdout, "", "%s, instructions of %d bits per 32 weights%s", title, bits,
                         accumulators);
    ulb_print_wrapped(stdout, " ", text);
}

/* Index of a row's source among those of the rows up to it, from 1. */
static int source_number(const json_t *rows, size_t row, bool *is_new)
{
    const char *wanted = json_string_value(json_object_get(json_array_get(rows, row), "source"));
    int number = 0;
    for (size_t i = 0; i <= row; i++) {
        const char *source = json_string_value(json_object_get(json_array_get(rows, i), "source"));
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first &=
                strcmp(source, json_string_value(json_object_get(json_array_get(rows, j), "source"))) != 0;
        number += first;
        if (strcmp(source, wanted) == 0) {
            *is_new = i == row;
            return number;
        }
    }
    return number;
}

/* Of a row that has a share of the compute limit. */
static void set_percent(json_t *row)
{
    char text[16];
    const json_t *share = json_object_get(row, "peak_share");
    if (!json_is_number(share))
        return;
    snprintf(text, sizeof text, "%.0f %%", 100 * json_number_value(share));
    json_object_set_new(row, "peak_percent", json_string(text));
}

/* Adds the cells of the table that JSON says otherwise. */
static void describe_bounds(json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        const char *decided = json_string_value(json_object_get(row, "decided_by"));
        const char *reason = json_string_value(json_object_get(row, "decided_by_reason"));
        char name[40];
        bool is_new;
        snprintf(name, sizeof name, "%s%s", json_string_value(json_object_get(row, "core")),
                 json_is_true(json_object_get(row, "pipes_inferred")) ? " *" : "");
        json_object_set_new(row, "shown", json_string(name));
        json_object_set_new(row, "table", json_integer(source_number(rows, i, &is_new)));
        json_object_set_new(row, "why", json_string(decided ? decided : reason));
        set_percent(row);
    }
}

static void print_sources(const json_t *rows)
{
    putchar('\n');
    ulb_print_wrapped(stdout, "", "port tables (* pipes inferred from throughput: nobody publishes them)");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char head[16];
        bool is_new;
        int number = source_number(rows, i, &is_new);
        snprintf(head, sizeof head, " %2d  ", number);
        if (is_new)
            ulb_print_wrapped(stdout, head,
                              json_string_value(json_object_get(json_array_get(rows, i), "source")));
    }
}

static void print_bounds(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"shown", "core", 0},         {"bound_cycles", "bound", 3},     {"vector_ports_cycles", "ports", 3},
        {"loads_cycles", "loads", 3}, {"front_end_cycles", "front", 3}, {"latency_cycles", "chains", 3},
        {"table", "table", 0},        {"why", "decided by", 0},
    };
    json_t *rows = json_deep_copy(json_object_get(document, "bounds"));
    describe_bounds(rows);
    ulb_print_wrapped(stdout, "",
                      "lower limit of gamma by port counting, cycles per 32 weights: the largest of vector "
                      "ports, load ports, front end and the accumulators' chains");
    ulb_print_table(rows, columns, ULB_COUNT(columns));
    json_decref(rows);
}

/* The same for several tokens at once. */
static void print_tile(const json_t *tile)
{
    static const struct ulb_column columns[] = {
        {"shown", "core", 0},
        {"bound_cycles_per_token", "per token", 3},
        {"peak_percent", "of peak", 0},
        {"bound_cycles", "bound", 3},
        {"vector_ports_cycles", "ports", 3},
        {"loads_cycles", "loads", 3},
        {"front_end_cycles", "front", 3},
        {"latency_cycles", "chains", 3},
        {"table", "table", 0},
        {"why", "decided by", 0},
    };
    char title[40];
    snprintf(title, sizeof title, "%d tokens at once",
             (int)json_integer_value(json_object_get(tile, "tokens")));
    print_mix(title, tile);
    if (json_is_null(json_object_get(tile, "mix")))
        return;
    json_t *rows = json_deep_copy(json_object_get(tile, "bounds"));
    describe_bounds(rows);
    ulb_print_wrapped(stdout, "",
                      "lower limit by port counting, cycles per 32 weights and all of these tokens; of peak: "
                      "the most of the compute limit that it allows");
    ulb_print_table(rows, columns, ULB_COUNT(columns));
    json_decref(rows);
}

static void print_measured(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"class", "class", 0},        {"core", "core", 0},   {"gamma_cycles", "gamma", 3},
        {"bound_cycles", "bound", 3}, {"ratio", "ratio", 2}, {"ceiling_bytes_per_cycle", "B/gamma", 3},
    };
    static const char *const reasons[] = {"gamma_cycles_reason", "core_reason", "bound_cycles_reason"};
    const json_t *rows = json_object_get(document, "measured");
    printf("measured here\n");
    ulb_print_table(rows, columns, ULB_COUNT(columns));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        for (size_t r = 0; r < ULB_COUNT(reasons); r++) {
            const json_t *reason = json_object_get(row, reasons[r]);
            if (reason && (r == 0 || !json_equal(reason, json_object_get(row, reasons[r - 1]))))
                ulb_print_wrapped(stdout, "  -: ", json_string_value(reason));
        }
    }
}

static void print_turns(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"where", "where", 0},
        {"class", "class", 0},
        {"core", "core", 0},
        {"beta_bytes_per_cycle", "beta", 3},
        {"gamma_from", "gamma from", 0},
        {"gamma_cycles", "gamma", 3},
        {"turn_beta_bytes_per_cycle", "turns at", 3},
        {"bound", "bound by", 0},
    };
    ulb_print_wrapped(
        stdout, "", "memory-bound while beta is below B/gamma, compute-bound above; bytes/cycle of one core");
    ulb_print_table(json_object_get(document, "turning_points"), columns, ULB_COUNT(columns));
}

/* What calls of several tokens reached, beside what the instructions of a register tile allow. */
static void print_gemm(const json_t *document)
{
    size_t i;
    const json_t *cell;
    const char *kernel = json_string_value(json_object_get(document, "kernel"));
    json_array_foreach(json_object_get(document, "gemm"), i, cell)
    {
        char allowed[40] = "";
        const json_t *most = json_object_get(cell, "peak_share_bound"),
                     *share = json_object_get(cell, "peak_share");
        if (json_is_number(most))
            snprintf(allowed, sizeof allowed, "; %.0f %% are possible", 100 * json_number_value(most));
        ulb_print_wrapped_as(stdout, "", "%s, %s, N = %d: %.1f GOP/s, %.0f %% of the compute limit%s", kernel,
                             json_string_value(json_object_get(cell, "layer")),
                             (int)json_integer_value(json_object_get(cell, "n")),
                             json_number_value(json_object_get(cell, "gops")), 100 * json_number_value(share),
                             allowed);
    }
    if (i == 0)
        ulb_print_wrapped_as(stdout, "", "%s: not measured, it cannot run here", kernel);
}

/* Of several tokens at once. */
static void print_tokens(const json_t *explanations)
{
    for (size_t i = 0; i < json_array_size(explanations); i++)
        print_gemm(json_array_get(explanations, i));
    for (size_t i = 0; i < json_array_size(explanations); i++) {
        const json_t *document = json_array_get(explanations, i), *tile = json_object_get(document, "tile");
        printf("\n%s\n", json_string_value(json_object_get(document, "kernel")));
        if (json_is_null(tile))
            ulb_print_wrapped(stdout, "", json_string_value(json_object_get(document, "tile_reason")));
        else
            print_tile(tile);
    }
    print_sources(json_object_get(json_array_get(explanations, 0), "bounds"));
}

static void print_explanations(const json_t *explanations)
{
    for (size_t i = 0; i < json_array_size(explanations); i++) {
        const json_t *document = json_array_get(explanations, i);
        if (i > 0)
            putchar('\n');
        print_mix(json_string_value(json_object_get(document, "kernel")), document);
        print_bounds(document);
        if (!json_is_null(json_object_get(document, "tile")))
            print_tile(json_object_get(document, "tile"));
        print_measured(document);
        print_turns(document);
    }
    print_sources(json_object_get(json_array_get(explanations, 0), "bounds"));
}

/* --- the command --- */

static enum ulb_status explain_chosen(const bool *chosen, const struct ulb_measure_options *options,
                                      const struct ulb_record *record, json_t *explanations,
                                      struct ulb_error *err)
{
    struct ulb_core_list cores;
    enum ulb_status status = ulb_core_list_load(&cores, err);
    const struct ulb_explain explain = {
        .cores = &cores,
        .record = record,
        .isa = ulb_isa_detect(),
        .masked = options->settings.isa_mask,
    };
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        json_t *document = NULL;
        if (chosen[i])
            status = ulb_explain_kernel(&explain, ulb_kernels[i], &document, err);
        if (document)
            json_array_append_new(explanations, document);
    }
    ulb_core_list_free(&cores);
    return status;
}

static enum ulb_status show(const struct ulb_measure_options *options, const struct ulb_record *record,
                            json_t *explanations, struct ulb_error *err)
{
    if (!options->json) {
        (options->settings.tokens ? print_tokens : print_explanations)(explanations);
        json_decref(explanations);
        return ULB_OK;
    }
    json_t *document = json_copy(json_object_get(record->root, "gamma"));
    json_object_set_new(document, "explain", explanations);
    return ulb_print_json(document, err);
}

/* The share of the compute limit that the core of this machine's first class allows the kernel; NAN: not
 * known. */
static double peak_share_here(const json_t *document)
{
    const json_t *here = json_object_get(json_array_get(json_object_get(document, "measured"), 0), "core"),
                 *row;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(document, "tile"), "bounds"), i, row)
    {
        const json_t *share = json_object_get(row, "peak_share");
        if (json_is_string(here) && json_equal(here, json_object_get(row, "core")) && json_is_number(share))
            return json_number_value(share);
    }
    return NAN;
}

/* "gemm" of each explanation: its kernel's cells. */
static void add_cells(json_t *explanations, const struct ulb_record *record)
{
    static const char *const keys[] = {"layer", "m", "k", "n", "gops", "peak_gops", "peak_share"};
    size_t i, c;
    json_t *document, *cell;
    json_array_foreach(explanations, i, document)
    {
        json_t *cells = json_array();
        json_array_foreach(json_object_get(record->root, "cells"), c, cell)
        {
            if (!json_equal(json_object_get(cell, "kernel"), json_object_get(document, "kernel")))
                continue;
            json_t *row = json_object();
            for (size_t k = 0; k < ULB_COUNT(keys); k++)
                json_object_set(row, keys[k], json_object_get(cell, keys[k]));
            ulb_set_figure(row, "peak_share_bound", peak_share_here(document),
                           "the core's ports, or the kernel's mix, are not known");
            json_array_append_new(cells, row);
        }
        json_object_set_new(document, "gemm", cells);
    }
}

/* Runs products of the tokens that the settings name. */
static enum ulb_status measure_tokens(const char *filter, struct ulb_measure_options *options,
                                      json_t *explanations, struct ulb_error *err)
{
    struct ulb_record record = {NULL};
    enum ulb_status status =
        filter[0] ? ulb_measure_run(options, ULB_STAGE_GEMM, &record, err) : ulb_record_new(&record, err);
    if (status == ULB_OK)
        add_cells(explanations, &record);
    ulb_record_free(&record);
    return status;
}

/* Measures the kernels of the filter and memory, then explains the chosen ones. */
static enum ulb_status measure_and_show(const bool *chosen, const char *filter,
                                        struct ulb_measure_options *options, struct ulb_error *err)
{
    struct ulb_record record;
    enum ulb_stage stage = filter[0] ? ULB_STAGE_LIMITS : ULB_STAGE_MEMORY;
    options->settings.kernels = filter[0] ? filter : NULL;
    enum ulb_status status = ulb_measure_run(options, stage, &record, err);
    if (status == ULB_OK) {
        json_t *explanations = json_array();
        ulb_print_warnings(&record);
        status = explain_chosen(chosen, options, &record, explanations, err);
        if (status == ULB_OK && options->settings.tokens)
            status = measure_tokens(filter, options, explanations, err);
        if (status == ULB_OK)
            status = show(options, &record, explanations, err);
        else
            json_decref(explanations);
    }
    ulb_record_free(&record);
    return status;
}

/* Before anything is measured. NULL: no tokens are asked for. */
static enum ulb_status check_tokens(const char *list, struct ulb_error *err)
{
    bool found = list != NULL;
    size_t n;
    enum ulb_status status = ULB_OK;
    while (status == ULB_OK && found)
        status = ulb_tokens_next(&list, ULB_TOKENS_MAX, &n, &found, err);
    return status;
}

enum ulb_status ulb_explain_run(const char *list, struct ulb_measure_options *options, struct ulb_error *err)
{
    enum ulb_status status = ulb_refuse_platform(options, err);
    if (status == ULB_OK)
        status = ulb_refuse_device(options, err);
    if (status != ULB_OK)
        return status;
    if (options->settings.kernels || options->settings.formats)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--explain names the kernels itself; leave out --kernels and --formats");
    if (options->out_given)
        return ulb_fail(err, ULB_BAD_INPUT, "--explain writes no record: leave out --out, or --explain");
    status = check_tokens(options->settings.tokens, err);
    if (status != ULB_OK)
        return status;
    bool *chosen = calloc(ulb_kernel_count, sizeof *chosen);
    char *filter = NULL;
    if (!chosen)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    status = choose(list, chosen, err);
    if (status == ULB_OK) {
        filter = ulb_kernel_filter(chosen, ulb_isa_detect() & ~options->settings.isa_mask);
        status = filter ? measure_and_show(chosen, filter, options, err)
                        : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    }
    free(filter);
    free(chosen);
    return status;
}
