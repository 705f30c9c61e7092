#include "harness/cli/table.h"

#include "common/text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CELL_BYTES = 192, WIDTH = 100 };

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

struct shape {
    int width;
    bool to_right;
};

static struct shape measure(const json_t *rows, const struct ulb_column *column)
{
    struct shape shape = {(int)strlen(column->title), false};
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        char text[CELL_BYTES];
        cell(row, column, text);
        int width = (int)strlen(text);
        shape.width = width > shape.width ? width : shape.width;
        shape.to_right |= json_is_number(json_object_get(row, column->key));
    }
    return shape;
}

static void print_cell(const char *text, struct shape shape, bool last)
{
    if (shape.to_right)
        printf("%*s", shape.width, text);
    else
        printf("%-*s", last ? 0 : shape.width, text);
    fputs(last ? "\n" : "  ", stdout);
}

void ulb_print_table(const json_t *rows, const struct ulb_column *columns, size_t n_columns)
{
    struct shape shapes[ULB_TABLE_COLUMNS];
    for (size_t c = 0; c < n_columns; c++) {
        shapes[c] = measure(rows, &columns[c]);
        print_cell(columns[c].title, shapes[c], c + 1 == n_columns);
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        for (size_t c = 0; c < n_columns; c++) {
            char text[CELL_BYTES];
            cell(json_array_get(rows, i), &columns[c], text);
            print_cell(text, shapes[c], c + 1 == n_columns);
        }
    }
}

void ulb_print_wrapped(FILE *out, const char *head, const char *text)
{
    int indent = (int)strlen(head);
    size_t room = WIDTH - (size_t)indent;
    fprintf(out, "%s", head);
    while (strlen(text) > room) {
        size_t cut = room;
        while (cut > 0 && text[cut] != ' ')
            cut--;
        cut = cut > 0 ? cut : room;
        fprintf(out, "%.*s\n%*s", (int)cut, text, indent, "");
        text += cut + (text[cut] == ' ');
    }
    fprintf(out, "%s\n", text);
}

const char *ulb_show_number(char out[32], const char *format, double value)
{
    if (isfinite(value))
        snprintf(out, 32, format, value);
    else
        strcpy(out, "-");
    return out;
}
