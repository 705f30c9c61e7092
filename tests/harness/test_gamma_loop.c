/* What gamma is of: steps alone. A kernel is wrapped so that its calls have a known cost, with a part for the
 * call and one for each tile; both must cancel, whatever L1 holds of the sizes. */
#include "harness/compute/gamma_loop.h"
#include "models/models.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { CALL = 1000, TILE = 100 };

static const double STEP = 0.75;

static const struct ulb_kernel *wrapped;
static double cost;

static void run(const struct ulb_gemm *g)
{
    size_t tiles = (g->m1 - g->m0 + wrapped->mr - 1) / wrapped->mr;
    double steps = (double)(tiles * wrapped->mr * g->k) / ULB_STEP_WEIGHTS;
    cost += CALL + TILE * (double)tiles + STEP * steps;
    wrapped->run(g);
}

/* Loops that the kernel has with an L1 of this size. */
static size_t check(const struct ulb_kernel *kernel, size_t l1_bytes)
{
    struct ulb_error err;
    struct ulb_gamma_sizes sizes;
    struct ulb_kernel costed = *kernel;
    double costs[ULB_GAMMA_LOOPS] = {0};
    costed.run = run;
    wrapped = kernel;
    assert_int_equal(ulb_gamma_sizes_open(&sizes, &costed, l1_bytes, 1, 1, &err), ULB_OK);
    for (size_t i = 0; i < sizes.n; i++) {
        cost = 0;
        ulb_gamma_loop_warm(&sizes.loops[i], 0);
        costs[i] = cost;
    }
    double off = ulb_gamma_of_sizes(&sizes, costs) - STEP;
    assert_true(off > -1e-9 && off < 1e-9);
    size_t n = sizes.n;
    ulb_gamma_sizes_close(&sizes);
    return n;
}

static void test_calls_and_tiles_cancel(void **state)
{
    (void)state;
    size_t rows = 0;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        const char *format = kernel->layout->format->name;
        if (kernel->needs & ~ulb_isa_detect() || kernel->uses_lut ||
            (strcmp(format, "int8g128") != 0 && strcmp(format, "q4_k") != 0 && strcmp(format, "int8") != 0))
            continue;
        rows++;
        /* Twice the shortest K of kernels with scales along them: beyond 1 KiB, within 1 MiB. */
        assert_int_equal(check(kernel, 1 << 20), ULB_GAMMA_FULL + 1);
        size_t loops = check(kernel, 1 << 10);
        if (kernel->mr > 1 && strcmp(format, "int8") != 0)
            assert_int_equal(loops, ULB_GAMMA_LOOPS);
    }
    assert_true(rows > 0);
}

/* All pages that hold any of the bytes from begin to end are there. */
static void assert_resident(const char *begin, const char *end)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (uintptr_t at = (uintptr_t)begin & ~(page - 1); at < (uintptr_t)end; at += page) {
        unsigned char resident = 0;
        assert_int_equal(mincore((void *)at, page, &resident), 0);
        assert_true(resident & 1);
    }
}

static void test_what_kernels_prefetch_is_there(void **state)
{
    (void)state;
    struct ulb_error err;
    struct ulb_gamma_sizes sizes;
    const struct ulb_kernel *kernel = ulb_kernels[0];
    assert_int_equal(ulb_gamma_sizes_open(&sizes, kernel, 48 << 10, 1, 1, &err), ULB_OK);
    for (size_t i = 0; i < sizes.n; i++) {
        const struct ulb_gemm *gemm = &sizes.loops[i].gemm;
        const char *end = (const char *)gemm->w + ulb_layout_bytes(kernel->layout, gemm->m, gemm->k) +
                          ULB_GAMMA_ASKED_BEHIND;
        assert_resident(gemm->w, end);
        /* Nobody's results are asked for, and those of two threads lie apart. */
        assert_true((const char *)gemm->y >= end);
        assert_true(sizes.loops[i].y_stride * sizeof(float) >= ULB_GAMMA_RESULTS_APART);
    }
    ulb_gamma_sizes_close(&sizes);
}

/* Padding is work that gamma's steps do not count. */
static void test_no_size_is_padded(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_layout *layout = ulb_kernels[i]->layout;
        struct ulb_error err;
        struct ulb_gamma_sizes sizes;
        if (ulb_kernels[i]->needs & ~ulb_isa_detect())
            continue;
        assert_int_equal(ulb_gamma_sizes_open(&sizes, ulb_kernels[i], 48 << 10, 1, 1, &err), ULB_OK);
        for (size_t l = 0; l < sizes.n; l++) {
            size_t k = sizes.loops[l].gemm.k;
            assert_int_equal(k, ulb_layout_columns(layout, k));
        }
        ulb_gamma_sizes_close(&sizes);
    }
}

static uintptr_t stack, results;

static void note_places(const struct ulb_gemm *g)
{
    stack = (uintptr_t)__builtin_frame_address(0);
    results = (uintptr_t)g->y;
}

