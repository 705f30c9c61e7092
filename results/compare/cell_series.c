/* Series of cells, which are added one by one: what a round was worth is known once the record is read. */
#include "common/stats.h"
#include "results/compare/series_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MARKED_TOO_OFTEN = 0.9;

/* Of a cell what its series is made of. */
struct ulb_series_rounds {
    char set[ULB_SET_BYTES];
    unsigned threads;
    bool cold;
    size_t weight_bytes, samples_per_round, n_samples, n_disturbed;
    double *us_samples, *disturbed_samples;
};

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the record");
}

bool ulb_metric_is_of_cells(enum ulb_metric metric)
{
    return metric == ULB_METRIC_EFFICIENCY || metric == ULB_METRIC_US || metric == ULB_METRIC_GBPS ||
           metric == ULB_METRIC_P95;
}

/* ---- adding ---- */

static bool make_room(struct ulb_series_making *making)
{
    enum { FIRST = 256 };
    if (making->n < making->room)
        return true;
    size_t room = making->room ? 2 * making->room : FIRST;
    struct ulb_series *series = realloc(making->series, room * sizeof *series);
    if (series)
        making->series = series;
    struct ulb_series_rounds *rounds = realloc(making->rounds, room * sizeof *rounds);
    if (rounds)
        making->rounds = rounds;
    if (!series || !rounds)
        return false;
    making->room = room;
    return true;
}

static double p95_of(const struct ulb_cell *cell)
{
    double *sorted = malloc((cell->n_samples + 1) * sizeof *sorted), p95 = NAN;
    if (!sorted)
        return NAN;
    memcpy(sorted, cell->us_samples, cell->n_samples * sizeof *sorted);
    ulb_sort(sorted, cell->n_samples);
    if (cell->n_samples > 0)
        p95 = ulb_quantile(sorted, cell->n_samples, 0.95);
    free(sorted);
    return p95;
}

enum ulb_status ulb_series_add(struct ulb_series_making *making, struct ulb_cell *cell, struct ulb_error *err)
{
    if (!make_room(making))
        return no_memory(err);
    struct ulb_series *series = &making->series[making->n];
    struct ulb_series_rounds *rounds = &making->rounds[making->n++];
    *series = (struct ulb_series){
        .value = making->metric == ULB_METRIC_US     ? cell->us
                 : making->metric == ULB_METRIC_GBPS ? cell->gbps
                 : making->metric == ULB_METRIC_P95  ? p95_of(cell)
                                                     : cell->efficiency,
        .noise_floor = cell->noise_floor,
        .memory_share = NAN,
    };
    ulb_cell_place(cell, series->key);
    snprintf(series->kernel, sizeof series->kernel, "%s", cell->kernel);
    *rounds = (struct ulb_series_rounds){
        .threads = cell->threads,
        .cold = strcmp(cell->mode, "cold") == 0,
        .weight_bytes = cell->weight_bytes,
        .samples_per_round = cell->samples_per_round,
        .n_samples = cell->n_samples,
        .n_disturbed = cell->n_disturbed,
        .us_samples = cell->us_samples,
        .disturbed_samples = cell->disturbed_samples,
    };
    snprintf(rounds->set, sizeof rounds->set, "%s", cell->set);
    cell->us_samples = cell->disturbed_samples = NULL;
    return ULB_OK;
}

static void free_rounds(struct ulb_series_rounds *rounds)
{
    free(rounds->us_samples);
    free(rounds->disturbed_samples);
    rounds->us_samples = rounds->disturbed_samples = NULL;
}

void ulb_series_making_free(struct ulb_series_making *making)
{
    for (size_t i = 0; i < making->n && making->rounds; i++)
        free_rounds(&making->rounds[i]);
    free(making->rounds);
    ulb_series_free(making->series, making->n);
    *making = (struct ulb_series_making){.metric = making->metric};
}

/* ---- finishing ---- */

/* Whether the marks of disturbed samples tell anything: where nearly all are marked, it is the monitor that
 * had learnt wrongly what an interference-free core does. */
static bool marks_tell(const struct ulb_series_rounds *cells, size_t n)
{
    double marked = 0, all = 0;
    for (size_t i = 0; i < n; i++) {
        marked += (double)cells[i].n_disturbed;
        all += (double)cells[i].n_samples;
    }
    return marked < MARKED_TOO_OFTEN * all;
}

/* Marks the samples that were disturbed; NULL without memory. */
static bool *mark_disturbed(const struct ulb_series_rounds *cell, bool marks_count)
{
    bool *marks = calloc(cell->n_samples + 1, sizeof *marks);
    for (size_t i = 0; marks && marks_count && i < cell->n_disturbed; i++) {
        double place = cell->disturbed_samples[i];
        if (place >= 0 && place < (double)cell->n_samples)
            marks[(size_t)place] = true;
    }
    return marks;
}

/* Samples of one round; older records do not say, and then it follows from the yardstick's rounds. */
static size_t round_size(const struct ulb_series_rounds *cell, const struct ulb_yardstick *yardstick)
{
    size_t rounds = yardstick ? yardstick->n_samples : 0;
    if (cell->samples_per_round > 0)
        return cell->samples_per_round;
    return rounds > 0 && cell->n_samples % rounds == 0 && cell->n_samples > 0 ? cell->n_samples / rounds : 1;
}

