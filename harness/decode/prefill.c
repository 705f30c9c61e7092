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
    YARDSTICK_SAMPLES = 5,
    PASSES = 5
};

/* Seconds in which a prompt is run again. */
static const double AGAIN_QUICK = 0.2, AGAIN_FULL = 1;

/* Kernels that differ by less are equal: the fixed order decides. Times of one token wait for memory, which
 * differs by more from one turn to the next; layouts that do not wait for it are slower by more still. */
static const double TIE = 0.03, TIE_OF_MEMORY = 0.1;

/* Keeps those choices whose layout some choice of others reads that is as fast as any, but for tie; how many
 * they are. */
static size_t keep_layouts(struct ulb_kernel_choice *choices, size_t n,
                           const struct ulb_kernel_choice *others, size_t n_others, double tie)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t o = 0; o < n_others; o++)
            found = found || (others[o].kernel->layout == choices[i].kernel->layout &&
                              ulb_kernel_ties(others, n_others, o, tie));
        if (found)
            choices[kept++] = choices[i];
    }
    return kept;
}

/* Layouts of those choices that are as fast as any. */
static size_t count_layouts(const struct ulb_kernel_choice *choices, size_t n, double tie)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        bool counts = ulb_kernel_ties(choices, n, i, tie);
        for (size_t before = 0; before < i; before++)
            counts = counts && !(choices[before].kernel->layout == choices[i].kernel->layout &&
                                 ulb_kernel_ties(choices, n, before, tie));
        count += counts;
    }
    return count;
}

/* Fewer rows, as many tokens as asked for. */
static struct ulb_trial_shape many_of(const struct ulb_trial_shape *one, size_t tokens)
{
    struct ulb_trial_shape shape = *one;
    size_t tiles = WEIGHTS_TRIED / one->k / TILES_TRIED, most = TILES_TRIED * (tiles > 0 ? tiles : 1);
    shape.m = one->m < most ? one->m : most;
    shape.n = tokens;
    return shape;
}

enum ulb_status ulb_prefill_refine(struct ulb_session *session, const struct ulb_trial_shape *one,
                                   size_t tokens, const struct ulb_layout *layout, const double *rates,
                                   struct ulb_kernel_choice *choice, struct ulb_error *err)
{
    struct ulb_trial_shape shape = many_of(one, tokens);
    shape.layout = layout;
    return ulb_kernel_choose(session, &shape, rates, choice, err);
}

/* Of two series, each with prefetches chosen afresh, a kernel's better one counts. What disturbs a kernel
 * makes it slower: no layout is lost by that. If it disturbs the fastest, more layouts tie. */
static enum ulb_status try_twice(struct ulb_session *session, const struct ulb_trial_shape *shape,
                                 const double *rates, struct ulb_kernel_choice **choices, size_t *n,
                                 struct ulb_error *err)
{
    struct ulb_kernel_choice *again = NULL;
    enum ulb_status status = ulb_kernel_try(session, shape, rates, choices, n, err);
    if (status == ULB_OK)
        status = ulb_kernel_try(session, shape, rates, &again, n, err);
    for (size_t i = 0; i < *n && status == ULB_OK; i++) {
        if (again[i].ratio < (*choices)[i].ratio)
            (*choices)[i] = again[i];
    }
    free(again);
    return status;
}

