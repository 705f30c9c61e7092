/* From figures to an answer: what fails a gate, and what it could not have seen. */
#include "common/filter.h"
#include "results/compare/compare_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A gamma that grew so may be why a run chose another kernel of the format: its median, which a neighbour at
 * work raises too, and its fastest sample. */
static const double CHOICES_APART = 1.39, FASTEST_APART = 1.25;

/* The row of a kernel among those that the run chose from; NULL: none. */
static const json_t *choice_of(const struct ulb_record *record, const char *kernel)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(record->root, "choices"), i, row)
    {
        const char *name = json_string_value(json_object_get(row, "kernel"));
        if (name && strcmp(name, kernel) == 0)
            return row;
    }
    return NULL;
}

/* Kernels of one format are often alike on cold weights, and chance chooses. */
static bool another_was_chosen(const struct ulb_record *fresh, const char *kernel)
{
    return json_is_false(json_object_get(choice_of(fresh, kernel), "chosen"));
}

/* The fastest sample of a kernel's gamma in any class of cores; INFINITY without. */
static double fastest_gamma(const struct ulb_record *record, const char *kernel)
{
    const json_t *cell;
    double fastest = INFINITY;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(record->root, "gamma"), "cells"), i, cell)
    {
        const char *name = json_string_value(json_object_get(cell, "kernel"));
        const json_t *cycles = json_object_get(cell, "gamma_min_cycles");
        if (name && strcmp(name, kernel) == 0 && json_is_number(cycles))
            fastest = fmin(fastest, json_number_value(cycles));
    }
    return fastest;
}

/* Whether a kernel may have lost the choice because it became slow. */
static bool became_slow(const struct ulb_record *base, const struct ulb_record *fresh, const char *kernel)
{
    double before = json_number_value(json_object_get(choice_of(base, kernel), "gamma_cycles"));
    double after = json_number_value(json_object_get(choice_of(fresh, kernel), "gamma_cycles"));
    bool median = !(after > 0 && after < CHOICES_APART * before);
    bool fastest = !(fastest_gamma(fresh, kernel) < FASTEST_APART * fastest_gamma(base, kernel));
    return before > 0 && median && fastest;
}

enum ulb_status ulb_count_missing(const struct ulb_record *base, const struct ulb_record *fresh,
                                  const struct ulb_compare_settings *settings,
                                  struct ulb_comparison *comparison, struct ulb_error *err)
{
    regex_t allowed;
    bool some = settings->allow_missing && settings->allow_missing[0];
    enum ulb_status status =
        some ? ulb_filter_compile(&allowed, "--allow-missing", settings->allow_missing, err) : ULB_OK;
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < comparison->n && status == ULB_OK; i++) {
        struct ulb_compared *cell = &comparison->cells[i];
        bool fine = settings->allow_missing && !some;
        if (cell->verdict != ULB_MISSING)
            continue;
        if (some)
            status = ulb_filter_match(&allowed, cell->key, &fine, err);
        if (fine)
            snprintf(cell->reason, sizeof cell->reason, "allowed by --allow-missing");
        else if (!fresh || !another_was_chosen(fresh, cell->kernel))
            comparison->missing++;
        else {
            snprintf(cell->reason, sizeof cell->reason, "the new run chose another kernel of the format");
            if (became_slow(base, fresh, cell->kernel))
                snprintf(comparison->unchosen, sizeof comparison->unchosen, "%s", cell->kernel);
        }
    }
    if (some)
        regfree(&allowed);
    return status;
}

static void count_blind(const struct ulb_compare_settings *settings, struct ulb_comparison *comparison)
{
    double seen = fmax(settings->must_see, settings->allow_blind);
    for (size_t i = 0; i < comparison->n_kernels; i++) {
        struct ulb_kernel_change *kernel = &comparison->kernels[i];
        bool moved = kernel->verdict == ULB_REGRESSED || kernel->verdict == ULB_IMPROVED;
        if (kernel->suspect <= settings->allow_blind)
            kernel->suspect = 0;
        if (moved || isinf(seen) || (kernel->smallest_detectable <= seen && kernel->suspect == 0))
            continue;
        kernel->verdict = ULB_INCONCLUSIVE;
        comparison->blind++;
    }
}

