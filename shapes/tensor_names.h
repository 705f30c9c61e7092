/* Internal to shapes/: what a tensor of a PyTorch checkpoint is for, by its name. */
#ifndef ULB_SHAPES_TENSOR_NAMES_H
#define ULB_SHAPES_TENSOR_NAMES_H

#include <stdbool.h>

enum ulb_tensor_use {
    ULB_TENSOR_MATRIX,    /* of a block or of the whole model, named in layer */
    ULB_TENSOR_EMBEDDING, /* of the vocabulary */
    ULB_TENSOR_HEAD,
    ULB_TENSOR_TABLE,   /* looked up, a filter, a matrix of the state: parameters and no GEMV */
    ULB_TENSOR_VECTOR,  /* norms and biases */
    ULB_TENSOR_SCALE,   /* of quantised weights */
    ULB_TENSOR_TOWER,   /* of a vision or audio part */
    ULB_TENSOR_FURTHER, /* of blocks that predict further tokens */
};

struct ulb_tensor_name {
    enum ulb_tensor_use use;
    long block;     /* -1: outside */
    long expert;    /* -1: none, or all of them in one tensor */
    bool of_expert; /* a token reads some of them */
    bool packed;    /* "qweight", "weight_packed", "_blocks": several weights an element */
    char layer[32]; /* as the model's list names it */
};

void ulb_tensor_name_read(const char *text, struct ulb_tensor_name *name);

#endif
