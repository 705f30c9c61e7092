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

enum ulb_status ulb_shape_next(const char **list, struct ulb_shape *shape, bool *found, struct ulb_error *err)
{
    const char *at = *list;
    size_t length = strcspn(at, ",");
    *found = length > 0;
    if (!*found)
        return ULB_OK;
    shape->m = take_size(&at);
    bool separated = *at == 'x';
    at += separated;
    shape->k = take_size(&at);
    if (!separated || at != *list + length || shape->m == 0 || shape->k == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "'%.*s' is no shape: MxK is needed, e.g. 4096x14336, with M and K from 1 to %d",
                        (int)length, *list, ULB_SIZE_MAX);
    *list += length + ((*list)[length] == ',');
    return ULB_OK;
}

enum ulb_status ulb_tokens_next(const char **list, size_t most, size_t *n, bool *found, struct ulb_error *err)
{
    const char *at = *list;
    size_t length = strcspn(at, ",");
    *found = length > 0;
    if (!*found)
        return ULB_OK;
    *n = take_size(&at);
    if (at != *list + length || *n == 0 || *n > most)
        return ulb_fail(err, ULB_BAD_INPUT, "'%.*s' is no number of tokens: 1 to %zu is needed", (int)length,
                        *list, most);
    *list += length + ((*list)[length] == ',');
    return ULB_OK;
}
