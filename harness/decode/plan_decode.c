/* What decoding runs: formats, and a kernel for each of their matrices. */
#include "harness/decode/measure_decode_private.h"

#include "common/units.h"
#include "common/words.h"
#include "harness/bandwidth/beta.h"
#include "harness/compute/core_class_rates.h"
#include "harness/decode/prefill.h"
#include "harness/session/describe_machine.h"
#include "harness/session/session.h"
#include "harness/verify/test_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_TILE = 128 };
/* Rows are chosen on pieces of matrices of at most this size. */
static const size_t TRIAL_BYTES = (size_t)64 << 20;

static const char BASELINE[] = "bf16", OTHER_BASELINE[] = "fp16";

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

/* Rows of a piece, at most so many. Formats of 16 bits and less have as many, wider ones fewer. They are
 * whole tiles, to which layouts pad. */
static size_t rows_tried(const char *format, size_t rows, size_t k)
{
    double bytes = fmax(16, ulb_kernel_format(format)->bits) / 8;
    size_t most = (size_t)((double)TRIAL_BYTES / bytes / (double)k);
    most -= most > LARGEST_TILE ? most % LARGEST_TILE : 0;
    return rows < most ? rows : most;
}

/* A kernel for each size of step, all of the layout that serves the largest. */
static enum ulb_status choose_steps(struct measurement *m, struct format_run *run, enum ulb_linear linear,
                                    const struct ulb_trial_shape *shape, struct ulb_error *err)
{
    const struct ulb_sizes *sizes = &m->steps;
    struct ulb_prefill_choice choice;
    enum ulb_status status =
        ulb_prefill_choose(m->session, shape, sizes->items[sizes->n - 1], m->rates, &choice, err);
    struct ulb_kernel_choice many = choice.many;
    for (size_t i = sizes->n; i-- > 0 && status == ULB_OK;) {
        if (i + 1 < sizes->n)
            status = ulb_prefill_refine(m->session, shape, sizes->items[i], choice.one.kernel->layout,
                                        m->rates, &many, err);
        run->steps[i].tokens = sizes->items[i];
        run->steps[i].kernel[linear] = many.kernel;
        run->steps[i].prefetch[linear] = many.prefetch;
    }
    run->choices[linear] = choice.one;
    run->reasons[linear] = choice.reason;
    return status;
}

/* One kind of matrix; with steps of many tokens a layout that serves them too. */
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
    bool one = m->steps.n == 0 || (linear == ULB_HEAD && m->settings->prompts.n > 0);
    return one ? ulb_kernel_choose(m->session, &shape, m->rates, &run->choices[linear], err)
               : choose_steps(m, run, linear, &shape, err);
}

/* What is not quantised is that of the first format. */
static void copy_kernel(const struct measurement *m, struct format_run *run, enum ulb_linear linear)
{
    const struct format_run *first = m->formats;
    run->choices[linear] = first->choices[linear];
    for (size_t i = 0; i < m->steps.n; i++) {
        run->steps[i].kernel[linear] = first->steps[i].kernel[linear];
        run->steps[i].prefetch[linear] = first->steps[i].prefetch[linear];
    }
}

/* Kernels for every matrix of the model in one format. */
static enum ulb_status choose_kernels(struct measurement *m, struct format_run *run, struct ulb_error *err)
{
    for (int i = 0; i < ULB_LINEARS; i++) {
        enum ulb_status status = ULB_OK;
        if (ulb_linear_count(&m->shape, (enum ulb_linear)i) == 0)
            continue;
        if (i >= ULB_QUANTISED_LINEARS && run > m->formats)
            copy_kernel(m, run, (enum ulb_linear)i);
        else
            status = choose_kernel(m, run, (enum ulb_linear)i, err);
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

enum ulb_status ulb_decode_choose_kernels(struct measurement *m, struct ulb_error *err)
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

enum ulb_status ulb_decode_plan_formats(struct measurement *m, struct ulb_error *err)
{
    enum ulb_status status = list_formats(m, err);
    if (status == ULB_OK)
        status = check_named(m, err);
    return status == ULB_OK ? drop_unfit(m, err) : status;
}
