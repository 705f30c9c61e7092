/* Internal to models/platform/: where the text of a platform is. */
#ifndef ULB_MODELS_PLATFORM_PLATFORM_TEXT_H
#define ULB_MODELS_PLATFORM_PLATFORM_TEXT_H

#include "common/status.h"

#include <stddef.h>

/* A copy of a built-in platform's text, of a CPU or device, else of a file of at most 1 MiB; *text is freed
 * by the caller whatever the status. ULB_BAD_INPUT: neither a known name, which the message lists, nor
 * readable. */
enum ulb_status ulb_platform_text(const char *name_or_file, char **text, size_t *bytes,
                                  struct ulb_error *err);

#endif
