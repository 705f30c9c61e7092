/* Marker regions: `likwid-perfctr -m ... ulb-bench ...` counts each measured region by itself. Outside
 * likwid-perfctr they cost one load and one branch. */
#ifndef ULB_HARNESS_COUNTERS_MARKER_H
#define ULB_HARNESS_COUNTERS_MARKER_H

#include "common/status.h"

#include <stdbool.h>

/* Set by ulb_marker_init when the process runs under likwid-perfctr -m. */
extern bool ulb_marker_active;

/* Once, before the threads that measure start; and once after they ended: close writes LIKWID's result file.
 * ULB_ENVIRONMENT: likwid-perfctr -m started this process, but LIKWID's library cannot be loaded. */
enum ulb_status ulb_marker_init(struct ulb_error *err);
void ulb_marker_close(void);

void ulb_marker_region(const char *name, bool begin);

/* Around a measured region, by every thread that takes part. Regions of one thread do not overlap. */
static inline void ulb_marker_start(const char *name)
{
    if (ulb_marker_active)
        ulb_marker_region(name, true);
}

static inline void ulb_marker_stop(const char *name)
{
    if (ulb_marker_active)
        ulb_marker_region(name, false);
}

#endif
