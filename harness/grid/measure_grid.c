#include "harness/grid/grid.h"

#include "common/emulation.h"
#include "common/rng.h"
#include "common/units.h"
#include "harness/bandwidth/beta.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/compute/format_table.h"
#include "harness/grid/describe_models.h"
#include "harness/session/checkpoint.h"
#include "harness/grid/take_turns.h"
#include "harness/grid/overlap_calibration.h"
#include "harness/verify/test_case.h"
#include "results/compare/noise_floor.h"
#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_QUICK = 21,
    ROUNDS_LEAST = 9,
    ROUNDS_FULL = 31,
    GEMM_ROUNDS_QUICK = 3,
    GEMM_ROUNDS_FULL = 9,
    ROUNDS_EMULATED = 3, /* whose figures are of no CPU */
    SAMPLES_PER_ROUND = 3,
    TRIES_PER_SAMPLE = 6
};
static const double RETRY_BUDGET_QUICK = 8, RETRY_BUDGET_FULL = 30; /* seconds */

/* A quick GEMV grid begins no further round after so many seconds, when it has the least of them. */
static const double BUDGET_QUICK = 20;
static const double DRIFT_NOISY = 0.10;
static const double FREQUENCY_NOISY = 0.10;
static const double DISTURBED_NOISY = 0.10;

static const char DEFAULT_MODELS[] = "falcon3-1b,mobilellm-1.5b,llama3-8b";
static const char GEMM_SHAPES[] = "4096x4096";
static const char GEMM_TOKENS_QUICK[] = "4,16,64", GEMM_TOKENS_FULL[] = "2,4,8,16,32,64,128,512";

struct ulb_grid_plan ulb_grid_plan_of(const struct ulb_settings *settings, enum ulb_product product)
{
    bool gemv = product == ULB_GEMV, quick = settings->quick, turns = settings->turns != NULL;
    struct ulb_grid_plan plan = {
        .settings = settings,
        .models = settings->models,
        .shapes = settings->shapes,
        .tokens = gemv ? "1" : settings->tokens,
        .rounds =
            gemv ? (quick ? ROUNDS_QUICK : ROUNDS_FULL) : (quick ? GEMM_ROUNDS_QUICK : GEMM_ROUNDS_FULL),
        .per_round = SAMPLES_PER_ROUND,
        .budget = gemv && quick ? BUDGET_QUICK : INFINITY,
        .predicts = gemv && !turns,
    };
    if (!plan.models && !plan.shapes)
        *(gemv ? &plan.models : &plan.shapes) = gemv ? DEFAULT_MODELS : GEMM_SHAPES;
    if (ulb_emulator())
        plan.rounds = ROUNDS_EMULATED;
    if (turns)
        plan.rounds = 1;
    if (!plan.tokens)
        plan.tokens = quick ? GEMM_TOKENS_QUICK : GEMM_TOKENS_FULL;
    return plan;
}

static struct ulb_grid_plan plan_of(const struct ulb_session *session, enum ulb_product product)
{
    struct ulb_grid_plan plan = ulb_grid_plan_of(&session->settings, product);
    plan.machine = &session->machine;
    return plan;
}

/* ---- verification ---- */

/* The first tokens of the test case, as many as the cell has. */
static enum ulb_status verify_cell(struct ulb_session *session, struct ulb_grid *grid,
                                   const struct ulb_grid_cell *cell, const struct ulb_test_case *test_case,
                                   bool already_packed, struct ulb_error *err)
{
    struct ulb_test_case part = *test_case;
    part.n = cell->n;
    void *packed = session->arena.pages.data;
    if (!already_packed)
        ulb_test_case_pack(test_case, cell->kernel->layout, packed, session->machine.team);
    struct ulb_row_split split = ulb_grid_split(grid, cell);
    struct ulb_team_gemm job = {cell->kernel, ulb_test_case_gemm(&part, packed, grid->y), &split};
    enum ulb_status status = ULB_OK;
    /* With every piece of code that may be timed: the kernel's own, into L2, into L1. */
    static const size_t pieces[] = {0, 1, ULB_PREFETCH_CANDIDATES - 1};
    struct ulb_prefetch_candidates candidates = ulb_prefetch_candidates(cell->kernel, cell->n);
    size_t n = candidates.n < 3 ? candidates.n : 3;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        job.gemm.prefetch = candidates.at[pieces[i]];
        memset(grid->y, 0xFF, cell->n * cell->m * sizeof *grid->y);
        ulb_team_gemm_run(session->machine.team, &job);
        status = ulb_test_case_check(&part, cell->kernel, grid->y, err);
    }
    return status;
}

