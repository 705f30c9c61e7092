#include "shapes/matrix_rows.h"

#include "shapes/shapes.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ulb_matrix_rows_open(struct ulb_matrix_rows *rows)
{
    *rows = (struct ulb_matrix_rows){calloc(ULB_MATRIX_ROWS, sizeof *rows->items), 0};
    return rows->items;
}

void ulb_matrix_rows_close(struct ulb_matrix_rows *rows)
{
    free(rows->items);
    *rows = (struct ulb_matrix_rows){NULL, 0};
}

/* The row of that purpose and size, a new one if need be; NULL when there are too many. */
static struct ulb_matrix_row *row_of(struct ulb_matrix_rows *rows, const char *layer, uint64_t m, uint64_t k)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct ulb_layer_shape *shape = &rows->items[i].shape;
        if (shape->m == m && shape->k == k && strcmp(shape->layer, layer) == 0)
            return &rows->items[i];
    }
    if (rows->n == ULB_MATRIX_ROWS)
        return NULL;
    struct ulb_matrix_row *row = &rows->items[rows->n++];
    *row = (struct ulb_matrix_row){.shape = {.m = (size_t)m, .k = (size_t)k}};
    snprintf(row->shape.layer, sizeof row->shape.layer, "%s", layer);
    return row;
}

bool ulb_matrix_rows_add(struct ulb_matrix_rows *rows, const char *layer, uint64_t m, uint64_t k,
                         uint64_t count, bool expert, double bytes)
{
    char name[sizeof rows->items->shape.layer];
    snprintf(name, sizeof name, "%s", layer);
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
            *at = '?'; /* names go into tables and CSV */
    }
    bool possible = m >= 1 && m <= ULB_SIZE_MAX && k >= 1 && k <= ULB_SIZE_MAX && count <= INT32_MAX;
    struct ulb_matrix_row *row = possible ? row_of(rows, name, m, k) : NULL;
    if (!row || row->shape.count + count > INT32_MAX)
        return false;
    row->shape.count += (unsigned)count;
    row->bytes += bytes;
    row->expert = expert;
    return true;
}

struct ulb_matrix_row *ulb_matrix_rows_find(const struct ulb_matrix_rows *rows, const char *layer)
{
    for (size_t i = 0; i < rows->n; i++) {
        if (strcmp(rows->items[i].shape.layer, layer) == 0)
            return &rows->items[i];
    }
    return NULL;
}

enum ulb_status ulb_matrix_rows_activate(struct ulb_matrix_rows *rows, unsigned experts, unsigned active,
                                         struct ulb_error *err)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct ulb_layer_shape *shape = &rows->items[i].shape;
        shape->active = shape->count;
        if (!rows->items[i].expert)
            continue;
        if (experts == 0 || active == 0 || active > experts || shape->count % experts != 0)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%u matrices %s do not go with %u experts of which %u are active", shape->count,
                            shape->layer, experts, active);
        shape->active = shape->count / experts * active;
    }
    return ULB_OK;
}

void ulb_matrix_rows_sum(const struct ulb_matrix_rows *rows, double other_bytes, struct ulb_model *model)
{
    model->stored_bytes = other_bytes;
    model->stored_bytes_per_token = 0;
    for (size_t i = 0; i < rows->n; i++) {
        const struct ulb_matrix_row *row = &rows->items[i];
        model->stored_bytes += row->bytes;
        model->stored_bytes_per_token += row->bytes / row->shape.count * row->shape.active;
    }
}

enum ulb_status ulb_matrix_rows_store(const struct ulb_matrix_rows *rows, struct ulb_model *model,
                                      struct ulb_error *err)
{
    model->stored = calloc(rows->n > 0 ? rows->n : 1, sizeof *model->stored);
    if (!model->stored)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for its %zu kinds of matrices", rows->n);
    for (size_t i = 0; i < rows->n; i++)
        model->stored[i] = rows->items[i].shape;
    model->n_stored = rows->n;
    return ULB_OK;
}
