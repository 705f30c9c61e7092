/* Time, and the frequency of a core by a chain of dependent additions. */
#ifndef ULB_HARNESS_TIMING_STOPWATCH_H
#define ULB_HARNESS_TIMING_STOPWATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds since some fixed point, monotonic. */
double ulb_now(void);

/* Seconds that the system has been suspended since it booted: what CLOCK_BOOTTIME counts and CLOCK_MONOTONIC
 * does not. */
double ulb_slept(void);

/* How many repetitions take at least so many seconds: a power of two, at most `most`. work(arg, n) does n of
 * them. They take so long three times in a row: a pause of the machine is not the work's. */
size_t ulb_repetitions(double seconds, size_t most, void (*work)(void *arg, size_t n), void *arg);

/* Smallest step of ulb_now() seen in a burst of calls, seconds. */
double ulb_timer_step(void);

/* Frequency of the calling core now, Hz: one addition per cycle in a dependent chain. It takes about 10 us;
 * the best of three, so that an interrupt does not show. NAN on an architecture without the chain. */
double ulb_chain_hz(void);

/* Whether the chain repeats well enough to serve as a clock: the spread of 15 calibrations is below 5 %. The
 * reason is written in either case. */
bool ulb_chain_probe(char reason[160]);

#endif
