#include "harness/decode/prefill.h"

#include "common/rng.h"
#include "common/stats.h"
#include "common/units.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/compute/peak.h"
#include "harness/compute/prefetch_tuning.h"
#include "harness/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WEIGHTS_TRIED = 1 << 21,
    TILES_TRIED = 768 /* rows: whole tiles of 32, 48, 64 and 96 */,
    PEAK_SAMPLES = 3,
    YARDSTICK_SAMPLES = 5
};

/* Kernels that differ by less are equal: the fixed order decides. */
static const double TIE = 0.03;

/* Keeps those choices whose layout some choice of others reads that is as fast as any; how many they are. */
static size_t keep_layouts(struct ulb_kernel_choice *choices, size_t n,
                           const struct ulb_kernel_choice *others, size_t n_others)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t o = 0; o < n_others; o++)
            found = found || (others[o].kernel->layout == choices[i].kernel->layout &&
                              ulb_kernel_ties(others, n_others, o, TIE, true));
        if (found)
            choices[kept++] = choices[i];
    }
    return kept;
}

/* Layouts of those choices that are as fast as any. */
static size_t count_layouts(const struct ulb_kernel_choice *choices, size_t n, bool noise)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool counts = ulb_kernel_ties(choices, n, i, TIE, noise);
        for (size_t before = 0; before < i; before++)
            counts = counts && !(choices[before].kernel->layout == choices[i].kernel->layout &&
                                 ulb_kernel_ties(choices, n, before, TIE, noise));
        count += counts;
    }
    return count;
}

enum ulb_status ulb_prefill_choose(struct ulb_session *session, const struct ulb_trial_shape *one,
                                   size_t tokens, const double *rates, struct ulb_prefill_choice *choice,
                                   struct ulb_error *err)
{
    struct ulb_kernel_choice *ones = NULL, *many = NULL;
    struct ulb_trial_shape shape = *one;
    size_t n_ones, n_many, tiles = WEIGHTS_TRIED / one->k / TILES_TRIED;
    size_t most = TILES_TRIED * (tiles > 0 ? tiles : 1);
    shape.m = one->m < most ? one->m : most;
    shape.n = tokens;
    shape.tune = false;
    enum ulb_status status = ulb_kernel_try(session, one, rates, &ones, &n_ones, err);
    if (status == ULB_OK)
        status = ulb_kernel_try(session, &shape, rates, &many, &n_many, err);
    if (status == ULB_OK) {
        n_many = keep_layouts(many, n_many, ones, n_ones);
        choice->many = many[ulb_kernel_first(many, n_many, TIE, false)];
        choice->reason = count_layouts(ones, n_ones, true) == 1    ? ULB_CHOICE_ONE_TOKEN
                         : count_layouts(many, n_many, false) == 1 ? ULB_CHOICE_MANY_TOKENS
                                                                   : ULB_CHOICE_ORDER;
        n_ones = keep_layouts(ones, n_ones, &choice->many, 1);
        choice->one = ones[ulb_kernel_first(ones, n_ones, TIE, true)];
        status = ulb_kernel_tune(session, &shape, rates, &choice->many, err);
    }
    free(ones);
    free(many);
    return status;
}

/* Multiplications and additions of n tokens; the head's are of the last token of each step. */
static double operations(const struct ulb_decoder_shape *shape, size_t n, size_t steps)
{
    double weights = 0;
    for (int i = 0; i < ULB_HEAD; i++) {
        size_t count = ulb_linear_count(shape, (enum ulb_linear)i);
        count = count > shape->active ? shape->active : count;
        if (count > 0)
            weights += (double)(count * ulb_linear_rows(shape, (enum ulb_linear)i) *
                                ulb_linear_columns(shape, (enum ulb_linear)i) * shape->layers);
    }
    return 2 * (weights * (double)n + (double)(shape->vocab * shape->hidden) * (double)steps);
}

/* What one step reads of the weights: with many tokens all experts. */
static double step_bytes(const struct ulb_decoder_shape *shape, const struct ulb_decoder_weights *weights)
{
    return (double)(weights->layer_bytes * shape->layers + weights->bytes[ULB_HEAD]);
}

static enum ulb_status measure_peak(struct ulb_session *session, enum ulb_activation activation, double *gops,
                                    struct ulb_error *err)
{
    struct ulb_peak_meter *meter;
    enum ulb_status status =
        ulb_peak_open(&meter, session->machine.team, session->selection.isa, PEAK_SAMPLES, err);
    if (status != ULB_OK)
        return status;
    struct ulb_noise_retry retry = {
        .team = session->machine.team, .tries = PEAK_SAMPLES, .retry_budget_s = 1};
    for (size_t i = 0; i < PEAK_SAMPLES; i++)
        ulb_peak_sample(meter, &retry);
    *gops = ulb_peak_gops(meter, activation);
    ulb_peak_close(meter);
    return ULB_OK;
}

