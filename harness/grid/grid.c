#include "harness/grid/grid.h"

#include "common/rng.h"
#include "common/units.h"
#include "harness/grid/calibration_shapes.h"
#include "harness/verify/test_case.h"
#include "common/stats.h"
#include "kernels/gguf_block.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char GIVEN_SHAPES[] = "shapes"; /* stands for the model of --shapes */

/* Loads the models and their shapes, whose names the cells point to. The head is left out: engines quantise
 * it otherwise than the blocks. */
static enum ulb_status load_models(struct ulb_grid *grid, const char *names, size_t *shapes,
                                   struct ulb_error *err)
{
    struct ulb_model_list *models = &grid->models;
    enum ulb_status status = ulb_model_list_load(names, models, err);
    if (status != ULB_OK)
        return status;
    grid->shapes = calloc(models->n, sizeof *grid->shapes);
    if (!grid->shapes)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the shapes of %zu models", models->n);
    for (size_t i = 0; status == ULB_OK && i < models->n; i++) {
        status = ulb_model_shapes(&models->items[i], ULB_FORM_FUSED, &grid->shapes[i], err);
        *shapes += grid->shapes[i].n;
    }
    return status;
}

static enum ulb_status count_given(const char *list, size_t *shapes, struct ulb_error *err)
{
    struct ulb_shape shape;
    bool found = true;
    enum ulb_status status = ULB_OK;
    size_t n = 0;
    while (status == ULB_OK && found) {
        status = ulb_shape_next(&list, &shape, &found, err);
        n += found;
    }
    if (status == ULB_OK && n == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "--shapes names no shape; MxK is needed, e.g. 4096x14336");
    *shapes += n;
    return status;
}

static enum ulb_status count_tokens(struct ulb_grid *grid, const char *list, size_t *count,
                                    struct ulb_error *err)
{
    bool found = true;
    enum ulb_status status = ULB_OK;
    while (status == ULB_OK && found) {
        size_t n = 0;
        status = ulb_tokens_next(&list, ULB_TOKENS_MAX, &n, &found, err);
        *count += status == ULB_OK && found;
        grid->tokens = n > grid->tokens ? n : grid->tokens;
    }
    if (status == ULB_OK && *count == 0)
        status = ulb_fail(err, ULB_BAD_INPUT, "--n names no number of tokens; e.g. 4,16,64");
    return status;
}

/* One cell; like holds what is not the kernel's. */
static void add_cell(struct ulb_grid *grid, const struct ulb_grid_cell *like, const struct ulb_kernel *kernel,
                     size_t kernel_index)
{
    struct ulb_grid_cell *cell = &grid->cells[grid->n++];
    *cell = *like;
    cell->kernel = kernel;
    cell->kernel_index = kernel_index;
    cell->bytes = ulb_layout_read_bytes(kernel->layout, like->m, like->k);
    cell->packed_bytes = ulb_layout_bytes(kernel->layout, like->m, like->k);
    grid->largest = cell->packed_bytes > grid->largest ? cell->packed_bytes : grid->largest;
}

static bool fits(const struct ulb_kernel *kernel, size_t k)
{
    const struct ulb_block *block = kernel->layout->format->block;
    return !block || k % block->columns == 0;
}

/* The cells of one shape, without kernels of formats whose blocks do not divide its rows. */
static void add_shape(struct ulb_grid *grid, const struct ulb_grid_cell *like,
                      const struct ulb_kernel *const *kernels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *list = grid->plan.tokens;
        struct ulb_grid_cell cell = *like;
        struct ulb_error unused;
        bool found;
        if (!fits(kernels[i], like->k))
            continue;
        while (ulb_tokens_next(&list, ULB_TOKENS_MAX, &cell.n, &found, &unused) == ULB_OK && found)
            add_cell(grid, &cell, kernels[i], i);
    }
}

static void add_models(struct ulb_grid *grid, const struct ulb_kernel *const *kernels, size_t n)
{
    for (size_t i = 0; i < grid->models.n; i++) {
        for (size_t s = 0; s < grid->shapes[i].n; s++) {
            const struct ulb_layer_shape *shape = &grid->shapes[i].items[s];
            struct ulb_grid_cell like = {
                .model = grid->models.items[i].name, .layer = shape->layer, .m = shape->m, .k = shape->k};
            if (!ulb_shape_is_head(shape))
                add_shape(grid, &like, kernels, n);
        }
    }
}

