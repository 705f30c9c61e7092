/* Names of models in any case and spelling. */
#include "shapes/model.h"

#include <ctype.h>
#include <string.h>

enum { NAME_BYTES = 80 };

static bool is_separator(char c)
{
    return c == '-' || c == '_' || c == ' ';
}

/* Lower case, without separators but those between two digits: "Qwen 3_8B" and "qwen3-8b" are the same,
 * "qwen38b" is not. */
static void normalise(const char *name, char out[NAME_BYTES])
{
    size_t n = 0;
    for (const char *at = name; *at && n < NAME_BYTES - 2; at++) {
        bool between = n > 0 && isdigit((unsigned char)out[n - 1]) && isdigit((unsigned char)at[1]);
        if (!is_separator(*at))
            out[n++] = (char)tolower((unsigned char)*at);
        else if (between)
            out[n++] = '-';
    }
    out[n] = '\0';
}

static const struct ulb_model *find_normalised(const char *wanted)
{
    char name[NAME_BYTES], alias[NAME_BYTES];
    for (size_t i = 0; i < ulb_model_count && wanted[0]; i++) {
        normalise(ulb_models[i].name, name);
        normalise(ulb_models[i].alias, alias);
        if (strcmp(name, wanted) == 0 || strcmp(alias, wanted) == 0)
            return &ulb_models[i];
    }
    return NULL;
}

const struct ulb_model *ulb_model_find(const char *name)
{
    static const char *const tunes[] = {"instruct", "chat", "base", "it"}; /* the same sizes */
    char wanted[NAME_BYTES];
    normalise(name, wanted);
    const struct ulb_model *model = find_normalised(wanted);
    size_t length = strlen(wanted);
    for (size_t i = 0; i < sizeof tunes / sizeof *tunes && !model; i++) {
        size_t tail = strlen(tunes[i]);
        if (length <= tail || strcmp(wanted + length - tail, tunes[i]) != 0)
            continue;
        wanted[length - tail] = '\0';
        model = find_normalised(wanted);
        break;
    }
    return model;
}