enum ulb_status ulb_compare_answer(const struct ulb_compare_side *base, const struct ulb_compare_side *fresh,
                                   const struct ulb_compare_settings *settings,
                                   struct ulb_comparison *comparison, struct ulb_error *err)
{
    comparison->identical = base->cells != 0 && base->cells == fresh->cells;
    comparison->wrong = fresh->wrong;
    memcpy(comparison->wrong_kernel, fresh->wrong_kernel, sizeof comparison->wrong_kernel);
    if (!comparison->identical)
        count_blind(settings, comparison);
    return ulb_count_missing(&base->record, &fresh->record, settings, comparison, err);
}

const struct ulb_kernel_change *ulb_blindest(const struct ulb_comparison *comparison)
{
    const struct ulb_kernel_change *worst = NULL;
    for (size_t i = 0; i < comparison->n_kernels; i++) {
        const struct ulb_kernel_change *kernel = &comparison->kernels[i];
        /* NAN, of a kernel without a round, is the worst. */
        if (!worst || !(kernel->smallest_detectable <= worst->smallest_detectable))
            worst = kernel;
    }
    return worst;
}

/* The one that looks slowest; NULL: none. */
static const struct ulb_kernel_change *worst_suspect(const struct ulb_comparison *comparison)
{
    const struct ulb_kernel_change *worst = NULL;
    for (size_t i = 0; i < comparison->n_kernels; i++) {
        const struct ulb_kernel_change *kernel = &comparison->kernels[i];
        if (kernel->suspect > (worst ? worst->suspect : 0))
            worst = kernel;
    }
    return worst;
}

static enum ulb_status cannot_tell(const struct ulb_comparison *comparison, struct ulb_error *err)
{
    const struct ulb_kernel_change *kernel = worst_suspect(comparison);
    if (kernel)
        return ulb_fail(err, ULB_UNDECIDED,
                        "cannot tell: %s looks %.0f %% slower, and two runs of one build may differ by that: "
                        "compare --beside tells, or accept that with --allow-blind",
                        kernel->kernel, 100 * kernel->suspect);
    kernel = ulb_blindest(comparison);
    return ulb_fail(err, ULB_UNDECIDED,
                    "cannot tell: of %zu %s a change must reach %.0f %% to be seen (%s): quiet the machine, "
                    "%s, or accept that with --allow-blind",
                    comparison->blind, comparison->blind == 1 ? "kernel" : "kernels",
                    100 * kernel->smallest_detectable, kernel->kernel,
                    comparison->sessions > 0 ? "raise --max-minutes" : "measure longer");
}

enum ulb_status ulb_comparison_status(const struct ulb_comparison *comparison, struct ulb_error *err)
{
    size_t slower = comparison->count[ULB_REGRESSED];
    if (comparison->wrong > 0)
        return ulb_fail(err, ULB_FINDING, "%zu %s wrong results, the first of %s: run ulb-bench verify",
                        comparison->wrong, comparison->wrong == 1 ? "cell has" : "cells have",
                        comparison->wrong_kernel);
    if (slower > 0)
        return ulb_fail(err, ULB_FINDING, "%zu %s regressed", slower,
                        slower == 1 ? "figure has" : "figures have");
    if (comparison->missing > 0 && comparison->sessions > 0)
        return ulb_fail(
            err, ULB_FINDING,
            "%zu %s missing in the new build: name kernels that both have, or take --allow-missing",
            comparison->missing, comparison->missing == 1 ? "cell of the base is" : "cells of the base are");
    if (comparison->missing > 0)
        return ulb_fail(err, ULB_FINDING,
                        "%zu %s missing in the new record: measure it with ulb-bench run --like "
                        "BASE, or take --allow-missing",
                        comparison->missing,
                        comparison->missing == 1 ? "cell of the base is" : "cells of the base are");
    if (comparison->count[ULB_MISSING] + comparison->count[ULB_NEW] == comparison->n)
        return ulb_fail(err, ULB_UNDECIDED,
                        "cannot tell: no figure is in both records; measure the new one with ulb-bench run "
                        "--like BASE");
    if (comparison->unchosen[0])
        return ulb_fail(err, ULB_UNDECIDED,
                        "cannot tell: gamma of %s grew, and the new run chose another kernel of the format: "
                        "measure it with ulb-bench run --like BASE, or take --allow-missing",
                        comparison->unchosen);
    return comparison->blind > 0 ? cannot_tell(comparison, err) : ULB_OK;
}
