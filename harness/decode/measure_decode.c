#include "harness/decode/measure_decode_private.h"

#include "common/units.h"
#include "harness/decode/check_decoder.h"
#include "harness/decode/prefill.h"
#include "harness/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_FULL = 128, TOKENS_QUICK = 24 };
/* Of the memory that can be used, what is left alone. */
static const double SPARED = 0.05;

/* Of the last token that is decoded. */
static size_t last_position(const struct measurement *m)
{
    return m->context + ULB_TOKENS_WARM_UP + m->tokens - 1;
}

/* Of one step. */
static size_t most_tokens(const struct measurement *m)
{
    return m->steps.n > 0 ? m->steps.items[m->steps.n - 1] : 1;
}

static struct ulb_decoder_options options_of(const struct measurement *m, const struct format_run *run)
{
    return (struct ulb_decoder_options){
        .team = m->session->machine.team,
        .ops = ulb_vector_ops(m->session->selection.isa),
        .attention = ulb_attention_ops(m->session->selection.isa),
        .kv_type = m->settings->kv_type,
        .split = m->session->settings.splits[0],
        .rates = run->rates,
        .positions = last_position(m) + 1,
        .batch = most_tokens(m),
        .sequences = ulb_largest_size(&m->batches),
        .slow_thread = m->settings->slow_thread,
        .slow_times = m->settings->slow_times,
    };
}

/* For one token, and for many. */
static void set_kernels(const struct measurement *m, const struct format_run *run,
                        struct ulb_decoder_weights *weights)
{
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        weights->kernel[linear] = run->choices[linear].kernel;
        weights->prefetch[linear] = run->choices[linear].prefetch;
    }
    weights->steps = run->steps;
    weights->n_steps = m->steps.n;
}

/* Layers that fit into memory beside head, buffers and the cache. */
static enum ulb_status fit_layers(const struct measurement *m, const struct format_run *run,
                                  const struct ulb_decoder_options *options, struct ulb_decoder_shape *shape,
                                  struct ulb_error *err)
{
    long long available = ulb_memory_available();
    *shape = m->shape;
    if (m->settings->layers != ULB_LAYERS_AUTO && m->settings->layers < shape->layers)
        *shape = ulb_decoder_shape_cut(shape, m->settings->layers);
    struct ulb_decoder_shape one = ulb_decoder_shape_cut(shape, 1);
    size_t cache = options->sequences * ulb_kv_capacity(&one, options->kv_type, options->positions);
    size_t layer = ulb_weights_layer_bytes(shape, run->choices) + cache;
    /* The head is there already when it is not the first format. */
    size_t apart = run > m->formats ? 0 : ulb_weights_head_bytes(shape, run->choices);
    apart += run > m->formats ? 0 : ulb_weights_rest_bytes(shape);
    struct ulb_decoder_weights weights = {0};
    set_kernels(m, run, &weights);
    apart +=
        ulb_decoder_buffer_bytes(&one, &weights, options) + ulb_weights_making_bytes(shape, run->choices);
    double room = available < 0 ? HUGE_VAL : (double)available * (1 - SPARED) - (double)apart;
    size_t fitting = room < (double)layer         ? 0
                     : room / (double)layer > 1e6 ? 1000000
                                                  : (size_t)(room / (double)layer);
    if (fitting >= shape->layers)
        return ULB_OK;
    if (fitting == 0 || m->settings->layers != ULB_LAYERS_AUTO)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "not enough memory: %zu layers of %s in %s need %.1f GiB and %.1f GiB can be used; %s",
            shape->layers, m->model, run->format,
            ((double)layer * (double)shape->layers + (double)apart) / ULB_GIB, (double)available / ULB_GIB,
            fitting > 0              ? "take --layers auto"
            : options->sequences > 1 ? "take fewer sequences with --batch, or a shorter --context"
                                     : "take a smaller model");
    *shape = ulb_decoder_shape_cut(shape, fitting);
    return ulb_record_warn(m->session->record, err,
                           "%s in %s: only %zu of %zu layers fit into memory; figures of a token are "
                           "extrapolated from them",
                           m->model, run->format, fitting, m->shape.layers);
}

