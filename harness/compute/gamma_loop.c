#include "harness/compute/gamma_loop.h"

#include "common/doing.h"
#include "harness/timing/stopwatch.h"
#include "harness/counters/marker.h"
#include "models/models.h"

#include <stdlib.h>
#include <string.h>

static const double RUN_SECONDS = 40e-6;
enum {
    K_GRAIN = 64,
    K_GRAIN_WITH_TABLES = 256,
    VISIT_STEPS = 8,
    CALLS_MAX = 1 << 20,
    TILES_WITH_TABLES = 2,
    TABLE_BYTES_PER_COLUMN = 8,
    LOOK_UP_PARTS = 4, /* the full size over the brief one */
    PAGE = 4096,
    /* Bytes from turn to turn: 64 turns differ. */
    STACK_STEP = 13 * 64 + 32,
    RESULT_STEP = 17 * 64
};

struct size {
    size_t rows, k;
};

/* Whether scales change along a row. */
static bool has_scales_along(const struct ulb_kernel *kernel)
{
    return kernel->layout->format->group || kernel->layout->format->block;
}

/* Columns that K of both sizes is a multiple of, so that neither holds padding. If steps are short, they also
 * fill whole chunks of 16-bit sums (kernels/x86/simd/dot.h). */
static size_t k_grain(const struct ulb_kernel *kernel)
{
    const struct ulb_layout *layout = kernel->layout;
    if (has_scales_along(kernel))
        return ulb_round_up(kernel->kr, layout->format->group ? layout->format->group : 1);
    size_t step = layout->tile_k * ulb_layout_slices(layout, 1), visit = VISIT_STEPS * step;
    if (kernel->uses_lut)
        return ulb_round_up(K_GRAIN_WITH_TABLES, step);
    return ulb_round_up(K_GRAIN, visit <= 2 * K_GRAIN ? visit : step);
}

/* Columns that keep weights, activations and tables in three quarters of L1. */
static size_t columns_in_l1(const struct ulb_kernel *kernel, size_t rows, size_t l1_bytes)
{
    double per_column = (double)rows * kernel->bytes_per_step / ULB_STEP_WEIGHTS;
    per_column +=
        (double)ulb_activation_bytes(kernel->activation) + (kernel->uses_lut ? TABLE_BYTES_PER_COLUMN : 0);
    size_t k = (size_t)(0.75 * (double)l1_bytes / per_column);
    size_t grain = k_grain(kernel),
           least = has_scales_along(kernel) ? 2 * grain : ulb_round_up(4 * K_GRAIN, grain);
    return k < least ? least : k / grain * grain;
}

/* Whether its weights and activations fit into L1. */
static bool fits_l1(const struct ulb_kernel *kernel, struct size size, size_t l1_bytes)
{
    return ulb_layout_bytes(kernel->layout, size.rows, size.k) +
               size.k * ulb_activation_bytes(kernel->activation) <=
           l1_bytes;
}

static void choose_sizes(const struct ulb_kernel *kernel, size_t l1_bytes, struct size *brief,
                         struct size *full)
{
    size_t rows = kernel->uses_lut ? TILES_WITH_TABLES * kernel->mr : kernel->mr;
    *full = (struct size){rows, columns_in_l1(kernel, rows, l1_bytes)};
    if (kernel->uses_lut)
        *brief = (struct size){kernel->mr, full->k};
    else
        *brief = (struct size){rows, full->k / 4 < k_grain(kernel)
                                         ? k_grain(kernel)
                                         : full->k / 4 / k_grain(kernel) * k_grain(kernel)};
}

static void multiply(const struct ulb_gamma_loop *loop, size_t thread, size_t turn)
{
    struct ulb_gemm mine = loop->gemm;
    mine.y += thread * loop->y_stride + turn * RESULT_STEP % PAGE / sizeof *mine.y;
    if (thread == 0)
        ulb_kernel_doing(loop->kernel, mine.m, mine.k, mine.n);
    ulb_marker_start("gamma");
    for (size_t i = 0; i < loop->calls; i++)
        loop->kernel->run(&mine);
    ulb_marker_stop("gamma");
    if (thread == 0)
        ulb_doing_end();
}

static void look_up(const struct ulb_gamma_loop *loop, size_t turn)
{
    struct ulb_embedding_call mine = loop->look_up;
    mine.out += turn * RESULT_STEP % PAGE / sizeof *mine.out;
    ulb_marker_start("embedding");
    for (size_t i = 0; i < loop->calls; i++)
        loop->embedding->run(&mine);
    ulb_marker_stop("embedding");
}

void ulb_gamma_loop_run(const struct ulb_gamma_loop *loop, size_t thread, size_t turn)
{
    char *above = __builtin_alloca(turn * STACK_STEP % PAGE + 1);
    __asm__ volatile("" ::"r"(above) : "memory"); /* keeps it */
    if (loop->embedding)
        look_up(loop, turn);
    else
        multiply(loop, thread, turn);
}

