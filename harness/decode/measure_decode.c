#include "harness/decode/measure_decode.h"

#include "common/units.h"
#include "common/words.h"
#include "harness/bandwidth/beta.h"
#include "harness/compute/core_class_rates.h"
#include "harness/decode/check_decoder.h"
#include "harness/decode/prefill.h"
#include "harness/decode/token_loop.h"
#include "harness/decode/weights.h"
#include "harness/session/describe_machine.h"
#include "harness/verify/test_case.h"
#include "harness/session/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_FULL = 128, TOKENS_QUICK = 24, LARGEST_TILE = 128 };
/* Rows are chosen on pieces of matrices of at most this size. */
static const size_t TRIAL_BYTES = (size_t)64 << 20;
/* Of the memory that can be used, what is left alone. */
static const double SPARED = 0.05;

static const char BASELINE[] = "bf16", OTHER_BASELINE[] = "fp16";

/* One format: its kernels, and what decoding came to. */
struct format_run {
    char format[16];
    struct ulb_kernel_choice choices[ULB_LINEARS];
    struct ulb_kernel_choice many[ULB_LINEARS]; /* for the prompt, and why their layouts */
    enum ulb_choice_reason reasons[ULB_LINEARS];
    double *rates; /* of each thread, for the weighted split */
};

struct measurement {
    struct ulb_session *session;
    const struct ulb_decode_settings *settings;
    char model[64];
    struct ulb_decoder_shape shape; /* all layers */
    size_t tokens, context;         /* to decode; in the cache before, the prompt included */
    struct format_run *formats;
    size_t n_formats;
    struct ulb_weight_store store;
    struct ulb_turn turns[ULB_SPLITS];
    size_t n_turns;
    double *rates; /* of each thread, by which kernels are tried */
    double class_beta[ULB_MAX_CLASSES];
};

/* ---- what to run ---- */

