#include "common/words.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static bool has_word(const char *list, const char *word, size_t length)
{
    for (list += strspn(list, ","); *list; list += strspn(list, ",")) {
        size_t other = strcspn(list, ",");
        if (other == length && memcmp(list, word, length) == 0)
            return true;
        list += other;
    }
    return false;
}

enum ulb_status ulb_words_differ(const char *what, const char *list, struct ulb_error *err)
{
    for (const char *word = list + strspn(list, ","); *word; word += strspn(word, ",")) {
        size_t length = strcspn(word, ",");
        if (has_word(word + length, word, length))
            return ulb_fail(err, ULB_BAD_INPUT, "%s '%.*s' is named twice", what, (int)length, word);
        word += length;
    }
    return ULB_OK;
}

bool ulb_words_have(const char *list, const char *word)
{
    return has_word(list, word, strlen(word));
}
