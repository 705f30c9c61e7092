/* Kernels of two records. The unit is the run: how far unchanged kernels differ between two runs is what the
 * other kernels of the pair show, not what the rounds within one run scatter by. */
#include "common/stats.h"
#include "results/compare/compare_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MAD_TO_DEVIATION = 1.4826, MEDIAN_TO_MEAN = 1.2533;

/* A kernel counts from so many MADs between kernels on; from FOUND_ALWAYS on whatever they are. */
static const double MADS = 7, FOUND_ALWAYS = 1.39;
/* Of single cells there are many more. */
static const double MADS_OF_CELLS = 10;
/* Between runs of one build, where fewer kernels than these could show it. docs/COMPARE.md */
static const double USUAL_MAD = 0.04;
/* ln; by so much a process is faster or slower at one kernel than the next process of the same build.
 * docs/COMPARE.md */
static const double LUCK = 0.15;
enum { KERNELS_ASKED = 5 };
/* In eight of ten cases a change that large is found. */
static const double EIGHT_OF_TEN = 0.84, INTERVAL = 1.96;
/* A round in which something disturbed every sample, beside one in which nothing did. */
static const double DISTURBED_WEIGHT = 0.25;

struct weighted {
    double value, weight;
};

static int by_value(const void *a, const void *b)
{
    const struct weighted *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* The value below which that share of the weights lies; NAN when there is nothing; reorders. */
static double weighted_quantile(struct weighted *of, size_t n, double share)
{
    double total = 0, sum = 0;
    qsort(of, n, sizeof *of, by_value);
    for (size_t i = 0; i < n; i++)
        total += of[i].weight;
    for (size_t i = 0; i < n; i++) {
        sum += of[i].weight;
        if (sum > share * total)
            return of[i].value;
        if (sum == share * total && i + 1 < n)
            return (of[i].value + of[i + 1].value) / 2;
    }
    return NAN;
}

static double weighted_median(struct weighted *of, size_t n)
{
    return weighted_quantile(of, n, 0.5);
}

/* ---- one cell ---- */

/* The series with its disturbed rounds, which lie behind the others. */
static struct ulb_series all_rounds(const struct ulb_series *series)
{
    struct ulb_series all = *series;
    all.n += series->disturbed;
    return all;
}

/* For the rounds of one series. */
struct round_room {
    double *moved;
    struct weighted *rounds;
};

/* That quantile of the rounds at one state of the machine, disturbed rounds with less weight. */
static double level(const struct ulb_series *series, struct ulb_machine_state to, double quantile,
                    struct round_room room, double *weight)
{
    const struct ulb_series all = all_rounds(series);
    *weight = 0;
    ulb_series_move(&all, to, ULB_ROOF_SHARPNESS, room.moved);
    for (size_t i = 0; i < all.n; i++) {
        room.rounds[i] = (struct weighted){room.moved[i], i < series->n ? 1 : DISTURBED_WEIGHT};
        *weight += room.rounds[i].weight;
    }
    return weighted_quantile(room.rounds, all.n, quantile);
}

/* ln of cost, new over base; NAN where one of the two has no round. */
static struct weighted cell_effect(const struct ulb_series_pair *pair, enum ulb_metric metric,
                                   struct round_room room)
{
    if (!pair->base || !pair->fresh)
        return (struct weighted){NAN, 0};
    const struct ulb_series before_all = all_rounds(pair->base), after_all = all_rounds(pair->fresh);
    struct ulb_machine_state base = ulb_series_state(&before_all), fresh = ulb_series_state(&after_all);
    struct ulb_machine_state to = {sqrt(base.gbps * fresh.gbps), sqrt(base.hz * fresh.hz)};
    double before, after, quantile = metric == ULB_METRIC_P95 ? 0.95 : 0.5;
    double effect = -level(pair->base, to, quantile, room, &before);
    effect += level(pair->fresh, to, quantile, room, &after);
    return (struct weighted){effect, fmin(before, after)};
}

static bool find_effects(const struct ulb_series_pair *pairs, size_t n, enum ulb_metric metric,
                         struct weighted *effects)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ulb_series *sides[] = {pairs[i].base, pairs[i].fresh};
        for (size_t side = 0; side < 2; side++) {
            size_t rounds = sides[side] ? sides[side]->n + sides[side]->disturbed : 0;
            most = rounds > most ? rounds : most;
        }
    }
    struct round_room room = {malloc((most + 1) * sizeof *room.moved),
                              malloc((most + 1) * sizeof *room.rounds)};
    bool enough = room.moved && room.rounds;
    for (size_t i = 0; i < n && enough; i++)
        effects[i] = cell_effect(&pairs[i], metric, room);
    free(room.moved);
    free(room.rounds);
    return enough;
}

/* ---- one kernel ---- */

struct kernel {
    size_t begin, end;    /* of its pairs */
    size_t cells;         /* with an effect */
    double effect, error; /* ln; of its median over the cells */
    double noise;         /* how far its cells differ from themselves; NAN */
    double doubt;         /* how far off the model of the machine may be */
};