/* The cell as it is verified. A quick run takes so many rows of a large matrix that the edge of its tiles is
 * there, and the split. */
static struct ulb_grid_cell verified(const struct ulb_session *session, const struct ulb_grid_cell *cell)
{
    enum { ROWS = 2048, EDGE = 1024 }; /* tiles have fewer rows than EDGE */
    struct ulb_grid_cell part = *cell;
    if (session->settings.quick && cell->m > ROWS + EDGE)
        part.m = ROWS + cell->m % EDGE;
    return part;
}

static bool have_one_case(const struct ulb_grid_cell *a, const struct ulb_grid_cell *b)
{
    return a->m == b->m && a->k == b->k && a->kernel->layout->format == b->kernel->layout->format &&
           a->kernel->activation == b->kernel->activation;
}

/* Whether the same was verified for a cell before the i-th. */
static bool is_verified(const struct ulb_session *session, const struct ulb_grid *grid, size_t i,
                        const struct ulb_grid_cell *cell)
{
    for (size_t j = 0; j < i; j++) {
        struct ulb_grid_cell before = verified(session, &grid->cells[j]);
        if (before.kernel == cell->kernel && before.n == cell->n && before.m == cell->m &&
            before.k == cell->k)
            return true;
    }
    return false;
}

/* Cells of one shape and format stand next to each other and share a test case, those of one layout its
 * packed form. */
static enum ulb_status verify_all(struct ulb_session *session, struct ulb_grid *grid, struct ulb_error *err)
{
    struct ulb_test_case test_case = {0};
    struct ulb_grid_cell last = {0};        /* that the test case was made for */
    const struct ulb_layout *packed = NULL; /* NULL: the test case is not this cell's */
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < grid->judged && status == ULB_OK; i++) {
        const struct ulb_grid_cell cell = verified(session, &grid->cells[i]);
        const struct ulb_layout *layout = cell.kernel->layout;
        ulb_session_progress(session, "verify", (double)i / (double)grid->judged);
        if (is_verified(session, grid, i, &cell))
            continue;
        if (!last.kernel || !have_one_case(&last, &cell)) {
            ulb_test_case_close(&test_case);
            packed = NULL;
            status = ulb_test_case_open_tokens(&test_case, cell.kernel, cell.m, cell.k, grid->tokens,
                                               ULB_FILL_RANDOM, session->settings.seed, session->machine.team,
                                               err);
        }
        if (status == ULB_OK)
            status = verify_cell(session, grid, &cell, &test_case, packed == layout, err);
        last = cell;
        packed = layout;
        if (status == ULB_OK)
            status = ulb_check_interrupted(err);
    }
    ulb_test_case_close(&test_case);
    return status;
}

/* ---- timing ---- */

void ulb_cell_sample_open(struct ulb_cell_sample *sample, struct ulb_session *session, struct ulb_grid *grid,
                          struct ulb_grid_cell *cell)
{
    *sample = (struct ulb_cell_sample){.team = session->machine.team,
                                       .arena = &session->arena,
                                       .reader = session->yardstick,
                                       .warm = session->settings.warm,
                                       .cell = cell,
                                       .split = ulb_grid_split(grid, cell),
                                       .job = {cell->kernel, ulb_grid_gemm(grid, cell), NULL}};
    sample->job.split = &sample->split;
}

double ulb_cell_sample_time(struct ulb_cell_sample *sample, size_t batch)
{
    if (!sample->warm && sample->cell->per_round > 1)
        ulb_team_gemm_warm_up(sample->team, &sample->job, sample->arena);
    double begin = ulb_now();
    for (size_t i = 0; i < batch; i++) {
        sample->job.gemm.w = sample->warm
                                 ? sample->arena->pages.data
                                 : ulb_arena_next(sample->arena, sample->cell->packed_bytes, ULB_CACHE_LINE);
        ulb_team_gemm_run(sample->team, &sample->job);
    }
    return (ulb_now() - begin) / (double)batch;
}

