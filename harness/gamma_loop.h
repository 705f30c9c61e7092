/* The loop that gamma is measured by: one kernel, weights in L1, at two sizes. The sizes are two lengths of K
 * for one tile of rows, so that call and tile overhead cancel; for a kernel that builds tables from the
 * activations two numbers of rows, so that the tables, which all rows of a real matrix share, cancel too. */
#ifndef ULB_HARNESS_GAMMA_LOOP_H
#define ULB_HARNESS_GAMMA_LOOP_H

#include "harness/clock.h"
#include "harness/problem.h"

struct ulb_gamma_loop {
    const struct ulb_kernel *kernel;
    struct ulb_gemm gemm;
    size_t calls; /* per timed run */
    struct ulb_problem problem;
    struct ulb_pages pages; /* packed weights, then one result per thread */
    size_t y_stride;        /* floats from one thread's result to the next */
};

struct ulb_gamma_pair {
    struct ulb_gamma_loop brief, full;
    double steps; /* of 32 weights between the two */
};

/* Makes both loops, checks the kernel against its scalar truth on them (ULB_FINDING when it differs) and sets
 * the calls so that a run lasts some 40 us. threads: how many will run the loops at the same time. */
enum ulb_status ulb_gamma_pair_open(struct ulb_gamma_pair *pair, const struct ulb_kernel *kernel,
                                    size_t l1_bytes, size_t threads, uint64_t seed, struct ulb_error *err);
void ulb_gamma_pair_close(struct ulb_gamma_pair *pair);

/* One timed run's work, for one thread: calls of the kernel. */
void ulb_gamma_loop_run(const struct ulb_gamma_loop *loop, size_t thread);

/* One call, which brings weights and activations back into L1 after other work. */
void ulb_gamma_loop_warm(const struct ulb_gamma_loop *loop, size_t thread);

#endif
