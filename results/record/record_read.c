/* Distrustful reading of a record, its cells one by one. */
#include "common/json.h"
#include "common/json_reader.h"
#include "results/record/record.h"
#include "results/record/renamed.h"

#include <stdlib.h>
#include <string.h>

/* 60,000 cells of a full run are about 300 MB; what is larger than this is no record. */
static const size_t LARGEST_FILE = (size_t)512 << 20;

/* ---- checks ---- */

static enum ulb_status check_version(const json_t *root, struct ulb_error *err)
{
    const json_t *version = json_object_get(root, "schema_version");
    if (!json_is_integer(version))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "not a record of ulb-bench: schema_version, a whole number, is missing");
    long long number = json_integer_value(version);
    if (number > ULB_SCHEMA_VERSION)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "schema_version: written by a newer version of ulb-bench (%lld; this one reads %d); update it",
            number, ULB_SCHEMA_VERSION);
    if (number < ULB_SCHEMA_OLDEST)
        return ulb_fail(err, ULB_BAD_INPUT, "schema_version: %lld is unknown, %d to %d are needed", number,
                        ULB_SCHEMA_OLDEST, ULB_SCHEMA_VERSION);
    return ULB_OK;
}

static enum ulb_status check_sections(const json_t *root, struct ulb_error *err)
{
    static const char *const objects[] = {"machine", "build", "topology", "clock",
                                          "beta",    "gamma", "overlap"};
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        if (!json_is_object(json_object_get(root, objects[i])))
            return ulb_fail(err, ULB_BAD_INPUT, "%s: an object is needed", objects[i]);
    }
    if (!json_is_string(json_object_get(root, "created")))
        return ulb_fail(err, ULB_BAD_INPUT, "created: a text is needed");
    const json_t *warnings = json_object_get(root, "warnings"), *warning;
    if (!json_is_array(warnings))
        return ulb_fail(err, ULB_BAD_INPUT, "warnings: an array is needed");
    size_t i;
    json_array_foreach(warnings, i, warning)
    {
        if (!json_is_string(warning))
            return ulb_fail(err, ULB_BAD_INPUT, "warnings[%zu]: a text is needed", i);
    }
    return ULB_OK;
}

/* ---- one cell after the other ---- */

static enum ulb_status visit(const json_t *object, size_t at, int version,
                             const struct ulb_cell_visitor *visitor, struct ulb_error *err)
{
    struct ulb_cell cell;
    enum ulb_status status = ulb_section_read_item(&ulb_section_cells, object, at, version, &cell, err);
    if (status != ULB_OK)
        return status;
    status = visitor->visit(&cell, object, visitor->context, err);
    free(cell.us_samples);
    free(cell.disturbed_samples);
    return status;
}

enum ulb_status ulb_record_visit_cells(const struct ulb_record *record,
                                       const struct ulb_cell_visitor *visitor, struct ulb_error *err)
{
    const json_t *cells = ulb_section_array(record->root, &ulb_section_cells), *cell;
    size_t i;
    enum ulb_status status = cells ? ULB_OK : ulb_fail(err, ULB_BAD_INPUT, "cells: an array is needed");
    json_array_foreach(cells, i, cell)
    {
        if (status == ULB_OK)
            status = visit(cell, i, ulb_schema_version(record->root), visitor, err);
    }
    return status;
}

/* ---- the document ---- */

/* A record on its way in. The cells' fault waits: the document's own faults are told before it. */
struct reading {
    struct ulb_json_reader *in;
    json_t *root;
    const struct ulb_cell_visitor *visitor; /* NULL: the cells are held */
    enum ulb_status cells_status;
    struct ulb_error cells_error;
};

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
}

static void pass_on(struct reading *reading, json_t *cell, size_t at)
{
    struct ulb_error *err = &reading->cells_error;
    if (reading->cells_status != ULB_OK)
        return;
    enum ulb_status status = ulb_json_printable(cell)
                                 ? ulb_rename_cell(cell, err)
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its texts");
    if (status == ULB_OK)
        status = visit(cell, at, ulb_schema_version(reading->root), reading->visitor, err);
    reading->cells_status = status;
}

/* Behind '['. */
static enum ulb_status read_cells(struct reading *reading, json_t *array, struct ulb_error *err)
{
    struct ulb_error unused;
    bool hold = !reading->visitor || check_version(reading->root, &unused) != ULB_OK;
    if (ulb_json_take(reading->in, ']'))
        return ULB_OK;
    for (size_t i = 0;; i++) {
        json_t *cell;
        enum ulb_status status =
            ulb_json_value(reading->in, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &cell, err);
        if (status != ULB_OK)
            return status;
        if (hold && json_array_append(array, cell) != 0)
            status = no_memory(err);
        if (!hold)
            pass_on(reading, cell, i);
        json_decref(cell);
        if (status != ULB_OK || ulb_json_take(reading->in, ']'))
            return status;
        if (!ulb_json_take(reading->in, ','))
            return ulb_json_unexpected(reading->in, "']'", err);
    }
}

