/* Tables for the terminal, printed from the same rows as the JSON output. */
#ifndef ULB_HARNESS_CLI_TABLE_H
#define ULB_HARNESS_CLI_TABLE_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct ulb_column {
    const char *key;   /* of the row object */
    const char *title; /* above the column */
    int decimals;      /* of a real number; negative: as many as it needs, at most six digits */
};

enum { ULB_TABLE_COLUMNS = 16 };

/* Prints an array of objects in at most ULB_TABLE_COLUMNS columns: columns as wide as their content, numbers
 * to the right, null or absent as "-", lists of strings joined, true and false as yes and no. */
void ulb_print_table(const json_t *rows, const struct ulb_column *columns, size_t n_columns);

/* The number by this format in out, which it returns; "-" for one that could not be had. */
const char *ulb_show_number(char out[32], const char *format, double value)
    __attribute__((format(printf, 2, 0)));

/* Prints text behind head, at most 100 columns wide; what does not fit goes on below, between words, indented
 * as far as head is long. */
void ulb_print_wrapped(FILE *out, const char *head, const char *text);

#endif
