#include "shapes/shapes.h"

#include <stdlib.h>
#include <string.h>

/* A number at *text, which moves behind it; 0 when there is none in range. */
static size_t take_size(const char **text)
{
    char *end;
    if (**text < '0' || **text > '9')
        return 0;
    unsigned long long value = strtoull(*text, &end, 10);
    *text = end;
    return value <= ULB_SIZE_MAX ? (size_t)value : 0;
}

/* The length of the list's next item, to which *list moves over empty ones. */
static size_t next_item(const char **list)
{
    *list += strspn(*list, ",");
    return strcspn(*list, ",");
}

static bool read_shape(const char *item, size_t length, struct ulb_shape *shape)
{
    const char *at = item;
    shape->m = take_size(&at);
    bool separated = *at == 'x';
    at += separated;
    shape->k = take_size(&at);
    return separated && at == item + length && shape->m > 0 && shape->k > 0;
}

static bool read_tokens(const char *item, size_t length, size_t most, size_t *n)
{
    const char *at = item;
    *n = take_size(&at);
    return at == item + length && *n > 0 && *n <= most;
}

enum ulb_status ulb_shape_next(const char **list, struct ulb_shape *shape, bool *found, struct ulb_error *err)
{
    size_t length = next_item(list);
    *found = length > 0;
    if (!*found)
        return ULB_OK;
    if (!read_shape(*list, length, shape))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "'%.*s' is no shape: MxK is needed, e.g. 4096x14336, with M and K from 1 to %d",
                        (int)length, *list, ULB_SIZE_MAX);
    *list += length;
    const char *rest = *list;
    for (size_t n; (n = next_item(&rest)) > 0; rest += n) {
        struct ulb_shape other;
        if (read_shape(rest, n, &other) && other.m == shape->m && other.k == shape->k)
            return ulb_fail(err, ULB_BAD_INPUT, "shape '%.*s' is named twice", (int)n, rest);
    }
    return ULB_OK;
}

enum ulb_status ulb_tokens_next(const char **list, size_t most, size_t *n, bool *found, struct ulb_error *err)
{
    size_t length = next_item(list);
    *found = length > 0;
    if (!*found)
        return ULB_OK;
    if (!read_tokens(*list, length, most, n))
        return ulb_fail(err, ULB_BAD_INPUT, "'%.*s' is no number of tokens: 1 to %zu is needed", (int)length,
                        *list, most);
    *list += length;
    const char *rest = *list;
    for (size_t item; (item = next_item(&rest)) > 0; rest += item) {
        size_t other;
        if (read_tokens(rest, item, most, &other) && other == *n)
            return ulb_fail(err, ULB_BAD_INPUT, "number of tokens '%.*s' is named twice", (int)item, rest);
    }
    return ULB_OK;
}
