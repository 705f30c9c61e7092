#include "harness/timing/clock.h"

#include "common/emulation.h"

#include <math.h>
#include <stdio.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

enum { DRIFTS_MAX = 1000 };
static const double FREQUENCY_DRIFT_MAX = 0.006;

static double ticks(void)
{
#if defined(__x86_64__)
    return (double)__rdtsc();
#elif defined(__aarch64__)
    unsigned long long count;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
    return (double)count;
#else
    return ulb_now() * 1e9;
#endif
}

void ulb_clock_open(struct ulb_clock *clock, double retry_budget_s)
{
    *clock = (struct ulb_clock){.source = "tsc", .retry_budget_s = retry_budget_s};
    const char *emulator = ulb_emulator();
    if (emulator) {
        clock->source = "emulated";
        snprintf(clock->reason, sizeof clock->reason,
                 "run by %s, whose additions are no CPU's: no figure says anything about speed", emulator);
        return;
    }
    ulb_interference_monitor_open(&clock->monitor);
    struct ulb_error err;
    if (ulb_cycle_counter_open(&clock->counter, &err) == ULB_OK) {
        clock->counting = true;
        clock->source = ulb_cycle_counter_source(&clock->counter);
        return;
    }
    char chain[160];
    if (ulb_chain_probe(chain))
        clock->source = "chain";
    snprintf(clock->reason, sizeof clock->reason, "%s", err.message);
}

struct ulb_clock_source ulb_clock_probe(void)
{
    struct ulb_clock clock;
    struct ulb_clock_source source;
    ulb_clock_open(&clock, 0);
    source.name = clock.source;
    snprintf(source.reason, sizeof source.reason, "%s", clock.reason);
    ulb_clock_close(&clock);
    return source;
}

void ulb_clock_close(struct ulb_clock *clock)
{
    if (clock->counting)
        ulb_cycle_counter_close(&clock->counter);
    *clock = (struct ulb_clock){.source = "tsc"};
}

static double counted(struct ulb_clock *clock, void (*work)(void *), void *arg, double *seconds)
{
    double begin = ulb_now();
    uint64_t cycles = ulb_cycle_counter_read(&clock->counter);
    work(arg);
    cycles = ulb_cycle_counter_read(&clock->counter) - cycles;
    *seconds = ulb_now() - begin;
    if (clock->counter.sound)
        return (double)cycles;
    snprintf(clock->reason, sizeof clock->reason,
             "the counter of %s does not count all the time: something else uses the PMU", clock->source);
    ulb_cycle_counter_close(&clock->counter);
    clock->counting = false;
    clock->source = "chain";
    return NAN;
}

static double chained(struct ulb_clock *clock, void (*work)(void *), void *arg, double *seconds)
{
    double before = ulb_chain_hz();
    double begin = ulb_now();
    work(arg);
    *seconds = ulb_now() - begin;
    double after = ulb_chain_hz();
    bool steady = fabs(after - before) <= FREQUENCY_DRIFT_MAX * before;
    clock->drifted = steady ? 0 : clock->drifted + 1;
    clock->unsteady |= clock->drifted >= DRIFTS_MAX;
    return steady || clock->unsteady ? *seconds * (before + after) / 2 : NAN;
}

static double ticked(void (*work)(void *), void *arg, double *seconds)
{
    double begin = ulb_now();
    double cycles = ticks();
    work(arg);
    cycles = ticks() - cycles;
    *seconds = ulb_now() - begin;
    return cycles;
}

/* Consistent with the frequencies that the chain gives, and no more than that. */
static double emulated(void (*work)(void *), void *arg, double *seconds)
{
    double hz = ulb_chain_hz();
    double begin = ulb_now();
    work(arg);
    *seconds = ulb_now() - begin;
    return *seconds * hz;
}

static double any_source(struct ulb_clock *clock, void (*work)(void *), void *arg, double *seconds)
{
    if (clock->counting)
        return counted(clock, work, arg, seconds);
    if (clock->source[0] == 'c')
        return chained(clock, work, arg, seconds);
    return ticked(work, arg, seconds);
}

double ulb_clock_cycles(struct ulb_clock *clock, void (*work)(void *arg), void *arg, double *seconds)
{
    if (clock->source[0] == 'e')
        return emulated(work, arg, seconds);
    double begin = ulb_now();
    bool before = ulb_core_is_interference_free(&clock->monitor);
    double cycles = any_source(clock, work, arg, seconds);
    bool after = ulb_core_is_interference_free(&clock->monitor);
    if (clock->shared_core || (before && after))
        return cycles;
    clock->retry_budget_s -= ulb_now() - begin;
    clock->shared_core = clock->retry_budget_s <= 0;
    return NAN;
}
