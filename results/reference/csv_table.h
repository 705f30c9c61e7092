/* Tables of published figures: comma-separated, no quoting, a header, lines that start with # are comments.
 */
#ifndef ULB_RESULTS_REFERENCE_CSV_TABLE_H
#define ULB_RESULTS_REFERENCE_CSV_TABLE_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

enum { ULB_CSV_FIELDS = 16 };

struct ulb_csv_table {
    const char *origin; /* for messages: the file's name */
    const char *header; /* the first line that is no comment */
    size_t n_fields;    /* of it, ULB_CSV_FIELDS at most */
    /* Takes one row; returns NULL, or what is wrong with it and what is wanted. */
    const char *(*take)(char **fields, void *arg);
    void *arg;
};

/* Hands over every row. ULB_BAD_INPUT names origin, line and fault, also for a table without rows. */
enum ulb_status ulb_csv_read(const struct ulb_csv_table *table, const char *csv, size_t bytes,
                             struct ulb_error *err);

/* A finite number and nothing behind it. */
bool ulb_csv_number(const char *text, double *value);
/* false: empty, or too long. */
bool ulb_csv_copy(char *out, size_t out_bytes, const char *text);

#endif
