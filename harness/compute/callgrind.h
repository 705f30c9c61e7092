/* Counting under valgrind's tool callgrind: the program runs itself there, its loops alone, and reads what
 * valgrind writes about them. */
#ifndef ULB_HARNESS_COMPUTE_CALLGRIND_H
#define ULB_HARNESS_COMPUTE_CALLGRIND_H

#include "harness/session/settings.h"

#include <stdbool.h>

/* The two sizes at which a kernel's instructions are counted are those that gamma has with an L1 of this
 * size. */
enum { ULB_COUNT_L1_BYTES = 32 << 10 };

/* Whether this process runs under valgrind. */
bool ulb_under_valgrind(void);

/* What that process does. It runs the loops of every kernel that the settings want and valgrind's CPU can
 * run. It has callgrind dump the instructions of each. Prints nothing. */
enum ulb_status ulb_callgrind_loops(const struct ulb_settings *settings, struct ulb_error *err);

/* Runs such a process with the settings' kernels. counts[i] is of ulb_kernels[i]: the instructions of one
 * call at the larger size less those of one at the smaller; NAN if there is none. ULB_ENVIRONMENT with the
 * reason: valgrind is missing or stopped early. What it had counted until then is there. */
enum ulb_status ulb_callgrind_count(const struct ulb_settings *settings, double *counts,
                                    struct ulb_error *err);

#endif
