#include "common/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HEAD_LEAST = 3 }; /* a shorter name begins many words by chance */

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits that make one text the other: Levenshtein's, and swaps of neighbours. Both texts are shorter than
 * ULB_SUGGEST_BYTES. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    unsigned char at[ULB_SUGGEST_BYTES][ULB_SUGGEST_BYTES];
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                at[i][j] = (unsigned char)(i + j);
                continue;
            }
            size_t edits = least(at[i - 1][j - 1] + !same(a[i - 1], b[j - 1]),
                                 least(at[i - 1][j], at[i][j - 1]) + (size_t)1);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                edits = least(edits, at[i - 2][j - 2] + (size_t)1);
            at[i][j] = (unsigned char)edits;
        }
    }
    return at[n][m];
}

struct ulb_suggestion ulb_suggest(const char *word, size_t length)
{
    return (struct ulb_suggestion){.word = word, .length = length};
}

static void consider_head(struct ulb_suggestion *s, const char *name, size_t length)
{
    if (length < HEAD_LEAST || length >= s->length || length <= strlen(s->head))
        return;
    size_t i = 0;
    while (i < length && same(name[i], s->word[i]))
        i++;
    if (i == length)
        memcpy(s->head, name, length + 1);
}

void ulb_suggest_name(struct ulb_suggestion *s, const char *name)
{
    size_t length = strlen(name);
    if (length >= ULB_SUGGEST_BYTES || strcmp(name, s->near) == 0)
        return;
    consider_head(s, name, length);
    if (s->length >= ULB_SUGGEST_BYTES)
        return;
    size_t edits = distance(s->word, s->length, name, length);
    if (edits > s->length / 3 || (s->near[0] && edits > s->edits))
        return;
    s->tied = s->near[0] && edits == s->edits;
    s->edits = edits;
    memcpy(s->near, name, length + 1);
}

const char *ulb_suggested(const struct ulb_suggestion *s)
{
    if (s->near[0] && !s->tied)
        return s->near;
    return s->head[0] ? s->head : NULL;
}

enum ulb_status ulb_refuse_unknown(const struct ulb_suggestion *s, const char *what, const char *otherwise,
                                   struct ulb_error *err)
{
    enum { SHOWN = 200 };
    const char *name = ulb_suggested(s);
    int shown = (int)least(s->length, SHOWN);
    if (name)
        return ulb_fail(err, ULB_BAD_INPUT, "%s '%.*s'; did you mean '%s'?", what, shown, s->word, name);
    return ulb_fail(err, ULB_BAD_INPUT, "%s '%.*s'; %s", what, shown, s->word, otherwise);
}