static size_t count_words(const char *list)
{
    size_t n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

static void add_format(struct measurement *m, const char *name, size_t length)
{
    struct format_run run = {0};
    snprintf(run.format, sizeof run.format, "%.*s", (int)length, name);
    m->formats[m->n_formats++] = run;
}

enum { REST = 2 };

static int rank_of(const char *word, size_t length)
{
    static const char *const first[REST] = {BASELINE, OTHER_BASELINE};
    for (int i = 0; i < REST; i++) {
        if (length == strlen(first[i]) && strncmp(word, first[i], length) == 0)
            return i;
    }
    return REST;
}

/* A 16-bit format first, the usual one before the other: the rest is compared with it. */
static enum ulb_status list_formats(struct measurement *m, struct ulb_error *err)
{
    const char *list = m->settings->formats;
    m->formats = calloc(count_words(list), sizeof *m->formats);
    if (!m->formats)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a list of formats");
    for (int rank = 0; rank <= REST; rank++) {
        for (const char *word = list; *word;) {
            size_t length = strcspn(word, ",");
            if (length > 0 && rank_of(word, length) == rank)
                add_format(m, word, length);
            word += length + (word[length] == ',');
        }
    }
    if (m->n_formats == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "--formats names no format; see 'ulb-bench list formats'");
    return ulb_words_differ("format", list, err);
}

/* Of so many rows those that a piece holds: of formats of 16 bits and less as many, of wider ones fewer; in
 * whole tiles, to which layouts pad. */
static size_t rows_tried(const char *format, size_t rows, size_t k)
{
    double bytes = fmax(16, ulb_kernel_format(format)->bits) / 8;
    size_t most = (size_t)((double)TRIAL_BYTES / bytes / (double)k);
    most -= most > LARGEST_TILE ? most % LARGEST_TILE : 0;
    return rows < most ? rows : most;
}

/* Tokens of one step of the prompt; 1 without one. */
static size_t prompt_step(const struct measurement *m)
{
    size_t most = m->settings->ubatch ? m->settings->ubatch : ULB_UBATCH, prompt = m->settings->prompt;
    return prompt == 0 ? 1 : prompt < most ? prompt : most;
}

/* One kind of matrix; with a prompt a layout that serves it too. */
static enum ulb_status choose_kernel(struct measurement *m, struct format_run *run, enum ulb_linear linear,
                                     struct ulb_error *err)
{
    const char *format = (int)linear < ULB_QUANTISED_LINEARS ? run->format : BASELINE;
    struct ulb_trial_shape shape = {.format = format,
                                    .m = ulb_linear_rows(&m->shape, linear),
                                    .k = ulb_linear_columns(&m->shape, linear),
                                    .n = 1,
                                    .tune = true};
    shape.m = rows_tried(format, shape.m, shape.k);
    if (m->settings->prompt == 0 || linear == ULB_HEAD)
        return ulb_kernel_choose(m->session, &shape, m->rates, &run->choices[linear], err);
    struct ulb_prefill_choice choice;
    enum ulb_status status = ulb_prefill_choose(m->session, &shape, prompt_step(m), m->rates, &choice, err);
    if (status == ULB_OK) {
        run->choices[linear] = choice.one;
        run->many[linear] = choice.many;
        run->reasons[linear] = choice.reason;
    }
    return status;
}

/* Kernels for every matrix of the model in one format; what is not quantised has the first format's. */
static enum ulb_status choose_kernels(struct measurement *m, struct format_run *run, struct ulb_error *err)
{
    for (int i = 0; i < ULB_LINEARS; i++) {
        if (ulb_linear_count(&m->shape, (enum ulb_linear)i) == 0)
            continue;
        if (i >= ULB_QUANTISED_LINEARS && run > m->formats) {
            run->choices[i] = m->formats[0].choices[i];
            run->many[i] = m->formats[0].many[i];
            continue;
        }
        enum ulb_status status = choose_kernel(m, run, (enum ulb_linear)i, err);
        if (status != ULB_OK)
            return status;
    }
    return ULB_OK;
}

/* Whether every matrix can be held in the format of a kernel; else the run leaves it out and says so. */
static bool fits(const struct measurement *m, const struct ulb_format *format, struct ulb_error *err)
{
    for (int linear = 0; linear < ULB_QUANTISED_LINEARS; linear++) {
        if (ulb_test_case_fits(format, ulb_linear_columns(&m->shape, (enum ulb_linear)linear), err) != ULB_OK)
            return false;
    }
    return true;
}

/* Takes formats that the model's matrices do not fit, or of which no kernel runs here, off the list. */
static enum ulb_status drop_unfit(struct measurement *m, struct ulb_error *err)
{
    size_t kept = 0;
    enum ulb_status status = ULB_OK, cause = ULB_OK;
    struct ulb_error why;
    for (size_t i = 0; i < m->n_formats && status == ULB_OK; i++) {
        const struct ulb_format *format = ulb_kernel_format(m->formats[i].format);
        if (!format)
            return ulb_refuse_format(m->formats[i].format, strlen(m->formats[i].format), err);
        cause = fits(m, format, &why) ? ulb_kernel_check(&m->session->selection, format->name, &why)
                                      : ULB_BAD_INPUT;
        if (cause == ULB_OK)
            m->formats[kept++] = m->formats[i];
        else
            status = ulb_record_warn(m->session->record, err, "%s is left out: %s", m->formats[i].format,
                                     why.message);
    }
    m->n_formats = kept;
    if (status == ULB_OK && kept == 0)
        return ulb_fail(err, cause, "no format of --formats can run %s: %s", m->model, why.message);
    return status;
}

/* What the options name is there: threads, and kernels of one of the formats. */
static enum ulb_status check_named(const struct measurement *m, struct ulb_error *err)
{
    const struct ulb_decode_settings *settings = m->settings;
    const struct ulb_settings *filters = &m->session->settings;
    size_t threads = m->session->machine.pus.n;
    if (settings->n_rates > 0 && settings->n_rates != threads)
        return ulb_fail(err, ULB_BAD_INPUT, "--split-shares has %zu number%s for %zu thread%s",
                        settings->n_rates, ULB_S(settings->n_rates), threads, ULB_S(threads));
    if (settings->slow_times > 1 && settings->slow_thread >= threads)
        return ulb_fail(err, ULB_BAD_INPUT, "--slow-thread names thread %zu, and the last one is %zu",
                        settings->slow_thread, threads - 1);
    bool filtered = !filters->kernels || ulb_kernel_filtered(&m->session->selection, BASELINE);
    for (size_t i = 0; i < m->n_formats && !filtered; i++)
        filtered = ulb_kernel_filtered(&m->session->selection, m->formats[i].format);
    return filtered ? ULB_OK : ulb_refuse_kernel_filter(filters->kernels, settings->formats, err);
}

/* Whether a split goes by what this run measures of each class. */
static bool weighs_classes(const struct measurement *m)
{
    return ulb_takes_split(&m->session->settings, ULB_SPLIT_WEIGHTED) && m->settings->n_rates == 0 &&
           m->session->machine.topology.n_classes > 1;
}

/* What the user gave, or what each class reads, by which kernels are tried. */
static enum ulb_status set_rates(struct measurement *m, struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    enum ulb_status status = ULB_OK;
    m->rates = calloc(session->machine.pus.n, sizeof *m->rates);
    if (!m->rates)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu threads", session->machine.pus.n);
    for (size_t i = 0; i < session->machine.pus.n; i++)
        m->rates[i] = m->settings->n_rates > 0 ? m->settings->rates[i] : 1;
    if (weighs_classes(m) && (status = ulb_class_beta(&session->machine, session->yardstick, &session->arena,
                                                      session->settings.quick, m->class_beta, err)) == ULB_OK)
        ulb_class_thread_rates(&session->machine, NULL, NULL, m->class_beta, 1, m->rates);
    return status;
}

/* The rates of the format's own kernel, that of the largest matrix. */
static enum ulb_status weigh_format(struct measurement *m, struct format_run *run, struct ulb_error *err)
{
    const struct ulb_kernel *kernel = run->choices[ULB_GATE_UP].kernel;
    struct ulb_class_gamma gamma;
    run->rates = calloc(m->session->machine.pus.n, sizeof *run->rates);
    if (!run->rates)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu threads", m->session->machine.pus.n);
    memcpy(run->rates, m->rates, m->session->machine.pus.n * sizeof *run->rates);
    if (!weighs_classes(m))
        return ULB_OK;
    enum ulb_status status =
        ulb_class_gammas(&m->session->machine, &m->session->settings, &kernel, 1, &gamma, err);
    if (status == ULB_OK)
        ulb_class_thread_rates(&m->session->machine, kernel, &gamma, m->class_beta, 1, run->rates);
    return status;
}

/* The session's ring where a trial's weights fit it, else one of its own. */
static enum ulb_status open_ring(struct ulb_session *session, struct ulb_error *err)
{
    size_t ring;
    if (session->arena.pages.bytes >= TRIAL_BYTES)
        return ULB_OK;
    bool first = !session->arena.pages.data;
    ulb_arena_close(&session->arena);
    enum ulb_status status = ulb_session_ring(session, TRIAL_BYTES, &ring, err);
    if (status == ULB_OK)
        status =
            ulb_arena_open(&session->arena, ring, TRIAL_BYTES, ULB_PAGES_HUGE, session->machine.team, err);
    return status == ULB_OK && first ? ulb_machine_huge_pages(session, err) : status;
}

/* The ring is given back before any weights are made. */
static enum ulb_status choose_all(struct measurement *m, struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    enum ulb_status status = open_ring(session, err);
    if (status == ULB_OK)
        status = ulb_beta_choose(session, err);
    if (status == ULB_OK)
        status = set_rates(m, err);
    for (size_t i = 0; i < m->n_formats && status == ULB_OK; i++) {
        status = choose_kernels(m, &m->formats[i], err);
        if (status == ULB_OK)
            status = weigh_format(m, &m->formats[i], err);
        if (status == ULB_OK)
            status = ulb_check_interrupted(err);
    }
    ulb_arena_close(&session->arena);
    return status;
}

/* ---- one format ---- */

/* Of the last token that is decoded. */
static size_t last_position(const struct measurement *m)
{
    return m->context + ULB_TOKENS_WARM_UP + m->tokens - 1;
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
        .batch = prompt_step(m),
        .slow_thread = m->settings->slow_thread,
        .slow_times = m->settings->slow_times,
    };
}

