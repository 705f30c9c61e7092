#include "results/compare/compare.h"

#include "common/filter.h"
#include "common/stats.h"
#include "results/compare/compare_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ALPHA = 0.05;

/* A threshold that noise has raised beyond so many times the one wanted sees too little to call cells same.
 */
static const double BLIND_FROM = 3;

/* Bandwidths apart by so much (ln) are two states of a machine. */
static const double STATES_DIFFER = 0.05;

/* More rounds than these nobody waits for. */
enum { ROUNDS_IN_REACH = 1000 };

static const char *const verdict_names[ULB_VERDICTS] = {
    [ULB_REGRESSED] = "regressed", [ULB_IMPROVED] = "improved", [ULB_INCONCLUSIVE] = "unsure",
    [ULB_SAME] = "same",           [ULB_MISSING] = "missing",   [ULB_NEW] = "new",
};

const char *ulb_verdict_name(enum ulb_verdict verdict)
{
    return verdict_names[verdict];
}

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the comparison");
}

/* ---- one figure ---- */

static size_t at_least(double rounds)
{
    return rounds < 1e6 ? (size_t)ceil(rounds) : 1000000;
}

/* Rounds until noise no longer raises the threshold and the interval clears it: both shrink with the root of
 * their number. */
static size_t rounds_needed(const struct ulb_compared *cell, const struct ulb_shift *shift, double wanted)
{
    double rounds = (double)cell->rounds, goal = log1p(wanted);
    double width = fmin(10, (shift->hi - shift->lo) / 2);
    double margin = fmax(fabs(fabs(shift->estimate) - goal), goal / 4);
    double noise = isnan(cell->noise_floor) ? 1 : 2 * cell->noise_floor / wanted;
    return at_least(rounds * fmax(1.1, fmax(noise * noise, (width / margin) * (width / margin))));
}

static void be_inconclusive(struct ulb_compared *cell, const struct ulb_effect_size *effect, double wanted)
{
    double states = fabs(log(effect->new_state.gbps / effect->base_state.gbps));
    cell->verdict = ULB_INCONCLUSIVE;
    if (effect->tolerance > log1p(wanted) / 2 && states > STATES_DIFFER) {
        snprintf(cell->reason, sizeof cell->reason,
                 "memory ran at %.3g GB/s, then at %.3g: measure both in one state of the machine",
                 effect->base_state.gbps, effect->new_state.gbps);
        return;
    }
    size_t needed = rounds_needed(cell, &effect->shift, wanted);
    if (needed > ROUNDS_IN_REACH) {
        snprintf(cell->reason, sizeof cell->reason,
                 "too noisy for any number of rounds: something else was at work");
        return;
    }
    cell->rounds_needed = needed;
    snprintf(cell->reason, sizeof cell->reason, "too noisy: %zu rounds instead of %zu would tell", needed,
             cell->rounds);
}

static void judge(struct ulb_compared *cell, const struct ulb_effect_size *effect, double wanted)
{
    double beyond = log1p(cell->threshold) + effect->tolerance;
    bool significant = cell->p_adjusted < ALPHA;
    bool blind = cell->threshold > BLIND_FROM * wanted || effect->tolerance > BLIND_FROM * log1p(wanted);
    if (significant && effect->shift.lo > beyond)
        cell->verdict = ULB_REGRESSED;
    else if (significant && effect->shift.hi < -beyond)
        cell->verdict = ULB_IMPROVED;
    else if (!blind && fabs(effect->shift.estimate) < log1p(wanted) && effect->shift.lo > -beyond &&
             effect->shift.hi < beyond)
        cell->verdict = ULB_SAME;
    else
        be_inconclusive(cell, effect, wanted);
}

/* What effect has in the metric's own direction. */
static void state_effect(struct ulb_compared *cell, const struct ulb_effect_size *effect,
                         bool bigger_is_better)
{
    double sign = bigger_is_better ? -1 : 1;
    cell->ratio = exp(sign * effect->shift.estimate);
    cell->ci_lo = exp(sign * (bigger_is_better ? effect->shift.hi : effect->shift.lo));
    cell->ci_hi = exp(sign * (bigger_is_better ? effect->shift.lo : effect->shift.hi));
    cell->machine = exp(sign * effect->machine);
}