static void pool_kernel(const struct ulb_series_pair *pairs, const struct weighted *effects,
                        struct kernel *kernel, struct weighted *room, double *apart)
{
    size_t known = 0, doubts = 0;
    for (size_t i = kernel->begin; i < kernel->end; i++) {
        if (!pairs[i].base || !pairs[i].fresh)
            continue;
        double noise = fmax(pairs[i].base->noise_floor, pairs[i].fresh->noise_floor);
        if (!isnan(noise))
            apart[known++] = log1p(noise);
    }
    kernel->noise = ulb_median(apart, known);
    for (size_t i = kernel->begin; i < kernel->end; i++) {
        if (pairs[i].base && pairs[i].fresh && !isnan(pairs[i].effect.tolerance))
            apart[doubts++] = pairs[i].effect.tolerance;
    }
    kernel->doubt = doubts > 0 ? ulb_median(apart, doubts) : 0;
    kernel->cells = 0;
    for (size_t i = kernel->begin; i < kernel->end; i++) {
        if (!isnan(effects[i].value))
            room[kernel->cells++] = effects[i];
    }
    kernel->effect = weighted_median(room, kernel->cells);
    for (size_t i = 0; i < kernel->cells; i++)
        apart[i] = fabs(room[i].value - kernel->effect);
    double mad = kernel->cells > 0 ? ulb_median(apart, kernel->cells) : NAN;
    kernel->error = MEDIAN_TO_MEAN * MAD_TO_DEVIATION * mad / sqrt((double)kernel->cells);
}

/* Whether two keys begin with one kernel. */
static bool same_kernel(const struct ulb_series_pair *a, const struct ulb_series_pair *b)
{
    const char *x = (a->base ? a->base : a->fresh)->key, *y = (b->base ? b->base : b->fresh)->key;
    size_t length = strcspn(x, " ");
    return strncmp(x, y, length) == 0 && strcspn(y, " ") == length;
}

/* Kernels with cells in both records. */
static size_t find_kernels(const struct ulb_series_pair *pairs, size_t n, const struct weighted *effects,
                           struct kernel *kernels, struct weighted *room, double *apart)
{
    size_t count = 0;
    for (size_t i = 0, end; i < n; i = end) {
        size_t common = 0;
        for (end = i; end < n && same_kernel(&pairs[i], &pairs[end]); end++)
            common += pairs[end].base && pairs[end].fresh;
        kernels[count] = (struct kernel){.begin = i, .end = end};
        pool_kernel(pairs, effects, &kernels[count], room, apart);
        count += common > 0;
    }
    return count;
}

/* ---- between the runs ---- */

/* What the two runs differ by, from all kernels together. ln. */
struct runs {
    double common;    /* of the median kernel */
    double centre;    /* what is taken off each kernel's effect */
    double mad;       /* between kernels */
    double suspect;   /* from which on a kernel looks changed: more than kernels of this pair differ by */
    double threshold; /* from which on it counts: more than two processes may */
    double cells;     /* and from which on a cell does against its kernel */
};

static struct runs judge_runs(const struct kernel *kernels, size_t n, const struct weighted *effects,
                              double wanted, bool exact, double *room)
{
    struct runs runs = {0};
    size_t known = 0, cells = 0;
    for (size_t k = 0; k < n; k++) {
        if (!isnan(kernels[k].effect))
            room[known++] = kernels[k].effect;
    }
    bool enough = known >= KERNELS_ASKED;
    runs.common = enough ? ulb_median(room, known) : 0;
    for (size_t i = 0; i < known; i++)
        room[i] = fabs(room[i] - runs.common);
    runs.mad = enough ? ulb_median(room, known) : USUAL_MAD;
    runs.suspect = exact ? wanted : fmin(fmax(wanted, MADS * runs.mad), log(FOUND_ALWAYS));
    runs.threshold = exact ? wanted : fmax(runs.suspect, LUCK);
    /* More than unchanged runs differ by: slower together, and not the machine's doing. */
    runs.centre = runs.common > log(FOUND_ALWAYS) ? 0 : runs.common;
    for (size_t k = 0; k < n; k++) {
        for (size_t i = kernels[k].begin; i < kernels[k].end; i++) {
            if (!isnan(effects[i].value))
                room[cells++] = fabs(effects[i].value - kernels[k].effect);
        }
    }
    runs.cells =
        fmax(exact ? wanted : log(FOUND_ALWAYS), MADS_OF_CELLS * (cells > 0 ? ulb_median(room, cells) : 0));
    return runs;
}

/* That of all kernels, or of one that differs from itself within a run twice that. */
static double threshold_of(const struct kernel *kernel, double of_all, bool exact)
{
    if (exact)
        return of_all;
    double noise = isnan(kernel->noise) ? 0 : 2 * kernel->noise;
    return fmin(fmax(of_all, noise) + kernel->doubt, log(FOUND_ALWAYS));
}

