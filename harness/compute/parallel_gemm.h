/* One matrix product by the team, its rows shared out by a split. */
#ifndef ULB_HARNESS_COMPUTE_PARALLEL_GEMM_H
#define ULB_HARNESS_COMPUTE_PARALLEL_GEMM_H

#include "harness/memory/cold_ring.h"
#include "harness/threads/split.h"
#include "harness/threads/team.h"
#include "kernels/kernel.h"

struct ulb_team_gemm {
    const struct ulb_kernel *kernel;
    struct ulb_gemm gemm; /* m0 and m1 are the split's */
    struct ulb_row_split *split;
};

/* A split of the rows of a kernel's product of m rows and n tokens (ulb_split_of()). Of many tokens a tile
 * has parts: some threads would else have a tile less to do than others. */
struct ulb_row_split ulb_gemm_split(enum ulb_split kind, const struct ulb_kernel *kernel, size_t m, size_t n,
                                    size_t threads, const double *thread_shares,
                                    struct ulb_tile_range *ranges);

/* Leaves out the inputs of the first tokens of a call. */
void ulb_gemm_skip_inputs(struct ulb_gemm *g, enum ulb_activation activation, size_t tokens);

/* The call of a piece of a split with parts. */
struct ulb_gemm ulb_gemm_piece(const struct ulb_gemm *all, enum ulb_activation activation,
                               const struct ulb_row_split *split, const struct ulb_split_piece *piece);

void ulb_team_gemm_run(struct ulb_team *team, struct ulb_team_gemm *job);

/* Wakes memory up for a call of job that follows at once (harness/memory/cold_ring.h). It runs the same
 * product on the next pieces of arena, of fewer rows if they are many. That also brings back code,
 * activations and the team from whatever ran before. y is written. Nothing in an emulator. */
void ulb_team_gemm_warm_up(struct ulb_team *team, const struct ulb_team_gemm *job, struct ulb_arena *arena);

#endif
