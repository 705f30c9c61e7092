#include "harness/grid/shortlist.h"

#include "common/emulation.h"
#include "common/stats.h"
#include "harness/bandwidth/beta.h"
#include "harness/compute/gamma.h"
#include "harness/compute/prefetch_tuning.h"
#include "harness/grid/grid.h"
#include "harness/session/checkpoint.h"
#include "harness/session/json_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = 2, SAMPLES = 5, SAMPLES_EMULATED = 1 };

static const double GAMMA_MARGIN = 1.6;
static const double NOISE = 0.03; /* of a median of so few samples, each beside a plain read */

struct candidate {
    const struct ulb_kernel *kernel;
    double gamma; /* cycles on the first class; NAN: not measured */
    double cold;  /* mean over the shapes of time / that of a plain read of as many bytes; NAN: not timed */
    bool chosen;
};

/* ---- candidates ---- */

static bool same_format(const struct candidate *a, const struct candidate *b)
{
    return a->kernel->layout->format == b->kernel->layout->format;
}

static bool is_paper_sequence(const struct ulb_kernel *kernel)
{
    static const char *const encodings[] = {"avxvnni", "avx512vnni256", "avxvnniint8"};
    const char *sequence = strcmp(kernel->layout->format->name, "int2") == 0   ? "pshufb"
                           : strcmp(kernel->layout->format->name, "int1") == 0 ? "blend"
                                                                               : "";
    if (strcmp(kernel->variant, sequence) != 0)
        return false;
    for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++) {
        if (strcmp(kernel->isa, encodings[i]) == 0)
            return true;
    }
    return false;
}

/* Whether its gamma is near the best of its format; one without a gamma is no candidate unless all are. */
static bool is_near_best(const struct candidate *candidates, size_t n, const struct candidate *one)
{
    double best = NAN;
    for (size_t i = 0; i < n; i++) {
        if (same_format(&candidates[i], one))
            best = fmin(best, candidates[i].gamma);
    }
    return isnan(best) || one->gamma <= GAMMA_MARGIN * best;
}

/* Moves those that are timed to the front; returns how many. */
static size_t keep_near_best(struct candidate *candidates, size_t n, const struct ulb_kernel **timed)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_near_best(candidates, n, &candidates[i]))
            timed[used++] = candidates[i].kernel;
    }
    return used;
}

/* ---- times ---- */

static double time_call(void *arg)
{
    return ulb_cell_sample_time(arg, 1);
}

/* Time of a call with its best prefetches, in plain reads of as many bytes before and after it. */
static double time_cell(struct ulb_session *session, struct ulb_grid *grid, struct ulb_grid_cell *cell)
{
    struct ulb_cell_sample sample;
    size_t samples = ulb_emulator() ? SAMPLES_EMULATED : SAMPLES;
    ulb_cell_sample_open(&sample, session, grid, cell);
    double before = ulb_cell_sample_read(&sample, 1);
    double seconds = ulb_prefetch_choose(&sample.job.gemm.prefetch, ulb_prefetch_candidates(cell->kernel, 1),
                                         samples, time_call, &sample);
    return seconds / ((before + ulb_cell_sample_read(&sample, 1)) / 2);
}

static struct candidate *find(struct candidate *candidates, const struct ulb_kernel *kernel)
{
    while (candidates->kernel != kernel)
        candidates++;
    return candidates;
}

static enum ulb_status time_all(struct ulb_session *session, struct ulb_grid *grid,
                                struct candidate *candidates, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < grid->judged && status == ULB_OK; i++) {
        struct ulb_grid_cell *cell = &grid->cells[i];
        struct candidate *candidate = find(candidates, cell->kernel);
        ulb_session_progress(session, "choice", (double)i / (double)grid->judged);
        double ratio = time_cell(session, grid, cell) / SHAPES;
        candidate->cold = isnan(candidate->cold) ? ratio : candidate->cold + ratio;
        status = ulb_session_check(session, err);
    }
    return status;
}

/* ---- choice ---- */

static void choose(struct candidate *candidates, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double best = NAN;
        bool first = true;
        for (size_t j = 0; j < n; j++) {
            if (same_format(&candidates[j], &candidates[i]))
                best = fmin(best, candidates[j].cold);
        }
        for (size_t j = 0; j < i; j++)
            first &=
                !(same_format(&candidates[j], &candidates[i]) && candidates[j].cold <= (1 + NOISE) * best);
        candidates[i].chosen = first && candidates[i].cold <= (1 + NOISE) * best;
    }
}

