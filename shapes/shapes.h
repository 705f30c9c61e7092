/* Shapes and numbers of tokens that a user gives one by one. M = output features (rows of W), K = input
 * features. */
#ifndef ULB_SHAPES_SHAPES_H
#define ULB_SHAPES_SHAPES_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

/* The largest M, K and size of anything in a model. */
enum { ULB_SIZE_MAX = 1 << 24 };

/* One shape without a model. */
struct ulb_shape {
    size_t m, k;
};

/* Takes the next "MxK" off a comma list: *list moves behind it, *found is false at the end; empty items are
 * passed over. M and K are 1 to 16777216, what a problem can be; anything else, and a shape that is named
 * again in the rest of the list, is ULB_BAD_INPUT. */
enum ulb_status ulb_shape_next(const char **list, struct ulb_shape *shape, bool *found,
                               struct ulb_error *err);

/* The same for a list of numbers of tokens, each 1 to most. */
enum ulb_status ulb_tokens_next(const char **list, size_t most, size_t *n, bool *found,
                                struct ulb_error *err);

#endif
