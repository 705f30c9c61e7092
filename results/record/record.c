#include "results/record/record.h"

#include "common/file.h"
#include "common/text.h"
#include "results/record/json_reserve.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
}

enum ulb_status ulb_record_new(struct ulb_record *record, struct ulb_error *err)
{
    time_t now = time(NULL);
    struct tm utc;
    char created[32];
    gmtime_r(&now, &utc);
    strftime(created, sizeof created, "%Y-%m-%dT%H:%M:%SZ", &utc);
    record->root =
        json_pack("{s:i, s:s, s:{}, s:{}, s:{}, s:{}, s:{s:[], s:[], s:n, s:s}, s:{s:[], s:n, s:s}, "
                  "s:{s:[]}, s:[], s:[], "
                  "s:n, s:s, s:[]}",
                  "schema_version", ULB_SCHEMA_VERSION, "created", created, "machine", "build", "topology",
                  "clock", "beta", "cells", "yardstick", "cycles_source", "cycles_source_reason",
                  "not measured", "gamma", "cells", "cycles_source", "cycles_source_reason", "not measured",
                  "overlap", "cells", "peak", "cells", "decode", "decode_reason", "not measured", "warnings");
    return record->root ? ULB_OK : no_memory(err);
}

void ulb_record_free(struct ulb_record *record)
{
    json_decref(record->root);
    record->root = NULL;
}

enum ulb_status ulb_record_set(struct ulb_record *record, const char *section, json_t *value,
                               struct ulb_error *err)
{
    if (json_object_set_new(record->root, section, value) == 0)
        return ULB_OK;
    return ulb_fail(
        err, ULB_ENVIRONMENT,
        "the record's section '%s' could not be made: not enough memory, or a number is not finite", section);
}

enum ulb_status ulb_record_set_cycles_sources(struct ulb_record *record, const char *beta, const char *gamma,
                                              struct ulb_error *err)
{
    const struct {
        const char *section, *source;
    } sources[] = {{"beta", beta}, {"gamma", gamma}};
    for (size_t i = 0; i < 2; i++) {
        json_t *section = json_object_get(record->root, sources[i].section);
        if (json_object_set_new(section, "cycles_source", json_string(sources[i].source)) != 0)
            return no_memory(err);
        json_object_del(section, "cycles_source_reason");
    }
    return ULB_OK;
}

enum ulb_status ulb_record_warn(struct ulb_record *record, struct ulb_error *err, const char *format, ...)
{
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ulb_text_mend(text); /* a file's name in it may be anything */
    ulb_text_printable(text);
    json_t *warnings = json_object_get(record->root, "warnings");
    const json_t *said;
    size_t i;
    json_array_foreach(warnings, i, said)
    {
        if (json_is_string(said) && strcmp(json_string_value(said), text) == 0)
            return ULB_OK;
    }
    return json_array_append_new(warnings, json_string(text)) == 0 ? ULB_OK : no_memory(err);
}

const json_t *ulb_record_at(const struct ulb_record *record, const char *place)
{
    const json_t *value = record->root;
    while (value && *place) {
        char key[64];
        size_t length = strcspn(place, ".");
        if (length >= sizeof key)
            return NULL;
        memcpy(key, place, length);
        key[length] = '\0';
        value = json_object_get(value, key);
        place += length + (place[length] == '.');
    }
    return value;
}

const char *ulb_record_text(const struct ulb_record *record, const char *place)
{
    return json_string_value(ulb_record_at(record, place));
}

double ulb_record_number(const struct ulb_record *record, const char *place)
{
    const json_t *value = ulb_record_at(record, place);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

double ulb_row_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *ulb_row_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

const json_t *ulb_decode_runs(const struct ulb_record *record)
{
    return json_object_get(json_object_get(record->root, "decode"), "runs");
}

double ulb_decoded_noise(const struct ulb_record *record)
{
    double most = NAN;
    const json_t *run;
    size_t i;
    json_array_foreach(ulb_decode_runs(record), i, run)
    {
        most = fmax(most, ulb_row_number(run, "ms_mad") / ulb_row_number(run, "ms_per_token"));
    }
    return most;
}

/* ---- on disk: atomic writing; reading is in record_read.c ---- */

/* To be freed; NULL with the message when there is no memory. */
static char *text_of(const struct ulb_record *record, const char *path, size_t *bytes, struct ulb_error *err)
{
    char *text = json_dumps(record->root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    if (text && !ulb_json_memory_short()) {
        *bytes = strlen(text) + 1;
        text[*bytes - 1] = '\n'; /* in the place of the closing zero byte */
        return text;
    }
    free(text);
    ulb_fail(err, ULB_ENVIRONMENT, "%s could not be written: not enough memory", path);
    return NULL;
}

enum ulb_status ulb_record_write(const struct ulb_record *record, const char *path, struct ulb_error *err)
{
    size_t bytes;
    char *text = text_of(record, path, &bytes, err);
    enum ulb_status status = text ? ulb_write_file(path, text, bytes, err) : ULB_ENVIRONMENT;
    free(text);
    return status;
}

enum ulb_status ulb_record_write_new(const struct ulb_record *record, char *path, size_t path_bytes,
                                     struct ulb_error *err)
{
    size_t bytes;
    char *text = text_of(record, path, &bytes, err);
    enum ulb_status status = text ? ulb_write_new_file(path, path_bytes, text, bytes, err) : ULB_ENVIRONMENT;
    free(text);
    return status;
}
