/* Look-up of embeddings: rows of a matrix of quantised weights as floats. No product is formed; what counts
 * is how fast codes become numbers and how many bytes of weights are read. */
#ifndef ULB_KERNELS_EMBEDDING_H
#define ULB_KERNELS_EMBEDDING_H

#include "kernels/gguf_block.h"

struct ulb_embedding_call {
    const struct ulb_format *format; /* a block format */
    const uint8_t *rows;             /* its blocks as a file holds them, [vocabulary][k / columns] */
    size_t k;
    const uint32_t *tokens; /* [n], each below the vocabulary */
    size_t n;
    float *out; /* [n][k] */
};

struct ulb_embedding {
    const char *isa;
    ulb_isa_set needs;
    /* Whether it reads the format: all of its numbers of bits, with zero points and without. */
    bool (*reads)(const struct ulb_format *format);
    void (*run)(const struct ulb_embedding_call *call);
};

/* Operators 0, 1, ..., the scalar reference first; NULL after the last. Results are bit-equal. */
const struct ulb_embedding *ulb_embedding_at(size_t index);

#ifdef ULB_KERNEL
extern const struct ulb_embedding ULB_KERNEL;
#endif

#endif