/* The new record's figure, median over the kernel's cells. room: as many. */
static double fresh_figure(const struct ulb_series_pair *pairs, const struct kernel *kernel, double *room)
{
    size_t n = 0;
    for (size_t i = kernel->begin; i < kernel->end; i++) {
        if (pairs[i].fresh && !isnan(pairs[i].fresh->value))
            room[n++] = pairs[i].fresh->value;
    }
    return ulb_median(room, n);
}

static void state_kernel(const struct kernel *kernel, const struct runs *runs, bool exact, double threshold,
                         bool bigger_is_better, const char *key, struct ulb_kernel_change *out)
{
    double sign = bigger_is_better ? -1 : 1, effect = kernel->effect - runs->centre;
    double deviation = fmax(MAD_TO_DEVIATION * runs->mad, kernel->error);
    double bounds[] = {sign * effect - INTERVAL * deviation, sign * effect + INTERVAL * deviation};
    *out = (struct ulb_kernel_change){.change = expm1(sign * effect),
                                      .ci_lo = expm1(bounds[0]),
                                      .ci_hi = expm1(bounds[1]),
                                      .cells = kernel->cells,
                                      .verdict = ULB_SAME};
    snprintf(out->kernel, sizeof out->kernel, "%.*s", (int)strcspn(key, " "), key);
    /* A kernel that looks slower, and does not count yet, may be slower still. */
    out->smallest_detectable =
        expm1(fmax(threshold + EIGHT_OF_TEN * deviation, effect + INTERVAL * deviation));
    if (isnan(effect))
        out->verdict = ULB_INCONCLUSIVE;
    else if (effect > threshold)
        out->verdict = ULB_REGRESSED;
    else if (effect < -threshold)
        out->verdict = ULB_IMPROVED;
    if (effect <= threshold && effect > threshold_of(kernel, runs->suspect, exact))
        out->suspect = expm1(effect);
}

/* Cells of a changed kernel have changed with it; a cell alone must differ from its kernel by more than cells
 * of unchanged kernels do. */
static void mark_cells(const struct kernel *kernel, enum ulb_verdict verdict, const struct weighted *effects,
                       const struct runs *runs, double threshold, struct ulb_compared *cells)
{
    bool moved = verdict == ULB_REGRESSED || verdict == ULB_IMPROVED;
    for (size_t i = kernel->begin; i < kernel->end; i++) {
        double effect = (effects[i].value - runs->centre) * (verdict == ULB_IMPROVED ? -1 : 1);
        bool changed = cells[i].verdict == ULB_REGRESSED || cells[i].verdict == ULB_IMPROVED;
        if (isnan(effect))
            continue;
        if (moved && effect > threshold / 2) {
            cells[i].verdict = verdict;
            cells[i].reason[0] = '\0';
        } else if (changed && !(fabs(effects[i].value - kernel->effect) > runs->cells)) {
            cells[i].verdict = ULB_INCONCLUSIVE;
            snprintf(cells[i].reason, sizeof cells[i].reason,
                     "other cells of these two runs differ as much without a cause");
        }
    }
}

static double wanted_of(const struct ulb_compare_settings *settings)
{
    return log1p(isnan(settings->threshold) ? ULB_THRESHOLD : settings->threshold);
}

enum ulb_status ulb_judge_kernels(const struct ulb_series_pair *pairs, size_t n,
                                  const struct ulb_compare_settings *settings,
                                  struct ulb_comparison *comparison, struct ulb_error *err)
{
    if (!ulb_metric_is_of_cells(settings->metric))
        return ULB_OK;
    struct weighted *effects = malloc((2 * n + 1) * sizeof *effects), *room = effects ? effects + n : NULL;
    struct kernel *kernels = malloc((n + 1) * sizeof *kernels);
    double *apart = malloc((2 * n + 1) * sizeof *apart);
    comparison->kernels = calloc(n + 1, sizeof *comparison->kernels);
    if (!effects || !kernels || !apart || !comparison->kernels ||
        !find_effects(pairs, n, settings->metric, effects)) {
        free(effects);
        free(kernels);
        free(apart);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to compare %zu cells", n);
    }
    comparison->n_kernels = find_kernels(pairs, n, effects, kernels, room, apart);
    bool exact = !isnan(settings->threshold);
    struct runs runs = judge_runs(kernels, comparison->n_kernels, effects, wanted_of(settings), exact, apart);
    comparison->common = expm1((ulb_metrics[settings->metric].bigger_is_better ? -1 : 1) * runs.common);
    comparison->kernel_threshold = expm1(runs.threshold);
    for (size_t k = 0; k < comparison->n_kernels; k++) {
        struct ulb_kernel_change *change = &comparison->kernels[k];
        const struct ulb_series_pair *first = &pairs[kernels[k].begin];
        double threshold = threshold_of(&kernels[k], runs.threshold, exact);
        state_kernel(&kernels[k], &runs, exact, threshold, ulb_metrics[settings->metric].bigger_is_better,
                     (first->base ? first->base : first->fresh)->key, change);
        change->fresh = fresh_figure(pairs, &kernels[k], apart);
        mark_cells(&kernels[k], change->verdict, effects, &runs, threshold, comparison->cells);
    }
    free(effects);
    free(kernels);
    free(apart);
    return ULB_OK;
}
