/* Files that are there as a whole or not at all. */
#ifndef ULB_COMMON_FILE_H
#define ULB_COMMON_FILE_H

#include "common/status.h"

#include <stddef.h>

/* Writes the bytes to a temporary file beside path, syncs and renames it; a link stays a link to the new
 * file. On failure path is as it was before, unless its folder alone could not be synced. ULB_ENVIRONMENT
 * names the path and the reason (full disk, permission), ULB_BAD_INPUT a path that is no regular file, or a
 * link to nothing. */
enum ulb_status ulb_write_file(const char *path, const char *text, size_t bytes, struct ulb_error *err);

#endif
