#include "models/platform/json_read.h"

#include "common/text.h"
#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ulb_json_enter(struct ulb_place *inner, const struct ulb_place *outer, const char *key, size_t index,
                    const json_t *object)
{
    inner->origin = outer->origin;
    inner->object = object;
    snprintf(inner->path, sizeof inner->path, "%.40s%.20s[%zu].", outer->path, key, index);
}

enum ulb_status ulb_json_require(const struct ulb_place *place, const char *key, const char *wanted,
                                 const json_t **value, struct ulb_error *err)
{
    *value = json_object_get(place->object, key);
    if (!*value)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s%s is missing; give %s", place->origin, place->path, key,
                        wanted);
    return ULB_OK;
}

enum ulb_status ulb_json_refuse(const struct ulb_place *place, const char *key, const char *wanted,
                                const json_t *value, struct ulb_error *err)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    ulb_fail(err, ULB_BAD_INPUT, "%s: %s%s is %.40s; it must be %s", place->origin, place->path, key,
             text ? text : "wrong", wanted);
    free(text);
    return ULB_BAD_INPUT;
}

enum ulb_status ulb_json_string(const struct ulb_place *place, const char *key, char *out, size_t out_bytes,
                                struct ulb_error *err)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a string of 1 to %zu printable characters", out_bytes - 1);
    const json_t *value;
    enum ulb_status status = ulb_json_require(place, key, wanted, &value, err);
    if (status != ULB_OK)
        return status;
    size_t length = json_string_length(value); /* 0 for what is no string */
    if (length == 0 || length >= out_bytes)
        return ulb_json_refuse(place, key, wanted, value, err);
    const char *text = json_string_value(value);
    if (!ulb_text_is_printable(text))
        return ulb_json_refuse(place, key, wanted, value, err);
    memcpy(out, text, length + 1);
    return ULB_OK;
}

enum ulb_status ulb_json_number(const struct ulb_place *place, const char *key, const struct ulb_range *range,
                                double *out, struct ulb_error *err)
{
    const json_t *value;
    enum ulb_status status = ulb_json_require(place, key, range->wanted, &value, err);
    if (status != ULB_OK)
        return status;
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= range->min && number <= range->max) ||
        (range->whole && number != floor(number)))
        return ulb_json_refuse(place, key, range->wanted, value, err);
    *out = number;
    return ULB_OK;
}

enum ulb_status ulb_json_heading(const struct ulb_place *place, char name[ULB_PLATFORM_NAME],
                                 char title[ULB_PLATFORM_TITLE], char source[ULB_PLATFORM_SOURCE],
                                 struct ulb_error *err)
{
    enum ulb_status status = ulb_json_string(place, "name", name, ULB_PLATFORM_NAME, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "title", title, ULB_PLATFORM_TITLE, err);
    return status == ULB_OK ? ulb_json_string(place, "source", source, ULB_PLATFORM_SOURCE, err) : status;
}

enum ulb_status ulb_json_bandwidth(const struct ulb_place *place, double *bytes_per_s, struct ulb_error *err)
{
    static const struct ulb_range range = {0.001, 1e6, false, "a number from 0.001 to 1e6"};
    bool in_gib = json_object_get(place->object, "bandwidth_gibps") != NULL;
    bool in_gb = json_object_get(place->object, "bandwidth_gbps") != NULL;
    if (in_gib == in_gb)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s: give either bandwidth_gibps (2^30 bytes/s) or bandwidth_gbps (1e9 bytes/s)%s",
                        place->origin, in_gib ? ", not both" : "");
    double value;
    enum ulb_status status =
        ulb_json_number(place, in_gib ? "bandwidth_gibps" : "bandwidth_gbps", &range, &value, err);
    if (status == ULB_OK)
        *bytes_per_s = value * (in_gib ? ULB_GIB : ULB_GB);
    return status;
}

enum ulb_status ulb_json_list(const struct ulb_place *place, const char *key, size_t min, size_t max,
                              const json_t **list, struct ulb_error *err)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a list of %zu to %zu objects", min, max);
    enum ulb_status status = ulb_json_require(place, key, wanted, list, err);
    if (status != ULB_OK)
        return status;
    if (!json_is_array(*list))
        return ulb_json_refuse(place, key, wanted, *list, err);
    size_t n = json_array_size(*list);
    if (n < min || n > max)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s%s has %zu items; it must be %s", place->origin,
                        place->path, key, n, wanted);
    for (size_t i = 0; i < n; i++) {
        if (!json_is_object(json_array_get(*list, i)))
            return ulb_fail(err, ULB_BAD_INPUT, "%s: %s%s[%zu] is no object; it must be %s", place->origin,
                            place->path, key, i, wanted);
    }
    return ULB_OK;
}

enum ulb_status ulb_json_known_keys(const struct ulb_place *place, const char *const *known, size_t n_known,
                                    struct ulb_error *err)
{
    json_t *object = (json_t *)place->object; /* jansson iterates over non-const objects only */
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        const char *key = json_object_iter_key(at);
        size_t i = 0;
        while (i < n_known && strcmp(known[i], key) != 0)
            i++;
        if (i < n_known)
            continue;
        char list[256] = "";
        for (size_t j = 0; j < n_known; j++) {
            size_t used = strlen(list);
            snprintf(list + used, sizeof list - used, "%s%s", j ? ", " : "", known[j]);
        }
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s%.40s is an unknown key; known here are %s", place->origin,
                        place->path, key, list);
    }
    return ULB_OK;
}
