#include "harness/platform/platform.h"

#include "common/units.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One object of the document: where it stands, for messages. */
struct place {
    const char *origin; /* file or built-in name */
    char path[64];      /* "" or "classes[1]." */
    const json_t *object;
};

/* What a number may be, ends included. */
struct range {
    double min, max;
    bool whole;
    const char *wanted;
};

static const struct range cores_range = {1, 4096, true, "a whole number from 1 to 4096"};
static const struct range ghz_range = {0.001, 100, false, "a number from 0.001 to 100"};
static const struct range bandwidth_range = {0.001, 1e6, false, "a number from 0.001 to 1e6"};
static const struct range fork_join_range = {0, 1e6, false, "a number from 0 to 1e6, or null"};
static const struct range step_range = {0.01, 1024, false, "a number from 0.01 to 1024"};
static const struct range cycles_range = {0.001, 1e6, false, "a number from 0.001 to 1e6"};

/* Makes the place of the object key[index] inside outer. */
static void enter(struct place *inner, const struct place *outer, const char *key, size_t index,
                  const json_t *object)
{
    inner->origin = outer->origin;
    inner->object = object;
    snprintf(inner->path, sizeof inner->path, "%s[%zu].", key, index);
}

static enum ulb_status require(const struct place *place, const char *key, const char *wanted,
                               const json_t **value, struct ulb_error *err)
{
    *value = json_object_get(place->object, key);
    if (!*value)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s%s is missing; give %s", place->origin, place->path, key,
                        wanted);
    return ULB_OK;
}

static enum ulb_status refuse(const struct place *place, const char *key, const char *wanted,
                              const json_t *value, struct ulb_error *err)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    ulb_fail(err, ULB_BAD_INPUT, "%s: %s%s is %.40s; it must be %s", place->origin, place->path, key,
             text ? text : "wrong", wanted);
    free(text);
    return ULB_BAD_INPUT;
}

static enum ulb_status read_string(const struct place *place, const char *key, char *out, size_t out_bytes,
                                   struct ulb_error *err)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a string of 1 to %zu printable characters", out_bytes - 1);
    const json_t *value;
    enum ulb_status status = require(place, key, wanted, &value, err);
    if (status != ULB_OK)
        return status;
    size_t length = json_string_length(value); /* 0 for what is no string */
    if (length == 0 || length >= out_bytes)
        return refuse(place, key, wanted, value, err);
    const char *text = json_string_value(value);
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F)
            return refuse(place, key, wanted, value, err);
    }
    memcpy(out, text, length + 1);
    return ULB_OK;
}

static enum ulb_status read_number(const struct place *place, const char *key, const struct range *range,
                                   double *out, struct ulb_error *err)
{
    const json_t *value;
    enum ulb_status status = require(place, key, range->wanted, &value, err);
    if (status != ULB_OK)
        return status;
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= range->min && number <= range->max) ||
        (range->whole && number != floor(number)))
        return refuse(place, key, range->wanted, value, err);
    *out = number;
    return ULB_OK;
}

/* A list of min to max objects. */
static enum ulb_status read_list(const struct place *place, const char *key, size_t min, size_t max,
                                 const json_t **list, struct ulb_error *err)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "a list of %zu to %zu objects", min, max);
    enum ulb_status status = require(place, key, wanted, list, err);
    if (status != ULB_OK)
        return status;
    if (!json_is_array(*list))
        return refuse(place, key, wanted, *list, err);
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

/* A misspelt key would otherwise pass for a missing one. */
static enum ulb_status refuse_unknown_keys(const struct place *place, const char *const *known,
                                           size_t n_known, struct ulb_error *err)
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

static enum ulb_status parse_class(const struct place *place, struct ulb_platform_class *class,
                                   struct ulb_error *err)
{
    double cores, ghz;
    static const char *const keys[] = {"name", "cores", "ghz"};
    enum ulb_status status = refuse_unknown_keys(place, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = read_string(place, "name", class->name, sizeof class->name, err);
    if (status == ULB_OK)
        status = read_number(place, "cores", &cores_range, &cores, err);
    if (status == ULB_OK)
        status = read_number(place, "ghz", &ghz_range, &ghz, err);
    if (status != ULB_OK)
        return status;
    class->cores = (unsigned)cores;
    class->hz = ghz * 1e9;
    return ULB_OK;
}

static enum ulb_status parse_classes(const struct place *root, struct ulb_platform *platform,
                                     struct ulb_error *err)
{
    const json_t *list;
    enum ulb_status status = read_list(root, "classes", 1, ULB_MAX_CLASSES, &list, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(list); i++) {
        struct place place;
        enter(&place, root, "classes", i, json_array_get(list, i));
        status = parse_class(&place, &platform->classes[i], err);
        for (size_t j = 0; status == ULB_OK && j < i; j++) {
            if (strcmp(platform->classes[j].name, platform->classes[i].name) == 0)
                status = ulb_fail(err, ULB_BAD_INPUT, "%s: classes[%zu].name '%s' occurs twice; rename one",
                                  root->origin, i, platform->classes[i].name);
        }
        platform->n_classes = i + 1;
    }
    return status;
}

/* cycles: one number for every class of the platform and for nothing else. */
static enum ulb_status parse_cycles(const struct place *place, const struct ulb_platform *platform,
                                    struct ulb_platform_gamma *gamma, struct ulb_error *err)
{
    static const char wanted[] = "an object with one number per class";
    const json_t *value;
    enum ulb_status status = require(place, "cycles", wanted, &value, err);
    if (status != ULB_OK)
        return status;
    if (!json_is_object(value))
        return refuse(place, "cycles", wanted, value, err);
    struct place cycles = {.origin = place->origin, .object = value};
    snprintf(cycles.path, sizeof cycles.path, "%.40scycles.", place->path);

