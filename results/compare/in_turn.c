#include "results/compare/in_turn.h"

#include "common/stats.h"
#include "results/compare/compare_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MAD_TO_DEVIATION = 1.4826, MEDIAN_TO_MEAN = 1.2533;
/* Sessions of one build scatter by so much at least, and where their scatter is not known. ln. */
static const double LEAST_SCATTER = 0.005, UNKNOWN_SCATTER = 0.06;
/* A kernel counts from so many errors of its median on; a cell by itself from twice as many. */
static const double ERRORS = 3;
/* In eight of ten cases a change that large is found. */
static const double EIGHT_OF_TEN = 0.84, INTERVAL = 1.96;
/* What looks slower is measured in so many sessions. */
enum { SURE_SESSIONS = 5 };

/* Sessions of a kernel or cell, and what they come to. ln. */
struct estimate {
    double effect;
    double scatter; /* of single sessions; NAN with too few */
    double session; /* error of a single session by its rounds alone */
    double error;   /* of the effect */
    double threshold;
};

struct group {
    size_t begin, end; /* cells of one kernel */
    size_t sessions;
    struct estimate is;
};

static double wanted_of(const struct ulb_compare_settings *settings)
{
    return log1p(isnan(settings->threshold) ? ULB_THRESHOLD : settings->threshold);
}

double ulb_session_error(const double *effects, size_t rounds)
{
    enum { MOST = 1024 };
    double apart[MOST], middle;
    size_t n = rounds < MOST ? rounds : MOST;
    middle = ulb_median_of(effects, n);
    for (size_t i = 0; i < n; i++)
        apart[i] = fabs(effects[i] - middle);
    return MEDIAN_TO_MEAN * MAD_TO_DEVIATION * ulb_median(apart, n) / sqrt((double)n);
}

/* room: [n]. */
static struct estimate estimate(const double *effects, size_t n, double session, double *room)
{
    struct estimate is = {.scatter = NAN, .session = session};
    is.effect = ulb_median_of(effects, n);
    for (size_t i = 0; i < n; i++)
        room[i] = fabs(effects[i] - is.effect);
    if (n >= ULB_TURN_SESSIONS)
        is.scatter = MAD_TO_DEVIATION * ulb_median(room, n);
    return is;
}

/* usual: the scatter of most kernels; a few sessions may agree by chance. */
static void set_error(struct estimate *is, size_t n, double usual, double wanted)
{
    double known = n >= ULB_TURN_SESSIONS ? is->scatter : UNKNOWN_SCATTER;
    double scatter = fmax(usual, fmax(known, is->session));
    is->error = MEDIAN_TO_MEAN * scatter / sqrt((double)(n > 0 ? n : 1));
    is->threshold = fmax(wanted, ERRORS * is->error);
}

static bool is_common(const struct ulb_turn_cell *cell)
{
    return cell->in_base && cell->in_fresh;
}

/* The mean of a kernel's cells, session by session; false when the builds have none in common. room:
 * [2 x sessions]. */
static bool estimate_kernel(const struct ulb_turn_cell *cells, struct group *group, double *room)
{
    size_t common = 0;
    double square = 0;
    for (size_t i = group->begin; i < group->end; i++) {
        if (!is_common(&cells[i]))
            continue;
        group->sessions = cells[i].n_sessions;
        for (size_t s = 0; s < group->sessions; s++)
            room[s] = (common > 0 ? room[s] : 0) + cells[i].effects[s];
        square += cells[i].session_error * cells[i].session_error;
        common++;
    }
    for (size_t s = 0; s < group->sessions; s++)
        room[s] /= (double)common;
    group->is = estimate(room, group->sessions, sqrt(square) / (double)common, room + group->sessions);
    return common > 0;
}

static size_t most_sessions(const struct ulb_turn_cell *cells, size_t n)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = cells[i].n_sessions > most ? cells[i].n_sessions : most;
    return most;
}

/* Kernels that both builds have. */
static size_t find_groups(const struct ulb_turn_cell *cells, size_t n, struct group *groups, double *room)
{
    size_t count = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && strcmp(cells[i].kernel, cells[end].kernel) == 0;)
            end++;
        groups[count] = (struct group){.begin = i, .end = end};
        count += estimate_kernel(cells, &groups[count], room);
    }
    return count;
}

