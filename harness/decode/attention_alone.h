/* The attention phase alone, beside what memory gives. */
#ifndef ULB_HARNESS_DECODE_ATTENTION_ALONE_H
#define ULB_HARNESS_DECODE_ATTENTION_ALONE_H

#include "harness/decode/decoder.h"

struct ulb_session; /* harness/session/session.h */

struct ulb_attention_alone {
    size_t position;    /* of the token: its cache holds one position more */
    double bytes_per_s; /* of the caches, the layers that were run; median */
    double share;       /* of the yardstick read in turn; median of the rounds */
};

/* Reads the yardstick and runs the attention phase of a token at position of each sequence in turn. Before
 * each sample the yardstick has read twice the last-level cache, so that keys and values are cold. The
 * session's arena are the weights. */
struct ulb_attention_alone ulb_attention_measure(struct ulb_session *session, struct ulb_decoder *decoder,
                                                 const struct ulb_decoder_shape *shape, enum ulb_kv_type type,
                                                 size_t sequences, size_t position);

#endif
