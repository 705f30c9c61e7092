#include "harness/timing/smt_interference.h"

#include "common/emulation.h"
#include "common/stats.h"
#include "harness/counters/counters.h"
#include "harness/timing/stopwatch.h"

#include <math.h>
#include <stddef.h>

enum { LEARNING_PROBES = 256, ADDITIONS = 16384, STREAK_TO_BELIEVE = 3, LOW_STREAK_TO_BELIEVE = 64 };
static const double QUIET_FROM = 0.93; /* of what the core does alone; beside a sibling it is 0.5 to 0.7 */
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

void ulb_interference_monitor_open(struct ulb_interference_monitor *monitor)
{
    double readings[LEARNING_PROBES];
    size_t n = 0;
    *monitor = (struct ulb_interference_monitor){.emulated = ulb_emulator() != NULL};
    for (int i = 0; i < LEARNING_PROBES; i++) {
        double reading = additions_per_cycle();
        if (!isnan(reading))
            readings[n++] = reading;
    }
    /* A high quantile, not the maximum: a reading is too high when the frequency beside it came out too low.
     */
    ulb_median(readings, n);
    monitor->baseline = n > 0 ? readings[n - 1 - n / 10] : 0;
}

/* A long row of readings between what a busy sibling leaves and what passes for alone: alone was learnt too
 * high. */
static void learn_lower(struct ulb_interference_monitor *monitor, double reading)
{
    if (reading >= QUIET_FROM * monitor->baseline || reading < SIBLING_BELOW * monitor->baseline) {
        monitor->low_streak = 0;
        return;
    }
    monitor->lower = monitor->low_streak == 0 || reading > monitor->lower ? reading : monitor->lower;
    if (++monitor->low_streak >= LOW_STREAK_TO_BELIEVE) {
        monitor->baseline = monitor->lower;
        monitor->low_streak = 0;
    }
}

bool ulb_interference_monitor_judge(struct ulb_interference_monitor *monitor, double reading)
{
    if (reading > HIGHER_FROM * monitor->baseline) {
        monitor->higher = monitor->streak == 0 || reading < monitor->higher ? reading : monitor->higher;
        if (++monitor->streak >= STREAK_TO_BELIEVE) {
            monitor->baseline = monitor->higher;
            monitor->streak = 0;
        }
    } else {
        monitor->streak = 0;
    }
    learn_lower(monitor, reading);
    return reading >= QUIET_FROM * monitor->baseline;
}

bool ulb_core_is_interference_free(struct ulb_interference_monitor *monitor)
{
    double rate = additions_per_second();
    monitor->hz = ulb_chain_hz();
    double reading = rate / monitor->hz;
    return monitor->emulated || isnan(reading) || ulb_interference_monitor_judge(monitor, reading);
}