static json_t *choices_json(const struct candidate *candidates, size_t n)
{
    json_t *rows = json_array();
    int bad = 0;
    for (size_t i = 0; i < n; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        json_t *row = json_pack("{s:s, s:s, s:b, s:b}", "format", candidates[i].kernel->layout->format->name,
                                "kernel", ulb_kernel_name(candidates[i].kernel, name), "chosen",
                                candidates[i].chosen, "paper", is_paper_sequence(candidates[i].kernel));
        if (row) {
            ulb_set_figure(row, "gamma_cycles", candidates[i].gamma, "not measured");
            ulb_set_figure(row, "cold_ratio", candidates[i].cold, "its gamma is too far from the best");
        }
        bad |= json_array_append_new(rows, row);
    }
    if (!bad)
        return rows;
    json_decref(rows);
    return NULL;
}

/* Back from the journal; false when they are not those of these kernels. */
static bool read_choices(const json_t *rows, struct candidate *candidates, size_t n)
{
    if (json_array_size(rows) != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        const json_t *row = json_array_get(rows, i);
        if (strcmp(ulb_row_text(row, "kernel"), ulb_kernel_name(candidates[i].kernel, name)) != 0)
            return false;
        candidates[i].gamma = ulb_row_number(row, "gamma_cycles");
        candidates[i].cold = ulb_row_number(row, "cold_ratio");
        candidates[i].chosen = json_is_true(json_object_get(row, "chosen"));
    }
    return true;
}

static enum ulb_status measure(struct ulb_session *session, struct candidate *candidates, size_t n,
                               struct ulb_error *err)
{
    struct ulb_grid grid = {0};
    char shapes[96];
    const struct ulb_kernel **timed = calloc(n, sizeof *timed);
    size_t n_timed = timed ? keep_near_best(candidates, n, timed) : 0;
    enum ulb_status status = timed ? ulb_beta_choose(session, err)
                                   : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to choose kernels");
    if (status == ULB_OK)
        status = ulb_grid_two_shapes(session, timed, n_timed, shapes, sizeof shapes, err);
    const struct ulb_grid_plan plan = {.machine = &session->machine,
                                       .settings = &session->settings,
                                       .shapes = shapes,
                                       .tokens = "1",
                                       .rounds = 1,
                                       .per_round = 2};
    if (status == ULB_OK)
        status = ulb_grid_open(&grid, session->record, &plan, timed, n_timed, err);
    if (status == ULB_OK)
        status = time_all(session, &grid, candidates, err);
    if (status == ULB_OK)
        choose(candidates, n);
    ulb_grid_close(&grid);
    free(timed);
    return status;
}

/* The choices of the journal, or new ones. */
static enum ulb_status choose_or_replay(struct ulb_session *session, struct candidate *candidates, size_t n,
                                        struct ulb_error *err)
{
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "choice of kernels");
    if (status != ULB_OK)
        return status;
    if (saved)
        return read_choices(saved, candidates, n) ? ULB_OK : ulb_entry_damaged(&entry, err);
    status = measure(session, candidates, n, err);
    return status == ULB_OK && session->journal
               ? ulb_entry_end(session, &entry, choices_json(candidates, n), err)
               : status;
}

enum ulb_status ulb_shortlist_kernels(struct ulb_session *session, const struct ulb_kernel **kernels,
                                      size_t *n, struct ulb_error *err)
{
    struct candidate *candidates = calloc(*n, sizeof *candidates);
    const char *cls = session->machine.topology.classes[0].name;
    size_t kept = 0;
    if (!candidates)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to choose kernels");
    for (size_t i = 0; i < *n; i++)
        candidates[i] =
            (struct candidate){kernels[i], ulb_measured_gamma(session->record, kernels[i], cls), NAN, false};
    enum ulb_status status = choose_or_replay(session, candidates, *n, err);
    if (status == ULB_OK)
        status = ulb_record_set(session->record, "choices", choices_json(candidates, *n), err);
    for (size_t i = 0; i < *n && status == ULB_OK; i++) {
        if (candidates[i].chosen || is_paper_sequence(candidates[i].kernel))
            kernels[kept++] = candidates[i].kernel;
    }
    *n = status == ULB_OK ? kept : *n;
    free(candidates);
    return status;
}
