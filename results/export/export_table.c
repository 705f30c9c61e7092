/* CSV and SQL: the arrays of a record as tables, column by column as record_tables.c lists them. */
#include "results/export/export_formats.h"
#include "results/record/record.h"
#include "results/record/tracked_values.h"
#include "results/summary/dashboard.h"

#include <stdbool.h>
#include <string.h>

/* --- CSV --- */

/* A spreadsheet takes a field that begins so for a formula; behind an apostrophe it is text. */
static bool begins_formula(const char *text)
{
    return *text && strchr("=+-@\t\r\n", *text);
}

static void put_csv_text(FILE *out, const char *text)
{
    const char *apostrophe = begins_formula(text) ? "'" : "";
    if (!text[strcspn(text, ",\"\r\n")]) {
        fprintf(out, "%s%s", apostrophe, text);
        return;
    }
    fprintf(out, "\"%s", apostrophe);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', out);
        putc(*text, out);
    }
    putc('"', out);
}

static void put_csv_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        put_csv_text(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "true" : "false", out);
}

/* Several numbers in one field are text: a blank keeps a first one below 0 from beginning a formula. */
static void put_csv_samples(FILE *out, const json_t *samples)
{
    if (json_array_size(samples) > 1 && json_number_value(json_array_get(samples, 0)) < 0)
        putc(' ', out);
    for (size_t i = 0; i < json_array_size(samples); i++)
        fprintf(out, "%s%.9g", i ? " " : "", json_number_value(json_array_get(samples, i)));
}

static const struct ulb_section *find_section(const char *wanted, struct ulb_error *err)
{
    char known[128] = "", name[32];
    for (const struct ulb_section *const *section = ulb_sections; *section; section++) {
        if (strcmp(ulb_section_name(*section, name), wanted) == 0)
            return *section;
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", name);
    }
    ulb_fail(err, ULB_BAD_INPUT, "unknown section '%.64s'; sections are %s", wanted, known);
    return NULL;
}

/* The columns that every table begins with. */
static const char csv_head[] = "created,commit,cpu_model";

static void put_csv_record(FILE *out, const struct ulb_record *record)
{
    static const char *const places[] = {"created", "build.commit", "machine.cpu_model"};
    for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
        put_csv_text(out, ulb_export_text(record, places[p]));
        putc(',', out);
    }
}

/* One line for each value; the columns that say what it is of are empty where they do not apply. */
static enum ulb_status put_csv_summary(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    static const struct {
        const char *array, *of, *metric;
    } parts[] = {
        {"formats", "format", "efficiency"},
        {"kernels", "kernel", "efficiency"},
        {"models", "model", "tokens_per_s"},
    };
    static const char *const columns[] = {"model", "format", "kernel"};
    json_t *dashboard;
    enum ulb_status status = ulb_dashboard_of(record, &dashboard, err);
    if (status != ULB_OK)
        return status;
    fprintf(out, "%s,of,model,format,kernel,metric,value\r\n", csv_head);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        size_t i;
        const json_t *row;
        json_array_foreach(json_object_get(dashboard, parts[p].array), i, row)
        {
            put_csv_record(out, record);
            fputs(parts[p].of, out);
            for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
                putc(',', out);
                put_csv_value(out, json_object_get(row, columns[c]));
            }
            fprintf(out, ",%s,", parts[p].metric);
            put_csv_value(out, json_object_get(row, parts[p].metric));
            fputs("\r\n", out);
        }
    }
    json_decref(dashboard);
    return ULB_OK;
}

static enum ulb_status put_csv_section(const struct ulb_record *record, const char *name, FILE *out,
                                       struct ulb_error *err)
{
    const struct ulb_section *section = find_section(name, err);
    if (!section)
        return ULB_BAD_INPUT;
    fputs(csv_head, out);
    for (size_t f = 0; f < section->n_fields; f++)
        fprintf(out, ",%s", section->fields[f].key);
    const char *const lists[] = {section->samples.key, section->more.key};
    for (size_t l = 0; l < 2 && lists[l]; l++)
        fprintf(out, ",%s", lists[l]);
    fputs("\r\n", out);
    size_t i;
    const json_t *row;
    json_array_foreach(ulb_section_array(record->root, section), i, row)
    {
        put_csv_record(out, record);
        for (size_t f = 0; f < section->n_fields; f++) {
            fputs(f ? "," : "", out);
            put_csv_value(out, ulb_field_of(row, &section->fields[f]));
        }
        for (size_t l = 0; l < 2 && lists[l]; l++) {
            putc(',', out);
            put_csv_samples(out, json_object_get(row, lists[l]));
        }
        fputs("\r\n", out);
    }
    return ULB_OK;
}

enum ulb_status ulb_export_csv(const struct ulb_record *record, const struct ulb_export_options *options,
                               FILE *out, struct ulb_error *err)
{
    if (options->summary)
        return put_csv_summary(record, out, err);
    return put_csv_section(record, options->section ? options->section : "cells", out, err);
}

/* --- SQL --- */

/* Control characters by number: the program sqlite3 changes line ends in what it reads. */
static void put_sql_text(FILE *out, const char *text)
{
    putc('\'', out);
    for (; *text; text++) {
        if ((unsigned char)*text < ' ')
            fprintf(out, "' || char(%d) || '", *text);
        else if (*text == '\'')
            fputs("''", out);
        else
            putc(*text, out);
    }
    putc('\'', out);
}

static void put_sql_value(FILE *out, const json_t *value)
{
    if (json_is_string(value))
        put_sql_text(out, json_string_value(value));
    else if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.9g", json_real_value(value));
    else if (json_is_boolean(value))
        fputs(json_is_true(value) ? "1" : "0", out);
    else
        fputs("NULL", out);
}

