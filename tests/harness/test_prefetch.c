/* Where prefetches go: by the pairs' median alone, both timed in turn, and from a grid into the record. */
#include "harness/clock.h"
#include "harness/gemv.h"
#include "harness/prefetch.h"
#include "results/record.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = ULB_PREFETCH_SAMPLES };

static void test_l2_must_be_faster_by_two_percent(void **state)
{
    (void)state;
    assert_true(ulb_prefetch_takes_l2(0.5));
    assert_true(ulb_prefetch_takes_l2(0.98));
    assert_false(ulb_prefetch_takes_l2(0.9801));
    assert_false(ulb_prefetch_takes_l2(1));
    assert_false(ulb_prefetch_takes_l2(1.5));
    assert_false(ulb_prefetch_takes_l2((double)NAN));
}

/* A call whose time is that of its place, but for the first pairs, which are far off the other way. */
struct call {
    bool l2, seen[2 * N];
    double time[2], grows; /* grows: from call to call, a share */
    size_t n, outliers;
};

static double sample(void *arg)
{
    struct call *call = arg;
    size_t i = call->n++;
    call->seen[i] = call->l2;
    if (i / 2 < call->outliers)
        return call->l2 ? 1e-3 : 1e3;
    return call->time[call->l2] * (1 + call->grows * (double)i);
}

static void check(struct call call, bool l2, double median)
{
    double got = ulb_prefetch_choose(&call.l2, N, sample, &call);
    size_t first = 0;
    assert_int_equal(call.n, 2 * N);
    assert_int_equal(call.l2, l2);
    assert_true(isnan(median) || got == median);
    for (size_t i = 0; i < N; i++) {
        assert_int_not_equal(call.seen[2 * i], call.seen[2 * i + 1]);
        first += call.seen[2 * i];
    }
    assert_int_equal(first, N / 2); /* neither always comes first */
}

static void test_both_are_timed_in_turn(void **state)
{
    (void)state;
    check((struct call){.time = {2, 1}}, true, 1);
    check((struct call){.time = {1, 2}}, false, 1);
    check((struct call){.time = {1, 1}}, false, 1);
    check((struct call){.time = {1, 2}, .l2 = true}, false, 1);
    check((struct call){.time = {1, 2}, .outliers = N / 2}, false, 1);
    /* A machine that changes from call to call by half of what decides. */
    check((struct call){.time = {1, 1}, .grows = -0.005}, false, (double)NAN);
    check((struct call){.time = {1, 1}, .grows = 0.005}, false, (double)NAN);
}

static void test_fewer_samples_of_long_calls(void **state)
{
    (void)state;
    struct call call = {.time = {2, 1}};
    assert_true(ulb_prefetch_choose(&call.l2, ULB_PREFETCH_SAMPLES_LONG, sample, &call) == 1 && call.l2);
    assert_int_equal(call.n, 2 * ULB_PREFETCH_SAMPLES_LONG);
}

static void test_names(void **state)
{
    (void)state;
    struct ulb_kernel kernel = {.prefetch_choice = true};
    assert_string_equal(ulb_prefetch_name(&kernel, false), "L1");
    assert_string_equal(ulb_prefetch_name(&kernel, true), "L2");
    kernel.prefetch_none = true;
    assert_string_equal(ulb_prefetch_name(&kernel, false), "L1");
    assert_string_equal(ulb_prefetch_name(&kernel, true), "none");
    kernel.prefetch_choice = false;
    assert_string_equal(ulb_prefetch_name(&kernel, false), "");
}

/* Two copies of a scalar row in which only the flag differs: what their calls were told, and what is
 * recorded.
 */
static size_t told[2], others_told_l2;
static const struct ulb_kernel *scalar;

static void run_noting(const struct ulb_gemm *args)
{
    told[args->prefetch_l2]++;
    scalar->run(args);
}

static void run_other(const struct ulb_gemm *args)
{
    others_told_l2 += args->prefetch_l2;
    scalar->run(args);
}

