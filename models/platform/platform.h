/* Described machines: platform files (JSON) read into the models' struct ulb_platform.
 *
 * A platform file is one object:
 *   name, title, source       strings
 *   classes                   [{"name", "cores", "ghz", "core"}]: the core classes, clock under full load;
 * core is a name of the table of cores and may be left out unused_classes            [{"name", "cores",
 * "core"}]: cores of the chip that its figures leave out; may be left out itself bandwidth_gibps read
 * bandwidth of all cores in 2^30 bytes/s; or bandwidth_gbps, in 1e9 bytes/s fork_join_us parallel region and
 * barrier; null when unknown, with fork_join_us_reason gammas                    [{"format", "sequence",
 * "bytes_per_step", "cycles": {CLASS: number}}], may be empty
 */
#ifndef ULB_MODELS_PLATFORM_PLATFORM_H
#define ULB_MODELS_PLATFORM_PLATFORM_H

#include "common/status.h"
#include "models/models.h"

#include <jansson.h>
#include <stddef.h>

/* Name of built-in platform 0, 1, ...; NULL behind the last. */
const char *ulb_platform_builtin(size_t index);

/* Loads a built-in platform by name, else a file by path. ULB_BAD_INPUT: neither a known name (the message
 * lists them) nor a file that can be read, or a malformed file (the message names the file, the line or key
 * path, what is wrong and what is wanted). */
enum ulb_status ulb_platform_load(const char *name_or_file, struct ulb_platform *platform,
                                  struct ulb_error *err);

/* The same from the text of a platform file; origin is what messages call it. */
enum ulb_status ulb_platform_parse(const char *text, size_t bytes, const char *origin,
                                   struct ulb_platform *platform, struct ulb_error *err);

/* The platform in the form of a platform file; NULL when out of memory. */
json_t *ulb_platform_json(const struct ulb_platform *platform);

#endif
