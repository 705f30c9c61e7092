/* Regular expressions that the user gives to choose among names: extended, anywhere in the name. */
#ifndef ULB_COMMON_FILTER_H
#define ULB_COMMON_FILTER_H

#include "common/status.h"

#include <regex.h>
#include <stdbool.h>

/* Freed by regfree(). option is what the user knows the text by ("--kernels"). ULB_BAD_INPUT for what is no
 * regular expression, or an empty one, ULB_ENVIRONMENT when memory is short. */
enum ulb_status ulb_filter_compile(regex_t *filter, const char *option, const char *text,
                                   struct ulb_error *err);

/* Whether a name matches; to match takes memory too. */
enum ulb_status ulb_filter_match(const regex_t *filter, const char *name, bool *matches,
                                 struct ulb_error *err);

#endif