static const char *sql_type(const struct ulb_field *field)
{
    switch (field->kind) {
    case ULB_FIELD_TEXT:
    case ULB_FIELD_WORD:
        return "TEXT";
    case ULB_FIELD_NUMBER:
        return field->whole ? "INTEGER" : "REAL";
    case ULB_FIELD_COUNT:
    case ULB_FIELD_SMALL:
    case ULB_FIELD_FLAG:
        break;
    }
    return "INTEGER";
}

/* Of "beta.cells" the table is beta, of "beta.yardstick" yardstick. */
static const char *table_name(const struct ulb_section *section)
{
    return section->parent && strcmp(section->key, "cells") == 0 ? section->parent : section->key;
}

/* What a row of the table records holds, besides its id. */
static const struct record_column {
    const char *name, *place;
    bool text;
} record_columns[] = {
    {"created", "created", true},
    {"schema_version", "schema_version", false},
    {"cpu_model", "machine.cpu_model", true},
    {"cores", "machine.cores", false},
    {"kernel_release", "machine.kernel_release", true},
    {"version", "build.version", true},
    {"commit", "build.commit", true},
    {"compiler", "build.compiler", true},
    {"flags", "build.flags", true},
    {"cycles_source", "clock.cycles_source", true},
};
enum { RECORD_COLUMNS = sizeof record_columns / sizeof *record_columns };

static void put_sql_record(FILE *out, const struct ulb_record *record, const char *id)
{
    fputs("CREATE TABLE IF NOT EXISTS records(id TEXT PRIMARY KEY", out);
    for (size_t c = 0; c < RECORD_COLUMNS; c++)
        fprintf(out, ", \"%s\" %s", record_columns[c].name, record_columns[c].text ? "TEXT" : "INTEGER");
    fputs(");\nINSERT OR REPLACE INTO records(id", out);
    for (size_t c = 0; c < RECORD_COLUMNS; c++)
        fprintf(out, ", \"%s\"", record_columns[c].name);
    fprintf(out, ") VALUES('%s'", id);
    for (size_t c = 0; c < RECORD_COLUMNS; c++) {
        const char *text = ulb_record_text(record, record_columns[c].place);
        double number = ulb_record_number(record, record_columns[c].place);
        fputs(", ", out);
        if (record_columns[c].text && text)
            put_sql_text(out, text);
        else if (!record_columns[c].text && number == number)
            fprintf(out, "%.0f", number);
        else
            fputs("NULL", out);
    }
    fputs(");\n", out);
}

/* The list of that key in one row; key NULL: there is none. */
static void put_sql_samples(FILE *out, const json_t *cell, const char *key, const char *id, const char *table,
                            size_t row)
{
    size_t i = 0;
    const json_t *value;
    json_array_foreach(key ? json_object_get(cell, key) : NULL, i, value)
    {
        fprintf(out, i ? ", " : "INSERT OR REPLACE INTO samples VALUES ");
        fprintf(out, "('%s', '%s', %zu, '%s', %zu, %.9g)", id, table, row, key, i, json_number_value(value));
    }
    if (i > 0)
        fputs(";\n", out);
}

/* The columns are named: a table that another build made may have more of them, or others. */
static void put_sql_insert(FILE *out, const struct ulb_section *section, const char *id, size_t row)
{
    fprintf(out, "INSERT OR REPLACE INTO \"%s\"(record, row", table_name(section));
    for (size_t f = 0; f < section->n_fields; f++)
        fprintf(out, ", \"%s\"", section->fields[f].key);
    fprintf(out, ") VALUES('%s', %zu", id, row);
}

static void put_sql_section(FILE *out, const struct ulb_record *record, const struct ulb_section *section,
                            const char *id)
{
    const char *table = table_name(section);
    fprintf(out, "CREATE TABLE IF NOT EXISTS \"%s\"(record TEXT REFERENCES records(id), row INTEGER", table);
    for (size_t f = 0; f < section->n_fields; f++)
        fprintf(out, ", \"%s\" %s", section->fields[f].key, sql_type(&section->fields[f]));
    fputs(", PRIMARY KEY(record, row));\n", out);
    size_t i;
    const json_t *row;
    json_array_foreach(ulb_section_array(record->root, section), i, row)
    {
        put_sql_insert(out, section, id, i);
        for (size_t f = 0; f < section->n_fields; f++) {
            fputs(", ", out);
            put_sql_value(out, ulb_field_of(row, &section->fields[f]));
        }
        fputs(");\n", out);
        put_sql_samples(out, row, section->samples.key, id, table, i);
        put_sql_samples(out, row, section->more.key, id, table, i);
    }
}

enum ulb_status ulb_export_sql(const struct ulb_record *record, const struct ulb_export_options *options,
                               FILE *out, struct ulb_error *err)
{
    (void)options;
    char id[17];
    if (!ulb_record_digest(record, id))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the export");
    fputs("BEGIN;\n", out);
    put_sql_record(out, record, id);
    fputs(
        "CREATE TABLE IF NOT EXISTS samples(record TEXT REFERENCES records(id), \"table\" TEXT, row INTEGER, "
        "list TEXT, i INTEGER, value REAL, PRIMARY KEY(record, \"table\", row, list, i));\n",
        out);
    for (const struct ulb_section *const *at = ulb_sections; *at; at++)
        put_sql_section(out, record, *at, id);
    fputs("COMMIT;\n", out);
    return ULB_OK;
}
