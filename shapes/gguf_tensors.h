/* Internal to shapes/: the tensors of a GGUF file, sorted by purpose and size. */
#ifndef ULB_SHAPES_GGUF_TENSORS_H
#define ULB_SHAPES_GGUF_TENSORS_H

#include "shapes/gguf_stream.h"
#include "shapes/matrix_rows.h"

struct ulb_gguf_tensors {
    struct ulb_matrix_rows rows;
    unsigned blocks, nextn; /* of the metadata: blocks in all, and those at the end that predict further
                               tokens, which are left out */
    unsigned hidden;
    bool *seen;         /* [blocks]: has matrices */
    uint64_t n_tensors; /* all that were read */
    size_t vocab;       /* rows of token_embd; 0: none */
    double embedding_bytes, other_bytes;
    double other_parameters; /* of further embeddings, filters, state matrices */
    unsigned cached;         /* blocks with keys of their own */
    uint64_t alignment;      /* of the data of tensors */
    bool headless;           /* an encoder: the embedding is no head */
    bool head, qk_norm, sub_norms, post_norms;
};

enum ulb_status ulb_gguf_tensors_open(struct ulb_gguf_tensors *t, unsigned blocks, unsigned nextn,
                                      unsigned hidden, struct ulb_error *err);
void ulb_gguf_tensors_close(struct ulb_gguf_tensors *t);

/* Reads the list of tensors where the stream stands. */
void ulb_gguf_tensors_read(struct ulb_gguf_tensors *t, struct ulb_gguf_stream *s);

/* After the last file: joins what the converter took apart, sets active and adds the head. */
enum ulb_status ulb_gguf_tensors_finish(struct ulb_gguf_tensors *t, unsigned experts, unsigned experts_active,
                                        struct ulb_error *err);

/* Bytes of a tensor with rows of k elements, n in all, by ggml's number of its type; NAN when the type is not
 * known, -1 when rows of k are impossible. */
double ulb_ggml_bytes(uint32_t type, uint64_t k, double n);

#endif