/* One format at work. */
struct format_bench {
    const struct format_run *run;
    struct ulb_prefill_bench prefill;
    size_t batch; /* which of the measurement's */
    struct ulb_decode_figures figures[ULB_SPLITS];
    struct ulb_prompt_time curves[ULB_SPLITS][ULB_SIZES];
};

/* Tokens of one step of a prompt. */
static size_t ubatch_of(const struct measurement *m)
{
    return m->settings->ubatch ? m->settings->ubatch : ULB_UBATCH;
}

static void open_figures(const struct measurement *m, struct format_bench *bench)
{
    for (size_t i = 0; i < m->n_turns; i++)
        bench->figures[i] = (struct ulb_decode_figures){.model = m->model,
                                                        .format = bench->run->format,
                                                        .split = m->turns[i].split,
                                                        .all = &m->shape,
                                                        .shape = bench->prefill.shape,
                                                        .choices = bench->run->choices,
                                                        .reasons = bench->run->reasons,
                                                        .store = &m->store,
                                                        .batch = m->batches.items[bench->batch],
                                                        .context = m->context,
                                                        .prompt = ulb_largest_size(&m->settings->prompts),
                                                        .kv_type = m->settings->kv_type,
                                                        .curve = bench->curves[i],
                                                        .samples = m->turns[i].samples,
                                                        .decoded = m->turns[i].decoded,
                                                        .n = m->tokens};
}

/* The prompt whose positions the tokens follow, with one split. */
static enum ulb_status measure_prompt(struct measurement *m, struct format_bench *bench, size_t i,
                                      struct ulb_error *err)
{
    struct ulb_decode_figures *figures = &bench->figures[i];
    size_t ubatch = bench->prefill.ubatch, prompt = figures->prompt;
    ulb_decoder_set_split(bench->prefill.decoder, figures->split, bench->run->rates);
    figures->prefill.ubatch = ubatch < prompt ? ubatch : prompt;
    ulb_prefill_name(&m->store.weights, figures->prefill.ubatch, &figures->prefill);
    return ulb_prompt_measure(&bench->prefill, prompt, &figures->prefill.whole, err);
}

/* The shorter prompts, every split in its turn. What was measured before an interrupt stays in the figures.
 */
static enum ulb_status measure_curve(struct measurement *m, struct format_bench *bench, struct ulb_error *err)
{
    const struct ulb_sizes *prompts = &m->settings->prompts;
    enum ulb_status status = ULB_OK;
    for (size_t p = 0; p + 1 < prompts->n && status == ULB_OK; p++) {
        double done = (double)(bench->run - m->formats) + 0.5 + 0.5 * (double)p / (double)prompts->n;
        ulb_session_progress(m->session, "decode", done / (double)m->n_formats);
        for (size_t i = 0; i < m->n_turns && status == ULB_OK; i++) {
            struct ulb_decode_figures *figures = &bench->figures[i];
            ulb_decoder_set_split(bench->prefill.decoder, figures->split, bench->run->rates);
            status = ulb_prompt_measure(&bench->prefill, prompts->items[p], &figures->curve[figures->n_curve],
                                        err);
            figures->n_curve += status == ULB_OK;
        }
    }
    for (size_t i = 0; i < m->n_turns && prompts->n > 1; i++) {
        struct ulb_decode_figures *figures = &bench->figures[i];
        figures->curve[figures->n_curve++] = figures->prefill.whole;
    }
    return status;
}

/* Prompt and tokens with each split. */
static enum ulb_status measure_tokens(struct measurement *m, struct format_bench *bench,
                                      struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    struct ulb_decoder *decoder = bench->prefill.decoder;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < m->n_turns && status == ULB_OK && m->settings->prompts.n > 0; i++)
        status = measure_prompt(m, bench, i, err);
    if (status == ULB_OK)
        status =
            ulb_tokens_decode(session, decoder, m->turns, m->n_turns, bench->run->rates, bench->figures, err);
    for (size_t i = 0; i < m->n_turns && status == ULB_OK; i++) {
        ulb_decoder_set_split(decoder, m->turns[i].split, bench->run->rates);
        bench->figures[i].attention =
            ulb_attention_measure(session, decoder, bench->prefill.shape, m->settings->kv_type,
                                  bench->figures[i].batch, last_position(m));
        status = ulb_session_check(session, err);
    }
    return status;
}

