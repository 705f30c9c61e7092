/* The table of published values: comma-separated, no quoting, lines that start with # are comments. */
#include "results/paper_values.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file, which ulb_embed() ends with a zero byte. */
extern const unsigned char ulb_paper_values_csv[];

static const char header[] = "id,section,platform,kind,quantity,value,lo,hi,unit";

enum { ID, SECTION, PLATFORM, KIND, QUANTITY, VALUE, LO, HI, UNIT, N_FIELDS };

const char *ulb_paper_values(size_t *bytes)
{
    const char *text = (const char *)ulb_paper_values_csv;
    *bytes = strlen(text);
    return text;
}

const struct ulb_paper_row *ulb_paper_find(const struct ulb_paper_check *check, const char *id)
{
    for (size_t i = 0; i < check->n; i++) {
        if (strcmp(check->rows[i].id, id) == 0)
            return &check->rows[i];
    }
    return NULL;
}

/* Cuts line in place; false unless it has exactly N_FIELDS fields. */
static bool split(char *line, char *fields[N_FIELDS])
{
    size_t n = 0;
    for (char *at = line; at; n++) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        if (n < N_FIELDS)
            fields[n] = at;
        at = comma ? comma + 1 : NULL;
    }
    return n == N_FIELDS;
}

static bool parse_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*value);
}

/* Half a unit in the last place of a decimal number: 0.005 for "1.44". */
static double half_digit(const char *decimal)
{
    const char *point = strchr(decimal, '.');
    return 0.5 * pow(10, point ? -(double)strlen(point + 1) : 0);
}

static bool parse_kind(const char *text, enum ulb_paper_kind *kind)
{
    static const char *const names[] = {
        [ULB_PAPER_INPUT] = "input", [ULB_PAPER_DERIVED] = "derived", [ULB_PAPER_OTHER] = "other"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *kind = (enum ulb_paper_kind)i;
            return true;
        }
    }
    return false;
}

static bool copy(char *out, size_t out_bytes, const char *text)
{
    size_t length = strlen(text);
    if (length == 0 || length >= out_bytes)
        return false;
    memcpy(out, text, length + 1);
    return true;
}

/* NULL, or what is wrong with the line and what is wanted. */
static const char *parse_row(char *line, struct ulb_paper_row *row)
{
    char *fields[N_FIELDS];
    if (!split(line, fields))
        return "a row must have the 9 fields of the header";
    if (!copy(row->id, sizeof row->id, fields[ID]) ||
        !copy(row->section, sizeof row->section, fields[SECTION]) ||
        !copy(row->platform, sizeof row->platform, fields[PLATFORM]) ||
        !copy(row->quantity, sizeof row->quantity, fields[QUANTITY]) ||
        !copy(row->unit, sizeof row->unit, fields[UNIT]))
        return "a text field is empty or too long";
    if (!parse_kind(fields[KIND], &row->kind))
        return "kind must be input, derived or other";
    if (!parse_number(fields[VALUE], &row->published) || !parse_number(fields[LO], &row->lo) ||
        !parse_number(fields[HI], &row->hi))
        return "value, lo and hi must be numbers";
    if (!(row->lo <= row->published && row->published <= row->hi))
        return "value must lie in [lo, hi]";
    row->half_digit = half_digit(fields[VALUE]);
    row->modelled = NAN;
    return NULL;
}

static const char *parse_line(char *line, bool *header_seen, struct ulb_paper_check *check)
{
    if (line[0] == '#' || line[0] == '\0')
        return NULL;
    if (!*header_seen) {
        *header_seen = true;
        return strcmp(line, header) == 0 ? NULL : "the header must be id,section,platform,kind,quantity,...";
    }
    if (check->n == ULB_MAX_PAPER_ROWS)
        return "the table has too many rows";
    struct ulb_paper_row row = {.id = ""};
    const char *wrong = parse_row(line, &row);
    if (!wrong && ulb_paper_find(check, row.id))
        wrong = "this id occurs twice";
    if (!wrong)
        check->rows[check->n++] = row;
    return wrong;
}

enum ulb_status ulb_paper_parse(const char *csv, size_t bytes, const char *origin,
                                struct ulb_paper_check *check, struct ulb_error *err)
{
    memset(check, 0, sizeof *check);
    char *text = malloc(bytes + 1);
    if (!text)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: not enough memory to read it", origin);
    memcpy(text, csv, bytes);
    text[bytes] = '\0';

    enum ulb_status status = ULB_OK;
    bool header_seen = false;
    unsigned number = 0;
    for (char *line = text; line && status == ULB_OK;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        number++;
        const char *wrong = parse_line(line, &header_seen, check);
        if (wrong)
            status = ulb_fail(err, ULB_BAD_INPUT, "%s, line %u: %s", origin, number, wrong);
        line = end ? end + 1 : NULL;
    }
    if (status == ULB_OK && check->n == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "%s: the table has no rows", origin);
    free(text);
    return status;
}

double ulb_paper_value(const char *id)
{
    struct ulb_paper_check *check = malloc(sizeof *check);
    struct ulb_error err;
    double value = NAN;
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    if (check && ulb_paper_parse(csv, bytes, "paper-values.csv", check, &err) == ULB_OK) {
        const struct ulb_paper_row *row = ulb_paper_find(check, id);
        value = row ? row->published : NAN;
    }
    free(check);
    return value;
}
