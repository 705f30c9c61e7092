/* Why a kernel's gamma is what it is, and where that matters. Stated are its instruction mix, the lower limit
 * by each known core's ports, and what was measured here. Also where memory takes over on every platform. */
#ifndef ULB_HARNESS_ANALYSIS_EXPLAIN_H
#define ULB_HARNESS_ANALYSIS_EXPLAIN_H

#include "common/isa.h"
#include "models/platform/cores.h"
#include "kernels/kernel.h"
#include "results/record/record.h"

#include <jansson.h>

struct ulb_explain {
    const struct ulb_core_list *cores;
    const struct ulb_record *record; /* topology, gamma and beta of this machine, as far as measured */
    ulb_isa_set isa;                 /* of this CPU */
    ulb_isa_set masked;              /* not to be used */
};

/* One object: kernel, mix, "bounds" by core, "tile", "measured" by class, "turning_points" by platform and
 * class. "tile" has mix and bounds of the tokens that the kernel takes at once, and peak_share, the share of
 * the compute limit that such a bound allows; null for one. What could not be had is null with its reason.
 * The caller frees *out whatever the status. */
enum ulb_status ulb_explain_kernel(const struct ulb_explain *explain, const struct ulb_kernel *kernel,
                                   json_t **out, struct ulb_error *err);

#endif