double ulb_cell_sample_read(struct ulb_cell_sample *sample, size_t batch)
{
    double seconds = 0;
    for (size_t i = 0; i < batch; i++)
        seconds += (double)sample->cell->bytes /
                   ulb_read_bytes(sample->team, sample->reader, sample->arena, sample->cell->bytes);
    return seconds / (double)batch;
}

static double sample_cell(void *arg)
{
    struct ulb_cell_sample *sample = arg;
    return 1e6 * ulb_cell_sample_time(sample, sample->cell->batch);
}

static double sample_read(void *arg)
{
    struct ulb_cell_sample *sample = arg;
    return 1e6 * ulb_cell_sample_read(sample, sample->cell->batch);
}

static double sample_yardstick(void *arg)
{
    return ulb_read_yardstick(arg);
}

void ulb_grid_take_yardstick(struct ulb_session *session, struct ulb_grid *grid)
{
    double value = ulb_retry_noisy(&grid->retry, sample_yardstick, session);
    ulb_grid_add_yardstick(grid, value, grid->retry.last_disturbed);
}

static void time_cell(struct ulb_session *session, struct ulb_grid *grid, struct ulb_grid_cell *cell)
{
    struct ulb_cell_sample sample;
    ulb_cell_sample_open(&sample, session, grid, cell);
    if (grid->gamma)
        ulb_team_gamma_sample(grid->gamma, cell->kernel_index, &grid->retry);
    /* An untimed call, if memory is not warmed up. */
    if (cell->per_round > 1 && session->settings.warm)
        ulb_cell_sample_time(&sample, 1);
    for (size_t i = 0; i < cell->per_round; i++) {
        cell->us[cell->n_samples] = ulb_retry_noisy(&grid->retry, sample_cell, &sample);
        if (grid->retry.last_disturbed)
            cell->disturbed[cell->n_disturbed++] = (double)cell->n_samples;
        cell->n_samples++;
    }
    cell->round_peak[cell->n_rounds] =
        ulb_peak_sample_best(grid->peak, cell->kernel->activation, &grid->retry);
    cell->read_us[cell->n_rounds] =
        session->settings.warm ? NAN : ulb_retry_noisy(&grid->retry, sample_read, &sample);
    ulb_grid_take_yardstick(session, grid);
    ulb_grid_end_cell_round(grid, cell);
}

/* What lies behind a cell's results, set before its samples and looked at after them. */
enum { CANARY = 0x5A };

static unsigned char *canary_of(const struct ulb_grid *grid, const struct ulb_grid_cell *cell)
{
    return (unsigned char *)(grid->y + cell->n * cell->m);
}

static enum ulb_status check_canary(const struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                    struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX];
    for (size_t i = 0; i < ULB_CACHE_LINE; i++) {
        if (canary_of(grid, cell)[i] != CANARY)
            return ulb_fail(err, ULB_FINDING, "kernel %s writes behind its results at %zux%zu",
                            ulb_kernel_name(cell->kernel, name), cell->m, cell->k);
    }
    return ULB_OK;
}

enum ulb_status ulb_grid_time_cell(struct ulb_session *session, struct ulb_grid *grid,
                                   struct ulb_grid_cell *cell, double *hz, struct ulb_error *err)
{
    memset(canary_of(grid, cell), CANARY, ULB_CACHE_LINE);
    time_cell(session, grid, cell);
    *hz = ulb_team_last_hz(session->machine.team);
    enum ulb_status status = check_canary(grid, cell, err);
    return status == ULB_OK ? ulb_team_check(session->machine.team, err) : status;
}

/* A cell's turn in a round: timed, or read back from the journal. */
static enum ulb_status process_cell(struct ulb_session *session, struct ulb_grid *grid, size_t round,
                                    struct ulb_grid_cell *cell, double *hz, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX];
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "%zu: %s %zux%zu, %zu", round + 1,
                                             ulb_kernel_name(cell->kernel, name), cell->m, cell->k, cell->n);
    if (status != ULB_OK)
        return status;
    if (saved)
        return ulb_grid_cell_from_json(grid, cell, saved, hz) ? ULB_OK : ulb_entry_damaged(&entry, err);
    status = ulb_grid_time_cell(session, grid, cell, hz, err);
    if (status != ULB_OK || !session->journal)
        return status;
    return ulb_entry_end(session, &entry, ulb_grid_cell_to_json(grid, cell, *hz), err);
}

