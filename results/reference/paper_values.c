#include "results/reference/paper_values.h"

#include "results/reference/csv_table.h"

#include <math.h>
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

/* Half a unit in the last place of a decimal number: 0.005 for "1.44". */
static double half_digit(const char *decimal)
{
    const char *point = strchr(decimal, '.');
    return 0.5 * pow(10, point ? -(double)strlen(point + 1) : 0);
}

static bool parse_kind(const char *text, enum ulb_paper_kind *kind)
{
    static const char *const names[] = {[ULB_PAPER_INPUT] = "input",
                                        [ULB_PAPER_DERIVED] = "derived",
                                        [ULB_PAPER_OTHER] = "other",
                                        [ULB_PAPER_REPEAT] = "repeat",
                                        [ULB_PAPER_OPEN] = "open"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *kind = (enum ulb_paper_kind)i;
            return true;
        }
    }
    return false;
}

/* NULL, or what is wrong with the fields and what is wanted. */
static const char *parse_row(char **fields, struct ulb_paper_row *row)
{
    if (!ulb_csv_copy(row->id, sizeof row->id, fields[ID]) ||
        !ulb_csv_copy(row->section, sizeof row->section, fields[SECTION]) ||
        !ulb_csv_copy(row->platform, sizeof row->platform, fields[PLATFORM]) ||
        !ulb_csv_copy(row->quantity, sizeof row->quantity, fields[QUANTITY]) ||
        !ulb_csv_copy(row->unit, sizeof row->unit, fields[UNIT]))
        return "a text field is empty or too long";
    if (!parse_kind(fields[KIND], &row->kind))
        return "kind must be input, derived, other, repeat or open";
    if (!ulb_csv_number(fields[VALUE], &row->published) || !ulb_csv_number(fields[LO], &row->lo) ||
        !ulb_csv_number(fields[HI], &row->hi))
        return "value, lo and hi must be numbers";
    if (!(row->lo <= row->published && row->published <= row->hi))
        return "value must lie in [lo, hi]";
    row->half_digit = half_digit(fields[VALUE]);
    row->modelled = NAN;
    return NULL;
}

static const char *take_row(char **fields, void *arg)
{
    struct ulb_paper_check *check = arg;
    if (check->n == ULB_MAX_PAPER_ROWS)
        return "the table has too many rows";
    struct ulb_paper_row row = {.id = ""};
    const char *wrong = parse_row(fields, &row);
    if (!wrong && ulb_paper_find(check, row.id))
        wrong = "this id occurs twice";
    if (!wrong)
        check->rows[check->n++] = row;
    return wrong;
}

enum ulb_status ulb_paper_parse(const char *csv, size_t bytes, const char *origin,
                                struct ulb_paper_check *check, struct ulb_error *err)
{
    const struct ulb_csv_table table = {origin, header, N_FIELDS, take_row, check};
    memset(check, 0, sizeof *check);
    return ulb_csv_read(&table, csv, bytes, err);
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
