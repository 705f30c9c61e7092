#include "harness/threads/split_simulation.h"

#include "harness/threads/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A virtual thread and the piece of rows that it has. */
struct worker {
    double compute; /* bytes/s that its arithmetic allows */
    double rate;    /* bytes/s now */
    double delay;   /* seconds until it begins to read */
    double bytes;   /* left of its piece; 0: it has none */
    double busy;    /* seconds so far */
};

struct simulation {
    const struct ulb_sim_plan *plan;
    size_t n;
    struct worker *workers;
    struct ulb_tile_range *ranges;
    double *thread_shares;
    struct ulb_row_split split;
    double row_bytes;
    size_t pieces;
};

static size_t cores_of(const struct ulb_platform *platform)
{
    size_t n = 0;
    for (size_t c = 0; c < platform->n_classes; c++)
        n += platform->classes[c].cores;
    return n;
}

/* --- rates --- */

static bool reads(const struct worker *worker)
{
    return worker->bytes > 0 && worker->delay <= 0;
}

/* Max-min fairness: who needs less than an equal share gets what it needs, the others share the rest. */
static void share_fairly(struct simulation *s, double left)
{
    size_t open = 0;
    for (size_t t = 0; t < s->n; t++) {
        s->workers[t].rate = 0;
        open += reads(&s->workers[t]);
    }
    for (bool settled = false; open > 0 && !settled;) {
        double level = left / (double)open;
        settled = true;
        for (size_t t = 0; t < s->n; t++) {
            struct worker *worker = &s->workers[t];
            if (reads(worker) && worker->rate == 0 && worker->compute <= level) {
                worker->rate = worker->compute;
                left -= worker->compute;
                open--;
                settled = false;
            }
        }
    }
    for (size_t t = 0; t < s->n && open > 0; t++) {
        if (reads(&s->workers[t]) && s->workers[t].rate == 0)
            s->workers[t].rate = left / (double)open;
    }
}

static void set_rates(struct simulation *s)
{
    double bandwidth = s->plan->platform->bandwidth;
    if (s->plan->sharing == ULB_SIM_FAIR) {
        share_fairly(s, bandwidth);
        return;
    }
    for (size_t t = 0; t < s->n; t++)
        s->workers[t].rate = fmin(s->workers[t].compute, bandwidth / (double)s->n);
}

/* --- events --- */

static void take_piece(struct simulation *s, size_t t)
{
    size_t m0, m1;
    if (!ulb_split_next(&s->split, t, &m0, &m1))
        return;
    s->workers[t].bytes = (double)(m1 - m0) * s->row_bytes;
    s->workers[t].delay = s->plan->take_s;
    s->pieces++;
}

/* Seconds to the next event of a worker; INFINITY for one without rows. */
static double due(const struct worker *worker)
{
    if (worker->bytes <= 0)
        return INFINITY;
    return worker->delay > 0 ? worker->delay : worker->bytes / worker->rate;
}

/* What the next event is due in decides who is done: times that differ by rounding alone are one event. */
static void advance(struct simulation *s, double step)
{
    for (size_t t = 0; t < s->n; t++) {
        struct worker *worker = &s->workers[t];
        double at = due(worker);
        if (isinf(at))
            continue;
        bool done = at <= step * (1 + 1e-12);
        worker->busy += step;
        if (worker->delay > 0) {
            worker->delay = done ? 0 : worker->delay - step;
        } else if (!done) {
            worker->bytes -= step * worker->rate;
        } else {
            worker->bytes = 0;
            take_piece(s, t);
        }
    }
}

static double play(struct simulation *s)
{
    double now = 0;
    ulb_split_reset(&s->split);
    for (size_t t = 0; t < s->n; t++)
        take_piece(s, t);
    for (;;) {
        double step = INFINITY;
        set_rates(s);
        for (size_t t = 0; t < s->n; t++)
            step = fmin(step, due(&s->workers[t]));
        if (isinf(step))
            return now;
        now += step;
        advance(s, step);
    }
}

/* --- a platform's team --- */

static enum ulb_status fill_team(struct simulation *s, struct ulb_error *err)
{
    const struct ulb_platform *platform = s->plan->platform;
    const struct ulb_platform_gamma *gamma = s->plan->gamma;
    for (size_t c = 0, t = 0; c < platform->n_classes; c++) {
        const struct ulb_platform_class *class = &platform->classes[c];
        double compute = ulb_compute_ceiling(gamma->bytes_per_step, gamma->cycles[c]) * class->hz;
        double rate = ulb_platform_core_bandwidth(platform, gamma, c);
        if (isnan(compute) || isnan(rate))
            return ulb_fail(err, ULB_BAD_INPUT,
                            "platform %s: class %s cannot be simulated without clock, bandwidth and a gamma "
                            "of %s %s",
                            platform->name, class->name, gamma->format, gamma->sequence);
        for (unsigned i = 0; i < class->cores; i++, t++) {
            s->workers[t].compute = compute;
            s->thread_shares[t] = rate;
        }
    }
    return ULB_OK;
}

enum ulb_status ulb_simulate(const struct ulb_sim_plan *plan, enum ulb_split split, size_t m, size_t k,
                             struct ulb_simulated *out, struct ulb_error *err)
{
    struct simulation s = {.plan = plan, .n = cores_of(plan->platform)};
    enum ulb_status status = ULB_OK;
    if (s.n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "platform %s has no cores", plan->platform->name);
    s.workers = calloc(s.n, sizeof *s.workers);
    s.ranges = aligned_alloc(64, s.n * sizeof *s.ranges);
    s.thread_shares = calloc(s.n, sizeof *s.thread_shares);
    if (!s.workers || !s.ranges || !s.thread_shares)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to simulate %zu cores", s.n);
    if (status == ULB_OK)
        status = fill_team(&s, err);
    if (status == ULB_OK) {
        double busy = 0;
        s.row_bytes = (double)k / ULB_STEP_WEIGHTS * plan->gamma->bytes_per_step;
        s.split = ulb_split_of(split, m, plan->tile, s.n, s.thread_shares, s.ranges);
        s.split.chunk = plan->chunk;
        out->seconds = play(&s);
        for (size_t t = 0; t < s.n; t++)
            busy += s.workers[t].busy;
        out->idle_share = 1 - busy / ((double)s.n * out->seconds);
        out->pieces = s.pieces;
    }
    free(s.workers);
    free(s.ranges);
    free(s.thread_shares);
    return status;
}

double ulb_sim_implied_speedup(const struct ulb_sim_plan *plan)
{
    const struct ulb_platform *platform = plan->platform;
    double least = INFINITY, total = ulb_platform_bandwidth(platform, plan->gamma);
    for (size_t c = 0; c < platform->n_classes; c++) {
        if (platform->classes[c].cores > 0)
            least = fmin(least, ulb_platform_core_bandwidth(platform, plan->gamma, c));
    }
    return total / (double)cores_of(platform) / least;
}
