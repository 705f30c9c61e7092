/* Synthetic weights of a decoder, packed for the kernels that were chosen. */
#ifndef ULB_HARNESS_DECODE_WEIGHTS_H
#define ULB_HARNESS_DECODE_WEIGHTS_H

#include "harness/decode/choose.h"
#include "harness/decode/decoder.h"
#include "harness/session/settings.h"

struct ulb_weight_store {
    struct ulb_decoder_weights weights;  /* what a decoder takes */
    struct ulb_pages blocks, head, rest; /* rest: norms' gains and embedding */
};

/* Bytes of a layer's matrices, and of the head, with these choices. */
size_t ulb_weights_layer_bytes(const struct ulb_decoder_shape *shape,
                               const struct ulb_kernel_choice choices[ULB_LINEARS]);
size_t ulb_weights_head_bytes(const struct ulb_decoder_shape *shape,
                              const struct ulb_kernel_choice choices[ULB_LINEARS]);

/* And of what is there once beside them: gains, the embedding. */
size_t ulb_weights_rest_bytes(const struct ulb_decoder_shape *shape);

/* Most bytes that making any of the matrices takes beside the weights. */
size_t ulb_weights_making_bytes(const struct ulb_decoder_shape *shape,
                                const struct ulb_kernel_choice choices[ULB_LINEARS]);

/* Fills head and embedding with random numbers; they serve every format of the blocks. */
enum ulb_status ulb_weights_open(struct ulb_weight_store *store, const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS], struct ulb_team *team,
                                 uint64_t seed, struct ulb_error *err);
/* Makes the blocks: of each kind of matrix a random one with its known answer, checked against the scalar
 * reference with the team and the split, then copied to every expert and layer; the gains of the norms are
 * such that results are about 1. ULB_FINDING when a kernel differs. */
enum ulb_status ulb_weights_fill(struct ulb_weight_store *store, const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS], struct ulb_team *team,
                                 const struct ulb_settings *settings, const double *rates,
                                 struct ulb_error *err);
/* The blocks alone, for the next format. */
void ulb_weights_empty(struct ulb_weight_store *store);
/* A zeroed store is allowed. */
void ulb_weights_close(struct ulb_weight_store *store);

#endif
