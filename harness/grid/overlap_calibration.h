/* How well each kernel's loads and arithmetic overlap, measured on shapes of its own: no prediction is judged
 * by what it was made from. */
#ifndef ULB_HARNESS_GRID_OVERLAP_CALIBRATION_H
#define ULB_HARNESS_GRID_OVERLAP_CALIBRATION_H

#include "harness/grid/grid.h"

/* Takes the overlap of every kernel from the samples of the grid's calibrating cells, for the predictions,
 * and appends it to the record. Without samples it is NAN, with the reason in the record. */
enum ulb_status ulb_overlap_measure(struct ulb_grid *grid, struct ulb_record *record, struct ulb_error *err);

#endif
