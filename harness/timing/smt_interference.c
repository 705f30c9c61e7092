#include "harness/timing/smt_interference.h"

#include "common/emulation.h"
#include "common/stats.h"
#include "harness/counters/counters.h"
#include "harness/timing/stopwatch.h"

#include <math.h>
#include <stddef.h>

enum { LEARNING_PROBES = 256, ADDITIONS = 16384, STREAK_TO_BELIEVE = 3, LOW_STREAK_TO_BELIEVE = 64 };
static const double ALONE_FROM = 0.93; /* of what the core does alone; beside a sibling it is 0.5 to 0.7 */
static const double SIBLING_BELOW = 0.80;
static const double HIGHER_FROM = 1.05; /* better than anything believed so far */

/* Independent additions per second. */
static double additions_per_second(void)
{
    double begin = ulb_now();
    ulb_independent_adds(ADDITIONS);
    return ADDITIONS / (ulb_now() - begin);
}

static double additions_per_cycle(void)
{
    return additions_per_second() / ulb_chain_hz();
}

void ulb_core_watch_open(struct ulb_core_watch *watch)
{
    double readings[LEARNING_PROBES];
    size_t n = 0;
    *watch = (struct ulb_core_watch){.emulated = ulb_emulator() != NULL};
    for (int i = 0; i < LEARNING_PROBES; i++) {
        double reading = additions_per_cycle();
        if (!isnan(reading))
            readings[n++] = reading;
    }
    /* A high quantile, not the maximum: a reading is too high when the frequency beside it came out too low.
     */
    ulb_median(readings, n);
    watch->alone = n > 0 ? readings[n - 1 - n / 10] : 0;
}

/* A long row of readings between what a busy sibling leaves and what passes for alone: alone was learnt too
 * high. */
static void learn_lower(struct ulb_core_watch *watch, double reading)
{
    if (reading >= ALONE_FROM * watch->alone || reading < SIBLING_BELOW * watch->alone) {
        watch->low_streak = 0;
        return;
    }
    watch->lower = watch->low_streak == 0 || reading > watch->lower ? reading : watch->lower;
    if (++watch->low_streak >= LOW_STREAK_TO_BELIEVE) {
        watch->alone = watch->lower;
        watch->low_streak = 0;
    }
}

bool ulb_core_watch_judge(struct ulb_core_watch *watch, double reading)
{
    if (reading > HIGHER_FROM * watch->alone) {
        watch->higher = watch->streak == 0 || reading < watch->higher ? reading : watch->higher;
        if (++watch->streak >= STREAK_TO_BELIEVE) {
            watch->alone = watch->higher;
            watch->streak = 0;
        }
    } else {
        watch->streak = 0;
    }
    learn_lower(watch, reading);
    return reading >= ALONE_FROM * watch->alone;
}

bool ulb_core_watch_alone(struct ulb_core_watch *watch)
{
    double rate = additions_per_second();
    watch->hz = ulb_chain_hz();
    double reading = rate / watch->hz;
    return watch->emulated || isnan(reading) || ulb_core_watch_judge(watch, reading);
}