static double usual_scatter(const struct group *groups, size_t n, double *room)
{
    size_t known = 0;
    for (size_t g = 0; g < n; g++) {
        if (!isnan(groups[g].is.scatter))
            room[known++] = groups[g].is.scatter;
    }
    return known > 0 ? fmax(LEAST_SCATTER, ulb_median(room, known)) : LEAST_SCATTER;
}

/* Whether further sessions may change the answer. */
static bool is_open(const struct estimate *is, size_t sessions, enum ulb_verdict verdict)
{
    if (sessions < ULB_TURN_SESSIONS || verdict == ULB_INCONCLUSIVE)
        return true;
    return sessions < SURE_SESSIONS && fabs(is->effect) > is->threshold / 2;
}

static void state_kernel(const struct group *group, const struct ulb_turn_cell *cells, double must_see,
                         struct ulb_kernel_change *out)
{
    const struct estimate *is = &group->is;
    *out = (struct ulb_kernel_change){
        .change = expm1(is->effect),
        .ci_lo = expm1(is->effect - INTERVAL * is->error),
        .ci_hi = expm1(is->effect + INTERVAL * is->error),
        .smallest_detectable = expm1(is->threshold + EIGHT_OF_TEN * is->error),
        .verdict = ULB_SAME,
    };
    snprintf(out->kernel, sizeof out->kernel, "%s", cells[group->begin].kernel);
    for (size_t i = group->begin; i < group->end; i++)
        out->cells += is_common(&cells[i]);
    if (group->sessions < ULB_TURN_SESSIONS)
        out->verdict = ULB_INCONCLUSIVE;
    else if (is->effect > is->threshold)
        out->verdict = ULB_REGRESSED;
    else if (is->effect < -is->threshold)
        out->verdict = ULB_IMPROVED;
    else if (!(out->smallest_detectable <= must_see))
        out->verdict = ULB_INCONCLUSIVE;
    out->fresh = NAN;
    out->open = is_open(is, group->sessions, out->verdict);
}

/* A cell goes with its kernel; by itself it must differ by twice as much. */
static void state_cell(const struct ulb_turn_cell *cell, struct ulb_kernel_change *kernel,
                       const struct estimate *of_kernel, struct estimate is, struct ulb_compared *out)
{
    double alone = fmax(2 * of_kernel->threshold, 2 * ERRORS * is.error), effect = is.effect;
    bool moved = kernel->verdict == ULB_REGRESSED || kernel->verdict == ULB_IMPROVED;
    double sign = kernel->verdict == ULB_IMPROVED ? -1 : 1;
    out->base = cell->base_us;
    out->fresh = cell->fresh_us;
    out->ratio = exp(effect);
    out->ci_lo = exp(effect - INTERVAL * is.error);
    out->ci_hi = exp(effect + INTERVAL * is.error);
    out->threshold = expm1(moved ? of_kernel->threshold : alone);
    out->rounds = cell->rounds;
    out->verdict = kernel->verdict == ULB_INCONCLUSIVE ? ULB_INCONCLUSIVE : ULB_SAME;
    if (moved && sign * effect > of_kernel->threshold / 2)
        out->verdict = kernel->verdict;
    else if (fabs(effect) > alone && cell->n_sessions >= ULB_TURN_SESSIONS) {
        out->verdict = effect > 0 ? ULB_REGRESSED : ULB_IMPROVED;
        kernel->open |= cell->n_sessions < SURE_SESSIONS;
    }
    if (out->verdict == ULB_INCONCLUSIVE)
        snprintf(out->reason, sizeof out->reason, "%zu sessions scatter too much to see %.0f %%",
                 cell->n_sessions, 100 * kernel->smallest_detectable);
}

