/* What the models expect of one cell of a grid. */
#ifndef ULB_HARNESS_PREDICTION_H
#define ULB_HARNESS_PREDICTION_H

#include "harness/grid.h"
#include "models/models.h"

struct ulb_prediction {
    struct ulb_gemv_prediction plain; /* the roofline; NAN without a gamma */
    double gamma;                     /* cycles per step of the class that decides; NAN where unknown */
    double tiles;                     /* of rows, of the most loaded thread */
};

/* yardstick: bytes/s beside the cell's samples. */
struct ulb_prediction ulb_predict_cell(const struct ulb_session *session, struct ulb_grid *grid,
                                       const struct ulb_grid_cell *cell, double yardstick);

/* Seconds with the kernel's overlap; NAN where that was not measured. */
double ulb_prediction_seconds(const struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                              const struct ulb_prediction *prediction);

#endif
