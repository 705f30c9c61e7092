/* The cells of a record that its sentences and its figures are about. */
#ifndef ULB_RESULTS_SUMMARY_CHOSEN_CELLS_H
#define ULB_RESULTS_SUMMARY_CHOSEN_CELLS_H

#include "results/record/record.h"

#include <stdbool.h>

/* The GEMV results to show: n = 1, one mode and one set of cores. Cold weights before
 * warm ones, the record's yardstick set before others. Pointers into cells; *chosen is freed by the caller.
 * ULB_BAD_INPUT when there are none. */
enum ulb_status ulb_choose_cells(const struct ulb_record *record, const struct ulb_cell *cells, size_t n,
                                 const struct ulb_cell ***chosen, size_t *n_chosen, struct ulb_error *err);

/* The mean share of the yardstick that a kernel's cells reached; NAN: none of them tells. */
double ulb_kernel_share(const struct ulb_cell *const *cells, size_t n, const char *kernel);

/* The same matrix of the same model. */
bool ulb_same_shape(const struct ulb_cell *a, const struct ulb_cell *b);

/* Cells in groups of one format and shape; within a group they keep their order in memory. */
struct ulb_cell_groups {
    const struct ulb_cell **cells;
    size_t n;
};
/* To be freed; false: no memory. */
bool ulb_group_cells(struct ulb_cell_groups *groups, const struct ulb_cell *const *cells, size_t n);
void ulb_cell_groups_free(struct ulb_cell_groups *groups);

/* The cells of a format at the shape of another cell. */
struct ulb_cell_groups ulb_cells_like(const struct ulb_cell_groups *groups, const char *format,
                                      const struct ulb_cell *shape);

#endif
