/* Tables for the terminal, by libsmartcols. A table is as wide as the screen at most. Columns that may be
 * shortened are. Then columns leave from the right, which a line below the table says. No value is wrapped.
 */
#ifndef ULB_HARNESS_CLI_TABLE_H
#define ULB_HARNESS_CLI_TABLE_H

#include "harness/cli/terminal.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ULB_TABLE_COLUMNS = 16 };

struct ulb_table_column {
    const char *title;
    bool right;    /* numbers */
    bool shortens; /* a sentence, whose begin says the most; '~' shows the cut */
};

struct ulb_table;

/* Memory that is short is found at printing. columns, at most ULB_TABLE_COLUMNS, must outlive the table. */
struct ulb_table *ulb_table_open(const struct ulb_table_column *columns, size_t n);

/* A row: the cells of the columns, separated by tabs; those that are missing are empty. */
void ulb_table_add(struct ulb_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Colour of the row that was added last. */
void ulb_table_colour(struct ulb_table *table, enum ulb_colour colour);
/* A line across all columns, above the rows that follow. */
void ulb_table_heading(struct ulb_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints titles and rows, and frees the table. */
void ulb_table_print(struct ulb_table *table, FILE *out);

/* A column of an array of objects. */
struct ulb_column {
    const char *key;   /* of the row object */
    const char *title; /* above the column */
    int decimals;      /* of a real number; negative: as many as it needs, at most six digits */
};

/* Prints an array of objects in at most ULB_TABLE_COLUMNS columns. Numbers stand to the right, null or absent
 * is "-", lists of strings are joined, true and false are yes and no. The last column may be shortened if it
 * is of words. */
void ulb_print_table(const json_t *rows, const struct ulb_column *columns, size_t n_columns);

/* The number by this format in out, which it returns; "-" for one that could not be had. */
const char *ulb_show_number(char out[32], const char *format, double value)
    __attribute__((format(printf, 2, 0)));

#endif
