#include "harness/compute/gamma.h"

#include "common/doing.h"
#include "harness/bandwidth/beta.h"
#include "harness/compute/gamma_loop.h"
#include "harness/session/checkpoint.h"
#include "harness/session/json_number.h"
#include "common/stats.h"
#include "kernels/gguf_block.h"
#include "models/models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_QUICK = 15, SAMPLES_FULL = 50, TRIES_PER_SAMPLE = 24, RUNS_PER_SAMPLE = 3 };

/* Sets of loops that samples are taken from in turn. The addresses of weights, activations and results change
 * what L1 does with them. Samples of one place are all alike, and differ from run to run
 * (docs/measurements/gamma.md). Stack and results move from sample to sample as well: see ulb_gamma_loop_run.
 */
enum { PLACES = 5 };

/* Seconds that a class's gammas may wait for its core to be alone. */
static const double RETRY_BUDGET_QUICK = 6, RETRY_BUDGET_FULL = 40;

struct turn {
    const struct ulb_gamma_loop *loop;
    size_t i;
};

static void run_loop(void *arg)
{
    const struct turn *turn = arg;
    ulb_call_begin();
    ulb_gamma_loop_run(turn->loop, 0, turn->i);
    ulb_call_end();
}

/* Cycles of one call, the best of three runs as in the chain's calibration: an interrupt is not the kernel's.
 * NAN when the clock was not steady, or the core not free of interference, in any try. */
static double cycles_per_call(struct ulb_clock *clock, struct turn turn)
{
    double best = NAN;
    for (int tries = 0, good = 0; good < RUNS_PER_SAMPLE && !ulb_interrupted; tries++) {
        if (tries >= TRIES_PER_SAMPLE && (clock->shared_core || clock->unsteady))
            break;
        double seconds;
        double cycles = ulb_clock_cycles(clock, run_loop, &turn, &seconds);
        if (isnan(cycles))
            continue;
        good++;
        best = isnan(best) || cycles < best ? cycles : best;
    }
    return best / (double)turn.loop->calls;
}

struct gamma_samples {
    double values[SAMPLES_FULL];
    size_t n;
};

static void take_samples(struct ulb_clock *clock, struct ulb_gamma_sizes places[PLACES], size_t wanted,
                         struct gamma_samples *samples)
{
    samples->n = 0;
    for (size_t i = 0; i < wanted && !ulb_interrupted; i++) {
        struct ulb_gamma_sizes *sizes = &places[i % PLACES];
        double cycles[ULB_GAMMA_LOOPS];
        for (size_t l = 0; l < sizes->n; l++)
            cycles[l] = cycles_per_call(clock, (struct turn){&sizes->loops[l], i});
        double gamma = ulb_gamma_of_sizes(sizes, cycles);
        if (!isnan(gamma))
            samples->values[samples->n++] = gamma;
    }
}

/* What is measured: a kernel, or an operator's look-up of a row of its format. */
struct subject {
    const struct ulb_kernel *kernel;
    const struct ulb_embedding *embedding; /* NULL: the kernel */
};

static enum ulb_status open_sizes(struct ulb_gamma_sizes *sizes, const struct subject *subject,
                                  size_t l1_bytes, uint64_t seed, struct ulb_error *err)
{
    return subject->embedding
               ? ulb_gamma_sizes_open_look_up(sizes, subject->embedding, subject->kernel, l1_bytes, seed, err)
               : ulb_gamma_sizes_open(sizes, subject->kernel, l1_bytes, 1, seed, err);
}

static enum ulb_status sample_subject(struct ulb_session *session, const struct subject *subject,
                                      size_t l1_bytes, struct ulb_clock *clock, struct gamma_samples *samples,
                                      struct ulb_error *err)
{
    struct ulb_gamma_sizes places[PLACES];
    enum ulb_status status = ULB_OK;
    size_t open = 0;
    for (; open < PLACES && status == ULB_OK; open++)
        status = open_sizes(&places[open], subject, l1_bytes, session->settings.seed, err);
    if (status == ULB_OK)
        take_samples(clock, places, session->settings.quick ? SAMPLES_QUICK : SAMPLES_FULL, samples);
    else
        open--; /* the one that failed closed itself */
    while (open > 0)
        ulb_gamma_sizes_close(&places[--open]);
    return status == ULB_OK ? ulb_check_interrupted(err) : status;
}

/* "int2a8-pshufb-avxvnni-32x1x4", "embedding u4 bmi2": as the journal names it. */
static void name_subject(const struct subject *subject, char name[ULB_KERNEL_NAME_MAX])
{
    if (subject->embedding)
        snprintf(name, ULB_KERNEL_NAME_MAX, "embedding %s %s", subject->kernel->layout->format->name,
                 subject->embedding->isa);
    else
        ulb_kernel_name(subject->kernel, name);
}

