/* The decoder's reference: the same model token by token in plain scalar double precision. */
#ifndef ULB_HARNESS_DECODE_REFERENCE_H
#define ULB_HARNESS_DECODE_REFERENCE_H

#include "harness/decode/decoder.h"

/* Logits [vocab] after n tokens that stand at positions 0, 1, ... Its products are those of the formats'
 * scalar kernels, from weights unpacked and packed anew and activations converted by the scalar code; keys
 * and values are rounded as in a cache of that type. For small models: it is slow. ULB_ENVIRONMENT
 * when memory is short. */
enum ulb_status ulb_decode_reference(const struct ulb_decoder_shape *shape,
                                     const struct ulb_decoder_weights *weights, enum ulb_kv_type type,
                                     const uint32_t *tokens, size_t n, double *logits, struct ulb_error *err);

/* Root of sum (a - b)^2 / sum b^2: how far logits are from the reference. */
double ulb_decode_distance(const float *logits, const double *reference, size_t n);

#endif
