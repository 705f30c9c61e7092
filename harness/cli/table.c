#include "harness/cli/table.h"

#include "common/text.h"
#include "harness/cli/terminal.h"

#include <libsmartcols.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 192, ROW_BYTES = 3200, SHORTEST = 12, GAP = 2, NO_COLOUR = -1 };

struct row {
    char text[ROW_BYTES]; /* cells behind one another, each ending with a zero byte; or the heading */
    const char *cells[ULB_TABLE_COLUMNS];
    bool heading;
    int colour;
};

struct ulb_table {
    const struct ulb_table_column *columns;
    size_t n_columns, n, room;
    struct row **rows; /* the first holds the titles */
    bool failed;
};

/* ---- rows ---- */

static struct row *new_row(struct ulb_table *table)
{
    if (!table || table->failed)
        return NULL;
    if (table->n == table->room) {
        size_t room = 2 * table->room + 16;
        struct row **rows = realloc(table->rows, room * sizeof *rows);
        if (rows) {
            table->rows = rows;
            table->room = room;
        }
    }
    struct row *row = table->n < table->room ? calloc(1, sizeof *row) : NULL;
    table->failed = !row;
    if (!row)
        return NULL;
    row->colour = NO_COLOUR;
    table->rows[table->n++] = row;
    return row;
}

static void cut_cells(struct row *row, size_t n)
{
    char *at = row->text;
    for (size_t c = 0; c < n; c++) {
        char *end = at ? strchr(at, '\t') : NULL;
        row->cells[c] = at ? at : "";
        if (end)
            *end = '\0';
        if (at)
            ulb_to_ascii(at);
        at = end ? end + 1 : NULL;
    }
}

struct ulb_table *ulb_table_open(const struct ulb_table_column *columns, size_t n)
{
    struct ulb_table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->columns = columns;
    table->n_columns = n;
    struct row *titles = new_row(table);
    for (size_t c = 0; titles && c < n; c++)
        titles->cells[c] = columns[c].title;
    ulb_table_colour(table, ULB_BOLD);
    return table;
}

void ulb_table_add(struct ulb_table *table, const char *format, ...)
{
    struct row *row = new_row(table);
    va_list args;
    if (!row)
        return;
    va_start(args, format);
    vsnprintf(row->text, sizeof row->text, format, args);
    va_end(args);
    cut_cells(row, table->n_columns);
}

void ulb_table_colour(struct ulb_table *table, enum ulb_colour colour)
{
    if (table && !table->failed)
        table->rows[table->n - 1]->colour = (int)colour;
}

void ulb_table_heading(struct ulb_table *table, const char *format, ...)
{
    struct row *row = new_row(table);
    va_list args;
    if (!row)
        return;
    row->heading = true;
    va_start(args, format);
    vsnprintf(row->text, sizeof row->text, format, args);
    va_end(args);
    ulb_to_ascii(row->text);
}

static void free_table(struct ulb_table *table)
{
    for (size_t i = 0; table && i < table->n; i++)
        free(table->rows[i]);
    if (table)
        free(table->rows);
    free(table);
}

/* ---- what fits ---- */