static void add_given(struct ulb_grid *grid, const char *list, const struct ulb_kernel *const *kernels,
                      size_t n)
{
    struct ulb_shape shape;
    struct ulb_error unused;
    bool found;
    while (ulb_shape_next(&list, &shape, &found, &unused) == ULB_OK && found) {
        struct ulb_grid_cell like = {.model = GIVEN_SHAPES, .m = shape.m, .k = shape.k};
        add_shape(grid, &like, kernels, n);
    }
}

/* Cold weights alone: what is in a cache has no memory time to overlap. */
static void add_calibration(struct ulb_grid *grid, const struct ulb_kernel *const *kernels, size_t n)
{
    for (size_t i = 0; i < n && grid->plan.predicts && !grid->plan.settings->warm; i++) {
        for (size_t s = 0; s < ULB_OVERLAP_SHAPES; s++) {
            struct ulb_shape shape = ulb_overlap_shape(kernels[i], grid->plan.machine->pus.n, s);
            struct ulb_grid_cell like = {.m = shape.m, .k = shape.k, .n = 1};
            add_cell(grid, &like, kernels[i], i);
        }
    }
}

/* The first of the plan's shapes that the kernel's format cannot hold. */
static bool first_unfit(const struct ulb_grid *grid, const struct ulb_kernel *kernel, struct ulb_shape *shape)
{
    const char *given = grid->plan.shapes;
    struct ulb_error unused;
    bool found;
    for (size_t i = 0; i < grid->models.n; i++) {
        for (size_t s = 0; s < grid->shapes[i].n; s++) {
            *shape = (struct ulb_shape){grid->shapes[i].items[s].m, grid->shapes[i].items[s].k};
            if (!fits(kernel, shape->k))
                return true;
        }
    }
    while (given && ulb_shape_next(&given, shape, &found, &unused) == ULB_OK && found) {
        if (!fits(kernel, shape->k))
            return true;
    }
    return false;
}

/* Says once per format which of the shapes it has no cell for: what K is the first that its blocks do not
 * divide. */
static enum ulb_status warn_of_unfit(const struct ulb_grid *grid, struct ulb_record *record,
                                     const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        const struct ulb_format *format = kernels[i]->layout->format;
        struct ulb_shape shape = {0};
        if ((i > 0 && kernels[i - 1]->layout->format == format) || !first_unfit(grid, kernels[i], &shape))
            continue;
        status = ulb_record_warn(
            record, err, "%s leaves out shapes whose K is no multiple of its %u columns, such as %zux%zu",
            format->name, format->block->columns, shape.m, shape.k);
    }
    return status;
}

enum ulb_status ulb_grid_list(struct ulb_grid *grid, const struct ulb_grid_plan *plan,
                              const struct ulb_kernel *const *kernels, size_t n, struct ulb_error *err)
{
    const char *given = plan->shapes, *models = plan->models;
    *grid = (struct ulb_grid){.plan = *plan};
    size_t shapes = 0, counts = 0;
    enum ulb_status status = models ? load_models(grid, models, &shapes, err) : ULB_OK;
    if (status == ULB_OK && given)
        status = count_given(given, &shapes, err);
    if (status == ULB_OK)
        status = count_tokens(grid, grid->plan.tokens, &counts, err);
    if (status != ULB_OK)
        return status;
    grid->cells = calloc((shapes * counts + ULB_OVERLAP_SHAPES) * n, sizeof *grid->cells);
    if (!grid->cells)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a grid of %zu cells",
                        shapes * counts * n);
    add_models(grid, kernels, n);
    if (given)
        add_given(grid, given, kernels, n);
    grid->judged = grid->n;
    if (grid->n == 0)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "none of the shapes is whole blocks of %s (%u columns each); choose others with --shapes",
            kernels[0]->layout->format->name, kernels[0]->layout->format->block->columns);
    add_calibration(grid, kernels, n);
    return ULB_OK;
}