/* The samples of a subject on a class's core: measured, or read back from the journal. */
static enum ulb_status get_samples(struct ulb_session *session, const struct subject *subject,
                                   const struct ulb_core_class *cls, struct ulb_clock *clock,
                                   struct gamma_samples *samples, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX];
    struct ulb_journal_entry entry;
    const json_t *saved;
    name_subject(subject, name);
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "gamma %s %s", cls->name, name);
    if (status != ULB_OK)
        return status;
    if (saved) {
        const json_t *values = json_object_get(saved, "samples");
        samples->n = json_array_size(values);
        clock->shared_core |= json_is_true(json_object_get(saved, "shared_core"));
        clock->unsteady |= json_is_true(json_object_get(saved, "unsteady"));
        return samples->n <= SAMPLES_FULL && ulb_journal_read_numbers(values, samples->values, samples->n)
                   ? ULB_OK
                   : ulb_entry_damaged(&entry, err);
    }
    size_t l1 = cls->l1d_bytes ? cls->l1d_bytes : (size_t)32 << 10;
    status = sample_subject(session, subject, l1, clock, samples, err);
    if (status != ULB_OK)
        return status;
    json_t *value = json_pack("{s:o, s:b, s:b}", "samples", ulb_journal_numbers(samples->values, samples->n),
                              "shared_core", clock->shared_core, "unsteady", clock->unsteady);
    return ulb_entry_end(session, &entry, value, err);
}

static enum ulb_status add_cell(struct ulb_session *session, const struct ulb_kernel *kernel,
                                const struct ulb_core_class *cls, const struct gamma_samples *samples,
                                struct ulb_error *err)
{
    struct ulb_stats stats = ulb_stats_of(samples->values, samples->n, session->settings.seed);
    struct ulb_gamma_cell cell = {
        .gamma_cycles = stats.median,
        .gamma_min_cycles = stats.min,
        .gamma_mad_cycles = stats.mad,
        .bytes_per_step = kernel->bytes_per_step,
        .ebw_bytes_per_cycle = ulb_effective_bandwidth(ulb_beta_of_class(session->record, cls->name),
                                                       kernel->bytes_per_step, stats.median),
        .verified = true,
        .n_samples = samples->n,
        .gamma_samples = (double *)(uintptr_t)samples->values,
    };
    ulb_kernel_name(kernel, cell.kernel);
    snprintf(cell.format, sizeof cell.format, "%s", kernel->layout->format->name);
    snprintf(cell.isa, sizeof cell.isa, "%s", kernel->isa);
    snprintf(cell.cls, sizeof cell.cls, "%s", cls->name);
    return ulb_record_add_gamma(session->record, &cell, err);
}

static enum ulb_status add_look_up(struct ulb_session *session, const struct subject *subject,
                                   const struct ulb_core_class *cls, const struct gamma_samples *samples,
                                   struct ulb_error *err)
{
    struct ulb_stats stats = ulb_stats_of(samples->values, samples->n, session->settings.seed);
    const struct ulb_format *format = subject->kernel->layout->format;
    json_t *rows = json_object_get(json_object_get(session->record->root, "gamma"), "embedding");
    json_t *row = json_pack("{s:s, s:s, s:s, s:f, s:b, s:o}", "format", format->name, "isa",
                            subject->embedding->isa, "class", cls->name, "bytes_per_step",
                            (double)ULB_STEP_WEIGHTS * (double)format->block->bytes / format->block->columns,
                            "verified", 1, "gamma_samples", ulb_journal_numbers(samples->values, samples->n));
    ulb_set_figure(row, "gamma_cycles", stats.median, "the core was never free of interference");
    ulb_set_figure(row, "gamma_min_cycles", stats.min, "the core was never free of interference");
    ulb_set_figure(row, "gamma_mad_cycles", stats.mad, "too few samples");
    return json_array_append_new(rows, row) == 0
               ? ULB_OK
               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
}

/* Says so where cycles do not come from the source that was expected. */
static enum ulb_status warn_of_source(struct ulb_session *session, const struct ulb_core_class *cls,
                                      const struct ulb_clock *clock, const char *expected,
                                      struct ulb_error *err)
{
    if (strcmp(clock->source, expected) == 0)
        return ULB_OK;
    return ulb_record_warn(session->record, err, "gamma of class %s: cycles by %s, not %s: %.200s", cls->name,
                           clock->source, expected, clock->reason);
}

/* All subjects on the class's first core in the set. The caller's own thread is moved there by a team of one.
 */
