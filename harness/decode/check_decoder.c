#include "harness/decode/check_decoder.h"

#include "harness/decode/reference.h"
#include "harness/decode/weights.h"
#include "kernels/gguf_block.h"

#include <math.h>
#include <stdlib.h>

enum { TOKENS = 5 };
/* Of the logits' distance from their reference. Activations, or keys and values of few bits, that fall
 * between two steps may be rounded to either, which weights of few bits with a zero point enlarge: 0.015 was
 * seen on a small model. */
static const double ROUNDING = 2e-3, BF16_ATTENTION = 1e-2, QUANTISED = 5e-2;

static size_t at_most(size_t value, size_t most)
{
    return value < most ? value : most;
}

/* Of the same form; a block format's columns divide what they must. */
static struct ulb_decoder_shape small_of(const struct ulb_decoder_shape *shape,
                                         const struct ulb_format *format)
{
    size_t columns = format->block ? format->block->columns : 1;
    struct ulb_decoder_shape small = ulb_decoder_shape_cut(shape, at_most(shape->layers, 2));
    size_t group = at_most(shape->heads / shape->kv_heads, 4);
    small.hidden = at_most(shape->hidden, format->block ? 256 : 320);
    small.kv_heads = at_most(shape->kv_heads, 2);
    while (small.kv_heads * group * small.head_dim % columns != 0)
        small.kv_heads++;
    small.heads = small.kv_heads * group;
    small.intermediate = at_most(shape->intermediate, format->block ? 512 : 448);
    small.vocab = at_most(shape->vocab, 700);
    small.experts = at_most(shape->experts, 4);
    small.active = at_most(shape->active, 2);
    return small;
}

/* The kernels of a step in the place of those for one token. */
static void take_step(struct ulb_decoder_weights *weights, const struct ulb_step_kernels *step)
{
    for (int i = 0; i < ULB_LINEARS; i++) {
        if (!step->kernel[i])
            continue;
        weights->kernel[i] = step->kernel[i];
        weights->prefetch[i] = step->prefetch[i];
    }
}

static double bound_of(const struct ulb_decoder_weights *weights, enum ulb_kv_type type)
{
    const double attention = type == ULB_KV_FP32   ? ROUNDING
                             : type == ULB_KV_BF16 ? BF16_ATTENTION
                                                   : QUANTISED;
    bool exact = true;
    for (int i = 0; i < ULB_LINEARS; i++)
        exact = exact && (!weights->kernel[i] || weights->kernel[i]->activation == ULB_ACT_F32);
    return exact ? attention : QUANTISED;
}

static const uint32_t fed[TOKENS] = {1, 77, 310, 5, 77};

/* Each sequence begins with another of these tokens. */
static uint32_t token_of(size_t sequence, size_t i)
{
    return fed[(sequence + i) % TOKENS];
}

/* Of a sequence's logits to those of the reference, which decodes it alone. */
static enum ulb_status compare(const struct ulb_decoder *decoder, const struct ulb_decoder_shape *small,
                               const struct ulb_decoder_weights *weights, enum ulb_kv_type type,
                               size_t sequence, double *distance, struct ulb_error *err)
{
    uint32_t tokens[TOKENS];
    double *reference = calloc(small->vocab, sizeof *reference);
    if (!reference)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check the decoder");
    for (size_t i = 0; i < TOKENS; i++)
        tokens[i] = token_of(sequence, i);
    enum ulb_status status = ulb_decode_reference(small, weights, type, tokens, TOKENS, reference, err);
    double away =
        ulb_decode_distance(ulb_decoder_logits(decoder) + sequence * small->vocab, reference, small->vocab);
    *distance = isnan(*distance) || away <= *distance ? *distance : away;
    free(reference);
    return status;
}

/* All sequences together; the first and the last are compared, and the largest distance counts. */
static enum ulb_status run(struct ulb_decoder *decoder, const struct ulb_decoder_shape *small,
                           const struct ulb_decoder_weights *weights, enum ulb_kv_type type, size_t sequences,
                           double *distance, struct ulb_error *err)
{
    uint32_t *tokens = calloc(2 * sequences, sizeof *tokens);
    if (!tokens)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check the decoder");
    for (size_t i = 0; i < TOKENS; i++) {
        for (size_t s = 0; s < sequences; s++)
            tokens[s] = token_of(s, i);
        ulb_decoder_step(decoder, tokens, sequences, i, tokens + sequences);
    }
    free(tokens);
    enum ulb_status status = compare(decoder, small, weights, type, 0, distance, err);
    if (status == ULB_OK && sequences > 1)
        status = compare(decoder, small, weights, type, sequences - 1, distance, err);
    return status;
}

enum ulb_status ulb_decode_check(struct ulb_team *team, const struct ulb_settings *settings,
                                 const struct ulb_decoder_shape *shape,
                                 const struct ulb_kernel_choice choices[ULB_LINEARS],
                                 const struct ulb_step_kernels *step,
                                 const struct ulb_decoder_options *options, struct ulb_error *err)
{
    struct ulb_decoder_shape small = small_of(shape, choices[ULB_QKV].kernel->layout->format);
    struct ulb_decoder_options mine = *options;
    struct ulb_weight_store store = {0};
    struct ulb_decoder *decoder = NULL;
    double distance = 0;
    mine.positions = TOKENS;
    mine.batch = options->sequences;
    enum ulb_status status = ulb_weights_open(&store, &small, choices, team, settings->seed, err);
    if (status == ULB_OK)
        status = ulb_weights_fill(&store, &small, choices, team, settings, options->rates, err);
    if (step)
        take_step(&store.weights, step);
    if (status == ULB_OK)
        status = ulb_decoder_open(&decoder, &small, &store.weights, &mine, err);
    if (status == ULB_OK)
        status = run(decoder, &small, &store.weights, mine.kv_type, mine.sequences, &distance, err);
    double bound = bound_of(&store.weights, mine.kv_type);
    if (status == ULB_OK && !(distance <= bound))
        status = ulb_fail(err, ULB_FINDING,
                          "the decoder differs from its scalar reference with weights in %s: logits are %.2g "
                          "away, %.2g is allowed",
                          choices[ULB_QKV].kernel->layout->format->name, distance, bound);
    ulb_decoder_close(decoder);
    ulb_weights_close(&store);
    return status;
}