/* ---- all of them ---- */

static double floor_of(const struct ulb_series *base, const struct ulb_series *fresh)
{
    return fmax(base->noise_floor, fresh->noise_floor); /* of NAN and a number the number */
}

static enum ulb_status measure_pairs(struct ulb_series_pair *pairs, size_t n,
                                     const struct ulb_compare_settings *settings, struct ulb_compared *cells,
                                     struct ulb_error *err)
{
    bool exact = settings->metric == ULB_METRIC_INSTRUCTIONS;
    double *p = malloc((n + 1) * sizeof *p);
    enum ulb_status status = p ? ULB_OK : no_memory(err);
    size_t tested = 0;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        if (!pairs[i].base || !pairs[i].fresh)
            continue;
        status = ulb_effect_size_of(pairs[i].base, pairs[i].fresh, exact, &pairs[i].effect, err);
        p[tested++] = pairs[i].effect.p;
    }
    if (status == ULB_OK && !ulb_holm(p, tested))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to compare %zu cells", tested);
    for (size_t i = n; i-- > 0 && status == ULB_OK;) {
        if (pairs[i].base && pairs[i].fresh)
            cells[i].p_adjusted = p[--tested];
    }
    free(p);
    return status;
}

/* How far the time of a series is memory's, 0 to 1. */
static double memory_part(const struct ulb_series_pair *pair)
{
    double share = fmax(pair->base->memory_share, pair->fresh->memory_share);
    return isnan(share) ? 0 : pow(share, ULB_ROOF_SHARPNESS);
}

/* What is common to the figures of several kernels that memory bounds is sooner the yardstick's error than
 * theirs: another reader won, or a spell of the machine hit it alone. It widens the tolerance, as far as
 * memory's part of the time goes. room: [n]. */
static void widen_tolerance(struct ulb_series_pair *pairs, size_t n, double *room)
{
    enum { KERNELS = 3 };
    const char *kernels[KERNELS] = {NULL};
    size_t bound = 0, different = 0;
    for (size_t i = 0; i < n; i++) {
        if (!pairs[i].base || !pairs[i].fresh || memory_part(&pairs[i]) < 0.5 ||
            isnan(pairs[i].effect.shift.estimate))
            continue;
        room[bound++] = pairs[i].effect.shift.estimate;
        bool seen = different == KERNELS;
        for (size_t k = 0; k < different && !seen; k++)
            seen = strcmp(kernels[k], pairs[i].base->kernel) == 0;
        if (!seen)
            kernels[different++] = pairs[i].base->kernel;
    }
    double common = different == KERNELS ? fabs(ulb_median(room, bound)) : 0;
    for (size_t i = 0; i < n; i++) {
        if (pairs[i].base && pairs[i].fresh)
            pairs[i].effect.tolerance += common * memory_part(&pairs[i]);
    }
}

/* Of cells, three quarters must keep a bound; at least so many kernels are asked. */
static const double MOST_CELLS = 0.75;
enum { KERNELS_ASKED = 4 };

/* The machine's change of state is one for all cells, and most of them did not change: what they differ by
 * shows how good the model of it is here, and where it is better than feared, the tolerance shrinks. room:
 * [n]. */
static void learn_tolerance(struct ulb_series_pair *pairs, size_t n, double *room)
{
    size_t known = 0, kernels = 0;
    const char *last = "";
    for (size_t i = 0; i < n; i++) {
        const struct ulb_effect_size *effect = &pairs[i].effect;
        if (!pairs[i].base || !pairs[i].fresh || !(effect->tolerance > 0) || isnan(effect->shift.estimate))
            continue;
        room[known++] = fabs(effect->shift.estimate) / effect->tolerance;
        kernels += strcmp(last, pairs[i].base->kernel) != 0;
        last = pairs[i].base->kernel; /* pairs are in the order of their keys, which begin with the kernel */
    }
    ulb_sort(room, known);
    double seen = kernels >= KERNELS_ASKED ? ulb_quantile(room, known, MOST_CELLS) : 1;
    for (size_t i = 0; i < n && seen < 1; i++) {
        if (pairs[i].base && pairs[i].fresh)
            pairs[i].effect.tolerance *= seen;
    }
}