/* For one token, and for many. */
static void set_kernels(const struct format_run *run, struct ulb_decoder_weights *weights)
{
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        weights->kernel[linear] = run->choices[linear].kernel;
        weights->prefetch[linear] = run->choices[linear].prefetch;
        weights->many[linear] = run->many[linear].kernel;
        weights->gemm_prefetch[linear] = run->many[linear].prefetch;
    }
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
    size_t cache = ulb_kv_capacity(&one, options->kv_type, options->positions);
    size_t layer = ulb_weights_layer_bytes(shape, run->choices) + cache;
    /* The head is there already when it is not the first format. */
    size_t apart = run > m->formats ? 0 : ulb_weights_head_bytes(shape, run->choices);
    apart += run > m->formats ? 0 : ulb_weights_rest_bytes(shape);
    struct ulb_decoder_weights weights = {0};
    set_kernels(run, &weights);
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
            fitting == 0 ? "take a smaller model" : "take --layers auto");
    *shape = ulb_decoder_shape_cut(shape, fitting);
    return ulb_record_warn(m->session->record, err,
                           "%s in %s: only %zu of %zu layers fit into memory; figures of a token are "
                           "extrapolated from them",
                           m->model, run->format, fitting, m->shape.layers);
}

static enum ulb_status measure_prompt(struct measurement *m, const struct format_run *run,
                                      struct ulb_decoder *decoder, struct ulb_decode_figures *figures,
                                      struct ulb_error *err)
{
    ulb_decoder_set_split(decoder, figures->split, run->rates);
    return ulb_prefill_measure(m->session, decoder, figures->shape, figures->all->layers, &m->store.weights,
                               figures->prompt, prompt_step(m), &figures->prefill, err);
}

