/* What the cells of a grid belong to: the record's sections that make tokens/s of cells. */
#ifndef ULB_HARNESS_GRID_DESCRIBE_MODELS_H
#define ULB_HARNESS_GRID_DESCRIBE_MODELS_H

#include "harness/grid/grid.h"

/* Positions of the context whose keys and values a described model reads for each token. */
enum { ULB_DESCRIBED_CONTEXT = 4096 };

/* Sets "models" in the record: of each of the grid's models the matrices, with how many of each a token
 * reads, the head, and the bytes of 16-bit keys and values of ULB_DESCRIBED_CONTEXT positions. */
enum ulb_status ulb_grid_describe_models(struct ulb_record *record, const struct ulb_grid *grid,
                                         struct ulb_error *err);

#endif