static enum ulb_status record_figures(struct measurement *m, struct format_bench *bench,
                                      struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    long long peak = ulb_memory_peak();
    for (size_t i = 0; i < m->n_turns && status == ULB_OK; i++) {
        bench->figures[i].peak_bytes = peak;
        status = ulb_decode_record(m->session, &bench->figures[i], &m->baselines[bench->batch][i], err);
    }
    if (status == ULB_OK && m->settings->done)
        status = m->settings->done(m->settings->done_context, m->session->record, err);
    return status;
}

/* Into the record: also what an interrupt in the curve leaves. */
static enum ulb_status measure_batch(struct measurement *m, struct format_bench *bench, struct ulb_error *err)
{
    struct ulb_error unrecorded;
    open_figures(m, bench);
    enum ulb_status status = measure_tokens(m, bench, err), curve = status;
    if (status != ULB_OK)
        return status;
    curve = measure_curve(m, bench, err);
    status = record_figures(m, bench, curve == ULB_OK ? err : &unrecorded);
    return curve == ULB_OK ? status : curve;
}

static enum ulb_status measure_format(struct measurement *m, const struct format_run *run,
                                      const struct ulb_decoder_shape *shape, struct ulb_decoder *decoder,
                                      struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    struct format_bench bench = {.run = run,
                                 .prefill = {.session = session,
                                             .decoder = decoder,
                                             .shape = shape,
                                             .layers = m->shape.layers,
                                             .weights = &m->store.weights,
                                             .ubatch = ubatch_of(m)}};
    enum ulb_status status = ulb_decoder_fill_cache(decoder, m->context, session->settings.seed, err);
    if (status == ULB_OK)
        status = ulb_check_interrupted(err);
    session->arena = (struct ulb_arena){.pages = m->store.blocks, .ring_bytes = m->store.blocks.bytes};
    for (; bench.batch < m->batches.n && status == ULB_OK; bench.batch++)
        status = measure_batch(m, &bench, err);
    session->arena = (struct ulb_arena){0};
    return status;
}

/* The yardstick reads the weights, each thread its part of them in whole grains. */
static enum ulb_status check_readable(const struct measurement *m, const struct format_run *run,
                                      struct ulb_error *err)
{
    size_t bytes = m->store.blocks.bytes, threads = m->session->machine.pus.n;
    if (bytes >= threads * ULB_READER_GRAIN)
        return ULB_OK;
    return ulb_fail(
        err, ULB_BAD_INPUT,
        "%s in %s: %zu bytes of weights are too few for %zu thread%s, which read %d each at least; "
        "take a larger model, or fewer cores with --set",
        m->model, run->format, bytes, threads, ULB_S(threads), ULB_READER_GRAIN);
}

/* Of fewer bytes than the suite calls cold the caches may hold a part from one token to the next. */
static enum ulb_status warn_of_caches(const struct measurement *m, const struct format_run *run,
                                      struct ulb_error *err)
{
    size_t bytes = m->store.blocks.bytes + m->store.head.bytes, llc = m->session->machine.topology.llc_bytes;
    if (bytes / 4 >= llc)
        return ULB_OK;
    return ulb_record_warn(m->session->record, err,
                           "%s in %s: %.0f MiB of weights are less than four times the last-level cache of "
                           "%.0f MiB: tokens, their yardstick and the products called cold may read a part "
                           "of them from there",
                           m->model, run->format, (double)bytes / ULB_MIB, (double)llc / ULB_MIB);
}

/* Each number of sequences with its kernels against the reference. */
static enum ulb_status check_batches(const struct measurement *m, const struct format_run *run,
                                     const struct ulb_decoder_options *options, struct ulb_error *err)
{
    const struct ulb_session *session = m->session;
    struct ulb_decoder_options each = *options;
    struct ulb_decoder_weights kernels = {0};
    enum ulb_status status = ULB_OK;
    set_kernels(m, run, &kernels);
    for (size_t b = 0; b < m->batches.n && status == ULB_OK; b++) {
        each.sequences = m->batches.items[b];
        status = ulb_decode_check(session->machine.team, &session->settings, &m->shape, run->choices,
                                  ulb_step_kernels_of(&kernels, each.sequences), &each, err);
    }
    return status;
}

