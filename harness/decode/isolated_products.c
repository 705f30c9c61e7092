#include "harness/decode/isolated_products.h"

#include "common/stats.h"
#include "harness/timing/stopwatch.h"
#include "harness/decode/choose.h"
#include "harness/memory/cold_ring.h"
#include "harness/compute/parallel_gemm.h"

#include <math.h>
#include <stdlib.h>

/* The products of one kind. */
struct kind {
    struct ulb_team_gemm job;
    struct ulb_row_split split;
    struct ulb_tile_range *ranges;
    void *tokens;
    double *seconds; /* [samples] */
};

struct ulb_cold_grid {
    struct ulb_team *team;
    const struct ulb_decoder_shape *shape;
    const struct ulb_decoder_weights *weights;
    struct kind kinds[ULB_LINEARS];
    size_t tokens;  /* of each product */
    size_t n, most; /* samples */
};

static bool open_kind(struct ulb_cold_grid *grid, enum ulb_linear linear, struct ulb_team *team,
                      enum ulb_split split, const double *rates)
{
    struct kind *kind = &grid->kinds[linear];
    const struct ulb_step_kernels *step = ulb_step_kernels_of(grid->weights, grid->tokens);
    bool many = step && step->kernel[linear];
    const struct ulb_kernel *kernel = (many ? step->kernel : grid->weights->kernel)[linear];
    struct ulb_prefetch prefetch = (many ? step->prefetch : grid->weights->prefetch)[linear];
    size_t m = ulb_linear_rows(grid->shape, linear), k = ulb_linear_columns(grid->shape, linear);
    size_t threads = ulb_team_size(team), n = grid->tokens;
    kind->job = (struct ulb_team_gemm){.kernel = kernel,
                                       .gemm = {.m = m, .k = k, .n = n, .y_stride = m, .prefetch = prefetch},
                                       .split = &kind->split};
    kind->job.gemm.y = aligned_alloc(ULB_CACHE_LINE, ulb_round_up(n * m * sizeof(float), ULB_CACHE_LINE));
    kind->ranges = aligned_alloc(ULB_CACHE_LINE, threads * sizeof *kind->ranges);
    kind->tokens = ulb_random_tokens(kernel->activation, n, k, &kind->job.gemm);
    kind->seconds = calloc(grid->most, sizeof *kind->seconds);
    if (!kind->job.gemm.y || !kind->ranges || !kind->tokens || !kind->seconds)
        return false;
    kind->split = ulb_gemm_split(split, kernel, m, 1, threads, rates, kind->ranges);
    return true;
}

enum ulb_status ulb_cold_grid_open(struct ulb_cold_grid **out, struct ulb_team *team,
                                   const struct ulb_decoder_shape *shape,
                                   const struct ulb_decoder_weights *weights, size_t tokens,
                                   enum ulb_split split, const double *rates, size_t samples,
                                   struct ulb_error *err)
{
    struct ulb_cold_grid *grid = *out = calloc(1, sizeof *grid);
    bool made = grid != NULL;
    if (made) {
        *grid = (struct ulb_cold_grid){
            .team = team, .shape = shape, .weights = weights, .tokens = tokens, .most = samples};
    }
    for (int linear = 0; linear < ULB_LINEARS && made; linear++) {
        if (ulb_linear_count(shape, (enum ulb_linear)linear) > 0)
            made = open_kind(grid, (enum ulb_linear)linear, team, split, rates);
    }
    if (made)
        return ULB_OK;
    ulb_cold_grid_close(grid);
    *out = NULL;
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to time the products one by one");
}

void ulb_cold_grid_close(struct ulb_cold_grid *grid)
{
    for (int linear = 0; grid && linear < ULB_LINEARS; linear++) {
        struct kind *kind = &grid->kinds[linear];
        free(kind->job.gemm.y);
        free(kind->ranges);
        free(kind->tokens);
        free(kind->seconds);
    }
    free(grid);
}

/* Of a kind with several matrices in a block (experts) each in its turn. */
static const char *weights_of(const struct ulb_cold_grid *grid, enum ulb_linear linear, size_t nth)
{
    const struct ulb_decoder_weights *weights = grid->weights;
    size_t layer = nth % grid->shape->layers, matrix = nth % ulb_linear_count(grid->shape, linear);
    const char *base = linear == ULB_HEAD ? weights->head : weights->blocks + layer * weights->layer_bytes;
    return base + weights->offset[linear] + matrix * weights->bytes[linear];
}

static double run_kind(struct ulb_cold_grid *grid, enum ulb_linear linear, size_t nth)
{
    struct ulb_team_gemm *job = &grid->kinds[linear].job;
    job->gemm.w = weights_of(grid, linear, nth);
    double begin = ulb_now();
    ulb_team_gemm_run(grid->team, job);
    return ulb_now() - begin;
}

/* Products of layers far from number nth. */
static void warm_up(struct ulb_cold_grid *grid, size_t nth)
{
    double begin = ulb_now();
    for (size_t i = grid->shape->layers / 2 + 1;
         i < grid->shape->layers && ulb_now() - begin < ULB_WARM_UP_SECONDS; i++)
        run_kind(grid, ULB_QKV, nth + i);
}

void ulb_cold_grid_sample(struct ulb_cold_grid *grid, size_t nth)
{
    if (grid->n == grid->most)
        return;
    warm_up(grid, nth);
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        if (grid->kinds[linear].seconds)
            grid->kinds[linear].seconds[grid->n] = run_kind(grid, (enum ulb_linear)linear, nth);
    }
    grid->n++;
}

void ulb_cold_grid_seconds(const struct ulb_cold_grid *grid, double seconds[ULB_LINEARS])
{
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        const struct kind *kind = &grid->kinds[linear];
        seconds[linear] = kind->seconds ? ulb_median_of(kind->seconds, grid->n) : (double)NAN;
    }
}