static void share_samples(struct ulb_grid *grid, size_t per_round)
{
    double *at = grid->samples;
    for (size_t i = 0; i < grid->n; i++) {
        grid->cells[i].per_round = per_round;
        grid->cells[i].us = at;
        grid->cells[i].disturbed = at + grid->plan.rounds * per_round;
        grid->cells[i].round_yardstick = at + 2 * grid->plan.rounds * per_round;
        grid->cells[i].round_peak = grid->cells[i].round_yardstick + grid->plan.rounds;
        grid->cells[i].read_us = grid->cells[i].round_peak + grid->plan.rounds;
        at += grid->plan.rounds * (2 * per_round + 3);
        grid->cells[i].loop_s = grid->round_loops + i * grid->plan.rounds * grid->classes;
        for (size_t candidate = 0; candidate < ULB_PREFETCH_CANDIDATES; candidate++)
            grid->cells[i].candidate_ratios[candidate] = NAN;
    }
}

/* The same numbers in every activation format. */
static void fill_activations(struct ulb_grid *grid, size_t k, float *token, uint64_t seed)
{
    struct ulb_rng rng = {seed};
    for (size_t n = 0; n < grid->tokens; n++) {
        for (size_t i = 0; i < k; i++)
            token[i] = ulb_rng_float(&rng);
        for (size_t a = 0; a < ULB_ACTIVATIONS; a++) {
            if (grid->x[a].n > 0)
                ulb_activations_set(&grid->x[a], n, token, k);
        }
    }
}

/* Results and activations: what grows with N. */
static enum ulb_status allocate_tokens(struct ulb_grid *grid, size_t m, size_t k, uint64_t seed,
                                       struct ulb_error *err)
{
    size_t n = grid->tokens, y_bytes = ulb_round_up(n * m * sizeof *grid->y, ULB_CACHE_LINE) + ULB_CACHE_LINE;
    size_t bytes = y_bytes;
    bool used[ULB_ACTIVATIONS] = {false};
    for (size_t i = 0; i < grid->n; i++)
        used[grid->cells[i].kernel->activation] = true;
    for (size_t a = 0; a < ULB_ACTIVATIONS; a++)
        bytes += used[a] ? ulb_activations_bytes((enum ulb_activation)a, n, k) : 0;
    long long available = ulb_memory_available();
    bool fits = available < 0 || bytes <= (unsigned long long)available;
    float *token = calloc(k, sizeof *token);
    if (!fits || !token ||
        ulb_pages_map(&grid->tokens_storage, bytes, ulb_page_kind_for(bytes), err) != ULB_OK) {
        free(token);
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "not enough memory: %zu tokens of %zu x %zu need %.0f MiB; take fewer with --n", n, m,
                        k, (double)bytes / ULB_MIB);
    }
    char *at = grid->tokens_storage.data;
    grid->y = grid->tokens_storage.data;
    at += y_bytes;
    for (size_t a = 0; a < ULB_ACTIVATIONS; a++) {
        if (!used[a])
            continue;
        ulb_activations_place(&grid->x[a], (enum ulb_activation)a, n, k, at);
        at += ulb_activations_bytes((enum ulb_activation)a, n, k);
    }
    fill_activations(grid, k, token, seed);
    free(token);
    return ULB_OK;
}

