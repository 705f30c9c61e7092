#include "results/reference/csv_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool ulb_csv_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

bool ulb_csv_copy(char *out, size_t out_bytes, const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length >= out_bytes)
        return false;
    memcpy(out, text, length + 1);
    return true;
}

/* Cuts line in place; the number of its fields. */
static size_t split(char *line, char *fields[ULB_CSV_FIELDS])
{
    size_t n = 0;
    for (char *at = line; at; n++) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (n < ULB_CSV_FIELDS)
            fields[n] = at;
        at = comma ? comma + 1 : NULL;
    }
    return n;
}

struct reading {
    const struct ulb_csv_table *table;
    bool header_seen;
    size_t rows;
};

static enum ulb_status read_line(struct reading *reading, char *line, unsigned number, struct ulb_error *err)
{
    const struct ulb_csv_table *table = reading->table;
    char *fields[ULB_CSV_FIELDS];
    if (line[0] == '#' || line[0] == '\0')
        return ULB_OK;
    if (!reading->header_seen) {
        reading->header_seen = true;
        return strcmp(line, table->header) == 0
                   ? ULB_OK
                   : ulb_fail(err, ULB_BAD_INPUT, "%s, line %u: the header must be %s", table->origin, number,
                              table->header);
    }
    if (split(line, fields) != table->n_fields)
        return ulb_fail(err, ULB_BAD_INPUT, "%s, line %u: a row must have the %zu fields of the header",
                        table->origin, number, table->n_fields);
    const char *wrong = table->take(fields, table->arg);
    reading->rows++;
    return wrong ? ulb_fail(err, ULB_BAD_INPUT, "%s, line %u: %s", table->origin, number, wrong) : ULB_OK;
}

enum ulb_status ulb_csv_read(const struct ulb_csv_table *table, const char *csv, size_t bytes,
                             struct ulb_error *err)
{
    char *text = malloc(bytes + 1);
    if (!text)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: not enough memory to read it", table->origin);
    memcpy(text, csv, bytes);
    text[bytes] = '\0';

    struct reading reading = {.table = table};
    enum ulb_status status = ULB_OK;
    unsigned number = 0;
    for (char *line = text; line && status == ULB_OK;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        status = read_line(&reading, line, ++number, err);
        line = end ? end + 1 : NULL;
    }
    if (status == ULB_OK && reading.rows == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "%s: the table has no rows", table->origin);
    free(text);
    return status;
}