/* What a round takes besides the cells: the yardstick and the compute limit. */
static void take_limits(struct ulb_session *session, struct ulb_grid *grid)
{
    ulb_grid_take_yardstick(session, grid);
    ulb_peak_sample(grid->peak, &grid->retry);
}

static enum ulb_status process_limits(struct ulb_session *session, struct ulb_grid *grid, size_t round,
                                      struct ulb_error *err)
{
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "%zu: limits", round + 1);
    if (status != ULB_OK)
        return status;
    if (saved)
        return ulb_grid_limits_from_json(grid, saved) ? ULB_OK : ulb_entry_damaged(&entry, err);
    take_limits(session, grid);
    return session->journal ? ulb_entry_end(session, &entry, ulb_grid_limits_to_json(grid), err) : ULB_OK;
}

/* What the machine was like in the round whose first yardstick is named: its medians. */
static void finalise_round(struct ulb_grid *grid, size_t first, size_t cells)
{
    grid->round_medians[grid->n_rounds] =
        ulb_median_of(grid->yardstick + first, grid->n_yardstick - first) / ULB_GB;
    grid->round_hz[grid->n_rounds++] = ulb_median_of(grid->cell_hz, cells);
}

/* Rounds over all cells in an order shuffled for each, so that slow spells of the machine hit every cell and
 * the yardstick alike. The yardstick is taken before the first cell and after every cell. */
static enum ulb_status time_all(struct ulb_session *session, struct ulb_grid *grid, struct ulb_error *err)
{
    struct ulb_rng rng = {session->settings.seed};
    enum ulb_status status = ULB_OK;
    size_t rounds = grid->plan.rounds;
    for (size_t i = 0; i < grid->n; i++)
        grid->order[i] = i;
    for (size_t round = 0; round < rounds && status == ULB_OK; round++) {
        double share = (ulb_now() - grid->begin) / grid->plan.budget;
        if (round >= ROUNDS_LEAST && share >= 1)
            break;
        ulb_rng_shuffle(&rng, grid->order, grid->n);
        size_t first = grid->n_yardstick, i;
        status = process_limits(session, grid, round, err);
        for (i = 0; i < grid->n && status == ULB_OK; i++) {
            status = process_cell(session, grid, round, &grid->cells[grid->order[i]], &grid->cell_hz[i], err);
            double done = (double)round + (double)(i + 1) / (double)grid->n;
            /* However late it is, the least rounds are still to come. */
            ulb_session_progress(session, grid->plan.predicts ? "gemv" : "gemm",
                                 fmax(done / (double)rounds, fmin(fmin(share, done / ROUNDS_LEAST), 1)));
            if (status == ULB_OK)
                status = ulb_session_check(session, err);
        }
        if (i > 0)
            finalise_round(grid, first, i);
    }
    return status;
}

/* ---- results ---- */

static enum ulb_status record_cells(struct ulb_session *session, struct ulb_grid *grid, struct ulb_error *err)
{
    enum ulb_status status = ulb_peak_record(grid->peak, &session->settings, session->record, err);
    if (status == ULB_OK && grid->plan.predicts) {
        ulb_grid_finalise(grid);
        status = ulb_overlap_measure(grid, session->record, err);
    }
    for (size_t i = 0; i < grid->judged && status == ULB_OK; i++) {
        struct ulb_grid_cell *from = &grid->cells[i];
        if (from->n_samples == 0)
            continue;
        struct ulb_cell cell;
        ulb_grid_result(grid, session->arena.ring_bytes, from, &cell);
        status = ulb_record_add_cell(session->record, &cell, err);
    }
    if (status == ULB_OK)
        status = ulb_record_judge_noise(session->record, err);
    if (status != ULB_OK)
        return status;
    return grid->plan.predicts ? ulb_record_judge_predictions(session->record, err)
                               : ulb_record_judge_tokens(session->record, err);
}