enum ulb_status ulb_prefill_choose(struct ulb_session *session, const struct ulb_trial_shape *one,
                                   size_t tokens, const double *rates, struct ulb_prefill_choice *choice,
                                   struct ulb_error *err)
{
    struct ulb_kernel_choice *ones = NULL, *many = NULL;
    struct ulb_trial_shape shape = many_of(one, tokens);
    size_t n_ones, n_many;
    shape.tune = false;
    enum ulb_status status = try_twice(session, one, rates, &ones, &n_ones, err);
    if (status == ULB_OK)
        status = ulb_kernel_try(session, &shape, rates, &many, &n_many, err);
    if (status == ULB_OK) {
        n_many = keep_layouts(many, n_many, ones, n_ones, TIE_OF_MEMORY);
        choice->many = many[ulb_kernel_first(many, n_many, TIE)];
        choice->reason = count_layouts(ones, n_ones, TIE_OF_MEMORY) == 1 ? ULB_CHOICE_ONE_TOKEN
                         : count_layouts(many, n_many, TIE) == 1         ? ULB_CHOICE_MANY_TOKENS
                                                                         : ULB_CHOICE_ORDER;
        n_ones = keep_layouts(ones, n_ones, &choice->many, 1, TIE);
        choice->one = ones[ulb_kernel_first(ones, n_ones, TIE)];
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

/* What one step of n tokens reads of the weights: of experts as many as the tokens can choose. */
static double step_bytes(const struct ulb_decoder_shape *shape, const struct ulb_decoder_weights *weights,
                         size_t n)
{
    double bytes = 0;
    for (int i = 0; i < ULB_HEAD; i++) {
        size_t count = ulb_linear_count(shape, (enum ulb_linear)i), most = n * shape->active;
        bytes += (double)((count < most ? count : most) * weights->bytes[i] * shape->layers);
    }
    return bytes + (double)weights->bytes[ULB_HEAD];
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

void ulb_prefill_name(const struct ulb_decoder_weights *weights, size_t n, struct ulb_prefill *prefill)
{
    const struct ulb_step_kernels *step = ulb_step_kernels_of(weights, n);
    const struct {
        enum ulb_linear linear;
        char *kernel, *prefetch;
    } names[] = {{ULB_QKV, prefill->kernel_qkv, prefill->prefetch_qkv},
                 {ULB_O, prefill->kernel_o, prefill->prefetch_o},
                 {ULB_GATE_UP, prefill->kernel_gate_up, prefill->prefetch_gate_up},
                 {ULB_DOWN, prefill->kernel_down, prefill->prefetch_down}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        enum ulb_linear linear = names[i].linear;
        const struct ulb_kernel *kernel = (step ? step->kernel : weights->kernel)[linear];
        ulb_kernel_name(kernel, names[i].kernel);
        snprintf(names[i].prefetch, sizeof prefill->prefetch_qkv, "%s",
                 ulb_prefetch_name(kernel, n, (step ? step->prefetch : weights->prefetch)[linear]));
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

/* The largest part; of products the nearer limit. */
static void name_bound(struct ulb_prompt_time *prompt)
{
    const struct ulb_prefill_split *split = &prompt->split_ms;
    const struct {
        const char *name;
        double ms;
    } parts[] = {{prompt->peak_share < prompt->memory_share ? "memory" : "compute", split->gemm},
                 {"attention", split->attention},
                 {"quantise", split->quantise},
                 {"norms", split->norms},
                 {"wait", split->wait}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        most = parts[i].ms > parts[most].ms ? i : most;
    if (most == 0 && isnan(prompt->peak_share))
        snprintf(prompt->reason, sizeof prompt->reason,
                 "no compute limit: none of the loops that measure it runs on this CPU");
    else
        snprintf(prompt->bound, sizeof prompt->bound, "%s", parts[most].name);
}

/* One pass over a prompt. */
struct pass {
    double seconds, parts[ULB_DECODE_PARTS];
};

static enum ulb_status run_pass(const struct ulb_prefill_bench *bench, const uint32_t *tokens, size_t n,
                                struct pass *pass, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    size_t step = bench->ubatch;
    double begin = ulb_now();
    *pass = (struct pass){0};
    for (size_t at = 0; at < n && status == ULB_OK; at += step) {
        ulb_decoder_forward(bench->decoder, tokens + at, n - at < step ? n - at : step, at);
        add_parts(bench->decoder, bench->session->machine.pus.n, pass->parts);
        status = ulb_check_interrupted(err);
    }
    pass->seconds = ulb_now() - begin;
    return status;
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct pass *)a)->seconds, y = ((const struct pass *)b)->seconds;
    return (x > y) - (x < y);
}

/* The pass of median time, and what memory gave around all of them. */
static enum ulb_status run_passes(const struct ulb_prefill_bench *bench, const uint32_t *tokens, size_t n,
                                  struct pass *median, double *bandwidth, struct ulb_error *err)
{
    double yardstick[(PASSES + 1) * YARDSTICK_SAMPLES], spent = 0;
    double again = bench->session->settings.quick ? AGAIN_QUICK : AGAIN_FULL;
    struct pass passes[PASSES];
    enum ulb_status status = ULB_OK;
    size_t done = 0, sampled = 0;
    for (bool more = true; status == ULB_OK;) {
        for (size_t i = 0; i < YARDSTICK_SAMPLES; i++)
            yardstick[sampled++] = ulb_read_yardstick(bench->session);
        if (!more)
            break;
        status = run_pass(bench, tokens, n, &passes[done], err);
        spent += passes[done++].seconds;
        more = done < PASSES && spent < again;
    }
    qsort(passes, done, sizeof *passes, by_seconds);
    *median = passes[(done - 1) / 2];
    *bandwidth = ulb_median(yardstick, sampled);
    return status;
}

static void fill_time(const struct ulb_prefill_bench *bench, size_t n, const struct pass *pass,
                      double bandwidth, double peak, struct ulb_prompt_time *time)
{
    const struct ulb_decoder_shape *shape = bench->shape;
    double run = (double)shape->layers, all = (double)bench->layers;
    double whole = ulb_decode_extrapolate(pass->seconds, pass->parts[ULB_HEAD], run, all);
    size_t steps = (n + bench->ubatch - 1) / bench->ubatch, step = n < bench->ubatch ? n : bench->ubatch;
    *time = (struct ulb_prompt_time){.tokens = n, .ms = 1e3 * whole, .tokens_per_s = (double)n / whole};
    time->gops = operations(shape, n, steps) / pass->seconds / 1e9;
    time->peak_share = time->gops / peak;
    time->memory_share = step_bytes(shape, bench->weights, step) * (double)steps / pass->seconds / bandwidth;
    time->split_ms = split_of(pass->parts, all / run);
    name_bound(time);
}

enum ulb_status ulb_prompt_measure(const struct ulb_prefill_bench *bench, size_t n,
                                   struct ulb_prompt_time *time, struct ulb_error *err)
{
    const struct ulb_step_kernels *step =
        ulb_step_kernels_of(bench->weights, n < bench->ubatch ? n : bench->ubatch);
    const struct ulb_kernel *widest = (step ? step->kernel : bench->weights->kernel)[ULB_GATE_UP];
    struct ulb_session *session = bench->session;
    uint32_t *tokens = calloc(n, sizeof *tokens);
    double peak = NAN, bandwidth;
    struct pass median;
    if (!tokens)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a prompt of %zu tokens", n);
    struct ulb_rng rng = {session->settings.seed};
    for (size_t i = 0; i < n; i++)
        tokens[i] = (uint32_t)ulb_rng_below(&rng, bench->shape->vocab);
    enum ulb_status status = measure_peak(session, widest->activation, &peak, err);
    if (status == ULB_OK)
        status = run_passes(bench, tokens, n, &median, &bandwidth, err);
    if (status == ULB_OK)
        fill_time(bench, n, &median, bandwidth, peak, time);
    free(tokens);
    return status;
}
