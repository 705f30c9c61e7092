#include "models/platform/platform.h"

#include "common/json.h"
#include "common/units.h"
#include "models/platform/cores.h"
#include "models/platform/json_read.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ulb_range cores_range = {1, 4096, true, "a whole number from 1 to 4096"};
static const struct ulb_range ghz_range = {0.001, 100, false, "a number from 0.001 to 100"};
static const struct ulb_range fork_join_range = {0, 1e6, false, "a number from 0 to 1e6, or null"};
static const struct ulb_range step_range = {0.01, 1024, false, "a number from 0.01 to 1024"};
static const struct ulb_range cycles_range = {0.001, 1e6, false, "a number from 0.001 to 1e6"};

/* The core is optional; a name that is given must be one of the table. */
static enum ulb_status parse_core(const struct ulb_place *place, struct ulb_platform_class *class,
                                  const struct ulb_core_list *cores, struct ulb_error *err)
{
    char known[400] = "";
    if (!json_object_get(place->object, "core"))
        return ULB_OK;
    enum ulb_status status = ulb_json_string(place, "core", class->core, sizeof class->core, err);
    if (status != ULB_OK || ulb_core_find(cores, class->core))
        return status;
    for (size_t i = 0; i < cores->n; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", cores->items[i].name);
    }
    return ulb_fail(err, ULB_BAD_INPUT, "%s: %score '%s' is not in the table of cores; known are %s",
                    place->origin, place->path, class->core, known);
}

static enum ulb_status parse_class(const struct ulb_place *place, struct ulb_platform_class *class, bool used,
                                   const struct ulb_core_list *cores, struct ulb_error *err)
{
    double count, ghz = NAN;
    static const char *const keys[] = {"name", "cores", "core", "ghz"};
    enum ulb_status status = ulb_json_known_keys(place, keys, used ? 4 : 3, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "name", class->name, sizeof class->name, err);
    if (status == ULB_OK)
        status = ulb_json_number(place, "cores", &cores_range, &count, err);
    if (status == ULB_OK && used)
        status = ulb_json_number(place, "ghz", &ghz_range, &ghz, err);
    if (status == ULB_OK)
        status = parse_core(place, class, cores, err);
    if (status != ULB_OK)
        return status;
    class->cores = (unsigned)count;
    class->hz = ghz * 1e9;
    return ULB_OK;
}

static bool has_class(const struct ulb_platform *platform, const char *name)
{
    for (size_t i = 0; i < platform->n_classes; i++) {
        if (strcmp(platform->classes[i].name, name) == 0)
            return true;
    }
    for (size_t i = 0; i < platform->n_unused; i++) {
        if (strcmp(platform->unused[i].name, name) == 0)
            return true;
    }
    return false;
}

/* One of the two lists of classes, which together name each class once. */
static enum ulb_status parse_class_list(const struct ulb_place *root, const char *key, bool used,
                                        const struct ulb_core_list *cores, struct ulb_platform *platform,
                                        struct ulb_error *err)
{
    struct ulb_platform_class *classes = used ? platform->classes : platform->unused;
    size_t *n = used ? &platform->n_classes : &platform->n_unused;
    const json_t *list;
    enum ulb_status status = ulb_json_list(root, key, 1, ULB_MAX_CLASSES, &list, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(list); i++) {
        struct ulb_place place;
        ulb_json_enter(&place, root, key, i, json_array_get(list, i));
        status = parse_class(&place, &classes[i], used, cores, err);
        if (status == ULB_OK && has_class(platform, classes[i].name))
            status = ulb_fail(err, ULB_BAD_INPUT, "%s: %s[%zu].name '%s' occurs twice; rename one",
                              root->origin, key, i, classes[i].name);
        *n = i + 1;
    }
    return status;
}

static enum ulb_status parse_classes(const struct ulb_place *root, struct ulb_platform *platform,
                                     struct ulb_error *err)
{
    struct ulb_core_list cores;
    enum ulb_status status = ulb_core_list_load(&cores, err);
    if (status == ULB_OK)
        status = parse_class_list(root, "classes", true, &cores, platform, err);
    if (status == ULB_OK && json_object_get(root->object, "unused_classes"))
        status = parse_class_list(root, "unused_classes", false, &cores, platform, err);
    ulb_core_list_free(&cores);
    return status;
}

