/* Shared by the files that measure decoding. */
#ifndef ULB_HARNESS_DECODE_MEASURE_DECODE_PRIVATE_H
#define ULB_HARNESS_DECODE_MEASURE_DECODE_PRIVATE_H

#include "harness/decode/measure_decode.h"
#include "harness/decode/token_loop.h"
#include "harness/decode/weights.h"
#include "harness/session/machine.h"

/* One format: its kernels, and what decoding came to. */
struct format_run {
    char format[16];
    struct ulb_kernel_choice choices[ULB_LINEARS];
    struct ulb_step_kernels steps[ULB_SIZES];    /* for each size of the measurement's steps */
    enum ulb_choice_reason reasons[ULB_LINEARS]; /* of the layouts, with steps of many tokens */
    double *rates;                               /* of each thread, for the weighted split */
};

struct measurement {
    struct ulb_session *session;
    const struct ulb_decode_settings *settings;
    char model[64];
    struct ulb_decoder_shape shape; /* all layers */
    size_t tokens, context;         /* to decode; in the cache before, the prompt included */
    struct ulb_sizes steps;         /* tokens of the steps of more than one */
    struct format_run *formats;
    size_t n_formats;
    struct ulb_weight_store store;
    struct ulb_turn turns[ULB_SPLITS];
    size_t n_turns;
    struct ulb_sizes batches;
    struct ulb_decode_baseline baselines[ULB_SIZES][ULB_SPLITS]; /* of each batch and turn */
    double *rates; /* of each thread, by which kernels are tried */
    double class_beta[ULB_MAX_CLASSES];
};

/* The formats in their order, those left out that cannot run; ULB_BAD_INPUT or ULB_ENVIRONMENT when none is
 * left, or when an option names what is not there. */
enum ulb_status ulb_decode_plan_formats(struct measurement *m, struct ulb_error *err);

/* A kernel for every matrix of every format, and the threads' rates. The session's ring is given back before
 * any weights are made. */
enum ulb_status ulb_decode_choose_kernels(struct measurement *m, struct ulb_error *err);

#endif
