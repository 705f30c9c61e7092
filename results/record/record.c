#include "results/record/record.h"

#include "common/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

enum ulb_status ulb_record_add_beta(struct ulb_record *record, const struct ulb_beta_cell *cell,
                                    struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_beta, cell, err);
}

enum ulb_status ulb_record_add_yardstick(struct ulb_record *record, const struct ulb_yardstick *yardstick,
                                         struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_yardstick, yardstick, err);
}

enum ulb_status ulb_record_add_gamma(struct ulb_record *record, const struct ulb_gamma_cell *cell,
                                     struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_gamma, cell, err);
}

enum ulb_status ulb_record_add_overlap(struct ulb_record *record, const struct ulb_overlap_cell *cell,
                                       struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_overlap, cell, err);
}

enum ulb_status ulb_record_add_peak(struct ulb_record *record, const struct ulb_peak_cell *cell,
                                    struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_peak, cell, err);
}

enum ulb_status ulb_record_add_cell(struct ulb_record *record, const struct ulb_cell *cell,
                                    struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_cells, cell, err);
}

enum ulb_status ulb_record_add_count(struct ulb_record *record, const struct ulb_count_cell *cell,
                                     struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_counts, cell, err);
}

enum ulb_status ulb_record_add_decode(struct ulb_record *record, const struct ulb_decode_run *run,
                                      struct ulb_error *err)
{
    if (!json_is_object(json_object_get(record->root, "decode")) &&
        json_object_set_new(record->root, "decode", json_pack("{s:[]}", "runs")) != 0)
        return no_memory(err);
    json_object_del(record->root, "decode_reason");
    return ulb_section_append(record->root, &ulb_section_decode, run, err);
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
    if (json_array_append_new(json_object_get(record->root, "warnings"), json_string(text)) != 0)
        return no_memory(err);
    return ULB_OK;
}

enum ulb_status ulb_record_beta_cells(const struct ulb_record *record, struct ulb_beta_cell **out, size_t *n,
                                      struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_beta, &items, n, err);
    *out = items;
    return status;
}

void ulb_beta_cells_free(struct ulb_beta_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_beta, cells, n);
}

enum ulb_status ulb_record_yardsticks(const struct ulb_record *record, struct ulb_yardstick **out, size_t *n,
                                      struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_yardstick, &items, n, err);
    *out = items;
    return status;
}

void ulb_yardsticks_free(struct ulb_yardstick *yardsticks, size_t n)
{
    ulb_section_free(&ulb_section_yardstick, yardsticks, n);
}

enum ulb_status ulb_record_gamma_cells(const struct ulb_record *record, struct ulb_gamma_cell **out,
                                       size_t *n, struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_gamma, &items, n, err);
    *out = items;
    return status;
}

void ulb_gamma_cells_free(struct ulb_gamma_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_gamma, cells, n);
}

enum ulb_status ulb_record_overlaps(const struct ulb_record *record, struct ulb_overlap_cell **out, size_t *n,
                                    struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_overlap, &items, n, err);
    *out = items;
    return status;
}

void ulb_overlaps_free(struct ulb_overlap_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_overlap, cells, n);
}

enum ulb_status ulb_record_peaks(const struct ulb_record *record, struct ulb_peak_cell **out, size_t *n,
                                 struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_peak, &items, n, err);
    *out = items;
    return status;
}

void ulb_peaks_free(struct ulb_peak_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_peak, cells, n);
}

enum ulb_status ulb_record_cells(const struct ulb_record *record, struct ulb_cell **out, size_t *n,
                                 struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_cells, &items, n, err);
    *out = items;
    return status;
}

void ulb_cells_free(struct ulb_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_cells, cells, n);
}

enum ulb_status ulb_record_counts(const struct ulb_record *record, struct ulb_count_cell **out, size_t *n,
                                  struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_counts, &items, n, err);
    *out = items;
    return status;
}

void ulb_counts_free(struct ulb_count_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_counts, cells, n);
}

enum ulb_status ulb_record_decode_runs(const struct ulb_record *record, struct ulb_decode_run **out,
                                       size_t *n, struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_decode, &items, n, err);
    *out = items;
    return status;
}

void ulb_decode_runs_free(struct ulb_decode_run *runs, size_t n)
{
    ulb_section_free(&ulb_section_decode, runs, n);
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