/* Rows of 512 columns are faster with L1, all others with L2. */
static void run_outvoted(const struct ulb_gemm *args)
{
    double until = ulb_now() + (args->prefetch_l2 == (args->k == 512) ? 200e-6 : 20e-6);
    scalar->run(args);
    while (ulb_now() < until)
        continue;
}

/* The cells of kernels at shapes; to be freed. */
static struct ulb_cell *measure(enum ulb_product product, bool warm, const char *shapes,
                                const struct ulb_kernel *const *kernels, size_t n_kernels, size_t *n)
{
    struct ulb_error err;
    struct ulb_record record;
    struct ulb_cell *cells;
    char set[16]; /* one thread: what it counts needs no lock */
    snprintf(set, sizeof set, "%d", sched_getcpu());
    struct ulb_session session = {.settings = {.shapes = shapes,
                                               .tokens = "3",
                                               .set = set,
                                               .quick = true,
                                               .warm = warm,
                                               .seed = 1,
                                               .ring_bytes = (size_t)16 << 20}};
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    if (ulb_session_open(&session, &record, &err) != ULB_OK ||
        ulb_grid_measure(&session, product, kernels, n_kernels, &err) != ULB_OK)
        fail_msg("%s", err.message);
    assert_int_equal(ulb_record_cells(&record, &cells, n, &err), ULB_OK);
    ulb_session_close(&session);
    ulb_record_free(&record);
    return cells;
}

static void check_told(enum ulb_product product, bool warm)
{
    struct ulb_kernel chooses = *scalar, other = *scalar;
    const struct ulb_kernel *const kernels[] = {&chooses, &other};
    size_t n;
    chooses.prefetch_choice = true;
    chooses.run = run_noting;
    other.prefetch_choice = false;
    other.run = run_other;
    told[0] = told[1] = others_told_l2 = 0;
    struct ulb_cell *cells = measure(product, warm, "64x128", kernels, 2, &n);
    assert_int_equal(n, 2);
    assert_true(strcmp(cells[0].prefetch, "L1") == 0 || strcmp(cells[0].prefetch, "L2") == 0);
    assert_string_equal(cells[1].prefetch, "");
    assert_string_equal(cells[1].mode, warm ? "warm" : "cold");
    assert_true(told[0] > ULB_PREFETCH_SAMPLES && told[1] > ULB_PREFETCH_SAMPLES);
    assert_int_equal(others_told_l2, 0);
    ulb_cells_free(cells, n);
}

/* One shape that differs from the others is noise, or too little to have a place of its own. */
static void test_a_row_has_one_place_for_all_shapes(void **state)
{
    (void)state;
    struct ulb_kernel outvoted = *scalar;
    const struct ulb_kernel *const kernels[] = {&outvoted};
    size_t n;
    outvoted.prefetch_choice = true;
    outvoted.run = run_outvoted;
    struct ulb_cell *cells = measure(ULB_GEMM, false, "32x128,32x256,32x512,32x640", kernels, 1, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(cells[i].prefetch, "L2");
    ulb_cells_free(cells, n);
    cells = measure(ULB_GEMM, false, "32x512", kernels, 1, &n);
    assert_int_equal(n, 1);
    assert_string_equal(cells[0].prefetch, "L1");
    ulb_cells_free(cells, n);
}

static void test_grids_choose_and_record(void **state)
{
    (void)state;
    check_told(ULB_GEMV, false);
    check_told(ULB_GEMV, true);
    check_told(ULB_GEMM, false);
}

static int find_scalar(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count && !scalar; i++) {
        if (strcmp(ulb_kernels[i]->isa, "ref") == 0 &&
            strcmp(ulb_kernels[i]->layout->format->name, "int8") == 0)
            scalar = ulb_kernels[i];
    }
    return scalar ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_l2_must_be_faster_by_two_percent),
        cmocka_unit_test(test_both_are_timed_in_turn),
        cmocka_unit_test(test_fewer_samples_of_long_calls),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_grids_choose_and_record),
        cmocka_unit_test(test_a_row_has_one_place_for_all_shapes),
    };
    return cmocka_run_group_tests(tests, find_scalar, NULL);
}
