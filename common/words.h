/* Comma lists of words that the user gives. */
#ifndef ULB_COMMON_WORDS_H
#define ULB_COMMON_WORDS_H

#include "common/status.h"

#include <stdbool.h>

/* ULB_BAD_INPUT when a word of the list comes twice: "WHAT 'WORD' is named twice". */
enum ulb_status ulb_words_differ(const char *what, const char *list, struct ulb_error *err);

/* Whether a word of the list is this one. */
bool ulb_words_have(const char *list, const char *word);

#endif
