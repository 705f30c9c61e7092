/* What the models expect of one cell of a grid. */
#ifndef ULB_HARNESS_GRID_PREDICTION_H
#define ULB_HARNESS_GRID_PREDICTION_H

#include "harness/grid/grid.h"
#include "models/models.h"

struct ulb_prediction {
    struct ulb_gemv_prediction plain; /* the roofline; NAN without a gamma */
    double gamma;                     /* cycles per step of the class that decides; NAN where unknown */
    double tiles;                     /* of rows, of the most loaded thread */
};

/* The prediction for a machine that reads so many bytes/s and whose cores compute at these rates, by class.
 */
struct ulb_prediction ulb_predict_cell(struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                       double yardstick, const struct ulb_core_rate *rates);

/* The prediction for the machine as it mostly was: medians of the yardstick sampled around the cell and of
 * the kernel's rates. */
struct ulb_prediction ulb_predict_cell_mostly(struct ulb_grid *grid, const struct ulb_grid_cell *cell);

/* The prediction for the machine as it was around the samples of a round. */
struct ulb_prediction ulb_predict_cell_round(struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                             size_t round);

/* Seconds with the kernel's overlap; NAN where that was not measured. */
double ulb_prediction_seconds(const struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                              const struct ulb_prediction *prediction);

/* Median of a cell's samples of a round, seconds. */
double ulb_cell_round_seconds(const struct ulb_grid_cell *cell, size_t round);

#endif
