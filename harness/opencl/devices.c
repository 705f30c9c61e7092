#include "harness/opencl/devices.h"

#include "common/units.h"
#include "harness/opencl/device_jobs.h"
#include "harness/session/json_number.h"
#include "models/models.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for what a device says");
}

/* ---- the list ---- */

struct list {
    json_t *rows, *notes;
};

static enum ulb_status take_row(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    struct list *list = context;
    json_t *into = strcmp(key, "device") == 0 ? list->rows : strcmp(key, "note") == 0 ? list->notes : NULL;
    return !into || json_array_append(into, value) == 0 ? ULB_OK : no_memory(err);
}

enum ulb_status ulb_devices_list(json_t *rows, json_t *notes, struct ulb_error *err)
{
    struct list list = {rows, notes};
    return ulb_device_run(ulb_device_list_job, NULL, take_row, &list, err);
}

/* ---- limits ---- */

struct limits {
    const struct ulb_settings *settings;
    struct ulb_record *record;
    const struct ulb_device_more *more; /* NULL: limits alone */
    json_t *device;                     /* NULL: not told yet */
};

/* The device's entry in the record, with the arrays that values go to; kept as the record's. */
static enum ulb_status begin_device(struct limits *limits, json_t *value, struct ulb_error *err)
{
    static const char *const arrays[] = {"peaks", "cells", "yardstick", "left_out", "build_logs"};
    static const char unmeasured[] = "it was not measured";
    limits->device = value;
    ulb_set_text(value, "launch", NULL, unmeasured);
    ulb_set_text(value, "ring", NULL, unmeasured);
    ulb_set_text(value, "cycles_source", NULL, "no clock of the device counts its cycles");
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        if (json_object_set_new(value, arrays[i], json_array()) != 0)
            return no_memory(err);
    }
    return ulb_record_set(limits->record, "devices", json_pack("[O]", value), err);
}

static enum ulb_status add(json_t *device, const char *array, json_t *value, struct ulb_error *err)
{
    return json_array_append(json_object_get(device, array), value) == 0 ? ULB_OK : no_memory(err);
}

static enum ulb_status set(json_t *device, const char *key, json_t *value, struct ulb_error *err)
{
    char reason[32];
    snprintf(reason, sizeof reason, "%s_reason", key);
    json_object_del(device, reason);
    return json_object_set(device, key, value) == 0 ? ULB_OK : no_memory(err);
}

static enum ulb_status take_limit(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    static const struct {
        const char *key, *array; /* array NULL: the key's own place */
    } places[] = {
        {"peak", "peaks"},           {"cell", "cells"}, {"left_out", "left_out"},
        {"build_log", "build_logs"}, {"launch", NULL},  {"ring", NULL},
    };
    struct limits *limits = context;
    const struct ulb_settings *settings = limits->settings;
    if (strcmp(key, "device") == 0)
        return begin_device(limits, value, err);
    if (strcmp(key, "note") == 0)
        return ulb_record_warn(limits->record, err, "%s", json_string_value(value));
    if (strcmp(key, "progress") == 0 && settings->progress)
        settings->progress(settings->progress_context, "device", json_number_value(value), 0);
    if (strcmp(key, "product") == 0 && limits->more && limits->device)
        return limits->more->take(limits->more->context, limits->device, value, err);
    for (size_t i = 0; i < sizeof places / sizeof *places && limits->device; i++) {
        if (strcmp(key, places[i].key) == 0)
            return places[i].array ? add(limits->device, places[i].array, value, err)
                                   : set(limits->device, key, value, err);
    }
    return ULB_OK;
}

/* The best reader of the whole ring: what the device reads of its memory. */
static const json_t *best_cell(const json_t *device)
{
    const json_t *cells = json_object_get(device, "cells"), *cell, *best = NULL;
    const double ring = ulb_row_number(json_object_get(device, "ring"), "bytes");
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        double gbps = ulb_row_number(cell, "gbps");
        if (ulb_row_number(cell, "bytes") == ring && gbps > 0 &&
            (!best || gbps > ulb_row_number(best, "gbps")))
            best = cell;
    }
    return best;
}