static void fill_names(const struct ulb_series_pair *pair, struct ulb_compared *cell)
{
    const struct ulb_series *either = pair->base ? pair->base : pair->fresh;
    *cell = (struct ulb_compared){.ratio = NAN,
                                  .ci_lo = NAN,
                                  .ci_hi = NAN,
                                  .p_adjusted = NAN,
                                  .threshold = NAN,
                                  .noise_floor = NAN,
                                  .machine = NAN};
    snprintf(cell->key, sizeof cell->key, "%s", either->key);
    snprintf(cell->kernel, sizeof cell->kernel, "%s", either->kernel);
    cell->base = pair->base ? pair->base->value : NAN;
    cell->fresh = pair->fresh ? pair->fresh->value : NAN;
}

static void judge_pair(const struct ulb_series_pair *pair, const struct ulb_compare_settings *settings,
                       struct ulb_compared *cell)
{
    const struct ulb_series *base = pair->base, *fresh = pair->fresh;
    if (!base || !fresh) {
        cell->verdict = base ? ULB_MISSING : ULB_NEW;
        return;
    }
    bool counts = settings->metric == ULB_METRIC_INSTRUCTIONS;
    double least = counts ? ULB_THRESHOLD_COUNTS : ULB_THRESHOLD;
    double wanted = isnan(settings->threshold) ? least : settings->threshold;
    cell->noise_floor = counts ? 0 : floor_of(base, fresh);
    cell->threshold = isnan(settings->threshold) ? fmax(least, 2 * cell->noise_floor) : settings->threshold;
    cell->rounds = base->n < fresh->n ? base->n : fresh->n;
    if (!counts && base->n == 1 && fresh->n == 1) {
        cell->verdict = ULB_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "one figure each and no rounds: chance looks like a change");
        return;
    }
    if (cell->rounds == 0 || (isnan(cell->noise_floor) && isnan(settings->threshold))) {
        cell->verdict = ULB_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason,
                 "%zu rounds that nothing disturbed, %zu that something did", cell->rounds,
                 base->disturbed + fresh->disturbed);
        return;
    }
    state_effect(cell, &pair->effect, ulb_metrics[settings->metric].bigger_is_better);
    judge(cell, &pair->effect, wanted);
}

static void note_states(const struct ulb_series_pair *pairs, size_t n, double *room,
                        struct ulb_comparison *comparison)
{
    double *out[] = {&comparison->base_gbps, &comparison->fresh_gbps};
    for (int side = 0; side < 2; side++) {
        size_t known = 0;
        for (size_t i = 0; i < n; i++) {
            double gbps = side ? pairs[i].effect.new_state.gbps : pairs[i].effect.base_state.gbps;
            if (pairs[i].base && pairs[i].fresh && !isnan(gbps))
                room[known++] = gbps;
        }
        *out[side] = ulb_median(room, known);
    }
}

