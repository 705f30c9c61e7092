/* Shapes of the linear layers of real models. M = output features (rows of W), K = input features. */
#ifndef ULB_SHAPES_SHAPES_H
#define ULB_SHAPES_SHAPES_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

struct ulb_layer_shape {
    const char
        *layer; /* "qkv", "o", "gate_up", "down", ... as the paper draws them: q/k/v and gate/up fused */
    size_t m, k;
    unsigned count;  /* matrices of this shape in the whole model */
    unsigned active; /* of those, how many one token reads */
};

struct ulb_model {
    const char *name;  /* as on the command line, lower case: "falcon3-1b" */
    const char *title; /* as in figures: "Falcon3-1B" */
    const char *source;
    unsigned layers;
    unsigned vocab, hidden;
    bool tied_head; /* the head's vocab x hidden matrix is the embedding itself */
    /* The layers of the blocks, which are what gets quantised; the head is vocab x hidden and not among them.
     */
    size_t n_shapes;
    struct ulb_layer_shape shapes[8];
};

/* The built-in catalogue. */
extern const struct ulb_model ulb_models[];
extern const size_t ulb_model_count;

/* NULL when the name is unknown. */
const struct ulb_model *ulb_model_find(const char *name);

/* One shape without a model. */
struct ulb_shape {
    size_t m, k;
};

/* Takes the next "MxK" off a comma list: *list moves behind it, *found is false at the end. M and K are 1 to
 * 16777216, what a problem can be; anything else is ULB_BAD_INPUT. */
enum ulb_status ulb_shape_next(const char **list, struct ulb_shape *shape, bool *found,
                               struct ulb_error *err);

/* The same for a list of numbers of tokens, each 1 to most. */
enum ulb_status ulb_tokens_next(const char **list, size_t most, size_t *n, bool *found,
                                struct ulb_error *err);

/* Parameters of the linear layers and the embedding (norms and biases excluded; a tied head counted once). */
double ulb_model_parameters(const struct ulb_model *model);

#endif