static enum ulb_status read_member(struct reading *reading, struct ulb_error *err)
{
    struct ulb_json_reader *in = reading->in;
    json_t *key, *value;
    if (ulb_json_next(in) != '"')
        return ulb_json_unexpected(in, "string or '}'", err);
    enum ulb_status status = ulb_json_value(in, JSON_DECODE_ANY, &key, err);
    if (status != ULB_OK)
        return status;
    const char *name = json_string_value(key);
    if (json_object_get(reading->root, name))
        status =
            ulb_fail(err, ULB_BAD_INPUT, "%.200s: line %d, column %d: duplicate object key near '\"%.64s\"'",
                     in->name, in->line, in->column, name);
    else if (!ulb_json_take(in, ':'))
        status = ulb_json_unexpected(in, "':'", err);
    else if (strcmp(name, ulb_section_cells.key) == 0 && ulb_json_take(in, '[')) {
        value = json_array();
        status = json_object_set_new(reading->root, name, value) == 0 ? read_cells(reading, value, err)
                                                                      : no_memory(err);
    } else {
        status = ulb_json_value(in, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &value, err);
        if (status == ULB_OK && json_object_set_new(reading->root, name, value) != 0)
            status = no_memory(err);
    }
    json_decref(key);
    return status;
}

static enum ulb_status read_document(struct reading *reading, struct ulb_error *err)
{
    struct ulb_json_reader *in = reading->in;
    if (ulb_json_next(in) == '[') /* is JSON, and no record */
        return ulb_json_value(in, JSON_REJECT_DUPLICATES, &reading->root, err);
    if (!ulb_json_take(in, '{'))
        return ulb_json_unexpected(in, "'[' or '{'", err);
    if (!(reading->root = json_object()))
        return no_memory(err);
    if (ulb_json_take(in, '}'))
        return ULB_OK;
    for (;;) {
        enum ulb_status status = read_member(reading, err);
        if (status != ULB_OK || ulb_json_take(in, '}'))
            return status;
        if (!ulb_json_take(in, ','))
            return ulb_json_unexpected(in, "'}'", err);
    }
}

/* All arrays in the order of the file, cells that were not held by how they fared. */
static enum ulb_status check_arrays(const struct reading *reading, struct ulb_error *err)
{
    for (const struct ulb_section *const *section = ulb_sections; *section; section++) {
        void *items;
        size_t n;
        if (*section == &ulb_section_cells && reading->cells_status != ULB_OK) {
            *err = reading->cells_error;
            return reading->cells_status;
        }
        enum ulb_status status = ulb_section_read(reading->root, *section, &items, &n, err);
        if (status != ULB_OK)
            return status;
        ulb_section_free(*section, items, n);
    }
    return ULB_OK;
}

static enum ulb_status check_document(const struct reading *reading, struct ulb_error *err)
{
    enum ulb_status status = ulb_json_printable(reading->root)
                                 ? check_version(reading->root, err)
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its texts");
    if (status == ULB_OK)
        status = ulb_rename_record(reading->root, err);
    if (status == ULB_OK)
        status = check_sections(reading->root, err);
    if (status == ULB_OK)
        status = check_arrays(reading, err);
    return status;
}

static enum ulb_status read_record(struct ulb_record *record, struct ulb_json_reader *in,
                                   const struct ulb_cell_visitor *visitor, struct ulb_error *err)
{
    struct reading reading = {.in = in, .visitor = visitor};
    record->root = NULL;
    enum ulb_status status = read_document(&reading, err);
    if (status == ULB_OK)
        status = ulb_json_end(in, err);
    if (status == ULB_OK) {
        const struct ulb_record whole = {reading.root};
        status = check_document(&reading, err);
        if (status == ULB_OK && visitor) { /* what had to be held */
            status = ulb_record_visit_cells(&whole, visitor, err);
            json_array_clear(ulb_section_array(whole.root, &ulb_section_cells));
        }
        if (status != ULB_OK)
            ulb_fail_prefix(err, status, "%s", in->name);
    }
    if (status == ULB_OK)
        record->root = reading.root;
    else
        json_decref(reading.root);
    return status;
}

enum ulb_status ulb_record_parse_visiting(struct ulb_record *record, const char *text, size_t bytes,
                                          const char *name, const struct ulb_cell_visitor *visitor,
                                          struct ulb_error *err)
{
    struct ulb_json_reader in;
    ulb_json_open_text(&in, text, bytes, name);
    enum ulb_status status = read_record(record, &in, visitor, err);
    ulb_json_close(&in);
    return status;
}

enum ulb_status ulb_record_parse(struct ulb_record *record, const char *text, size_t bytes, const char *name,
                                 struct ulb_error *err)
{
    return ulb_record_parse_visiting(record, text, bytes, name, NULL, err);
}

enum ulb_status ulb_record_read_visiting(struct ulb_record *record, const char *path,
                                         const struct ulb_cell_visitor *visitor, struct ulb_error *err)
{
    struct ulb_json_reader in;
    record->root = NULL;
    enum ulb_status status = ulb_json_open(&in, path, LARGEST_FILE, err);
    if (status != ULB_OK)
        return status;
    status = read_record(record, &in, visitor, err);
    ulb_json_close(&in);
    return status;
}

enum ulb_status ulb_record_read(struct ulb_record *record, const char *path, struct ulb_error *err)
{
    return ulb_record_read_visiting(record, path, NULL, err);
}
