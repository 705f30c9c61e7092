/* Internal to shapes/: matrices of a file's tensors, sorted by purpose and size. */
#ifndef ULB_SHAPES_MATRIX_ROWS_H
#define ULB_SHAPES_MATRIX_ROWS_H

#include "shapes/model.h"

#include <stdint.h>

enum { ULB_MATRIX_ROWS = 512 };

/* Matrices of one purpose and size. */
struct ulb_matrix_row {
    struct ulb_layer_shape shape; /* active is set at the end */
    bool expert;                  /* a token reads some of them */
    double bytes;                 /* of all of them; NAN for a type whose size is not known */
};

struct ulb_matrix_rows {
    struct ulb_matrix_row *items; /* ULB_MATRIX_ROWS */
    size_t n;
};

/* False without memory. */
bool ulb_matrix_rows_open(struct ulb_matrix_rows *rows);
void ulb_matrix_rows_close(struct ulb_matrix_rows *rows);

/* Adds count matrices, bytes in all. Characters of the layer's name that a table cannot hold become '?'.
 * False when there are more kinds or more matrices than a model has. */
bool ulb_matrix_rows_add(struct ulb_matrix_rows *rows, const char *layer, uint64_t m, uint64_t k,
                         uint64_t count, bool expert, double bytes);

/* The row of a layer; NULL when there is none. */
struct ulb_matrix_row *ulb_matrix_rows_find(const struct ulb_matrix_rows *rows, const char *layer);

/* Sets how many one token reads. ULB_BAD_INPUT when the experts do not go with their numbers. */
enum ulb_status ulb_matrix_rows_activate(struct ulb_matrix_rows *rows, unsigned experts, unsigned active,
                                         struct ulb_error *err);

/* Gives the model its matrices as they are, and what their bytes come to; other_bytes: of all other tensors.
 */
enum ulb_status ulb_matrix_rows_store(const struct ulb_matrix_rows *rows, struct ulb_model *model,
                                      struct ulb_error *err);
void ulb_matrix_rows_sum(const struct ulb_matrix_rows *rows, double other_bytes, struct ulb_model *model);

#endif
