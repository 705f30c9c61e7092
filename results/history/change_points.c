#include "results/history/change_points.h"

#include "common/stats.h"
#include "results/history/t_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A level of figures with noise has so many at least, and an outlier window twice as many less one. */
enum { LEVEL = 3, OUTLIER_WINDOW = 2 * LEVEL - 1, WINDOW = 30 };

static const double weak_p = 0.01, strong_p = 0.001, outlier_sigmas = 4, least_sigma = 1e-6;

struct level {
    size_t from, to;
    double median;
    struct ulb_moments moments;
    double p; /* that it is the level before it, corrected */
};

struct search {
    const double *values;
    double *x; /* logarithms, outliers clipped */
    size_t n;
    bool exact;
    bool *starts; /* starts[i]: a level may begin at i */
    double *scratch;
    struct level *levels;
};

/* --- outliers --- */

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
static void clip_outliers(double *x, size_t n, double *scratch)
{
    if (n < OUTLIER_WINDOW)
        return;
    const double sigma = noise(x, n, scratch);
    memcpy(scratch, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        size_t from = i < LEVEL - 1 ? 0 : i - (LEVEL - 1);
        from = from + OUTLIER_WINDOW > n ? n - OUTLIER_WINDOW : from;
        double window[OUTLIER_WINDOW];
        memcpy(window, scratch + from, sizeof window);
        double middle = ulb_median(window, OUTLIER_WINDOW);
        if (fabs(x[i] - middle) > outlier_sigmas * sigma)
            x[i] = middle;
    }
}

/* --- splitting one window --- */

struct window {
    const double *x;
    size_t n;
    double sums[WINDOW][WINDOW + 1]; /* sums[j][i]: distances of x[j] to x[0..i) */
    bool starts[WINDOW];
};

static void sum_distances(struct window *window)
{
    for (size_t j = 0; j < window->n; j++) {
        for (size_t i = 0; i < window->n; i++)
            window->sums[j][i + 1] = window->sums[j][i] + fabs(window->x[j] - window->x[i]);
    }
}

/* Q of Matteson and James with alpha = 1: how far two samples of a and b figures lie apart, from the sums of
 * distances between them and within each. */
static double divergence(double a, double b, double between, double within_a, double within_b)
{
    double q = between;
    if (a > 1)
        q -= b / (a - 1) * within_a;
    if (b > 1)
        q -= a / (b - 1) * within_b;
    return 2 / (a + b) * q;
}

/* The split of [from, to) with the largest divergence between the figures from `from` to it and some after
 * it. 0 when no split leaves a level on both sides. */
static size_t best_split(const struct window *window, size_t from, size_t to, double *most)
{
    size_t best = 0;
    double before = 0;
    *most = -INFINITY;
    for (size_t at = from + 1; at + LEVEL <= to; at++) {
        double between = 0, after = 0;
        before += window->sums[at - 1][at - 1] - window->sums[at - 1][from];
        if (at < from + LEVEL)
            continue;
        for (size_t end = at; end < to; end++) {
            const double *sums = window->sums[end];
            between += sums[at] - sums[from];
            after += sums[end] - sums[at];
            if (end + 1 < at + LEVEL)
                continue;
            double q = divergence((double)(at - from), (double)(end + 1 - at), between, before, after);
            if (q > *most) {
                *most = q;
                best = at;
            }
        }
    }
    return best;
}

static size_t next_start(const struct window *window, size_t after)
{
    size_t next = after + 1;
    while (next < window->n && !window->starts[next])
        next++;
    return next;
}

/* Splits where the divergence is largest, again and again, until a split is no longer significant. */
static void split_window(struct window *window)
{
    sum_distances(window);
    for (;;) {
        size_t best = 0, best_from = 0, best_to = 0;
        double most = -INFINITY;
        for (size_t from = 0, to; from < window->n; from = to) {
            double q;
            to = next_start(window, from);
            size_t at = best_split(window, from, to, &q);
            if (at > 0 && q > most) {
                most = q;
                best = at, best_from = from, best_to = to;
            }
        }
        if (best == 0)
            return;
        struct ulb_moments left = ulb_moments_of(window->x + best_from, best - best_from);
        struct ulb_moments right = ulb_moments_of(window->x + best, best_to - best);
        if (ulb_t_test(&left, &right) > weak_p)
            return;
        window->starts[best] = true;
    }
}

/* --- the whole series --- */