/* cycles: one number for every class of the platform and for nothing else. */
static enum ulb_status parse_cycles(const struct ulb_place *place, const struct ulb_platform *platform,
                                    struct ulb_platform_gamma *gamma, struct ulb_error *err)
{
    static const char wanted[] = "an object with one number per class";
    const json_t *value;
    enum ulb_status status = ulb_json_require(place, "cycles", wanted, &value, err);
    if (status != ULB_OK)
        return status;
    if (!json_is_object(value))
        return ulb_json_refuse(place, "cycles", wanted, value, err);
    struct ulb_place cycles = {.origin = place->origin, .object = value};
    snprintf(cycles.path, sizeof cycles.path, "%.40scycles.", place->path);

    const char *known[ULB_MAX_CLASSES];
    for (size_t c = 0; c < platform->n_classes; c++)
        known[c] = platform->classes[c].name;
    status = ulb_json_known_keys(&cycles, known, platform->n_classes, err);
    for (size_t c = 0; status == ULB_OK && c < platform->n_classes; c++)
        status = ulb_json_number(&cycles, platform->classes[c].name, &cycles_range, &gamma->cycles[c], err);
    return status;
}

static enum ulb_status parse_gamma(const struct ulb_place *place, const struct ulb_platform *platform,
                                   struct ulb_platform_gamma *gamma, struct ulb_error *err)
{
    static const char *const keys[] = {"format", "sequence", "bytes_per_step", "cycles"};
    enum ulb_status status = ulb_json_known_keys(place, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "format", gamma->format, sizeof gamma->format, err);
    if (status == ULB_OK)
        status = ulb_json_string(place, "sequence", gamma->sequence, sizeof gamma->sequence, err);
    if (status == ULB_OK)
        status = ulb_json_number(place, "bytes_per_step", &step_range, &gamma->bytes_per_step, err);
    if (status == ULB_OK)
        status = parse_cycles(place, platform, gamma, err);
    return status;
}

static enum ulb_status parse_gammas(const struct ulb_place *root, struct ulb_platform *platform,
                                    struct ulb_error *err)
{
    const json_t *list;
    enum ulb_status status = ulb_json_list(root, "gammas", 0, ULB_MAX_GAMMAS, &list, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(list); i++) {
        struct ulb_platform_gamma *gamma = &platform->gammas[i];
        struct ulb_place place;
        ulb_json_enter(&place, root, "gammas", i, json_array_get(list, i));
        status = parse_gamma(&place, platform, gamma, err);
        if (status == ULB_OK && ulb_platform_gamma_find(platform, gamma->format, gamma->sequence))
            status = ulb_fail(err, ULB_BAD_INPUT, "%s: gammas[%zu]: %s/%s occurs twice; remove one",
                              root->origin, i, gamma->format, gamma->sequence);
        platform->n_gammas = i + 1;
    }
    return status;
}

static enum ulb_status parse_fork_join(const struct ulb_place *root, struct ulb_platform *platform,
                                       struct ulb_error *err)
{
    platform->fork_join_s = NAN;
    if (json_is_null(json_object_get(root->object, "fork_join_us"))) {
        char reason[128];
        return ulb_json_string(root, "fork_join_us_reason", reason, sizeof reason, err);
    }
    double us;
    enum ulb_status status = ulb_json_number(root, "fork_join_us", &fork_join_range, &us, err);
    if (status == ULB_OK)
        platform->fork_join_s = us * 1e-6;
    return status;
}

static enum ulb_status parse_document(const struct ulb_place *root, struct ulb_platform *platform,
                                      struct ulb_error *err)
{
    static const char *const keys[] = {"name",           "title",        "source",
                                       "classes",        "gammas",       "bandwidth_gibps",
                                       "bandwidth_gbps", "fork_join_us", "fork_join_us_reason",
                                       "unused_classes"};
    enum ulb_status status = ulb_json_known_keys(root, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_heading(root, platform->name, platform->title, platform->source, err);
    if (status == ULB_OK)
        status = parse_classes(root, platform, err);
    if (status == ULB_OK)
        status = ulb_json_bandwidth(root, &platform->bandwidth, err);
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
    json_t *document;
    enum ulb_status status = ulb_json_load(&document, text, bytes, JSON_REJECT_DUPLICATES, origin, err);
    if (status != ULB_OK)
        return status;
    const char *kind = json_string_value(json_object_get(document, "kind"));
    if (kind && strcmp(kind, "device") == 0) {
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "%s describes a device, which 'ulb-bench model --platform' takes", origin);
    } else if (json_is_object(document)) {
        struct ulb_place root = {.origin = origin, .object = document};
        status = parse_document(&root, platform, err);
    } else {
        status = ulb_fail(err, ULB_BAD_INPUT, "%s: holds no JSON object; give one with name, classes, ...",
                          origin);
    }
    json_decref(document);
    return status;
}
