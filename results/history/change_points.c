#include "results/history/change_points.h"

#include "common/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A level of figures with noise has so many at least, and an outlier window twice as many less one. */
enum { LEVEL = 3, WINDOW = 2 * LEVEL - 1 };

static const double significance = 6, outlier_sigmas = 4, least_sigma = 1e-6, decay = 0.70710678118654752;

struct search {
    double *x;    /* logarithms, outliers clipped */
    double *sums; /* sums[i]: of x[0..i) */
    size_t n, level;
    double sigma, least_gain;
    bool *starts; /* starts[i]: a level begins at i */
};

/* The standard deviation of one figure, from the steps between neighbours. */
static double noise(const double *x, size_t n, double *scratch)
{
    if (n < 2)
        return least_sigma;
    for (size_t i = 0; i + 1 < n; i++)
        scratch[i] = fabs(x[i + 1] - x[i]);
    return fmax(least_sigma, 1.4826 * ulb_median(scratch, n - 1) / sqrt(2));
}

/* Hampel's filter: what stands alone among its neighbours takes their median. */
static void clip_outliers(double *x, size_t n, double sigma, double *scratch)
{
    if (n < WINDOW)
        return;
    memcpy(scratch, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        size_t from = i < LEVEL - 1 ? 0 : i - (LEVEL - 1);
        from = from + WINDOW > n ? n - WINDOW : from;
        double window[WINDOW];
        memcpy(window, scratch + from, sizeof window);
        double middle = ulb_median(window, WINDOW);
        if (fabs(x[i] - middle) > outlier_sigmas * sigma)
            x[i] = middle;
    }
}

/* The best split of [from, to): its place, and in *gain what it explains, in units of the noise. 0 when no
 * split leaves a level on both sides. */
static size_t best_split(const struct search *search, size_t from, size_t to, double *gain)
{
    size_t best = 0;
    *gain = 0;
    for (size_t at = from + search->level; at + search->level <= to; at++) {
        double left = (double)(at - from), right = (double)(to - at);
        double difference =
            (search->sums[to] - search->sums[at]) / right - (search->sums[at] - search->sums[from]) / left;
        double now = left * right / (left + right) * difference * difference;
        if (now > *gain) {
            *gain = now;
            best = at;
        }
    }
    *gain /= search->sigma * search->sigma;
    return best;
}

static bool has_start(const struct search *search, size_t from, size_t to)
{
    for (size_t i = from + 1; i < to; i++) {
        if (search->starts[i])
            return true;
    }
    return false;
}

/* Intervals from the shortest on; one in which a change is known already tells nothing more. */
static void find_starts(struct search *search)
{
    size_t layers = 1;
    if (search->n < 2 * search->level)
        return;
    for (double length = (double)search->n; length * decay >= (double)(2 * search->level); length *= decay)
        layers++;
    for (size_t layer = layers; layer-- > 0;) {
        double length = (double)search->n * pow(decay, (double)layer);
        size_t intervals = 2 * (size_t)ceil((double)search->n / length) - 1;
        double shift = intervals > 1 ? ((double)search->n - length) / (double)(intervals - 1) : 0;
        for (size_t i = 0; i < intervals; i++) {
            size_t from = (size_t)((double)i * shift), to = (size_t)ceil((double)i * shift + length);
            double gain;
            to = to > search->n ? search->n : to;
            if (has_start(search, from, to))
                continue;
            size_t at = best_split(search, from, to, &gain);
            if (at > 0 && gain > search->least_gain)
                search->starts[at] = true;
        }
    }
}

/* --- levels --- */

struct level {
    size_t from, to;
    double median;
};

static void set_median(struct level *level, const double *values, double *scratch)
{
    size_t n = level->to - level->from;
    memcpy(scratch, values + level->from, n * sizeof *values);
    level->median = ulb_median(scratch, n);
}

/* Moves each start to the best place between its neighbours. */
static size_t make_levels(struct search *search, struct level *levels)
{
    size_t n = 0;
    for (size_t i = 0; i < search->n; i++) {
        if (i == 0 || search->starts[i])
            levels[n++] = (struct level){.from = i};
    }
    for (size_t i = 0; i < n; i++)
        levels[i].to = i + 1 < n ? levels[i + 1].from : search->n;
    for (size_t i = 1; i < n; i++) {
        double gain;
        size_t at = best_split(search, levels[i - 1].from, levels[i].to, &gain);
        if (at > 0)
            levels[i - 1].to = levels[i].from = at;
    }
    return n;
}

/* Joins neighbours whose medians differ by less than least, the closest first. */
static size_t join_levels(struct level *levels, size_t n, double least, const double *values, double *scratch)
{
    for (size_t i = 0; i < n; i++)
        set_median(&levels[i], values, scratch);
    while (n > 1) {
        size_t closest = 1;
        double smallest = INFINITY;
        for (size_t i = 1; i < n; i++) {
            double size = fabs(log(levels[i].median / levels[i - 1].median));
            if (size < smallest) {
                smallest = size;
                closest = i;
            }
        }
        if (smallest >= log1p(least))
            break;
        levels[closest - 1].to = levels[closest].to;
        memmove(&levels[closest], &levels[closest + 1], (n - closest - 1) * sizeof *levels);
        n--;
        set_median(&levels[closest - 1], values, scratch);
    }
    return n;
}

enum ulb_status ulb_find_changes(const double *values, size_t n, double least, bool exact,
                                 struct ulb_change **changes, size_t *n_changes, struct ulb_error *err)
{
    size_t room = n ? n : 1;
    struct search search = {.n = n, .level = exact ? 1 : LEVEL};
    double *scratch = calloc(room, sizeof *scratch);
    struct level *levels = calloc(room, sizeof *levels);
    search.x = calloc(room, sizeof *search.x);
    search.sums = calloc(room + 1, sizeof *search.sums);
    search.starts = calloc(room, sizeof *search.starts);
    *changes = calloc(room, sizeof **changes);
    *n_changes = 0;
    enum ulb_status status = ULB_OK;
    if (!scratch || !levels || !search.x || !search.sums || !search.starts || !*changes) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to look for changes");
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        search.x[i] = log(values[i]);
    search.sigma = exact ? least_sigma : noise(search.x, n, scratch);
    search.least_gain = significance * log(fmax(2, (double)n));
    if (!exact)
        clip_outliers(search.x, n, search.sigma, scratch);
    for (size_t i = 0; i < n; i++)
        search.sums[i + 1] = search.sums[i] + search.x[i];
    find_starts(&search);
    size_t n_levels = n ? make_levels(&search, levels) : 0;
    n_levels = join_levels(levels, n_levels, least, values, scratch);
    for (size_t i = 1; i < n_levels; i++)
        (*changes)[(*n_changes)++] =
            (struct ulb_change){levels[i].from, levels[i - 1].median, levels[i].median};
out:
    if (status != ULB_OK) {
        free(*changes);
        *changes = NULL;
    }
    free(scratch);
    free(levels);
    free(search.x);
    free(search.sums);
    free(search.starts);
    return status;
}
