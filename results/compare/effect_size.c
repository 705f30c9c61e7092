#include "results/compare/effect_size.h"

#include "common/stats.h"

#include <math.h>
#include <stdlib.h>

/* Of a call, what hangs on the memory's latency, microseconds: first misses of every thread and stream. Under
 * load latency moves more than bandwidth does, and no yardstick tells how much. */
static const double LATENCY_US = 8;

static double middle(double a, double b)
{
    return sqrt(a * b);
}

/* Room for both series, moved. */
struct moved {
    double *base, *fresh;
};

static void move(const struct ulb_series *base, const struct ulb_series *fresh, struct ulb_machine_state to,
                 double sharpness, struct moved *out)
{
    ulb_series_move(base, to, sharpness, out->base);
    ulb_series_move(fresh, to, sharpness, out->fresh);
}

/* Difference of the medians. */
static double between(const struct moved *moved, size_t n_base, size_t n_fresh)
{
    return ulb_median_of(moved->fresh, n_fresh) - ulb_median_of(moved->base, n_base);
}

enum ulb_status ulb_effect_size_of(const struct ulb_series *base, const struct ulb_series *new_series,
                                   bool exact, struct ulb_effect_size *effect, struct ulb_error *err)
{
    static const double sharpness[] = {4, 16}; /* what else it may be */
    size_t m = base->n, n = new_series->n;
    double *room = malloc((m + n + 1) * sizeof *room);
    if (!room)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to compare %s", base->key);
    struct moved moved = {room, room + m};
    *effect = (struct ulb_effect_size){.base_state = ulb_series_state(base),
                                       .new_state = ulb_series_state(new_series)};
    struct ulb_machine_state to = {middle(effect->base_state.gbps, effect->new_state.gbps),
                                   middle(effect->base_state.hz, effect->new_state.hz)};
    double at_one_state[2];
    for (int i = 0; i < 2; i++) {
        move(base, new_series, to, sharpness[i], &moved);
        at_one_state[i] = between(&moved, m, n);
    }
    move(base, new_series, to, ULB_ROOF_SHARPNESS, &moved);
    double here = between(&moved, m, n);
    effect->tolerance = fmax(fabs(at_one_state[0] - here), fabs(at_one_state[1] - here));
    if (!isnan(base->memory_share)) {
        double us = exp(ulb_median_of(base->log_cost, m));
        double states = fabs(log(effect->new_state.gbps / effect->base_state.gbps));
        effect->tolerance += fmin(1, LATENCY_US / us) * states;
    }
    effect->machine = ulb_median_of(new_series->log_cost, n) - ulb_median_of(base->log_cost, m) - here;
    effect->shift = ulb_hodges_lehmann(moved.base, m, moved.fresh, n);
    effect->p = ulb_mann_whitney(moved.base, m, moved.fresh, n);
    if (exact && m == 1 && n == 1) {
        effect->shift.lo = effect->shift.hi = effect->shift.estimate;
        effect->p = 0;
    }
    free(room);
    bool unknown = isnan(effect->p) || (m > 0 && n > 0 && isnan(effect->shift.estimate));
    return unknown ? ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to compare %s", base->key) : ULB_OK;
}
