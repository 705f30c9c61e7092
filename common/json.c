#include "common/json.h"

#include "common/text.h"

#include <stdlib.h>
#include <string.h>

atomic_bool ulb_json_ran_out;

/* A copy to be freed; NULL: no memory. */
static char *printable(const char *text)
{
    char *copy = strdup(text);
    if (copy)
        ulb_text_printable(copy);
    return copy;
}

static bool clean_text(json_t *text)
{
    char *copy = printable(json_string_value(text));
    bool done = copy && (strcmp(copy, json_string_value(text)) == 0 || json_string_set(text, copy) == 0);
    free(copy);
    return done;
}

/* The object again under printable keys, of which two alike leave the last. */
static bool clean_keys(json_t *object)
{
    const char *key;
    json_t *value, *copy = json_object();
    bool done = copy != NULL;
    json_object_foreach(object, key, value)
    {
        char *clean = done ? printable(key) : NULL;
        done = clean && json_object_set(copy, clean, value) == 0;
        free(clean);
    }
    done = done && json_object_clear(object) == 0 && json_object_update(object, copy) == 0;
    json_decref(copy);
    return done;
}

static bool has_clean_keys(json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!ulb_text_is_printable(key))
            return false;
    }
    return true;
}

bool ulb_json_printable(json_t *document)
{
    const char *key;
    size_t i;
    json_t *value;
    if (json_is_string(document))
        return ulb_text_is_printable(json_string_value(document)) || clean_text(document);
    if (json_is_object(document) && !has_clean_keys(document) && !clean_keys(document))
        return false;
    json_object_foreach(document, key, value)
    {
        if (!ulb_json_printable(value))
            return false;
    }
    json_array_foreach(document, i, value)
    {
        if (!ulb_json_printable(value))
            return false;
    }
    return true;
}

/* ---- hashing ---- */

/* Every bit of value reaches every bit of the hash (the finaliser of splitmix64). */
static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash + 0x9E3779B97F4A7C15) ^ value;
    hash = (hash ^ hash >> 30) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ hash >> 27) * 0x94D049BB133111EB;
    return hash ^ hash >> 31;
}

static uint64_t hash_bytes(const char *bytes, size_t n)
{
    uint64_t hash = 0xCBF29CE484222325; /* FNV-1a */
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3;
    return mix(hash, n);
}

uint64_t ulb_json_hash_more(uint64_t hash, const json_t *document)
{
    const char *key;
    json_t *value;
    size_t i;
    uint64_t sum = 0;
    hash = mix(hash, (uint64_t)json_typeof(document));
    json_array_foreach(document, i, value)
    {
        hash = ulb_json_hash_more(hash, value);
    }
    json_object_foreach((json_t *)(uintptr_t)document, key, value) /* in any order */
    {
        sum += ulb_json_hash_more(hash_bytes(key, strlen(key)), value);
    }
    if (json_is_string(document))
        sum = hash_bytes(json_string_value(document), json_string_length(document));
    else if (json_is_integer(document))
        sum = (uint64_t)json_integer_value(document);
    else if (json_is_real(document)) {
        double number = json_real_value(document) + 0.0; /* of two zeros one */
        memcpy(&sum, &number, sizeof sum);
    }
    return mix(hash, sum);
}

/* What fails before the first character is looked at has no place. */
bool ulb_json_lacks_memory(const json_error_t *error)
{
    return json_error_code(error) == json_error_out_of_memory || error->line < 0 ||
           atomic_load(&ulb_json_ran_out);
}

enum ulb_status ulb_json_load(json_t **document, const char *text, size_t bytes, size_t flags,
                              const char *name, struct ulb_error *err)
{
    json_error_t why;
    *document = json_loadb(text, bytes, flags, &why);
    if (!*document && !ulb_json_lacks_memory(&why))
        return ulb_fail(err, ULB_BAD_INPUT, "%.200s: line %d, column %d: %s", name, why.line, why.column,
                        why.text);
    if (*document)
        return ULB_OK;
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "%.200s: not enough memory to read it; free memory or raise ulimit -v", name);
}
