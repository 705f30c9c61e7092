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

/* The same under a name that no file has yet: where PATH.json is there, path becomes PATH-2.json and so on.
 * Two processes that name the same file at the same moment get one each. ULB_ENVIRONMENT also when path has
 * no room for the number. */
enum ulb_status ulb_write_new_file(char *path, size_t path_bytes, const char *text, size_t bytes,
                                   struct ulb_error *err);

/* What a page or a figure holds, near its begin or its end, so that a later one may replace it. */
#define ULB_FILE_MARK "drawn by ulb-bench"

/* Whether path may be written: nothing is there, or what bears the mark. ULB_BAD_INPUT for all else, with the
 * remedy. */
enum ulb_status ulb_file_may_replace(const char *path, const char *remedy, struct ulb_error *err);

#endif