static enum ulb_status allocate(struct ulb_grid *grid, size_t n_kernels, struct ulb_error *err)
{
    size_t m = 1, k = 1, rounds = grid->plan.rounds;
    for (size_t i = 0; i < grid->n; i++) {
        m = grid->cells[i].m > m ? grid->cells[i].m : m;
        k = grid->cells[i].k > k ? grid->cells[i].k : k;
    }
    k = ulb_round_up(k, ULB_X_GRAIN);
    grid->n_kernels = n_kernels;
    grid->classes = grid->plan.machine->topology.n_classes;
    grid->order = calloc(grid->n, sizeof *grid->order);
    grid->samples = calloc(grid->n * rounds * (2 * grid->plan.per_round + 3), sizeof *grid->samples);
    grid->yardstick = calloc(rounds * (grid->n + 1), sizeof *grid->yardstick);
    grid->yardstick_disturbed = calloc(rounds * (grid->n + 1), sizeof *grid->yardstick_disturbed);
    grid->round_medians = calloc(rounds, sizeof *grid->round_medians);
    grid->round_hz = calloc(rounds, sizeof *grid->round_hz);
    grid->cell_hz = calloc(grid->n, sizeof *grid->cell_hz);
    grid->ranges = aligned_alloc(64, grid->plan.machine->pus.n * sizeof *grid->ranges);
    grid->thread_shares = calloc(grid->plan.machine->pus.n, sizeof *grid->thread_shares);
    grid->rates = calloc(n_kernels * grid->classes, sizeof *grid->rates);
    grid->round_loops = calloc(grid->n * rounds * grid->classes, sizeof *grid->round_loops);
    grid->overlaps = calloc(n_kernels, sizeof *grid->overlaps);
    if (!grid->order || !grid->samples || !grid->yardstick || !grid->yardstick_disturbed ||
        !grid->round_medians || !grid->round_hz || !grid->cell_hz || !grid->ranges || !grid->thread_shares ||
        !grid->overlaps || !grid->rates || !grid->round_loops)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of %zu cells", grid->n);
    enum ulb_status status = allocate_tokens(grid, m, k, grid->plan.settings->seed, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n_kernels; i++)
        grid->overlaps[i] = (struct ulb_overlap){NAN, NAN, NAN, NAN};
    share_samples(grid, grid->plan.per_round);
    return ULB_OK;
}

enum ulb_status ulb_grid_open(struct ulb_grid *grid, struct ulb_record *record,
                              const struct ulb_grid_plan *plan, const struct ulb_kernel *const *kernels,
                              size_t n, struct ulb_error *err)
{
    enum ulb_status status = ulb_grid_list(grid, plan, kernels, n, err);
    if (status == ULB_OK)
        status = warn_of_unfit(grid, record, kernels, n, err);
    return status == ULB_OK ? allocate(grid, n, err) : status;
}

void ulb_grid_close(struct ulb_grid *grid)
{
    for (size_t i = 0; grid->shapes && i < grid->models.n; i++)
        free(grid->shapes[i].items);
    free(grid->shapes);
    ulb_model_list_free(&grid->models);
    free(grid->cells);
    free(grid->order);
    free(grid->samples);
    free(grid->yardstick);
    free(grid->yardstick_disturbed);
    free(grid->round_medians);
    free(grid->round_hz);
    free(grid->cell_hz);
    ulb_pages_unmap(&grid->tokens_storage);
    free(grid->ranges);
    free(grid->thread_shares);
    free(grid->class_gammas);
    free(grid->overlaps);
    free(grid->rates);
    free(grid->round_loops);
    ulb_team_gamma_close(grid->gamma);
    ulb_peak_close(grid->peak);
    *grid = (struct ulb_grid){0};
}

struct ulb_row_split ulb_grid_split(struct ulb_grid *grid, const struct ulb_grid_cell *cell)
{
    ulb_grid_set_thread_shares(grid, cell);
    return ulb_gemm_split(grid->plan.settings->splits[0], cell->kernel, cell->m, cell->n,
                          grid->plan.machine->pus.n, grid->thread_shares, grid->ranges);
}

struct ulb_gemm ulb_grid_gemm(const struct ulb_grid *grid, const struct ulb_grid_cell *cell)
{
    /* Tokens as close as the cell's own K makes them, at the front of what the largest one needs. */
    struct ulb_activations x = grid->x[cell->kernel->activation];
    struct ulb_gemm g = {.m = cell->m,
                         .k = cell->k,
                         .n = cell->n,
                         .y = grid->y,
                         .y_stride = cell->m,
                         .prefetch = cell->prefetch};
    x.columns = ulb_round_up(cell->k, ULB_X_GRAIN);
    x.stride = ulb_activation_stride(x.kind, x.columns);
    ulb_activations_give(&x, &g);
    return g;
}

void ulb_grid_finalise(struct ulb_grid *grid)
{
    for (size_t i = 0; i < grid->n_kernels; i++) {
        for (size_t c = 0; c < grid->classes; c++)
            grid->rates[i * grid->classes + c] = ulb_team_gamma_rate(grid->gamma, i, c);
    }
}

double ulb_grid_yardstick(const struct ulb_grid *grid)
{
    return ulb_stats_of(grid->yardstick, grid->n_yardstick, 1).median;
}
