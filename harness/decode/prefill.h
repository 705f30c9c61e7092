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
 * tokens is fastest. Ties within 3 %, or within noise, go by the fixed order of ulb_kernel_first(). Needs the
 * session's ring.
 */
enum ulb_status ulb_prefill_choose(struct ulb_session *session, const struct ulb_trial_shape *one,
                                   size_t tokens, const double *rates, struct ulb_prefill_choice *choice,
                                   struct ulb_error *err);

/* Of that layout the kernel that is fastest for so many tokens. */
enum ulb_status ulb_prefill_refine(struct ulb_session *session, const struct ulb_trial_shape *one,
                                   size_t tokens, const struct ulb_layout *layout, const double *rates,
                                   struct ulb_kernel_choice *choice, struct ulb_error *err);

/* What runs prompts. */
struct ulb_prefill_bench {
    struct ulb_session *session;
    struct ulb_decoder *decoder;
    const struct ulb_decoder_shape *shape; /* as run */
    size_t layers;                         /* of the model, to which times are extrapolated */
    const struct ulb_decoder_weights *weights;
    size_t ubatch; /* most tokens of one step */
};

/* Runs a prompt of n tokens at positions 0, 1, ...: once, and up to five times while that takes less than a
 * second. The figures are of the pass of median time. The yardstick is read before and after each pass.
 * Operations, bytes and shares of limits are those of the layers that are run. */
enum ulb_status ulb_prompt_measure(const struct ulb_prefill_bench *bench, size_t n,
                                   struct ulb_prompt_time *time, struct ulb_error *err);

/* Names the kernels and prefetches of a step of so many tokens. */
void ulb_prefill_name(const struct ulb_decoder_weights *weights, size_t n, struct ulb_prefill *prefill);

#endif