/* Windows that overlap by half, so that a change near the end of one is seen in the middle of the next. */
static void find_starts(struct search *search)
{
    for (size_t start = 0; start < search->n;) {
        struct window window = {.x = search->x + start, .n = search->n - start};
        window.n = window.n > WINDOW ? WINDOW : window.n;
        split_window(&window);
        size_t next = WINDOW / 2;
        for (size_t i = 1; i < window.n; i++) {
            search->starts[start + i] |= window.starts[i];
            next = window.starts[i] && i > next ? i : next;
        }
        start += next;
    }
}

static void describe(struct search *search, struct level *level)
{
    size_t n = level->to - level->from;
    memcpy(search->scratch, search->values + level->from, n * sizeof *search->values);
    level->median = ulb_median(search->scratch, n);
    level->moments = ulb_moments_of(search->x + level->from, n);
}

/* A split is the best of many: its p-value counts as often as a level fits into both sides. */
static void compare_with_last(const struct search *search, size_t i)
{
    struct level *level = &search->levels[i];
    size_t places = (level->moments.n + level[-1].moments.n) / LEVEL;
    level->p = search->exact ? 0 : (double)places * ulb_t_test(&level[-1].moments, &level->moments);
}

static size_t make_levels(struct search *search)
{
    size_t n = 0;
    for (size_t i = 0; i < search->n; i++) {
        if (i == 0 || search->starts[i])
            search->levels[n++] = (struct level){.from = i};
    }
    for (size_t i = 0; i < n; i++) {
        search->levels[i].to = i + 1 < n ? search->levels[i + 1].from : search->n;
        describe(search, &search->levels[i]);
        if (i > 0)
            compare_with_last(search, i);
    }
    return n;
}

static double size_of(const struct level *level)
{
    return fabs(level->moments.mean - level[-1].moments.mean);
}

/* The level whose beginning is to be dropped next: the least significant, then the smallest change. 0: none.
 */
static size_t weakest(const struct search *search, size_t n, double least)
{
    size_t doubtful = 0, smallest = 0;
    for (size_t i = 1; i < n; i++) {
        if (doubtful == 0 || search->levels[i].p > search->levels[doubtful].p)
            doubtful = i;
        if (smallest == 0 || size_of(&search->levels[i]) < size_of(&search->levels[smallest]))
            smallest = i;
    }
    if (doubtful > 0 && search->levels[doubtful].p >= strong_p)
        return doubtful;
    return smallest > 0 && size_of(&search->levels[smallest]) < log1p(least) ? smallest : 0;
}

static size_t join_levels(struct search *search, size_t n, double least)
{
    struct level *levels = search->levels;
    for (size_t i; (i = weakest(search, n, least)) > 0;) {
        levels[i - 1].to = levels[i].to;
        memmove(&levels[i], &levels[i + 1], (n - i - 1) * sizeof *levels);
        n--;
        describe(search, &levels[i - 1]);
        if (i > 1)
            compare_with_last(search, i - 1);
        if (i < n)
            compare_with_last(search, i);
    }
    return n;
}

static size_t find_levels(struct search *search, double least)
{
    for (size_t i = 0; i < search->n; i++)
        search->x[i] = log(search->values[i]);
    if (search->exact) {
        for (size_t i = 1; i < search->n; i++)
            search->starts[i] = search->values[i] != search->values[i - 1];
    } else {
        clip_outliers(search->x, search->n, search->scratch);
        find_starts(search);
    }
    return join_levels(search, make_levels(search), least);
}

enum ulb_status ulb_find_changes(const double *values, size_t n, double least, bool exact,
                                 struct ulb_change **changes, size_t *n_changes, struct ulb_error *err)
{
    size_t room = n ? n : 1;
    enum ulb_status status = ULB_OK;
    struct search search = {.values = values, .n = n, .exact = exact};
    search.x = calloc(room, sizeof *search.x);
    search.starts = calloc(room, sizeof *search.starts);
    search.scratch = calloc(room, sizeof *search.scratch);
    search.levels = calloc(room, sizeof *search.levels);
    *changes = calloc(room, sizeof **changes);
    *n_changes = 0;
    if (!search.x || !search.starts || !search.scratch || !search.levels || !*changes) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to look for changes");
        free(*changes);
        *changes = NULL;
        goto out;
    }
    size_t n_levels = find_levels(&search, least);
    for (size_t i = 1; i < n_levels; i++)
        (*changes)[(*n_changes)++] =
            (struct ulb_change){search.levels[i].from, search.levels[i - 1].median, search.levels[i].median};
out:
    free(search.x);
    free(search.starts);
    free(search.scratch);
    free(search.levels);
    return status;
}
