/* What the cells of a grid belong to: the record's sections that make tokens/s of cells. */
#ifndef ULB_HARNESS_GRID_DESCRIBE_MODELS_H
#define ULB_HARNESS_GRID_DESCRIBE_MODELS_H

#include "harness/grid/grid.h"

/* Positions of the context whose keys and values a token reads, unless another number is asked for. */
enum { ULB_DESCRIBED_CONTEXT = 4096 };

/* A model as the record's section "models" holds it; shapes: its fused ones. NULL without memory. */
json_t *ulb_describe_model(const struct ulb_model *model, const struct ulb_shape_list *shapes,
                           unsigned context);

/* Sets "models" in the record. Of each of the grid's models it has the matrices with how many of each a token
 * reads, and the head. It has the bytes of 16-bit keys and values of ULB_DESCRIBED_CONTEXT positions. */
enum ulb_status ulb_grid_describe_models(struct ulb_record *record, const struct ulb_grid *grid,
                                         struct ulb_error *err);

#endif
