#include "harness/cli/kernel_filter.h"
#include "harness/cli/commands/compare_confirm.h"

#include "harness/cli/guests.h"
#include "harness/cli/measure_options.h"
#include "kernels/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cells of the new record that regressed. */
struct suspects {
    struct ulb_cell *cells;
    size_t n;
    bool *is_one;          /* [n] */
    bool *kernels;         /* rows of the table that they are of */
    char *shapes, *tokens; /* comma lists */
};

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to run regressions again");
}

static bool has_regressed(const struct ulb_comparison *comparison, const char *key)
{
    for (size_t i = 0; i < comparison->n; i++) {
        if (comparison->cells[i].verdict == ULB_REGRESSED && strcmp(comparison->cells[i].key, key) == 0)
            return true;
    }
    return false;
}

static void choose_kernel(bool *chosen, const char *key_or_name)
{
    char name[ULB_KERNEL_NAME_MAX];
    size_t length = strcspn(key_or_name, " ");
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        ulb_kernel_name(ulb_kernels[i], name);
        chosen[i] |= strlen(name) == length && strncmp(name, key_or_name, length) == 0;
    }
}

static enum ulb_status find_suspects(const struct ulb_record *fresh, const struct ulb_comparison *comparison,
                                     struct suspects *suspects, struct ulb_error *err)
{
    enum ulb_status status = ulb_record_cells(fresh, &suspects->cells, &suspects->n, err);
    if (status != ULB_OK)
        return status;
    suspects->is_one = calloc(suspects->n + 1, sizeof *suspects->is_one);
    if (!suspects->is_one)
        return no_memory(err);
    const char *cycles = ulb_record_text(fresh, "clock.cycles_source");
    for (size_t i = 0; i < suspects->n; i++) {
        char key[ULB_CELL_KEY_MAX];
        suspects->is_one[i] = has_regressed(comparison, ulb_cell_key(&suspects->cells[i], cycles, key));
    }
    return ULB_OK;
}

/* Appends to a comma list what is not in it yet. */
static void add_word(char *list, size_t bytes, const char *word)
{
    size_t used = strlen(list), length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0)
            return;
    }
    snprintf(list + used, bytes - used, "%s%s", used ? "," : "", word);
}

/* What the suspects of one token, or those of many, have to be run with; false: there are none. */
static bool collect(struct suspects *suspects, bool many, size_t bytes)
{
    bool any = false;
    suspects->shapes[0] = suspects->tokens[0] = '\0';
    memset(suspects->kernels, 0, ulb_kernel_count);
    for (size_t i = 0; i < suspects->n; i++) {
        const struct ulb_cell *cell = &suspects->cells[i];
        char word[64];
        if (!suspects->is_one[i] || (cell->n > 1) != many)
            continue;
        any = true;
        choose_kernel(suspects->kernels, cell->kernel);
        snprintf(word, sizeof word, "%zux%zu", cell->m, cell->k);
        add_word(suspects->shapes, bytes, word);
        snprintf(word, sizeof word, "%zu", cell->n);
        add_word(suspects->tokens, bytes, word);
    }
    return any;
}

static const struct ulb_cell *first_suspect(const struct suspects *suspects, bool many)
{
    for (size_t i = 0; i < suspects->n; i++) {
        if (suspects->is_one[i] && (suspects->cells[i].n > 1) == many)
            return &suspects->cells[i];
    }
    return NULL;
}

/* The conditions of a cell as settings of a run. */
static void set_conditions(const struct ulb_cell *cell, struct ulb_settings *settings)
{
    settings->set = cell->set;
    settings->warm = strcmp(cell->mode, "warm") == 0;
    settings->n_splits = ulb_split_parse(cell->split, &settings->splits[0]);
}

