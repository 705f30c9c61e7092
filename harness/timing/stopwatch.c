#include "harness/timing/stopwatch.h"

#include "common/stats.h"
#include "harness/counters/counters.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { CHAIN_ADDS = 32768, CHAIN_TRIES = 3, PROBE_RUNS = 15, REPETITION_RUNS = 3 };
static const double CHAIN_SPREAD_MAX = 0.05;

double ulb_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double shortest_run(double seconds, size_t n, void (*work)(void *arg, size_t n), void *arg)
{
    double shortest = INFINITY;
    for (int run = 0; run < REPETITION_RUNS && shortest >= seconds; run++) {
        double begin = ulb_now();
        work(arg, n);
        shortest = fmin(shortest, ulb_now() - begin);
    }
    return shortest;
}

size_t ulb_repetitions(double seconds, size_t most, void (*work)(void *arg, size_t n), void *arg)
{
    size_t n = 1;
    while (n < most && shortest_run(seconds, n, work, arg) < seconds)
        n *= 2;
    return n;
}

double ulb_slept(void)
{
    struct timespec awake, all;
    clock_gettime(CLOCK_MONOTONIC, &awake);
    clock_gettime(CLOCK_BOOTTIME, &all);
    return (double)(all.tv_sec - awake.tv_sec) + 1e-9 * (double)(all.tv_nsec - awake.tv_nsec);
}

double ulb_timer_step(void)
{
    double smallest = INFINITY;
    for (int i = 0; i < 1000; i++) {
        double begin = ulb_now(), end = ulb_now();
        if (end > begin && end - begin < smallest)
            smallest = end - begin;
    }
    return smallest;
}

double ulb_chain_hz(void)
{
#if defined(__x86_64__) || defined(__aarch64__)
    double best = INFINITY;
    for (int i = 0; i < CHAIN_TRIES; i++) {
        double begin = ulb_now();
        ulb_dependent_adds(CHAIN_ADDS);
        double seconds = ulb_now() - begin;
        best = seconds < best ? seconds : best;
    }
    return CHAIN_ADDS / best;
#else
    return NAN;
#endif
}

bool ulb_chain_probe(char reason[160])
{
    double hz[PROBE_RUNS];
    for (int i = 0; i < PROBE_RUNS; i++)
        hz[i] = ulb_chain_hz();
    struct ulb_stats stats = ulb_stats_of(hz, PROBE_RUNS, 1);
    double spread = stats.mad / stats.median;
    bool works = spread < CHAIN_SPREAD_MAX;
    if (isnan(stats.median))
        snprintf(reason, 160, "no chain of dependent additions for this architecture");
    else
        snprintf(reason, 160, "%.3f GHz, spread %.1f %% over %d calibrations%s", stats.median / 1e9,
                 100 * spread, PROBE_RUNS, works ? "" : ": too unsteady, is another process on this core?");
    return works;
}
