/* Time and core cycles.
 *
 * Cycles come from the first source of this ladder that works, and every figure says which:
 * - papi;
 * - perf: counters of the core's own PMU;
 * - chain: time multiplied by the core's frequency, which a chain of dependent additions measures right
 * before and after;
 * - tsc: time-stamp ticks, which are not core cycles.
 * In an emulator it is emulated: consistent numbers that say nothing about any CPU. */
#ifndef ULB_HARNESS_TIMING_CLOCK_H
#define ULB_HARNESS_TIMING_CLOCK_H

#include "harness/counters/counters.h"
#include "harness/timing/smt_interference.h"
#include "harness/timing/stopwatch.h"

#include <stdbool.h>

struct ulb_clock {
    const char *source; /* "papi", "perf", "chain", "tsc", "emulated" */
    char reason[512];   /* why not a source higher up */
    bool counting;
    struct ulb_cycle_counter counter;
    struct ulb_interference_monitor monitor;
    double retry_budget_s; /* seconds that may still be spent on disturbed samples */
    bool shared_core; /* the retry budget is used up: disturbed samples are taken too, and the caller says so
                       */
    unsigned drifted; /* calibrations in a row between which the frequency moved */
    bool unsteady;    /* so many that it never stands still: such samples are taken too, as above */
};

/* The best source for the calling thread, and why none higher up. No counter is left open: PAPI counts for
 * one at a time in a thread. */
struct ulb_clock_source {
    const char *name;
    char reason[512];
};
struct ulb_clock_source ulb_clock_probe(void);

/* Opens the best source for the calling thread, which should be pinned already. A neighbour's busy spell may
 * last seconds: retry_budget_s is how many to wait in all. */
void ulb_clock_open(struct ulb_clock *clock, double retry_budget_s);
void ulb_clock_close(struct ulb_clock *clock);

/* Runs work(arg) once; returns its core cycles and stores the seconds. NAN asks the caller to repeat the
 * sample. The core was then not free of interference before and after (unless shared_core). Or, with source
 * chain, its frequency moved by more than 0.6 % between the calibrations before and after (unless unsteady).
 * A counter that others use, too, is given up for good: the source is the chain from then on, and reason says
 * so. */
double ulb_clock_cycles(struct ulb_clock *clock, void (*work)(void *arg), void *arg, double *seconds);

#endif
