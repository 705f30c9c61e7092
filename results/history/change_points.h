/* Where a series of figures changed its level.
 *
 * The E-divisive family: Matteson and James (arXiv 1306.4933) with what Fleming et al. made of it for
 * performance records (Hunter, arXiv 2301.03034; Apache Otava). In overlapping windows, the split with the
 * largest energy divergence is taken as long as a t-test holds it possible (p <= 0.01). Then the least
 * significant changes are dropped, one by one, until all have p < 0.001 and the size asked for.
 *
 * Beyond Hunter: a level has three figures or more, outliers are clipped first, and p-values are corrected
 * for the number of splits. All on logarithms: a change is a ratio. */
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