/* Beside each cell the time that launch and yardstick let expect of the host's clock. */
static void predict(const json_t *device, double gbps)
{
    const double launch_us = ulb_row_number(json_object_get(device, "launch"), "us_host");
    json_t *cell;
    size_t i;
    json_array_foreach(json_object_get(device, "cells"), i, cell)
    {
        const struct ulb_device_work work = {
            .bytes = ulb_row_number(cell, "bytes"), .launch_s = 1e-6 * launch_us, .beta = ULB_GB * gbps};
        ulb_set_figure(cell, "predicted_us", 1e6 * ulb_predict_device(&work).seconds,
                       "the launch or the yardstick was not measured");
    }
}

static enum ulb_status add_yardstick(const struct limits *limits, struct ulb_error *err)
{
    static const char *const kept[] = {"device", "set",      "threads",   "threads_reason", "bytes",
                                       "gbps",   "gbps_mad", "gbps_host", "variant"};
    const json_t *best = best_cell(limits->device);
    json_t *yardstick = best ? json_object() : NULL;
    for (size_t i = 0; yardstick && i < sizeof kept / sizeof *kept; i++)
        json_object_set(yardstick, kept[i], json_object_get(best, kept[i]));
    predict(limits->device, best ? ulb_row_number(best, "gbps") : (double)NAN);
    enum ulb_status status = yardstick ? add(limits->device, "yardstick", yardstick, err) : ULB_OK;
    json_decref(yardstick);
    return status;
}

static enum ulb_status warn_of_ring(const struct limits *limits, struct ulb_error *err)
{
    const json_t *ring = json_object_get(limits->device, "ring");
    const double bytes = ulb_row_number(ring, "bytes"), wanted = ulb_row_number(ring, "wanted_bytes");
    const double cache = ulb_row_number(limits->device, "cache_bytes");
    if (bytes < wanted)
        return ulb_record_warn(
            limits->record, err,
            "memory: the device gave a cold ring of %.0f MiB instead of %.0f; free its memory",
            bytes / ULB_MIB, wanted / ULB_MIB);
    if (bytes < 4 * cache)
        return ulb_record_warn(
            limits->record, err,
            "memory: the ring of %.0f MiB is less than four times the device's cache of %.0f "
            "MiB, from which part of what was read may come; leave out --ring-mib",
            bytes / ULB_MIB, cache / ULB_MIB);
    return ULB_OK;
}

enum ulb_status ulb_device_limits(const struct ulb_settings *settings, const struct ulb_device_more *more,
                                  struct ulb_record *record, struct ulb_error *err)
{
    const struct ulb_device_wish wish = {settings->device, settings->quick, settings->ring_bytes,
                                         settings->call_timeout_s};
    struct limits limits = {settings, record, more, NULL};
    struct ulb_error unfinished;
    enum ulb_status status = more ? ulb_device_run(more->job, more->arg, take_limit, &limits, err)
                                  : ulb_device_run(ulb_device_limits_job, &wish, take_limit, &limits, err);
    if (!limits.device)
        return status;
    enum ulb_status finished = add_yardstick(&limits, &unfinished);
    if (finished == ULB_OK)
        finished = warn_of_ring(&limits, &unfinished);
    if (finished == ULB_OK || status != ULB_OK)
        return status;
    *err = unfinished;
    return finished;
}

/* ---- verification ---- */

struct rows {
    ulb_device_row_fn *take;
    void *context;
};

static enum ulb_status take_verified(void *context, const char *key, json_t *value, struct ulb_error *err)
{
    const struct rows *rows = context;
    if (strcmp(key, "row") != 0 && strcmp(key, "note") != 0)
        return ULB_OK;
    return rows->take(rows->context, key, value, err);
}

enum ulb_status ulb_device_verify(const struct ulb_settings *settings, ulb_device_row_fn *take, void *context,
                                  struct ulb_error *err)
{
    struct ulb_device_selection selection;
    const struct ulb_device_verify_wish wish = {
        {settings->device, settings->quick, settings->ring_bytes, settings->call_timeout_s},
        &selection,
        settings->seed};
    struct rows rows = {take, context};
    enum ulb_status status = ulb_device_select(&selection, settings->formats, settings->kernels, err);
    if (status == ULB_OK)
        status = ulb_device_run(ulb_device_verify_job, &wish, take_verified, &rows, err);
    ulb_device_selection_close(&selection);
    return status;
}
