/* JSON from files: bounded memory, and the oddities of what Python writes. */
#include "common/json.h"
#include "shapes/config_keys.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* Memory of the parse in progress. jansson's allocator is the process's, so that it is set for one parse and
 * put back; blocks come from malloc() either way. */
static size_t used;
static bool exhausted, lacking; /* more than the bound, than the system has */

static void *bounded_malloc(size_t bytes)
{
    exhausted |= bytes > ULB_JSON_MEMORY_MAX || used > ULB_JSON_MEMORY_MAX - bytes;
    if (exhausted)
        return NULL;
    void *block = malloc(bytes);
    lacking |= !block;
    used += block ? malloc_usable_size(block) : 0;
    return block;
}

static void bounded_free(void *block)
{
    used -= block ? malloc_usable_size(block) : 0;
    free(block);
}

/* The length of NaN, Infinity or -Infinity at that place; 0 for anything else. */
static size_t not_finite(const char *at, const char *end)
{
    static const char *const words[] = {"NaN", "Infinity", "-Infinity"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - at) >= length && memcmp(at, words[i], length) == 0)
            return length;
    }
    return 0;
}

/* Python writes NaN and Infinity, which JSON does not have: each becomes ULB_JSON_NOT_FINITE and blanks. */
static void replace_not_finite(char *text, size_t bytes)
{
    static const char mark[] = ULB_JSON_NOT_FINITE;
    char *end = text + bytes;
    bool inside = false;
    for (char *at = text; at < end; at++) {
        if (*at == '"')
            inside = !inside;
        else if (inside && *at == '\\')
            at++;
        size_t length = inside ? 0 : not_finite(at, end);
        if (length == 0)
            continue;
        memset(at, ' ', length);
        memcpy(at, mark, sizeof mark - 1);
        at += length - 1;
    }
}

enum ulb_status ulb_json_parse(char *text, size_t bytes, size_t flags, json_t **out, bool *repeated,
                               struct ulb_error *err)
{
    json_malloc_t old_malloc;
    json_free_t old_free;
    json_error_t why;
    bool mark = bytes >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    if (mark)
        memset(text, ' ', 3);
    replace_not_finite(text, bytes);
    json_get_alloc_funcs(&old_malloc, &old_free);
    json_set_alloc_funcs(bounded_malloc, bounded_free);
    used = 0;
    exhausted = lacking = false;
    *out = json_loadb(text, bytes, flags, &why);
    json_set_alloc_funcs(old_malloc, old_free);
    *repeated = !*out && json_error_code(&why) == json_error_duplicate_key;
    if (*out && ulb_json_printable(*out))
        return ULB_OK;
    if (!exhausted && (*out || lacking || ulb_json_lacks_memory(&why))) {
        json_decref(*out);
        *out = NULL;
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read it");
    }
    if (exhausted)
        return ulb_fail(err, ULB_BAD_INPUT, "holds more values than %d MiB of memory have room for",
                        ULB_JSON_MEMORY_MAX >> 20);
    return ulb_fail(err, ULB_BAD_INPUT, "line %d: %.150s; not the JSON that it should be", why.line,
                    why.text);
}