/* Prompt and tokens of a decoder with each split. */
static enum ulb_status measure_figures(struct measurement *m, const struct format_run *run,
                                       const struct ulb_decoder_shape *shape, struct ulb_decoder *decoder,
                                       struct ulb_decode_figures *figures, struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    enum ulb_status status = ulb_decoder_fill_cache(decoder, m->context, session->settings.seed, err);
    if (status == ULB_OK)
        status = ulb_check_interrupted(err);
    session->arena = (struct ulb_arena){.pages = m->store.blocks, .ring_bytes = m->store.blocks.bytes};
    for (size_t i = 0; i < m->n_turns && status == ULB_OK; i++) {
        figures[i] = (struct ulb_decode_figures){.model = m->model,
                                                 .format = run->format,
                                                 .split = m->turns[i].split,
                                                 .all = &m->shape,
                                                 .shape = shape,
                                                 .choices = run->choices,
                                                 .reasons = run->reasons,
                                                 .store = &m->store,
                                                 .context = m->context,
                                                 .prompt = m->settings->prompt,
                                                 .kv_type = m->settings->kv_type,
                                                 .samples = m->turns[i].samples,
                                                 .n = m->tokens};
        if (figures[i].prompt > 0)
            status = measure_prompt(m, run, decoder, &figures[i], err);
    }
    if (status == ULB_OK)
        status = ulb_tokens_decode(session, decoder, m->turns, m->n_turns, run->rates, figures, err);
    for (size_t i = 0; i < m->n_turns && status == ULB_OK; i++) {
        ulb_decoder_set_split(decoder, m->turns[i].split, run->rates);
        figures[i].attention =
            ulb_attention_measure(session, decoder, shape, m->settings->kv_type, last_position(m));
        status = ulb_session_check(session, err);
    }
    session->arena = (struct ulb_arena){0};
    return status;
}

/* The same, into the record. */
static enum ulb_status measure_format(struct measurement *m, const struct format_run *run,
                                      const struct ulb_decoder_shape *shape, struct ulb_decoder *decoder,
                                      struct ulb_error *err)
{
    struct ulb_decode_figures figures[ULB_SPLITS];
    enum ulb_status status = measure_figures(m, run, shape, decoder, figures, err);
    long long peak = ulb_memory_peak();
    for (size_t i = 0; i < m->n_turns && status == ULB_OK; i++) {
        figures[i].peak_bytes = peak;
        status = ulb_decode_record(m->session, &figures[i], &m->turns[i].baseline, err);
    }
    if (status == ULB_OK && m->settings->done)
        status = m->settings->done(m->settings->done_context, m->session->record, err);
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

static enum ulb_status run_format(struct measurement *m, struct format_run *run, struct ulb_error *err)
{
    struct ulb_session *session = m->session;
    struct ulb_decoder_shape shape;
    struct ulb_decoder *decoder = NULL;
    struct ulb_decoder_options options = options_of(m, run);
    enum ulb_status status =
        ulb_decode_check(session->machine.team, &session->settings, &m->shape, run->choices, &options, err);
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
    set_kernels(run, &m->store.weights);
    if (status == ULB_OK)
        status = ulb_decoder_open(&decoder, &shape, &m->store.weights, &options, err);
    if (status == ULB_OK)
        status = measure_format(m, run, &shape, decoder, err);
    ulb_decoder_close(decoder);
    ulb_weights_empty(&m->store);
    return status;
}

enum ulb_status ulb_decode_measure(struct ulb_session *session, const struct ulb_decode_settings *settings,
                                   struct ulb_error *err)
{
    struct measurement m = {.session = session, .settings = settings};
    m.tokens = settings->tokens ? settings->tokens : session->settings.quick ? TOKENS_QUICK : TOKENS_FULL;
    m.context = settings->context > settings->prompt ? settings->context : settings->prompt;
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
        status = list_formats(&m, err);
    if (status == ULB_OK)
        status = check_named(&m, err);
    if (status == ULB_OK)
        status = drop_unfit(&m, err);
    if (status == ULB_OK)
        status = choose_all(&m, err);
    for (; m.n_turns < session->settings.n_splits && status == ULB_OK; m.n_turns++)
        status = ulb_turn_open(&m.turns[m.n_turns], session->settings.quick,
                               session->settings.splits[m.n_turns], m.tokens, settings->energy_root, err);
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
