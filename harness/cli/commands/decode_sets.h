/* The sets of cores that a decoded model is compared on. */
#ifndef ULB_HARNESS_CLI_COMMANDS_DECODE_SETS_H
#define ULB_HARNESS_CLI_COMMANDS_DECODE_SETS_H

#include "common/status.h"

#include <stddef.h>

enum { ULB_DECODE_SETS_MAX = 8 };

struct ulb_decode_sets {
    char names[ULB_DECODE_SETS_MAX][32]; /* as --set takes them */
    size_t n;
};

/* One core and two cores of the first class, as runs limited in threads have them, each class, all; none
 * twice.
 */
enum ulb_status ulb_decode_list_sets(struct ulb_decode_sets *sets, struct ulb_error *err);

#endif
