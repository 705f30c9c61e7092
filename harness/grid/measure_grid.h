/* The grids: every wanted kernel over the shapes of the models, one token (GEMV) or many (GEMM), cold or
 * warm, beside both limits and, for one token, the prediction. */
#ifndef ULB_HARNESS_GRID_MEASURE_GRID_H
#define ULB_HARNESS_GRID_MEASURE_GRID_H

#include "harness/session/session.h"

enum ulb_product { ULB_GEMV, ULB_GEMM };

/* Measures the grid and appends its cells to the record. Every kernel is verified at every shape and number
 * of tokens, with the team and the split that are timed, before anything is timed; a kernel that differs is
 * ULB_FINDING. On ULB_INTERRUPTED the cells measured so far are in the record. */
enum ulb_status ulb_grid_measure(struct ulb_session *session, enum ulb_product product,
                                 const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err);

/* Bytes of the largest packed matrix of the grid, for ulb_session_arena(). ULB_BAD_INPUT for an unknown model
 * and for what is no shape or number of tokens. */
enum ulb_status ulb_grid_largest(const struct ulb_session *session, enum ulb_product product,
                                 const struct ulb_kernel *const *kernels, size_t n, size_t *bytes,
                                 struct ulb_error *err);

/* The first shape of the GEMV grid and the largest, as a list for --shapes; one where they are the same. */
enum ulb_status ulb_grid_two_shapes(const struct ulb_session *session,
                                    const struct ulb_kernel *const *kernels, size_t n, char *list,
                                    size_t bytes, struct ulb_error *err);

#endif
