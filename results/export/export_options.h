/* What of a record is exported. */
#ifndef ULB_RESULTS_EXPORT_EXPORT_OPTIONS_H
#define ULB_RESULTS_EXPORT_EXPORT_OPTIONS_H

#include <stdbool.h>

struct ulb_export_options {
    const char *section; /* of a CSV: the array that it holds ("cells", "gamma.cells", ...); NULL: cells */
    bool summary;        /* in place of all values those of results/summary/dashboard.h */
};

#endif
