/* The prompt: many tokens in one step, by the kernels that are fastest for many. */
#ifndef ULB_HARNESS_DECODE_PREFILL_H
#define ULB_HARNESS_DECODE_PREFILL_H

#include "harness/decode/choose.h"
#include "harness/decode/decoder.h"
#include "results/record/record.h"

/* A layout, and its kernels for one token and for many. */
struct ulb_prefill_choice {
    struct ulb_kernel_choice one, many;
    enum ulb_choice_reason reason;
};

/* Of the layouts that are as fast as any with one token, within noise, the one whose best kernel for so many
 * tokens is fastest. Ties within 3 % go by the fixed order of ulb_kernel_first(). Needs the session's ring.
 */
enum ulb_status ulb_prefill_choose(struct ulb_session *session, const struct ulb_trial_shape *one,
                                   size_t tokens, const double *rates, struct ulb_prefill_choice *choice,
                                   struct ulb_error *err);

/* Runs a prompt of n tokens at positions 0, 1, ... once, in steps of at most so many, and fills in
 * the run's figures of it; bytes are those of blocks and head that one step reads. Times are extrapolated to
 * so many layers; operations, bytes and shares of limits are those of the layers of shape, which were run. */
enum ulb_status ulb_prefill_measure(struct ulb_session *session, struct ulb_decoder *decoder,
                                    const struct ulb_decoder_shape *shape, size_t layers,
                                    const struct ulb_decoder_weights *weights, size_t n, size_t step,
                                    struct ulb_prefill *prefill, struct ulb_error *err);

#endif