static enum ulb_status judge_pairs(struct ulb_series_pair *pairs, size_t n,
                                   const struct ulb_compare_settings *settings,
                                   struct ulb_comparison *comparison, struct ulb_error *err)
{
    struct ulb_compared *cells = calloc(n + 1, sizeof *cells);
    double *room = malloc((n + 1) * sizeof *room);
    comparison->cells = cells;
    comparison->n = cells ? n : 0;
    if (!cells || !room) {
        free(room);
        return no_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        fill_names(&pairs[i], &cells[i]);
    enum ulb_status status = measure_pairs(pairs, n, settings, cells, err);
    if (status == ULB_OK) {
        learn_tolerance(pairs, n, room);
        widen_tolerance(pairs, n, room);
    }
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        judge_pair(&pairs[i], settings, &cells[i]);
    if (status == ULB_OK)
        status = ulb_judge_kernels(pairs, n, settings, comparison, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        comparison->count[cells[i].verdict]++;
    if (status == ULB_OK)
        note_states(pairs, n, room, comparison);
    free(room);
    ulb_sort_compared(comparison, ULB_ORDER_VERDICT);
    return status;
}

static enum ulb_status match_and_judge(const struct ulb_series *base, size_t m,
                                       const struct ulb_series *fresh, size_t n,
                                       const struct ulb_compare_settings *settings,
                                       struct ulb_comparison *comparison, struct ulb_error *err)
{
    size_t n_pairs = 0;
    struct ulb_series_pair *pairs = ulb_pair_series(base, m, fresh, n, &n_pairs);
    enum ulb_status status = pairs ? judge_pairs(pairs, n_pairs, settings, comparison, err) : no_memory(err);
    free(pairs);
    return status;
}

/* The same with relaxed keys, which the sides do not keep: their values are shared. */
static enum ulb_status match_relaxed(const struct ulb_compare_side *base,
                                     const struct ulb_compare_side *fresh,
                                     const struct ulb_compare_settings *settings,
                                     struct ulb_comparison *comparison, struct ulb_error *err)
{
    struct ulb_series *copies = malloc((base->n + fresh->n) * sizeof *copies);
    if (!copies)
        return no_memory(err);
    memcpy(copies, base->series, base->n * sizeof *copies);
    memcpy(copies + base->n, fresh->series, fresh->n * sizeof *copies);
    ulb_relax_keys(copies, base->n + fresh->n, settings->force);
    enum ulb_status status =
        match_and_judge(copies, base->n, copies + base->n, fresh->n, settings, comparison, err);
    free(copies);
    return status;
}

/* Frees the series whose key or kernel was not asked for. */
static enum ulb_status keep_matching(struct ulb_series *series, size_t *n, const char *option,
                                     const char *text, bool of_kernel, struct ulb_error *err)
{
    regex_t filter;
    size_t kept = 0;
    if (!text)
        return ULB_OK;
    enum ulb_status status = ulb_filter_compile(&filter, option, text, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < *n; i++) {
        char name[ULB_CELL_KEY_MAX];
        bool wanted = true;
        snprintf(name, sizeof name, "%s", series[i].key);
        if (of_kernel)
            name[strcspn(name, " ")] = '\0';
        if (status == ULB_OK)
            status = ulb_filter_match(&filter, name, &wanted, err);
        if (wanted)
            series[kept++] = series[i];
        else
            free(series[i].log_cost);
    }
    *n = kept;
    regfree(&filter);
    return status;
}

/* Leaves the series that are asked for, each with its noise floor. */
static enum ulb_status choose_series(struct ulb_compare_side *side,
                                     const struct ulb_compare_settings *settings, struct ulb_error *err)
{
    if (side->n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "no figures of the metric %s",
                        ulb_metrics[settings->metric].name);
    enum ulb_status status = keep_matching(side->series, &side->n, "--cell", settings->cell, false, err);
    if (status == ULB_OK)
        status = keep_matching(side->series, &side->n, "--kernel", settings->kernel, true, err);
    if (status == ULB_OK && side->n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "no figure matches --cell or --kernel; --json lists the keys");
    bool stated = false;
    for (size_t i = 0; i < side->n; i++)
        stated |= settings->metric == ULB_METRIC_EFFICIENCY && !isnan(side->series[i].noise_floor);
    if (status == ULB_OK && !stated)
        status = ulb_series_judge_noise(side->series, side->n, err);
    return status;
}

static struct ulb_comparison no_comparison(const struct ulb_compare_settings *settings)
{
    return (struct ulb_comparison){.metric = settings->metric, .base_gbps = NAN, .fresh_gbps = NAN};
}

enum ulb_status ulb_compare_sides(struct ulb_compare_side *base, struct ulb_compare_side *fresh,
                                  const struct ulb_compare_settings *settings,
                                  struct ulb_comparison *comparison, struct ulb_error *err)
{
    *comparison = no_comparison(settings);
    enum ulb_status status = ulb_check_comparable(&base->record, &fresh->record, settings, err);
    if (status == ULB_OK && (status = choose_series(base, settings, err)) != ULB_OK)
        ulb_fail_prefix(err, status, "the base");
    if (status == ULB_OK && (status = choose_series(fresh, settings, err)) != ULB_OK)
        ulb_fail_prefix(err, status, "the new record");
    if (status == ULB_OK && (settings->force || !ulb_keys_know_layouts(base->series, base->n) ||
                             !ulb_keys_know_layouts(fresh->series, fresh->n)))
        status = match_relaxed(base, fresh, settings, comparison, err);
    else if (status == ULB_OK)
        status = match_and_judge(base->series, base->n, fresh->series, fresh->n, settings, comparison, err);
    if (status == ULB_OK && !(comparison->changed_fields = ulb_changed_fields(&base->record, &fresh->record)))
        status = no_memory(err);
    if (status == ULB_OK)
        status = ulb_compare_answer(base, fresh, settings, comparison, err);
    return status;
}

enum ulb_status ulb_compare(const struct ulb_record *base, const struct ulb_record *fresh,
                            const struct ulb_compare_settings *settings, struct ulb_comparison *comparison,
                            struct ulb_error *err)
{
    struct ulb_compare_side before, after = {0};
    *comparison = no_comparison(settings);
    enum ulb_status status = ulb_compare_side_of(&before, base, settings->metric, err);
    if (status != ULB_OK)
        ulb_fail_prefix(err, status, "the base");
    else if ((status = ulb_compare_side_of(&after, fresh, settings->metric, err)) != ULB_OK)
        ulb_fail_prefix(err, status, "the new record");
    if (status == ULB_OK)
        status = ulb_compare_sides(&before, &after, settings, comparison, err);
    ulb_compare_side_free(&before);
    ulb_compare_side_free(&after);
    return status;
}

void ulb_comparison_free(struct ulb_comparison *comparison)
{
    free(comparison->cells);
    free(comparison->kernels);
    json_decref(comparison->changed_fields);
    *comparison = (struct ulb_comparison){0};
}

static const struct ulb_compared *find(const struct ulb_comparison *comparison, const char *key)
{
    for (size_t i = 0; i < comparison->n; i++) {
        if (strcmp(comparison->cells[i].key, key) == 0)
            return &comparison->cells[i];
    }
    return NULL;
}

struct ulb_compare_settings ulb_confirm_settings(const struct ulb_compare_settings *settings,
                                                 const struct ulb_comparison *comparison)
{
    struct ulb_compare_settings again = *settings;
    if (comparison->n_kernels > 0 && isnan(again.threshold))
        again.threshold = comparison->kernel_threshold;
    return again;
}

/* A kernel of which no cell is slower any more is unsure like its cells. */
static void release_kernels(struct ulb_comparison *comparison)
{
    for (size_t k = 0; k < comparison->n_kernels; k++) {
        struct ulb_kernel_change *kernel = &comparison->kernels[k];
        bool slower = false;
        for (size_t i = 0; i < comparison->n && !slower; i++)
            slower = comparison->cells[i].verdict == ULB_REGRESSED &&
                     strcmp(comparison->cells[i].kernel, kernel->kernel) == 0;
        if (kernel->verdict == ULB_REGRESSED && !slower)
            kernel->verdict = ULB_INCONCLUSIVE;
    }
}

void ulb_comparison_confirm(struct ulb_comparison *comparison, const struct ulb_comparison *again)
{
    for (size_t i = 0; i < comparison->n; i++) {
        struct ulb_compared *cell = &comparison->cells[i];
        const struct ulb_compared *second = cell->verdict == ULB_REGRESSED ? find(again, cell->key) : NULL;
        if (!second || second->verdict == ULB_REGRESSED)
            continue;
        cell->verdict = ULB_INCONCLUSIVE;
        snprintf(cell->reason, sizeof cell->reason, "not confirmed: run again by itself it is %s, ratio %.3f",
                 ulb_verdict_name(second->verdict), second->ratio);
        comparison->count[ULB_REGRESSED]--;
        comparison->count[ULB_INCONCLUSIVE]++;
    }
    release_kernels(comparison);
    ulb_sort_compared(comparison, ULB_ORDER_VERDICT);
}
