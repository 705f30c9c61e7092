/* Where a series of figures changed its level.
 *
 * Seeded binary segmentation (Kovács, Li, Bühlmann and Munk, Biometrika 2023): the best split of each of a
 * fixed set of intervals of all lengths, the narrowest significant one first. A split is significant when the
 * squared difference of the two means, in units of the noise, exceeds 6 log n; the noise is the median step
 * from one figure to the next, so that a change does not count as noise. Single outliers are clipped first.
 * What remains and is smaller than asked for is joined again. All on logarithms: a change is a ratio. */
#ifndef ULB_RESULTS_HISTORY_CHANGE_POINTS_H
#define ULB_RESULTS_HISTORY_CHANGE_POINTS_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ulb_change {
    size_t at;            /* the first figure of the new level */
    double before, after; /* medians of the level before and of the new one */
};

/* Finds the changes of n positive figures that are at least least (0.05: by 5 %) in size. exact: the figures
 * have no noise, so that every step counts; else a level has three figures or more. *changes is to be freed;
 * ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_find_changes(const double *values, size_t n, double least, bool exact,
                                 struct ulb_change **changes, size_t *n_changes, struct ulb_error *err);

#endif
