/* Instructions of each kernel per step of 32 weights: a figure that no clock and no neighbour changes. Like
 * gamma it is the difference of two sizes, so that call and loop entry cancel. The sizes are the same on
 * every machine, so that the same compiler's build counts the same everywhere. */
#ifndef ULB_HARNESS_COMPUTE_INSTRUCTION_COUNT_H
#define ULB_HARNESS_COMPUTE_INSTRUCTION_COUNT_H

#include "harness/compute/gamma_loop.h"
#include "harness/session/session.h"

/* Counts every kernel that the session wants and adds it to the record: through perf_event where instructions
 * can be counted, else under valgrind's callgrind. A kernel that cannot be counted is null with the reason:
 * this CPU lacks what it needs, or valgrind does not know it. ULB_ENVIRONMENT when no kernel at all can be
 * counted, ULB_FINDING when a kernel differs from its scalar reference. */
enum ulb_status ulb_count_measure(struct ulb_session *session, struct ulb_error *err);

#endif