void ulb_gamma_loop_warm(const struct ulb_gamma_loop *loop, size_t thread)
{
    struct ulb_gemm mine = loop->gemm;
    mine.y += thread * loop->y_stride;
    loop->kernel->run(&mine);
}

static void run_calls(void *arg, size_t calls)
{
    struct ulb_gamma_loop *loop = arg;
    loop->calls = calls;
    ulb_call_begin();
    ulb_gamma_loop_run(loop, 0, 0);
    ulb_call_end();
}

static enum ulb_status open_loop(struct ulb_gamma_loop *loop, const struct ulb_kernel *kernel,
                                 struct size size, size_t threads, uint64_t seed, struct ulb_error *err)
{
    loop->kernel = kernel;
    enum ulb_status status =
        ulb_test_case_open(&loop->test_case, kernel, size.rows, size.k, ULB_FILL_RANDOM, seed, NULL, err);
    if (status != ULB_OK)
        return status;
    size_t bytes = ulb_layout_bytes(kernel->layout, size.rows, size.k);
    size_t results = ulb_round_up(bytes + ULB_GAMMA_ASKED_BEHIND, ULB_GAMMA_RESULTS_APART);
    size_t each = ulb_round_up(size.rows * sizeof(float) + PAGE, ULB_GAMMA_RESULTS_APART);
    size_t all = results + threads * each;
    loop->y_stride = each / sizeof(float);
    status = ulb_pages_map(&loop->pages, all, ULB_PAGES_SMALL, err);
    if (status != ULB_OK)
        return status;
    memset(loop->pages.data, 0, all);
    ulb_test_case_pack(&loop->test_case, kernel->layout, loop->pages.data, NULL);
    loop->gemm = ulb_test_case_gemm(&loop->test_case, loop->pages.data,
                                    (float *)(void *)((char *)loop->pages.data + results));
    ulb_kernel_doing(kernel, size.rows, size.k, 1);
    ulb_call_begin();
    kernel->run(&loop->gemm);
    ulb_call_end();
    ulb_doing_end();
    loop->calls = ulb_repetitions(RUN_SECONDS, CALLS_MAX, run_calls, loop);
    return ulb_test_case_check(&loop->test_case, kernel, loop->gemm.y, err);
}

/* The loops that take the place of a full size beyond L1: see the head of gamma_loop.h. */
static enum ulb_status open_instead(struct ulb_gamma_sizes *sizes, const struct ulb_kernel *kernel,
                                    struct size brief, size_t threads, uint64_t seed, struct ulb_error *err)
{
    struct ulb_gamma_loop *none = &sizes->loops[ULB_GAMMA_NO_TILE];
    enum ulb_status status = open_loop(none, kernel, brief, threads, seed, err);
    if (status != ULB_OK)
        return status;
    none->gemm.m1 = none->gemm.m0;
    none->calls = ulb_repetitions(RUN_SECONDS, CALLS_MAX, run_calls, none);
    sizes->n = ULB_GAMMA_LOOPS;
    return open_loop(&sizes->loops[ULB_GAMMA_TWO_TILES], kernel, (struct size){2 * brief.rows, brief.k},
                     threads, seed, err);
}

static enum ulb_status open_two(struct ulb_gamma_sizes *sizes, const struct ulb_kernel *kernel,
                                struct size brief, struct size full, size_t threads, uint64_t seed,
                                struct ulb_error *err)
{
    *sizes = (struct ulb_gamma_sizes){.n = ULB_GAMMA_FULL + 1};
    sizes->steps = (double)(full.rows * full.k - brief.rows * brief.k) / ULB_STEP_WEIGHTS;
    enum ulb_status status = open_loop(&sizes->loops[ULB_GAMMA_BRIEF], kernel, brief, threads, seed, err);
    if (status == ULB_OK)
        status = open_loop(&sizes->loops[ULB_GAMMA_FULL], kernel, full, threads, seed, err);
    return status;
}

enum ulb_status ulb_gamma_sizes_open(struct ulb_gamma_sizes *sizes, const struct ulb_kernel *kernel,
                                     size_t l1_bytes, size_t threads, uint64_t seed, struct ulb_error *err)
{
    struct size brief, full;
    choose_sizes(kernel, l1_bytes, &brief, &full);
    enum ulb_status status = open_two(sizes, kernel, brief, full, threads, seed, err);
    if (status == ULB_OK && full.k == 2 * brief.k && !fits_l1(kernel, full, l1_bytes))
        status = open_instead(sizes, kernel, brief, threads, seed, err);
    if (status != ULB_OK)
        ulb_gamma_sizes_close(sizes);
    return status;
}

enum ulb_status ulb_gamma_sizes_open_counted(struct ulb_gamma_sizes *sizes, const struct ulb_kernel *kernel,
                                             size_t l1_bytes, uint64_t seed, struct ulb_error *err)
{
    struct size brief, full;
    choose_sizes(kernel, l1_bytes, &brief, &full);
    enum ulb_status status = open_two(sizes, kernel, brief, full, 1, seed, err);
    if (status != ULB_OK)
        ulb_gamma_sizes_close(sizes);
    return status;
}

