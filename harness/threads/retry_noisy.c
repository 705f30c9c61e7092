#include "harness/threads/retry_noisy.h"

#include "harness/timing/stopwatch.h"

#include <math.h>

/* Steps of a core's frequency are 100 MHz; the chain of additions tells it within 1 %. */
static const double FREQUENCY_STEP = 0.025;
static const double SLEEP_LEAST = 1e-3; /* seconds: more than two clocks read one after the other differ */

/* What a sample must find the same before and after. */
struct state {
    bool interference_free;
    double hz, slept;
};

static struct state look(struct ulb_noise_retry *retry)
{
    struct state now = {.interference_free = ulb_team_is_interference_free(retry->team),
                        .slept = ulb_slept()};
    now.hz = ulb_team_last_hz(retry->team);
    return now;
}

static bool same_frequency(double before, double after)
{
    return !(fabs(after - before) >
             FREQUENCY_STEP * before); /* NAN before the first look, and without a chain */
}

double ulb_retry_noisy(struct ulb_noise_retry *retry, double (*sample)(void *arg), void *arg)
{
    struct state before = {retry->interference_free, retry->hz, ulb_slept()};
    retry->judged++;
    for (unsigned tries = 1;; tries++) {
        double begin = ulb_now();
        double value = sample(arg);
        struct state after = look(retry);
        bool slept = after.slept - before.slept > SLEEP_LEAST;
        retry->last_disturbed = slept || !before.interference_free || !after.interference_free ||
                                (retry->judged > 1 && !same_frequency(before.hz, after.hz));
        retry->interference_free = after.interference_free;
        retry->hz = after.hz;
        before = after;
        if (!retry->last_disturbed)
            return value;
        if (slept)
            continue; /* whatever retry budget is left: caches and clocks begin anew */
        retry->retry_budget_s -= ulb_now() - begin;
        if (tries >= retry->tries || retry->retry_budget_s <= 0) {
            retry->disturbed++;
            return value;
        }
    }
}