static enum ulb_status run_format(struct measurement *m, struct format_run *run, struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    struct ulb_decoder_shape shape;
    struct ulb_decoder *decoder = NULL;
    struct ulb_decoder_options options = options_of(m, run);
    enum ulb_status status = check_batches(m, run, &options, err);
    ulb_memory_peak_reset();
    if (status == ULB_OK)
        status = fit_layers(m, run, &options, &shape, err);
    if (status == ULB_OK && run == m->formats)
        status = ulb_weights_open(&m->store, &shape, run->choices, session->machine.team,
                                  session->settings.seed, err);
    if (status == ULB_OK)
        status = ulb_weights_fill(&m->store, &shape, run->choices, session->machine.team, &session->settings,
                                  run->rates, err);
    if (status == ULB_OK)
        status = check_readable(m, run, err);
    if (status == ULB_OK)
        status = warn_of_caches(m, run, err);
    set_kernels(m, run, &m->store.weights);
    if (status == ULB_OK)
        status = ulb_decoder_open(&decoder, &shape, &m->store.weights, &options, err);
    if (status == ULB_OK)
        status = measure_format(m, run, &shape, decoder, err);
    ulb_decoder_close(decoder);
    ulb_weights_empty(&m->store);
    return status;
}

size_t ulb_largest_size(const struct ulb_sizes *sizes)
{
    return sizes->n > 0 ? sizes->items[sizes->n - 1] : 0;
}

/* A prompt's steps are as long as it, or as --ubatch; those of a batch have a token of each sequence. */
static void list_steps(struct measurement *m)
{
    const struct ulb_sizes *prompts = &m->settings->prompts;
    for (size_t i = 0; i < prompts->n; i++) {
        size_t most = ubatch_of(m), step = prompts->items[i] < most ? prompts->items[i] : most;
        if (step > 1 && step > ulb_largest_size(&m->steps))
            m->steps.items[m->steps.n++] = step;
    }
    for (size_t i = 0; i < m->batches.n; i++) {
        if (m->batches.items[i] > 1 && prompts->n == 0)
            m->steps.items[m->steps.n++] = m->batches.items[i];
    }
}

enum ulb_status ulb_decode_measure(struct ulb_session *session, const struct ulb_decode_settings *settings,
                                   struct ulb_error *err)
{
    struct measurement m = {.session = session, .settings = settings};
    m.tokens = settings->tokens ? settings->tokens : session->settings.quick ? TOKENS_QUICK : TOKENS_FULL;
    size_t prompt = ulb_largest_size(&settings->prompts);
    m.context = settings->context > prompt ? settings->context : prompt;
    m.batches = settings->batches.n > 0 ? settings->batches : (struct ulb_sizes){1, {1}};
    list_steps(&m);
    struct ulb_model model = {0};
    enum ulb_status status = ulb_model_load(settings->model, &model, err);
    if (status == ULB_OK)
        status = ulb_decoder_shape_of(&model, &m.shape, err);
    if (status == ULB_OK && settings->layers != SIZE_MAX && settings->layers > m.shape.layers)
        status = ulb_fail(err, ULB_BAD_INPUT, "--layers %zu: %s has %zu", settings->layers, model.name,
                          m.shape.layers);
    snprintf(m.model, sizeof m.model, "%s", model.name);
    ulb_model_free(&model);
    if (status == ULB_OK)
        status = ulb_decode_plan_formats(&m, err);
    if (status == ULB_OK)
        status = ulb_decode_choose_kernels(&m, err);
    for (; m.n_turns < session->settings.n_splits && status == ULB_OK; m.n_turns++)
        status =
            ulb_turn_open(&m.turns[m.n_turns], session->settings.quick, session->settings.splits[m.n_turns],
                          m.tokens, ulb_largest_size(&m.batches), settings->energy_root, err);
    for (size_t i = 0; i < m.n_formats && status == ULB_OK; i++) {
        ulb_session_progress(session, "decode", (double)i / (double)m.n_formats);
        status = run_format(&m, &m.formats[i], err);
    }
    for (size_t i = 0; i < m.n_turns; i++)
        ulb_turn_close(&m.turns[i]);
    ulb_weights_close(&m.store);
    for (size_t i = 0; i < m.n_formats; i++)
        free(m.formats[i].rates);
    free(m.formats);
    free(m.rates);
    return status;
}
