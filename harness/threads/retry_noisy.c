#include "harness/threads/retry_noisy.h"

#include "harness/timing/stopwatch.h"

#include <math.h>

/* Steps of a core's frequency are 100 MHz; the chain of additions tells it within 1 %. */
static const double FREQUENCY_STEP = 0.025;
static const double SLEEP_LEAST = 1e-3; /* seconds: more than two clocks read one after the other differ */

/* What a sample must find the same before and after. */
struct state {
    bool alone;
    double hz, slept;
};

static struct state look(struct ulb_noise_retry *u)
{
    struct state now = {.alone = ulb_team_alone(u->team), .slept = ulb_slept()};
    now.hz = ulb_team_last_hz(u->team);
    return now;
}

static bool same_frequency(double before, double after)
{
    return !(fabs(after - before) >
             FREQUENCY_STEP * before); /* NAN before the first look, and without a chain */
}

double ulb_retry_noisy(struct ulb_noise_retry *u, double (*sample)(void *arg), void *arg)
{
    struct state before = {u->alone, u->hz, ulb_slept()};
    u->judged++;
    for (unsigned tries = 1;; tries++) {
        double begin = ulb_now();
        double value = sample(arg);
        struct state after = look(u);
        bool slept = after.slept - before.slept > SLEEP_LEAST;
        u->gave_disturbed =
            slept || !before.alone || !after.alone || (u->judged > 1 && !same_frequency(before.hz, after.hz));
        u->alone = after.alone;
        u->hz = after.hz;
        before = after;
        if (!u->gave_disturbed)
            return value;
        if (slept)
            continue; /* whatever patience is left: caches and clocks begin anew */
        u->patience -= ulb_now() - begin;
        if (tries >= u->tries || u->patience <= 0) {
            u->disturbed++;
            return value;
        }
    }
}
