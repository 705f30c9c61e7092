/* Samples taken while every core of a team is free of interference (harness/timing/smt_interference.h), keeps
 * its frequency and the system stays awake, as far as the retry budget goes. */
#ifndef ULB_HARNESS_THREADS_RETRY_NOISY_H
#define ULB_HARNESS_THREADS_RETRY_NOISY_H

#include "harness/threads/team.h"

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