/* Every turn lies elsewhere in a page than all before it, and within the thread's own results. */
static void test_turns_lie_apart(void **state)
{
    (void)state;
    enum { TURNS = 64, PAGE = 4096 };
    struct ulb_error err;
    struct ulb_gamma_sizes sizes;
    uintptr_t places[2][TURNS];
    assert_int_equal(ulb_gamma_sizes_open(&sizes, ulb_kernels[0], 48 << 10, 2, 1, &err), ULB_OK);
    struct ulb_gamma_loop loop = sizes.loops[ULB_GAMMA_FULL];
    struct ulb_kernel noting = *loop.kernel;
    noting.run = note_places;
    loop.kernel = &noting;
    loop.calls = 1;
    const uintptr_t mine = (uintptr_t)(loop.gemm.y + loop.y_stride);
    for (size_t turn = 0; turn < TURNS; turn++) {
        ulb_gamma_loop_run(&loop, 1, turn);
        assert_true(results >= mine && results % sizeof(float) == 0 &&
                    results + loop.gemm.m * sizeof(float) <= mine + loop.y_stride * sizeof(float));
        places[0][turn] = stack % PAGE;
        places[1][turn] = results % PAGE;
        for (size_t before = 0; before < turn; before++)
            assert_true(places[0][before] != places[0][turn] && places[1][before] != places[1][turn]);
    }
    ulb_gamma_sizes_close(&sizes);
}

/* ---- look-up ---- */

/* The first kernel of a block format; NULL: of a build of few kernels. */
static const struct ulb_kernel *block_kernel(void)
{
    const struct ulb_kernel *found = NULL;
    for (size_t i = 0; i < ulb_kernel_count && !found; i++)
        found = ulb_kernels[i]->layout->format->block ? ulb_kernels[i] : NULL;
    return found;
}

static void cost_look_up(const struct ulb_embedding_call *call)
{
    cost += CALL + STEP * (double)(call->n * call->k) / ULB_STEP_WEIGHTS;
    ulb_embedding_at(0)->run(call);
}

static void change_the_last(const struct ulb_embedding_call *call)
{
    ulb_embedding_at(0)->run(call);
    call->out[call->k - 1] += 1;
}

static void leave_the_last(const struct ulb_embedding_call *call)
{
    float *out = malloc(call->k * sizeof *out);
    struct ulb_embedding_call whole = *call;
    assert_non_null(out);
    whole.out = out;
    ulb_embedding_at(0)->run(&whole);
    memcpy(call->out, out, (call->k - 1) * sizeof *out);
    free(out);
}

static void test_calls_of_look_ups_cancel(void **state)
{
    (void)state;
    const struct ulb_kernel *kernel = block_kernel();
    struct ulb_embedding costed = *ulb_embedding_at(0);
    double costs[ULB_GAMMA_LOOPS] = {0};
    struct ulb_gamma_sizes sizes;
    struct ulb_error err;
    if (!kernel)
        skip();
    costed.run = cost_look_up;
    assert_int_equal(ulb_gamma_sizes_open_look_up(&sizes, &costed, kernel, 32 << 10, 1, &err), ULB_OK);
    assert_int_equal(sizes.n, ULB_GAMMA_FULL + 1);
    for (size_t i = 0; i < sizes.n; i++) {
        sizes.loops[i].calls = 3;
        for (size_t turn = 0; turn < 64; turn++) {
            cost = 0;
            ulb_gamma_loop_run(&sizes.loops[i], 0, turn);
            costs[i] = cost / 3;
        }
        /* Blocks and floats in L1. */
        const struct ulb_embedding_call *call = &sizes.loops[i].look_up;
        assert_true(call->k * sizeof(float) + ulb_block_row_bytes(call->format, call->k) <= 32 << 10);
    }
    double off = ulb_gamma_of_sizes(&sizes, costs) - STEP;
    assert_true(off > -1e-9 && off < 1e-9);
    ulb_gamma_sizes_close(&sizes);
}

static void test_wrong_look_ups_are_found(void **state)
{
    (void)state;
    void (*const wrong[])(const struct ulb_embedding_call *) = {change_the_last, leave_the_last};
    const struct ulb_kernel *kernel = block_kernel();
    if (!kernel)
        skip();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ulb_embedding operator= {.isa = "mine", .run = wrong[i]};
        struct ulb_gamma_sizes sizes;
        struct ulb_error err = {""};
        assert_int_equal(ulb_gamma_sizes_open_look_up(&sizes, &operator, kernel, 32 << 10, 1, &err),
                         ULB_FINDING);
        assert_non_null(strstr(err.message, kernel->layout->format->name));
        assert_non_null(strstr(err.message, "by mine"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls_and_tiles_cancel),
                                       cmocka_unit_test(test_turns_lie_apart),
                                       cmocka_unit_test(test_no_size_is_padded),
                                       cmocka_unit_test(test_what_kernels_prefetch_is_there),
                                       cmocka_unit_test(test_calls_of_look_ups_cancel),
                                       cmocka_unit_test(test_wrong_look_ups_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