static enum ulb_status warn_of_frequency(struct ulb_session *session, struct ulb_stats hz,
                                         struct ulb_error *err)
{
    if (!(hz.max > (1 + FREQUENCY_NOISY) * hz.min))
        return ULB_OK;
    return ulb_record_warn(
        session->record, err,
        "noisy: the cores ran at %.2f to %.2f GHz in different rounds (bound %.0f %%); samples during "
        "which that changed were repeated; fix the frequency, cool the machine, or plug it in",
        hz.min / 1e9, hz.max / 1e9, 100 * FREQUENCY_NOISY);
}

/* A core that does something else reads less: that is no state of memory. */
static enum ulb_status record_states(struct ulb_session *session, const struct ulb_grid *grid,
                                     const char *set, struct ulb_error *err)
{
    double *gbps = calloc(grid->n_yardstick, sizeof *gbps);
    if (!gbps)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the yardstick");
    size_t n = 0;
    for (size_t i = 0; i < grid->n_yardstick; i++) {
        if (!grid->yardstick_disturbed[i])
            gbps[n++] = grid->yardstick[i] / ULB_GB;
    }
    enum ulb_status status = ulb_record_set_memory_states(session->record, set, gbps, n, err);
    for (size_t i = 0; i < 2 && status == ULB_OK; i++) {
        const struct ulb_earlier_memory *earlier = &session->settings.earlier[i];
        if (earlier->gbps > 0 && earlier->threads == session->machine.pus.n && strcmp(earlier->set, set) == 0)
            status =
                ulb_record_set_earlier_memory(session->record, set, earlier->gbps, earlier->created, err);
    }
    free(gbps);
    return status;
}

/* The samples kept are the medians of the rounds: what drifts is the machine, from round to round. */
static enum ulb_status record_yardstick(struct ulb_session *session, struct ulb_grid *grid,
                                        struct ulb_error *err)
{
    if (grid->n_rounds == 0)
        return ULB_OK;
    struct ulb_stats stats = ulb_stats_of(grid->round_medians, grid->n_rounds, session->settings.seed);
    struct ulb_yardstick yardstick = {
        .threads = (unsigned)session->machine.pus.n,
        .gbps = ulb_grid_yardstick(grid) / ULB_GB,
        .gbps_mad = stats.mad,
        .drift = (stats.max - stats.min) / stats.median,
        .n_samples = grid->n_rounds,
        .gbps_samples = grid->round_medians,
        .n_hz = isnan(ulb_median_of(grid->round_hz, grid->n_rounds)) ? 0 : grid->n_rounds,
        .hz_samples = grid->round_hz,
    };
    snprintf(yardstick.set, sizeof yardstick.set, "%s",
             session->settings.set ? session->settings.set : "all");
    snprintf(yardstick.variant, sizeof yardstick.variant, "%s%s", session->yardstick->name,
             session->yardstick_pages == ULB_PAGES_HUGE ? "+huge" : "");
    enum ulb_status status = ulb_record_add_yardstick(session->record, &yardstick, err);
    if (status == ULB_OK)
        status = record_states(session, grid, yardstick.set, err);
    if (status == ULB_OK && yardstick.n_hz > 0)
        status = warn_of_frequency(session, ulb_stats_of(grid->round_hz, grid->n_rounds, 1), err);
    if (status == ULB_OK && yardstick.drift > DRIFT_NOISY)
        status = ulb_record_warn(
            session->record, err,
            "noisy: the yardstick moved by %.0f %% during the run (bound %.0f %%); close other programs",
            100 * yardstick.drift, 100 * DRIFT_NOISY);
    if (status == ULB_OK)
        status = ulb_record_check_beta(session->record, yardstick.set, err);
    double share = (double)grid->retry.disturbed / (double)grid->retry.judged;
    if (status == ULB_OK && share > DISTURBED_NOISY)
        status = ulb_record_warn(session->record, err,
                                 "noisy: in %.0f %% of the samples a core was shared with another program, a "
                                 "busy SMT sibling or a neighbour",
                                 100 * share);
    return status;
}

