#include "models/platform/device_platform.h"

#include "common/json.h"
#include "common/units.h"
#include "models/platform/embedded.h"
#include "models/platform/json_read.h"
#include "models/platform/platform_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct ulb_range cores_range = {1, 65536, true, "a whole number from 1 to 65536, or null"};
static const struct ulb_range memory_range = {0.001, 1e6, false, "a number from 0.001 to 1e6, or null"};
static const struct ulb_range launch_range = {0, 1e6, false, "a number from 0 to 1e6, or null"};
static const struct ulb_range tops_range = {1e-6, 1e6, false, "a number from 1e-6 to 1e6"};

const char *ulb_device_platform_builtin(size_t index)
{
    return index < ulb_embedded_device_count ? ulb_embedded_devices[index].name : NULL;
}

/* A number times scale; NAN for null, whose reason must be there. */
static enum ulb_status parse_known(const struct ulb_place *root, const char *key,
                                   const struct ulb_range *range, double scale, double *out,
                                   char reason[ULB_DEVICE_REASON_BYTES], struct ulb_error *err)
{
    char reason_key[48];
    *out = NAN;
    snprintf(reason_key, sizeof reason_key, "%s_reason", key);
    if (json_is_null(json_object_get(root->object, key)))
        return ulb_json_string(root, reason_key, reason, ULB_DEVICE_REASON_BYTES, err);
    double value;
    enum ulb_status status = ulb_json_number(root, key, range, &value, err);
    if (status == ULB_OK)
        *out = value * scale;
    return status;
}

static enum ulb_status parse_peaks(const struct ulb_place *root, struct ulb_device_platform *platform,
                                   struct ulb_error *err)
{
    static const char *const keys[] = {"format", "tops"};
    const json_t *list;
    enum ulb_status status = ulb_json_list(root, "peaks", 0, ULB_MAX_DEVICE_PEAKS, &list, err);
    for (size_t i = 0; status == ULB_OK && i < json_array_size(list); i++) {
        struct ulb_device_peak *peak = &platform->peaks[i];
        struct ulb_place place;
        double tops = NAN;
        ulb_json_enter(&place, root, "peaks", i, json_array_get(list, i));
        status = ulb_json_known_keys(&place, keys, 2, err);
        if (status == ULB_OK)
            status = ulb_json_string(&place, "format", peak->format, sizeof peak->format, err);
        if (status == ULB_OK)
            status = ulb_json_number(&place, "tops", &tops_range, &tops, err);
        if (status == ULB_OK && !isnan(ulb_device_platform_peak(platform, peak->format)))
            status = ulb_fail(err, ULB_BAD_INPUT, "%s: peaks[%zu]: %s occurs twice; remove one", root->origin,
                              i, peak->format);
        peak->rate = tops * 1e12;
        platform->n_peaks = i + 1;
    }
    return status;
}

static enum ulb_status parse_document(const struct ulb_place *root, struct ulb_device_platform *platform,
                                      struct ulb_error *err)
{
    static const char *const keys[] = {"kind",
                                       "name",
                                       "title",
                                       "source",
                                       "cores",
                                       "memory_gb",
                                       "cores_reason",
                                       "memory_gb_reason",
                                       "bandwidth_gibps",
                                       "bandwidth_gbps",
                                       "launch_us",
                                       "launch_us_reason",
                                       "peaks"};
    enum ulb_status status = ulb_json_known_keys(root, keys, sizeof keys / sizeof *keys, err);
    if (status == ULB_OK)
        status = ulb_json_heading(root, platform->name, platform->title, platform->source, err);
    if (status == ULB_OK)
        status = parse_known(root, "cores", &cores_range, 1, &platform->cores, platform->cores_reason, err);
    if (status == ULB_OK)
        status = parse_known(root, "memory_gb", &memory_range, ULB_GB, &platform->memory_bytes,
                             platform->memory_reason, err);
    if (status == ULB_OK)
        status = ulb_json_bandwidth(root, &platform->bandwidth, err);
    if (status == ULB_OK)
        status = parse_known(root, "launch_us", &launch_range, 1e-6, &platform->launch_s,
                             platform->launch_reason, err);
    return status == ULB_OK ? parse_peaks(root, platform, err) : status;
}

enum ulb_status ulb_device_platform_parse(const char *text, size_t bytes, const char *origin,
                                          struct ulb_device_platform *platform, bool *is_device,
                                          struct ulb_error *err)
{
    memset(platform, 0, sizeof *platform);
    json_t *document;
    enum ulb_status status = ulb_json_load(&document, text, bytes, JSON_REJECT_DUPLICATES, origin, err);
    if (status != ULB_OK)
        return status;
    const char *kind = json_string_value(json_object_get(document, "kind"));
    *is_device = kind && strcmp(kind, "device") == 0;
    if (*is_device) {
        struct ulb_place root = {.origin = origin, .object = document};
        status = parse_document(&root, platform, err);
    }
    json_decref(document);
    return status;
}

enum ulb_status ulb_device_platform_load(const char *name_or_file, struct ulb_device_platform *platform,
                                         bool *is_device, struct ulb_error *err)
{
    char *text;
    size_t bytes;
    enum ulb_status status = ulb_platform_text(name_or_file, &text, &bytes, err);
    if (status == ULB_OK)
        status = ulb_device_platform_parse(text, bytes, name_or_file, platform, is_device, err);
    free(text);
    return status;
}

double ulb_device_platform_peak(const struct ulb_device_platform *platform, const char *format)
{
    for (size_t i = 0; i < platform->n_peaks; i++) {
        if (strcmp(platform->peaks[i].format, format) == 0)
            return platform->peaks[i].rate;
    }
    return NAN;
}

static int set_known(json_t *document, const char *key, double value, const char *reason)
{
    char reason_key[48];
    snprintf(reason_key, sizeof reason_key, "%s_reason", key);
    if (!isnan(value))
        return json_object_set_new(document, key, json_real(value));
    return json_object_set_new(document, key, json_null()) |
           json_object_set_new(document, reason_key, json_string(reason));
}

json_t *ulb_device_platform_json(const struct ulb_device_platform *platform)
{
    json_t *peaks = json_array();
    int bad = 0;
    for (size_t i = 0; i < platform->n_peaks; i++)
        bad |= json_array_append_new(peaks, json_pack("{s:s, s:f}", "format", platform->peaks[i].format,
                                                      "tops", platform->peaks[i].rate / 1e12));
    json_t *document = json_pack("{s:s, s:s, s:s, s:s, s:f, s:o}", "kind", "device", "name", platform->name,
                                 "title", platform->title, "source", platform->source, "bandwidth_gbps",
                                 platform->bandwidth / ULB_GB, "peaks", peaks);
    if (document)
        bad |= set_known(document, "cores", platform->cores, platform->cores_reason) |
               set_known(document, "memory_gb", platform->memory_bytes / ULB_GB, platform->memory_reason) |
               set_known(document, "launch_us", platform->launch_s * 1e6, platform->launch_reason);
    if (bad) {
        json_decref(document);
        return NULL;
    }
    return document;
}