/* ---- look-up ---- */

/* Columns of the full size, whose blocks and floats take three quarters of L1. */
static size_t look_up_columns(const struct ulb_block *block, size_t l1_bytes)
{
    double per_column = sizeof(float) + (double)block->bytes / block->columns;
    size_t grain = LOOK_UP_PARTS * (size_t)block->columns, k = (size_t)(0.75 * (double)l1_bytes / per_column);
    return k < grain ? grain : k / grain * grain;
}

/* The row as the operator gives it against that of the scalar reference. */
static enum ulb_status check_look_up(const struct ulb_gamma_loop *loop, struct ulb_error *err)
{
    struct ulb_embedding_call reference = loop->look_up;
    const float *out = loop->look_up.out;
    enum ulb_status status = ULB_OK;
    reference.out = calloc(reference.k, sizeof *reference.out);
    if (!reference.out)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for an embedding of %zu columns",
                        reference.k);
    ulb_embedding_at(0)->run(&reference);
    loop->embedding->run(&loop->look_up);
    for (size_t k = 0; k < reference.k && status == ULB_OK; k++) {
        if (memcmp(&out[k], &reference.out[k], sizeof *out) != 0)
            status = ulb_fail(
                err, ULB_FINDING,
                "embedding look-up of %s by %s: weight %zu is %.9g, by the scalar reference %.9g",
                reference.format->name, loop->embedding->isa, k, (double)out[k], (double)reference.out[k]);
    }
    free(reference.out);
    return status;
}

static enum ulb_status open_look_up(struct ulb_gamma_loop *loop, const struct ulb_embedding *embedding,
                                    const struct ulb_kernel *kernel, size_t k, uint64_t seed,
                                    struct ulb_error *err)
{
    static const uint32_t first_row = 0;
    size_t bytes = k * sizeof(float) + PAGE;
    loop->kernel = kernel;
    loop->embedding = embedding;
    enum ulb_status status =
        ulb_test_case_open(&loop->test_case, kernel, 1, k, ULB_FILL_RANDOM, seed, NULL, err);
    if (status == ULB_OK)
        status = ulb_pages_map(&loop->pages, bytes, ULB_PAGES_SMALL, err);
    if (status != ULB_OK)
        return status;
    memset(loop->pages.data, 0xFF, bytes); /* NaN: what is left out differs */
    loop->look_up = (struct ulb_embedding_call){.format = kernel->layout->format,
                                                .rows = loop->test_case.weights.blocks,
                                                .k = k,
                                                .tokens = &first_row,
                                                .n = 1,
                                                .out = loop->pages.data};
    status = check_look_up(loop, err);
    if (status == ULB_OK)
        loop->calls = ulb_repetitions(RUN_SECONDS, CALLS_MAX, run_calls, loop);
    return status;
}

enum ulb_status ulb_gamma_sizes_open_look_up(struct ulb_gamma_sizes *sizes,
                                             const struct ulb_embedding *embedding,
                                             const struct ulb_kernel *kernel, size_t l1_bytes, uint64_t seed,
                                             struct ulb_error *err)
{
    size_t full = look_up_columns(kernel->layout->format->block, l1_bytes), brief = full / LOOK_UP_PARTS;
    *sizes =
        (struct ulb_gamma_sizes){.n = ULB_GAMMA_FULL + 1, .steps = (double)(full - brief) / ULB_STEP_WEIGHTS};
    enum ulb_status status =
        open_look_up(&sizes->loops[ULB_GAMMA_BRIEF], embedding, kernel, brief, seed, err);
    if (status == ULB_OK)
        status = open_look_up(&sizes->loops[ULB_GAMMA_FULL], embedding, kernel, full, seed, err);
    if (status != ULB_OK)
        ulb_gamma_sizes_close(sizes);
    return status;
}

double ulb_gamma_of_sizes(const struct ulb_gamma_sizes *sizes, const double cycles[ULB_GAMMA_LOOPS])
{
    double between = cycles[ULB_GAMMA_FULL] - cycles[ULB_GAMMA_BRIEF];
    if (sizes->n == ULB_GAMMA_LOOPS) {
        double end_of_tile = cycles[ULB_GAMMA_TWO_TILES] - cycles[ULB_GAMMA_FULL];
        between = cycles[ULB_GAMMA_BRIEF] - cycles[ULB_GAMMA_NO_TILE] - end_of_tile;
    }
    return between / sizes->steps;
}

void ulb_gamma_sizes_close(struct ulb_gamma_sizes *sizes)
{
    for (size_t i = 0; i < ULB_GAMMA_LOOPS; i++) {
        ulb_test_case_close(&sizes->loops[i].test_case);
        ulb_pages_unmap(&sizes->loops[i].pages);
    }
}
