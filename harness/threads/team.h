/* A team of threads, one pinned to each PU of a set, kept alive between jobs. Thread 0 is the caller.
 *
 * Fork and join are a store and n-1 loads of cache lines of their own. They take a fraction of what an OpenMP
 * region costs: a GEMV of 10 us must not be measured through the runtime's barrier. */
#ifndef ULB_HARNESS_THREADS_TEAM_H
#define ULB_HARNESS_THREADS_TEAM_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ulb_team;

/* Starts n - 1 threads and pins all n, the caller included. ULB_ENVIRONMENT when a thread cannot be started
 * or a PU cannot be used (the message names it). If the system lets nobody pin, the team works unpinned: see
 * ulb_team_pin_refused(). */
enum ulb_status ulb_team_start(struct ulb_team **team, const unsigned *pus, size_t n, struct ulb_error *err);

/* Runs job(arg, thread) on every thread and returns when all are done. */
void ulb_team_run(struct ulb_team *team, void (*job)(void *arg, size_t thread), void *arg);

size_t ulb_team_size(const struct ulb_team *team);
const unsigned *ulb_team_pus(const struct ulb_team *team);

/* Ends the threads and gives the caller its affinity back. NULL is allowed. */
void ulb_team_stop(struct ulb_team *team);

/* Whether every core of the team is free of interference now (harness/timing/smt_interference.h), and no
 * other thread of this system ran in the place of a member since the last call. The first call learns, which
 * takes 10 ms. */
bool ulb_team_is_interference_free(struct ulb_team *team);

/* The errno with which a sandbox refused to pin threads; 0 when all are pinned. */
int ulb_team_pin_refused(const struct ulb_team *team);

/* ULB_ENVIRONMENT: ulb_team_is_interference_free() found a thread on another PU than its own that could not
 * be put back. The PU was switched off, or taken out of the cpuset. A thread that could be put back only
 * repeats its sample. */
enum ulb_status ulb_team_check(const struct ulb_team *team, struct ulb_error *err);

/* Core frequency at the last ulb_team_is_interference_free(), mean over the team, Hz; NAN where it could not
 * be had. */
double ulb_team_last_hz(const struct ulb_team *team);

/* Median seconds of an empty ulb_team_run(). */
double ulb_team_fork_join(struct ulb_team *team);

/* Core frequency of every thread while all are busy, Hz, the median of several readings. One reading alone is
 * halved if something else runs in its midst. hz has room for the team's size. */
void ulb_team_clock(struct ulb_team *team, double *hz);

/* The mean over the threads; NAN when memory is short. */
double ulb_team_hz(struct ulb_team *team);

/* Median seconds of an empty OpenMP parallel region on the same PUs. It is the overhead of a runtime built on
 * OpenMP under the present wait policy (OMP_WAIT_POLICY, GOMP_SPINCOUNT). In a process of its own, because
 * GCC's runtime ends the one it is in when it gets no memory or no thread; NAN then. */
double ulb_openmp_fork_join(const unsigned *pus, size_t n);

/* Samples taken while every core of a team is free of interference (harness/timing/smt_interference.h) and
 * keeps its frequency, and the system stays awake. They are repeated as far as the retry budget goes. */
struct ulb_noise_retry {
    struct ulb_team *team;
    unsigned tries;           /* for one sample, at most */
    double retry_budget_s;    /* seconds that may still go into samples that are thrown away */
    bool interference_free;   /* whether every core was free of interference after the last sample */
    double hz;                /* mean core frequency then; NAN unknown */
    bool last_disturbed;      /* whether the sample given back last was taken although something was not */
    size_t judged, disturbed; /* samples given back; how many of them were */
};

/* sample(arg), repeated until the cores were free of interference before and after it, or tries or retry
 * budget are used up.
 */
double ulb_retry_noisy(struct ulb_noise_retry *retry, double (*sample)(void *arg), void *arg);

#endif
