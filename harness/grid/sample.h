/* One timed GEMV or GEMM of a grid's cell on the next copy of its weights. */
#ifndef ULB_HARNESS_GRID_SAMPLE_H
#define ULB_HARNESS_GRID_SAMPLE_H

#include "harness/compute/parallel_gemm.h"
#include "harness/grid/grid.h"
#include "harness/memory/cold_ring.h"

struct ulb_cell_sample {
    struct ulb_team *team;
    struct ulb_arena *arena;
    const struct ulb_reader *reader; /* of the yardstick */
    bool warm;
    struct ulb_grid_cell *cell;
    struct ulb_row_split split; /* the grid's: valid until the next cell is opened */
    struct ulb_team_gemm job;
};

/* In place: the job keeps a pointer to the split. */
void ulb_cell_sample_open(struct ulb_cell_sample *sample, struct ulb_session *session, struct ulb_grid *grid,
                          struct ulb_grid_cell *cell);

/* Seconds of one call, over batch of them on successive copies; cold weights of calls that are not long are
 * led in to (harness/memory/memory_warmup.h). */
double ulb_cell_sample_time(struct ulb_cell_sample *sample, size_t batch);

/* The same of a plain read of as many bytes, by the yardstick's reader; no more than a sample of the
 * yardstick is read, and the time then scaled. */
double ulb_cell_sample_read(struct ulb_cell_sample *sample, size_t batch);

#endif
