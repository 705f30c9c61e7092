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

enum { TOKENS_TRIED = 64, WEIGHTS_TRIED = 1 << 22, PEAK_SAMPLES = 3, YARDSTICK_SAMPLES = 5 };

enum ulb_status ulb_prefill_choose(struct ulb_session *session, const struct ulb_decoder_shape *shape,
                                   const struct ulb_kernel_choice choices[ULB_LINEARS], const double *rates,
                                   struct ulb_kernel_choice many[ULB_LINEARS], struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (int i = 0; i < ULB_HEAD && status == ULB_OK; i++) {
        size_t m = ulb_linear_rows(shape, (enum ulb_linear)i),
               k = ulb_linear_columns(shape, (enum ulb_linear)i);
        size_t most = WEIGHTS_TRIED / k;
        if (ulb_linear_count(shape, (enum ulb_linear)i) == 0)
            continue;
        const struct ulb_layout *layout = choices[i].kernel->layout;
        status = ulb_kernel_choose(session, layout->format->name, layout, m < most ? m : most, k,
                                   TOKENS_TRIED, rates, &many[i], err);
    }
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
                 ulb_prefetch_name(kernel, TOKENS_TRIED, weights->gemm_prefetch[names[i].linear]));
    }
}

/* Of the step just done, the head's product: the mean over the threads. */
static double head_seconds(const struct ulb_decoder *decoder, size_t threads)
{
    double sum = 0;
    for (size_t t = 0; t < threads; t++)
        sum += ulb_decoder_seconds(decoder, t)[ULB_HEAD];
    return sum / (double)threads;
}

/* Samples of what memory gives, before the steps and after them. */
static void sample_yardstick(struct ulb_session *session, double samples[YARDSTICK_SAMPLES])
{
    for (size_t i = 0; i < YARDSTICK_SAMPLES; i++)
        samples[i] = ulb_read_yardstick(session);
}

static void name_bound(struct ulb_prefill *prefill)
{
    if (isnan(prefill->peak_share))
        snprintf(prefill->reason, sizeof prefill->reason,
                 "no compute limit: none of the loops that measure it runs on this CPU");
    else
        snprintf(prefill->bound, sizeof prefill->bound, "%s",
                 prefill->peak_share < prefill->memory_share ? "memory" : "compute");
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
    double begin = ulb_now(), head = 0;
    size_t steps = 0;
    for (size_t at = 0; at < n && status == ULB_OK; at += step, steps++) {
        ulb_decoder_forward(decoder, tokens + at, n - at < step ? n - at : step, at);
        head += head_seconds(decoder, session->machine.pus.n);
        status = ulb_check_interrupted(err);
    }
    double seconds = ulb_now() - begin;
    sample_yardstick(session, yardstick + YARDSTICK_SAMPLES);
    double whole = ulb_decode_extrapolate(seconds, head, (double)shape->layers, (double)layers);
    free(tokens);
    prefill->ubatch = step;
    prefill->first_token_ms = 1e3 * whole;
    prefill->tokens_per_s = (double)n / whole;
    prefill->gops = operations(shape, n, steps) / seconds / 1e9;
    prefill->peak_share = prefill->gops / peak;
    prefill->memory_share =
        step_bytes(shape, weights) * (double)steps / seconds / ulb_median(yardstick, 2 * YARDSTICK_SAMPLES);
    name_bound(prefill);
    name_kernels(weights, prefill);
    return status;
}