static void fill_cells(const struct ulb_turn_cell *cells, size_t n, const struct group *groups,
                       size_t n_groups, double usual, double wanted, struct ulb_comparison *out, double *room)
{
    for (size_t i = 0; i < n; i++) {
        out->cells[i] = (struct ulb_compared){.base = cells[i].base_us,
                                              .fresh = cells[i].fresh_us,
                                              .ratio = NAN,
                                              .ci_lo = NAN,
                                              .ci_hi = NAN,
                                              .p_adjusted = NAN,
                                              .threshold = NAN,
                                              .noise_floor = NAN,
                                              .machine = NAN,
                                              .verdict = cells[i].in_base ? ULB_MISSING : ULB_NEW};
        snprintf(out->cells[i].key, sizeof out->cells[i].key, "%s %zux%zu", cells[i].kernel, cells[i].m,
                 cells[i].k);
        snprintf(out->cells[i].kernel, sizeof out->cells[i].kernel, "%s", cells[i].kernel);
    }
    for (size_t g = 0; g < n_groups; g++) {
        for (size_t i = groups[g].begin; i < groups[g].end; i++) {
            struct estimate is =
                estimate(cells[i].effects, cells[i].n_sessions, cells[i].session_error, room);
            set_error(&is, cells[i].n_sessions, usual, wanted);
            if (is_common(&cells[i]))
                state_cell(&cells[i], &out->kernels[g], &groups[g].is, is, &out->cells[i]);
        }
    }
}

static void judge(const struct ulb_turn_cell *cells, size_t n, const struct ulb_compare_settings *settings,
                  struct group *groups, double *room, struct ulb_comparison *out)
{
    double wanted = wanted_of(settings), seen = fmax(settings->must_see, settings->allow_blind);
    size_t n_groups = find_groups(cells, n, groups, room), known = 0;
    double usual = usual_scatter(groups, n_groups, room);
    for (size_t g = 0; g < n_groups; g++) {
        set_error(&groups[g].is, groups[g].sessions, usual, wanted);
        state_kernel(&groups[g], cells, seen, &out->kernels[g]);
        if (!isnan(groups[g].is.effect))
            room[known++] = groups[g].is.effect;
    }
    out->common = expm1(known > 0 ? ulb_median(room, known) : 0);
    out->kernel_threshold = expm1(wanted);
    out->n_kernels = n_groups;
    out->sessions = most_sessions(cells, n);
    fill_cells(cells, n, groups, n_groups, usual, wanted, out, room);
    for (size_t i = 0; i < n; i++)
        out->count[out->cells[i].verdict]++;
    for (size_t k = 0; k < n_groups; k++)
        out->blind +=
            out->kernels[k].verdict == ULB_INCONCLUSIVE && !(out->kernels[k].smallest_detectable <= seen);
    ulb_sort_compared(out, ULB_ORDER_VERDICT);
}

enum ulb_status ulb_compare_in_turn(const struct ulb_turn_cell *cells, size_t n,
                                    const struct ulb_compare_settings *settings,
                                    struct ulb_comparison *comparison, struct ulb_error *err)
{
    size_t most = most_sessions(cells, n);
    struct group *groups = malloc((n + 1) * sizeof *groups);
    double *room = malloc((2 * most + n + 1) * sizeof *room);
    *comparison = (struct ulb_comparison){.metric = ULB_METRIC_US,
                                          .n = n,
                                          .base_gbps = NAN,
                                          .fresh_gbps = NAN,
                                          .cells = calloc(n + 1, sizeof *comparison->cells),
                                          .kernels = calloc(n + 1, sizeof *comparison->kernels),
                                          .changed_fields = json_array()};
    enum ulb_status status = ULB_OK;
    if (!groups || !room || !comparison->cells || !comparison->kernels || !comparison->changed_fields)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to compare %zu cells", n);
    if (status == ULB_OK) {
        judge(cells, n, settings, groups, room, comparison);
        status = ulb_count_missing(NULL, NULL, settings, comparison, err);
    }
    free(groups);
    free(room);
    return status;
}

bool ulb_kernel_is_open(const struct ulb_comparison *comparison, const char *kernel)
{
    for (size_t i = 0; i < comparison->n_kernels; i++) {
        if (strcmp(comparison->kernels[i].kernel, kernel) == 0)
            return comparison->kernels[i].open;
    }
    return false;
}
