/* Whole files in memory. */
#ifndef ULB_COMMON_SLURP_H
#define ULB_COMMON_SLURP_H

#include "common/status.h"

#include <stddef.h>

/* The bytes of a file, of "-" those of standard input, to be freed; also from a pipe, whose size nobody
 * knows. ULB_BAD_INPUT: it cannot be read, or is larger than most; ULB_ENVIRONMENT: no memory. */
enum ulb_status ulb_slurp(const char *path, size_t most, char **text, size_t *bytes, struct ulb_error *err);

#endif