static enum ulb_status measure_class(struct ulb_session *session, size_t c, unsigned pu,
                                     const struct subject *subjects, size_t n, struct ulb_error *err)
{
    const struct ulb_core_class *cls = &session->machine.topology.classes[c];
    struct ulb_team *team = NULL;
    struct ulb_clock clock;
    enum ulb_status status = ulb_team_start(&team, &pu, 1, err);
    if (status != ULB_OK)
        return status;
    ulb_clock_open(&clock, session->settings.quick ? RETRY_BUDGET_QUICK : RETRY_BUDGET_FULL);
    status = warn_of_source(session, cls, &clock, session->machine.clock.name, err);
    const char *source = clock.source;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        struct gamma_samples samples;
        ulb_session_progress(session, "gamma",
                             (double)(c * n + i) / (double)(session->machine.topology.n_classes * n));
        status = get_samples(session, &subjects[i], cls, &clock, &samples, err);
        if (status == ULB_OK)
            status = subjects[i].embedding ? add_look_up(session, &subjects[i], cls, &samples, err)
                                           : add_cell(session, subjects[i].kernel, cls, &samples, err);
    }
    if (status == ULB_OK)
        status = warn_of_source(session, cls, &clock, source, err);
    if (status == ULB_OK && clock.unsteady)
        status =
            ulb_record_warn(session->record, err,
                            "gamma: the frequency of PU %u never stands still: figures are less certain", pu);
    if (status == ULB_OK && clock.shared_core)
        status = ulb_record_warn(
            session->record, err,
            "gamma: PU %u is hardly ever alone on its core (busy SMT sibling or neighbour): figures too high",
            pu);
    ulb_clock_close(&clock);
    ulb_team_stop(team);
    return status;
}

static enum ulb_status measure_subjects(struct ulb_session *session, const struct subject *subjects, size_t n,
                                        struct ulb_error *err)
{
    size_t classes = session->machine.topology.n_classes;
    enum ulb_status status = ULB_OK;
    for (size_t c = 0; c < classes && status == ULB_OK; c++) {
        for (size_t t = 0; t < session->machine.pus.n; t++) {
            if (ulb_topology_class_of(&session->machine.topology, session->machine.pus.items[t]) !=
                &session->machine.topology.classes[c])
                continue;
            status = measure_class(session, c, session->machine.pus.items[t], subjects, n, err);
            break;
        }
    }
    ulb_session_progress(session, "gamma", 1.0);
    return status;
}

/* Whether a kernel before the i-th has its format. */
static bool has_format_before(const struct ulb_kernel *const *kernels, size_t i)
{
    bool found = false;
    for (size_t j = 0; j < i && !found; j++)
        found = kernels[j]->layout->format == kernels[i]->layout->format;
    return found;
}

/* Adds the look-ups of kernel i's format to subjects[0..n); how many there are then. */
static size_t add_operators(const struct ulb_session *session, const struct ulb_kernel *kernel,
                            struct subject *subjects, size_t n)
{
    const struct ulb_embedding *embedding;
    for (size_t e = 0; (embedding = ulb_embedding_at(e)); e++) {
        if (embedding->reads(kernel->layout->format) &&
            ulb_selection_can_run(&session->selection, embedding->needs))
            subjects[n++] = (struct subject){kernel, embedding};
    }
    return n;
}

static size_t count_operators(void)
{
    size_t n = 0;
    while (ulb_embedding_at(n))
        n++;
    return n;
}

enum ulb_status ulb_gamma_measure(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                  size_t n, bool look_ups, struct ulb_error *err)
{
    json_t *gamma = json_object_get(session->record->root, "gamma");
    size_t n_subjects = 0;
    struct subject *subjects = calloc(n * (1 + count_operators()), sizeof *subjects);
    if (!subjects || (look_ups && json_object_set_new(gamma, "embedding", json_array()) != 0)) {
        free(subjects);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the gamma of %zu kernels", n);
    }
    for (size_t i = 0; i < n; i++)
        subjects[n_subjects++] = (struct subject){.kernel = kernels[i]};
    for (size_t i = 0; i < n && look_ups; i++) {
        if (!has_format_before(kernels, i))
            n_subjects = add_operators(session, kernels[i], subjects, n_subjects);
    }
    enum ulb_status status = measure_subjects(session, subjects, n_subjects, err);
    free(subjects);
    return status;
}

double ulb_measured_gamma(const struct ulb_record *record, const struct ulb_kernel *kernel,
                          const char *class_name)
{
    const json_t *cells = json_object_get(json_object_get(record->root, "gamma"), "cells"), *cell;
    char name[ULB_KERNEL_NAME_MAX];
    size_t i;
    ulb_kernel_name(kernel, name);
    json_array_foreach(cells, i, cell)
    {
        if (strcmp(ulb_row_text(cell, "kernel"), name) == 0 &&
            strcmp(ulb_row_text(cell, "class"), class_name) == 0)
            return ulb_row_number(cell, "gamma_cycles");
    }
    return NAN;
}

enum ulb_status ulb_gamma_resolve(struct ulb_record *record, struct ulb_error *err)
{
    json_t *cells = json_object_get(json_object_get(record->root, "gamma"), "cells"), *cell;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        double e_bw = ulb_effective_bandwidth(ulb_beta_of_class(record, ulb_row_text(cell, "class")),
                                              ulb_row_number(cell, "bytes_per_step"),
                                              ulb_row_number(cell, "gamma_cycles"));
        if (isfinite(e_bw) && json_object_set_new(cell, "ebw_bytes_per_cycle", json_real(e_bw)) != 0)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    }
    return ULB_OK;
}