static void name_kernels(const struct ulb_decoder_weights *weights, struct ulb_prefill *prefill)
{
    const struct {
        enum ulb_linear linear;
        char *kernel, *prefetch;
    } names[] = {{ULB_QKV, prefill->kernel_qkv, prefill->prefetch_qkv},
                 {ULB_O, prefill->kernel_o, prefill->prefetch_o},
                 {ULB_GATE_UP, prefill->kernel_gate_up, prefill->prefetch_gate_up},
                 {ULB_DOWN, prefill->kernel_down, prefill->prefetch_down}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct ulb_kernel *kernel = weights->many[names[i].linear];
        ulb_kernel_name(kernel, names[i].kernel);
        snprintf(names[i].prefetch, sizeof prefill->prefetch_qkv, "%s",
                 ulb_prefetch_name(kernel, prefill->ubatch, weights->gemm_prefetch[names[i].linear]));
    }
}

/* Adds the parts of the step just done, the mean over the threads. */
static void add_parts(const struct ulb_decoder *decoder, size_t threads, double parts[ULB_DECODE_PARTS])
{
    for (size_t t = 0; t < threads; t++) {
        for (size_t part = 0; part < ULB_DECODE_PARTS; part++)
            parts[part] += ulb_decoder_seconds(decoder, t)[part] / (double)threads;
    }
}

/* Of all layers, from those that were run. */
static struct ulb_prefill_split split_of(const double parts[ULB_DECODE_PARTS], double layers_ratio)
{
    double ms = 1e3 * layers_ratio, gemm = 0;
    for (size_t linear = 0; linear < ULB_HEAD; linear++)
        gemm += parts[linear];
    return (struct ulb_prefill_split){.gemm = ms * gemm + 1e3 * parts[ULB_HEAD],
                                      .attention = ms * parts[ULB_PART_ATTENTION],
                                      .quantise = ms * parts[ULB_PART_QUANTISE],
                                      .norms = ms * parts[ULB_PART_OTHER],
                                      .wait = ms * parts[ULB_PART_WAIT]};
}

/* Samples of what memory gives, before the steps and after them. */
static void sample_yardstick(struct ulb_session *session, double samples[YARDSTICK_SAMPLES])
{
    for (size_t i = 0; i < YARDSTICK_SAMPLES; i++)
        samples[i] = ulb_read_yardstick(session);
}

/* The largest part; of products the nearer limit. */
static void name_bound(struct ulb_prefill *prefill)
{
    const struct ulb_prefill_split *split = &prefill->split_ms;
    const struct {
        const char *name;
        double ms;
    } parts[] = {{prefill->peak_share < prefill->memory_share ? "memory" : "compute", split->gemm},
                 {"attention", split->attention},
                 {"quantise", split->quantise},
                 {"norms", split->norms},
                 {"wait", split->wait}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        most = parts[i].ms > parts[most].ms ? i : most;
    if (most == 0 && isnan(prefill->peak_share))
        snprintf(prefill->reason, sizeof prefill->reason,
                 "no compute limit: none of the loops that measure it runs on this CPU");
    else
        snprintf(prefill->bound, sizeof prefill->bound, "%s", parts[most].name);
}

enum ulb_status ulb_prefill_measure(struct ulb_session *session, struct ulb_decoder *decoder,
                                    const struct ulb_decoder_shape *shape, size_t layers,
                                    const struct ulb_decoder_weights *weights, size_t n, size_t step,
                                    struct ulb_prefill *prefill, struct ulb_error *err)
{
    const struct ulb_kernel *widest = weights->many[ULB_GATE_UP];
    uint32_t *tokens = calloc(n, sizeof *tokens);
    double peak = NAN, yardstick[2 * YARDSTICK_SAMPLES];
    if (!tokens)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a prompt of %zu tokens", n);
    struct ulb_rng rng = {session->settings.seed};
    for (size_t i = 0; i < n; i++)
        tokens[i] = (uint32_t)ulb_rng_below(&rng, shape->vocab);
    enum ulb_status status = measure_peak(session, widest->activation, &peak, err);
    sample_yardstick(session, yardstick);
    double begin = ulb_now(), parts[ULB_DECODE_PARTS] = {0};
    size_t steps = 0;
    for (size_t at = 0; at < n && status == ULB_OK; at += step, steps++) {
        ulb_decoder_forward(decoder, tokens + at, n - at < step ? n - at : step, at);
        add_parts(decoder, session->machine.pus.n, parts);
        status = ulb_check_interrupted(err);
    }
    double seconds = ulb_now() - begin;
    sample_yardstick(session, yardstick + YARDSTICK_SAMPLES);
    double whole = ulb_decode_extrapolate(seconds, parts[ULB_HEAD], (double)shape->layers, (double)layers);
    free(tokens);
    prefill->ubatch = step;
    prefill->first_token_ms = 1e3 * whole;
    prefill->tokens_per_s = (double)n / whole;
    prefill->gops = operations(shape, n, steps) / seconds / 1e9;
    prefill->peak_share = prefill->gops / peak;
    prefill->memory_share =
        step_bytes(shape, weights) * (double)steps / seconds / ulb_median(yardstick, 2 * YARDSTICK_SAMPLES);
    prefill->split_ms = split_of(parts, (double)layers / (double)shape->layers);
    name_bound(prefill);
    name_kernels(weights, prefill);
    return status;
}