/* The best sample from begin to end that is a time and that, with marks, nothing disturbed; NAN when there is
 * none. */
static double best_of(const struct ulb_series_rounds *cell, const bool *marks, size_t begin, size_t end)
{
    double best = NAN;
    for (size_t i = begin; i < end && i < cell->n_samples; i++) {
        double us = cell->us_samples[i];
        if (!(marks && marks[i]) && us > 0 && isfinite(us) && !(us >= best))
            best = us;
    }
    return best;
}

static double positive_or_nan(double value)
{
    return value > 0 && isfinite(value) ? value : NAN;
}

static const struct ulb_yardstick *yardstick_of(const struct ulb_yardstick *yardsticks, size_t n,
                                                const struct ulb_series_rounds *cell)
{
    for (size_t i = 0; i < n; i++) {
        if (yardsticks[i].threads == cell->threads && strcmp(yardsticks[i].set, cell->set) == 0)
            return &yardsticks[i];
    }
    return NULL;
}

/* Share of the time that the yardstick would need for the bytes, over the rounds. */
static double memory_share(const struct ulb_series *series, double bytes)
{
    double *shares = malloc((series->n + 1) * sizeof *shares), share;
    if (!shares)
        return NAN;
    for (size_t i = 0; i < series->n; i++)
        shares[i] = bytes / (1e3 * series->gbps[i] * exp(series->log_cost[i]));
    share = ulb_median_of(shares, series->n);
    free(shares);
    return isnan(share) ? NAN : fmin(share, 1);
}

static enum ulb_status finish_cell(const struct ulb_series_rounds *cell,
                                   const struct ulb_yardstick *yardstick, enum ulb_metric metric,
                                   bool marks_count, struct ulb_series *out, struct ulb_error *err)
{
    bool tail = metric == ULB_METRIC_P95; /* of every sample, whatever disturbed it */
    size_t size = tail ? 1 : round_size(cell, yardstick), rounds = (cell->n_samples + size - 1) / size;
    bool *disturbed = mark_disturbed(cell, marks_count && !tail), moves = metric == ULB_METRIC_EFFICIENCY;
    rounds = rounds < ULB_ROUNDS_MAX ? rounds : ULB_ROUNDS_MAX;
    if (!disturbed || !ulb_series_allocate(out, rounds)) {
        free(disturbed);
        return no_memory(err);
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t r = 0; r < rounds; r++) {
            double clean = best_of(cell, disturbed, r * size, (r + 1) * size);
            double us = pass == 0 ? clean : best_of(cell, NULL, r * size, (r + 1) * size);
            bool known = moves && yardstick && r < yardstick->n_samples;
            if (isnan(us) || isnan(clean) != (pass == 1))
                continue;
            ulb_series_append(out, us, known ? positive_or_nan(yardstick->gbps_samples[r]) : NAN,
                              known && r < yardstick->n_hz ? positive_or_nan(yardstick->hz_samples[r]) : NAN);
            out->disturbed += (size_t)pass;
        }
    }
    out->n -= out->disturbed;
    free(disturbed);
    if (moves && cell->cold)
        out->memory_share = memory_share(out, (double)cell->weight_bytes);
    return ULB_OK;
}

enum ulb_status ulb_series_finish(struct ulb_series_making *making, const struct ulb_record *rest,
                                  struct ulb_series **out, size_t *n, struct ulb_error *err)
{
    struct ulb_yardstick *yardsticks;
    size_t n_yardsticks;
    enum ulb_status status = make_room(making) ? ULB_OK : no_memory(err); /* *out is no NULL */
    if (status == ULB_OK)
        status = ulb_record_yardsticks(rest, &yardsticks, &n_yardsticks, err);
    if (status != ULB_OK)
        return status;
    const char *cycles = ulb_record_text(rest, "clock.cycles_source");
    bool marks_count = marks_tell(making->rounds, making->n);
    for (size_t i = 0; i < making->n && status == ULB_OK; i++) {
        struct ulb_series_rounds *cell = &making->rounds[i];
        ulb_place_key(making->series[i].key, cycles);
        status = finish_cell(cell, yardstick_of(yardsticks, n_yardsticks, cell), making->metric, marks_count,
                             &making->series[i], err);
        free_rounds(cell);
    }
    ulb_yardsticks_free(yardsticks, n_yardsticks);
    if (status == ULB_OK) {
        *out = making->series;
        *n = making->n;
        making->series = NULL;
        making->n = 0;
    }
    ulb_series_making_free(making);
    return status;
}

static enum ulb_status add(struct ulb_cell *cell, const json_t *json, void *context, struct ulb_error *err)
{
    (void)json;
    return ulb_series_add(context, cell, err);
}

enum ulb_status ulb_series_read_cells(const struct ulb_record *record, enum ulb_metric metric,
                                      struct ulb_series **out, size_t *n, struct ulb_error *err)
{
    struct ulb_series_making making = {.metric = metric};
    const struct ulb_cell_visitor visitor = {add, &making};
    enum ulb_status status = ulb_record_visit_cells(record, &visitor, err);
    if (status == ULB_OK)
        status = ulb_series_finish(&making, record, out, n, err);
    ulb_series_making_free(&making);
    return status;
}