/* Of one kernel. */
static size_t most_cells(const struct ulb_grid *grid)
{
    size_t most = 0;
    for (size_t k = 0; k < grid->n_kernels; k++) {
        size_t n = 0;
        for (size_t i = 0; i < grid->n; i++)
            n += grid->cells[i].kernel_index == k;
        most = n > most ? n : most;
    }
    return most;
}

/* Everything before the first round. */
static enum ulb_status prepare(struct ulb_session *session, struct ulb_grid *grid,
                               const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err)
{
    size_t rounds = grid->plan.rounds;
    enum ulb_status status = ulb_session_arena(session, grid->largest, err);
    if (status == ULB_OK)
        status = ulb_beta_choose(session, err);
    if (status == ULB_OK)
        status = ulb_grid_measure_shares(session, grid, kernels, err);
    if (status == ULB_OK)
        status = verify_all(session, grid, err);
    if (status == ULB_OK)
        status = ulb_peak_open(&grid->peak, session->machine.team, session->selection.isa, rounds, err);
    if (status == ULB_OK && grid->plan.predicts)
        status = ulb_team_gamma_open(&grid->gamma, &session->machine, session->settings.seed, kernels, n,
                                     rounds * most_cells(grid), err);
    grid->retry = (struct ulb_noise_retry){
        .team = session->machine.team,
        .tries = TRIES_PER_SAMPLE,
        .retry_budget_s = session->settings.quick ? RETRY_BUDGET_QUICK : RETRY_BUDGET_FULL,
    };
    grid->begin = ulb_now();
    return status == ULB_OK ? ulb_grid_warm_up(session, grid, err) : status;
}

enum ulb_status ulb_grid_measure(struct ulb_session *session, enum ulb_product product,
                                 const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err)
{
    struct ulb_grid grid;
    struct ulb_grid_plan plan = plan_of(session, product);
    enum ulb_status status = ulb_grid_open(&grid, session->record, &plan, kernels, n, err);
    if (status == ULB_OK && product == ULB_GEMV)
        status = ulb_grid_describe_models(session->record, &grid, err);
    if (status == ULB_OK && product == ULB_GEMV)
        status = ulb_format_errors_record(session, kernels, n, err);
    if (status == ULB_OK)
        status = prepare(session, &grid, kernels, n, err);
    bool timed = status == ULB_OK && !session->settings.turns;
    if (timed)
        status = time_all(session, &grid, err);
    else if (status == ULB_OK)
        status = ulb_grid_take_turns(session, &grid, err);
    if (timed) {
        struct ulb_error saved = *err;
        enum ulb_status recorded = record_yardstick(session, &grid, err);
        if (recorded == ULB_OK)
            recorded = record_cells(session, &grid, err);
        if (recorded != ULB_OK)
            status = recorded;
        else
            *err = saved;
    }
    ulb_grid_close(&grid);
    return status;
}

enum ulb_status ulb_grid_largest(const struct ulb_session *session, enum ulb_product product,
                                 const struct ulb_kernel *const *kernels, size_t n, size_t *bytes,
                                 struct ulb_error *err)
{
    struct ulb_grid grid;
    struct ulb_grid_plan plan = plan_of(session, product);
    enum ulb_status status = ulb_grid_list(&grid, &plan, kernels, n, err);
    *bytes = grid.largest;
    ulb_grid_close(&grid);
    return status;
}

enum ulb_status ulb_grid_two_shapes(const struct ulb_session *session,
                                    const struct ulb_kernel *const *kernels, size_t n, char *list,
                                    size_t bytes, struct ulb_error *err)
{
    struct ulb_grid grid;
    struct ulb_grid_plan plan = plan_of(session, ULB_GEMV);
    enum ulb_status status = ulb_grid_list(&grid, &plan, kernels, n, err);
    if (status == ULB_OK) {
        const struct ulb_grid_cell *first = &grid.cells[0], *largest = first;
        for (size_t i = 0; i < grid.judged; i++)
            largest = grid.cells[i].m * grid.cells[i].k > largest->m * largest->k ? &grid.cells[i] : largest;
        int used = snprintf(list, bytes, "%zux%zu", first->m, first->k);
        if (first->m != largest->m || first->k != largest->k)
            snprintf(list + used, bytes - (size_t)used, ",%zux%zu", largest->m, largest->k);
    }
    ulb_grid_close(&grid);
    return status;
}