static void measure(const struct ulb_table *table, size_t widths[ULB_TABLE_COLUMNS])
{
    for (size_t c = 0; c < table->n_columns; c++) {
        widths[c] = 0;
        for (size_t i = 0; i < table->n; i++) {
            size_t width = table->rows[i]->heading ? 0 : strlen(table->rows[i]->cells[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
}

/* Width of the first n columns; least: with those shortened that may be. */
static size_t total(const struct ulb_table *table, const size_t *widths, size_t n, bool least)
{
    size_t sum = n > 0 ? GAP * (n - 1) : 0;
    for (size_t c = 0; c < n; c++)
        sum += least && table->columns[c].shortens && widths[c] > SHORTEST ? SHORTEST : widths[c];
    return sum;
}

/* How many columns are shown on so wide a screen; shortens what may be, from the right. */
static size_t fit(const struct ulb_table *table, size_t widths[ULB_TABLE_COLUMNS], size_t screen)
{
    size_t n = table->n_columns;
    while (n > 1 && total(table, widths, n, true) > screen)
        n--;
    for (size_t c = n; c-- > 0;) {
        size_t all = total(table, widths, n, false);
        if (all <= screen || !table->columns[c].shortens || widths[c] <= SHORTEST)
            continue;
        size_t over = all - screen;
        widths[c] = widths[c] > SHORTEST + over ? widths[c] - over : SHORTEST;
    }
    return n;
}

/* ---- printing ---- */

/* The row as a line of libsmartcols; not 0: no memory. */
static int put_row(struct libscols_table *to, const struct row *row, const size_t *widths, size_t n,
                   bool colours)
{
    struct libscols_line *line = scols_table_new_line(to, NULL);
    int bad = !line;
    for (size_t c = 0; !bad && c < n; c++) {
        char cell[ROW_BYTES];
        snprintf(cell, sizeof cell, "%s", row->cells[c]);
        if (strlen(cell) > widths[c])
            strcpy(cell + widths[c] - 1, "~");
        bad = scols_line_set_data(line, c, cell);
    }
    if (!bad && colours && row->colour != NO_COLOUR)
        bad = scols_line_set_color(line, ulb_colour_name((enum ulb_colour)row->colour));
    return bad;
}

static int print_lines(struct libscols_table *to, size_t from, size_t n, FILE *out)
{
    if (n == 0)
        return 0;
    int bad =
        scols_table_print_range(to, scols_table_get_line(to, from), scols_table_get_line(to, from + n - 1));
    if (!bad)
        fputc('\n', out);
    return bad;
}

static int print_rows(const struct ulb_table *table, struct libscols_table *to, FILE *out)
{
    size_t printed = 0, lines = 0;
    int bad = 0;
    for (size_t i = 0; i < table->n && !bad; i++) {
        if (!table->rows[i]->heading) {
            lines++;
            continue;
        }
        bad = print_lines(to, printed, lines, out);
        ulb_print_wrapped(out, "", table->rows[i]->text);
        printed += lines;
        lines = 0;
    }
    return bad || print_lines(to, printed, lines, out);
}

static int print_fitted(const struct ulb_table *table, const size_t *widths, size_t n, FILE *out)
{
    struct libscols_table *to = scols_new_table();
    bool colours = ulb_has_colours(out);
    int bad = !to || scols_table_set_stream(to, out) || scols_table_set_column_separator(to, "  ") ||
              scols_table_enable_noheadings(to, 1) || scols_table_enable_minout(to, 1) ||
              scols_table_enable_colors(to, colours) || scols_table_set_termforce(to, SCOLS_TERMFORCE_NEVER);
    for (size_t c = 0; c < n && !bad; c++)
        bad = !scols_table_new_column(to, table->columns[c].title, (double)widths[c],
                                      table->columns[c].right ? SCOLS_FL_RIGHT : 0);
    for (size_t i = 0; i < table->n && !bad; i++) {
        if (!table->rows[i]->heading)
            bad = put_row(to, table->rows[i], widths, n, colours);
    }
    bad = bad || print_rows(table, to, out);
    scols_unref_table(to);
    return bad;
}

/* Columns that found no room; those without a title need none. */
static void name_left_out(const struct ulb_table *table, size_t n, FILE *out)
{
    char names[ROW_BYTES] = "";
    size_t used = 0;
    for (size_t c = n; c < table->n_columns; c++) {
        if (table->columns[c].title[0])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     table->columns[c].title);
    }
    if (used > 0)
        ulb_print_wrapped_as(out, "", "(too narrow for: %s)", names);
}

void ulb_table_print(struct ulb_table *table, FILE *out)
{
    size_t widths[ULB_TABLE_COLUMNS], n = 0;
    bool failed = !table || table->failed;
    if (!failed) {
        measure(table, widths);
        n = fit(table, widths, ulb_terminal_width(out));
        failed = print_fitted(table, widths, n, out) != 0;
    }
    if (failed)
        ulb_print_note("not enough memory to show a table; --json holds its values");
    if (!failed && n < table->n_columns)
        name_left_out(table, n, out);
    free_table(table);
}

/* ---- arrays of objects ---- */

static void join(const json_t *list, char out[CELL_BYTES])
{
    out[0] = '\0';
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t used = strlen(out);
        const char *item = json_string_value(json_array_get(list, i));
        snprintf(out + used, CELL_BYTES - used, "%s%s", i ? ", " : "", item ? item : "-");
    }
}

static void cell(const json_t *row, const struct ulb_column *column, char out[CELL_BYTES])
{
    const json_t *value = json_object_get(row, column->key);
    if (json_is_string(value))
        snprintf(out, CELL_BYTES, "%s", json_string_value(value));
    else if (json_is_integer(value))
        snprintf(out, CELL_BYTES, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value) && column->decimals < 0)
        snprintf(out, CELL_BYTES, "%g", json_real_value(value));
    else if (json_is_real(value))
        snprintf(out, CELL_BYTES, "%.*f", column->decimals, json_real_value(value));
    else if (json_is_boolean(value))
        snprintf(out, CELL_BYTES, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_array_size(value) > 0)
        join(value, out);
    else
        snprintf(out, CELL_BYTES, "-");
    ulb_text_mend(out);
    ulb_text_printable(out);
}

static bool is_of_numbers(const json_t *rows, const char *key)
{
    const json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        if (json_is_number(json_object_get(row, key)))
            return true;
    }
    return false;
}

void ulb_print_table(const json_t *rows, const struct ulb_column *columns, size_t n_columns)
{
    struct ulb_table_column shown[ULB_TABLE_COLUMNS];
    const json_t *row;
    size_t i;
    for (size_t c = 0; c < n_columns; c++) {
        bool right = is_of_numbers(rows, columns[c].key);
        shown[c] = (struct ulb_table_column){columns[c].title, right, !right && c > 0 && c + 1 == n_columns};
    }
    struct ulb_table *table = ulb_table_open(shown, n_columns);
    json_array_foreach(rows, i, row)
    {
        char text[ULB_TABLE_COLUMNS * (CELL_BYTES + 1)] = "";
        size_t used = 0;
        for (size_t c = 0; c < n_columns; c++) {
            char one[CELL_BYTES];
            cell(row, &columns[c], one);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", c ? "\t" : "", one);
        }
        ulb_table_add(table, "%s", text);
    }
    ulb_table_print(table, stdout);
}

const char *ulb_show_number(char out[32], const char *format, double value)
{
    if (isfinite(value))
        snprintf(out, 32, format, value);
    else
        strcpy(out, "-");
    return out;
}