/* The cells as measured by shape become those of the suspects, models and layers by name. */
static enum ulb_status adopt_names(const struct suspects *suspects, struct ulb_record *again,
                                   struct ulb_error *err)
{
    struct ulb_cell *cells;
    size_t n;
    enum ulb_status status = ulb_record_cells(again, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    json_object_set_new(again->root, "cells", json_array());
    for (size_t s = 0; s < suspects->n && status == ULB_OK; s++) {
        const struct ulb_cell *suspect = &suspects->cells[s];
        for (size_t i = 0; i < n && suspects->is_one[s] && status == ULB_OK; i++) {
            struct ulb_cell cell = cells[i];
            if (strcmp(cell.kernel, suspect->kernel) != 0 || cell.m != suspect->m || cell.k != suspect->k ||
                cell.n != suspect->n)
                continue;
            memcpy(cell.model, suspect->model, sizeof cell.model);
            memcpy(cell.layer, suspect->layer, sizeof cell.layer);
            status = ulb_record_add_cell(again, &cell, err);
        }
    }
    ulb_cells_free(cells, n);
    return status;
}

/* The second run must be of the same machine and build as the new record. */
static enum ulb_status check_build(const struct ulb_record *fresh, const struct ulb_record *again,
                                   struct ulb_error *err)
{
    const struct ulb_compare_settings measured = {.metric = ULB_METRIC_EFFICIENCY};
    enum ulb_status status = ulb_check_comparable(fresh, again, &measured, err);
    if (status != ULB_OK)
        return ulb_fail_prefix(err, status, "--confirm measures here and now");
    return ulb_check_same_build(fresh, again, err);
}

/* Runs what the options name, compares it with the base, and takes back what does not show. */
static enum ulb_status run_again(struct ulb_compare_side *base, const struct ulb_record *fresh,
                                 const struct ulb_compare_settings *settings, const struct suspects *suspects,
                                 struct ulb_measure_options *options, enum ulb_stage stage,
                                 struct ulb_comparison *comparison, struct ulb_error *err)
{
    struct ulb_record again;
    struct ulb_compare_side side = {0};
    struct ulb_comparison second = {0};
    const struct ulb_compare_settings confirming = ulb_confirm_settings(settings, comparison);
    enum ulb_status status = ulb_measure_run(options, stage, &again, err);
    if (status == ULB_OK)
        status = check_build(fresh, &again, err);
    if (status == ULB_OK && suspects)
        status = adopt_names(suspects, &again, err);
    if (status == ULB_OK && (status = ulb_compare_side_of(&side, &again, settings->metric, err)) != ULB_OK)
        ulb_fail_prefix(err, status, "the new record");
    if (status == ULB_OK)
        status = ulb_compare_sides(base, &side, &confirming, &second, err);
    if (status == ULB_OK)
        ulb_comparison_confirm(comparison, &second);
    ulb_comparison_free(&second);
    ulb_compare_side_free(&side);
    ulb_record_free(&again);
    return status;
}

static enum ulb_status run_cells(struct ulb_compare_side *base, const struct ulb_record *fresh,
                                 const struct ulb_compare_settings *settings, struct suspects *suspects,
                                 struct ulb_comparison *comparison, struct ulb_error *err)
{
    enum { WORD_BYTES = 48 };
    size_t bytes = (suspects->n + 1) * WORD_BYTES;
    suspects->shapes = malloc(bytes);
    suspects->tokens = malloc(bytes);
    suspects->kernels = calloc(ulb_kernel_count, sizeof *suspects->kernels);
    enum ulb_status status =
        suspects->shapes && suspects->tokens && suspects->kernels ? ULB_OK : no_memory(err);
    for (int many = 0; many < 2 && status == ULB_OK; many++) {
        if (!collect(suspects, many, bytes))
            continue;
        struct ulb_measure_options options;
        ulb_measure_defaults(&options, err);
        set_conditions(first_suspect(suspects, many), &options.settings);
        char *filter = ulb_kernel_filter(suspects->kernels, ~(ulb_isa_set)0);
        options.settings.kernels = filter;
        options.settings.shapes = suspects->shapes;
        options.settings.tokens = suspects->tokens;
        status = filter ? run_again(base, fresh, settings, suspects, &options,
                                    many ? ULB_STAGE_GEMM : ULB_STAGE_GEMV, comparison, err)
                        : no_memory(err);
        free(filter);
    }
    free(suspects->shapes);
    free(suspects->tokens);
    free(suspects->kernels);
    return status;
}

static enum ulb_status confirm_cells(struct ulb_compare_side *base, const struct ulb_record *fresh,
                                     const struct ulb_compare_settings *settings,
                                     struct ulb_comparison *comparison, struct ulb_error *err)
{
    struct suspects suspects = {0};
    enum ulb_status status = find_suspects(fresh, comparison, &suspects, err);
    if (status == ULB_OK)
        status = run_cells(base, fresh, settings, &suspects, comparison, err);
    ulb_cells_free(suspects.cells, suspects.n);
    free(suspects.is_one);
    return status;
}

static enum ulb_status confirm_gammas(struct ulb_compare_side *base, const struct ulb_record *fresh,
                                      const struct ulb_compare_settings *settings,
                                      struct ulb_comparison *comparison, struct ulb_error *err)
{
    bool *kernels = calloc(ulb_kernel_count, sizeof *kernels);
    for (size_t i = 0; i < comparison->n && kernels; i++) {
        if (comparison->cells[i].verdict == ULB_REGRESSED)
            choose_kernel(kernels, comparison->cells[i].key);
    }
    struct ulb_measure_options options;
    ulb_measure_defaults(&options, err);
    char *filter = kernels ? ulb_kernel_filter(kernels, ~(ulb_isa_set)0) : NULL;
    options.settings.kernels = filter;
    enum ulb_status status =
        filter ? run_again(base, fresh, settings, NULL, &options, ULB_STAGE_GAMMA, comparison, err)
               : no_memory(err);
    free(filter);
    free(kernels);
    return status;
}

enum ulb_status ulb_compare_can_confirm(const struct ulb_compare_settings *settings, struct ulb_error *err)
{
    if (settings->force)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--confirm measures on this machine, --force compares with others: choose one");
    switch (settings->metric) {
    case ULB_METRIC_EFFICIENCY:
    case ULB_METRIC_GBPS:
    case ULB_METRIC_US:
    case ULB_METRIC_GAMMA:
        return ULB_OK;
    default:
        return ulb_fail(err, ULB_BAD_INPUT, "--confirm runs efficiency, gbps, us and gamma again, not %s",
                        ulb_metrics[settings->metric].name);
    }
}

enum ulb_status ulb_compare_confirm(struct ulb_compare_side *base, const struct ulb_record *fresh,
                                    const struct ulb_compare_settings *settings, const char *libraries,
                                    struct ulb_comparison *comparison, struct ulb_error *err)
{
    enum ulb_status status = ulb_compare_can_confirm(settings, err);
    const char *wanted = ulb_record_text(fresh, "settings.kernel_library");
    if (status == ULB_OK && wanted && !libraries)
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "--confirm: the new record was measured with --kernel-library %s, which no record "
                          "loads; name it again beside --confirm",
                          wanted);
    if (status == ULB_OK && libraries)
        status = ulb_guests_load(libraries, err);
    if (status != ULB_OK)
        return status;
    if (settings->metric == ULB_METRIC_GAMMA)
        return confirm_gammas(base, fresh, settings, comparison, err);
    return confirm_cells(base, fresh, settings, comparison, err);
}
