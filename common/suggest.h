/* "did you mean": the known name that is spelled most like an unknown one. */
#ifndef ULB_COMMON_SUGGEST_H
#define ULB_COMMON_SUGGEST_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { ULB_SUGGEST_BYTES = 64 }; /* longer names are never suggested */

struct ulb_suggestion {
    const char *word; /* the unknown one; need not end behind its length */
    size_t length;
    size_t edits;                 /* of the nearest name so far */
    bool tied;                    /* another name is as near */
    char near[ULB_SUGGEST_BYTES]; /* that name; "": none */
    char head[ULB_SUGGEST_BYTES]; /* the longest name that the word begins with; "": none */
};

/* The word must outlive the suggestion. */
struct ulb_suggestion ulb_suggest(const char *word, size_t length);

/* Considers a known name. A name is near if at most a third of the word's characters are wrong: changed,
 * missing, surplus, or swapped with the next. Case does not count. */
void ulb_suggest_name(struct ulb_suggestion *suggestion, const char *name);

/* The nearest name, unless another one is as near: a choice among equals is a guess. Else the longest name
 * that the word begins with. NULL: neither. */
const char *ulb_suggested(const struct ulb_suggestion *suggestion);

/* ULB_BAD_INPUT: "WHAT 'WORD'; did you mean 'NAME'?", or "WHAT 'WORD'; OTHERWISE" if no name is suggested. */
enum ulb_status ulb_refuse_unknown(const struct ulb_suggestion *suggestion, const char *what,
                                   const char *otherwise, struct ulb_error *err);

#endif