    const char *known[ULB_MAX_CLASSES];
    for (size_t c = 0; c < platform->n_classes; c++)
        known[c] = platform->classes[c].name;
    status = refuse_unknown_keys(&cycles, known, platform->n_classes, err);
    for (size_t c = 0; status == ULB_OK && c < platform->n_classes; c++)
        status = read_number(&cycles, platform->classes[c].name, &cycles_range, &gamma->cycles[c], err);
    return status;
}

static enum ulb_status parse_gamma(const struct place *place, const struct ulb_platform *platform,
                                   struct ulb_platform_gamma *gamma, struct ulb_error *err)
{
    static const char *const keys[] = {"format", "sequence", "bytes_per_step", "cycles"};
    enum ulb_status status = refuse_unknown_keys(place, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = read_string(place, "format", gamma->format, sizeof gamma->format, err);
    if (status == ULB_OK)
        status = read_string(place, "sequence", gamma->sequence, sizeof gamma->sequence, err);
    if (status == ULB_OK)
        status = read_number(place, "bytes_per_step", &step_range, &gamma->bytes_per_step, err);
    if (status == ULB_OK)
        status = parse_cycles(place, platform, gamma, err);
    return status;
}

static enum ulb_status parse_gammas(const struct place *root, struct ulb_platform *platform,
                                    struct ulb_error *err)
{
    const json_t *list;
    enum ulb_status status = read_list(root, "gammas", 0, ULB_MAX_GAMMAS, &list, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(list); i++) {
        struct ulb_platform_gamma *gamma = &platform->gammas[i];
        struct place place;
        enter(&place, root, "gammas", i, json_array_get(list, i));
        status = parse_gamma(&place, platform, gamma, err);
        if (status == ULB_OK && ulb_platform_gamma_find(platform, gamma->format, gamma->sequence))
            status = ulb_fail(err, ULB_BAD_INPUT, "%s: gammas[%zu]: %s/%s occurs twice; remove one",
                              root->origin, i, gamma->format, gamma->sequence);
        platform->n_gammas = i + 1;
    }
    return status;
}

static enum ulb_status parse_bandwidth(const struct place *root, struct ulb_platform *platform,
                                       struct ulb_error *err)
{
    bool in_gib = json_object_get(root->object, "bandwidth_gibps") != NULL;
    bool in_gb = json_object_get(root->object, "bandwidth_gbps") != NULL;
    if (in_gib == in_gb)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s: give either bandwidth_gibps (2^30 bytes/s) or bandwidth_gbps (1e9 bytes/s)%s",
                        root->origin, in_gib ? ", not both" : "");
    double value;
    enum ulb_status status =
        read_number(root, in_gib ? "bandwidth_gibps" : "bandwidth_gbps", &bandwidth_range, &value, err);
    if (status == ULB_OK)
        platform->bandwidth = value * (in_gib ? ULB_GIB : ULB_GB);
    return status;
}

static enum ulb_status parse_fork_join(const struct place *root, struct ulb_platform *platform,
                                       struct ulb_error *err)
{
    platform->fork_join_s = NAN;
    if (json_is_null(json_object_get(root->object, "fork_join_us"))) {
        char reason[128];
        return read_string(root, "fork_join_us_reason", reason, sizeof reason, err);
    }
    double us;
    enum ulb_status status = read_number(root, "fork_join_us", &fork_join_range, &us, err);
    if (status == ULB_OK)
        platform->fork_join_s = us * 1e-6;
    return status;
}

static enum ulb_status parse_document(const struct place *root, struct ulb_platform *platform,
                                      struct ulb_error *err)
{
    static const char *const keys[] = {"name",           "title",        "source",
                                       "classes",        "gammas",       "bandwidth_gibps",
                                       "bandwidth_gbps", "fork_join_us", "fork_join_us_reason"};
    enum ulb_status status = refuse_unknown_keys(root, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = read_string(root, "name", platform->name, sizeof platform->name, err);
    if (status == ULB_OK)
        status = read_string(root, "title", platform->title, sizeof platform->title, err);
    if (status == ULB_OK)
        status = read_string(root, "source", platform->source, sizeof platform->source, err);
    if (status == ULB_OK)
        status = parse_classes(root, platform, err);
    if (status == ULB_OK)
        status = parse_bandwidth(root, platform, err);
    if (status == ULB_OK)
        status = parse_fork_join(root, platform, err);
    if (status == ULB_OK)
        status = parse_gammas(root, platform, err);
    return status;
}

enum ulb_status ulb_platform_parse(const char *text, size_t bytes, const char *origin,
                                   struct ulb_platform *platform, struct ulb_error *err)
{
    memset(platform, 0, sizeof *platform);
    json_error_t place;
    json_t *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &place);
    if (!document)
        return ulb_fail(err, ULB_BAD_INPUT, "%s, line %d: %s; correct the JSON", origin, place.line,
                        place.text);
    enum ulb_status status;
    if (json_is_object(document)) {
        struct place root = {.origin = origin, .object = document};
        status = parse_document(&root, platform, err);
    } else {
        status = ulb_fail(err, ULB_BAD_INPUT, "%s: holds no JSON object; give one with name, classes, ...",
                          origin);
    }
    json_decref(document);
    return status;
}
