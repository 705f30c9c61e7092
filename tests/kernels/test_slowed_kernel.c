/* An injected slowdown is extra work of the size asked for, inside the buffers of the call. */
#include "kernels/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

enum { M = 1600, K = 2048, MR = 40, KR = 24 };

static size_t weights; /* rows times columns asked for */
static float results[M];

/* Counts; its results are row numbers, so that a wrong place shows. */
static void count(const struct ulb_gemm *g)
{
    assert_true(g->m0 < g->m1 && g->m1 <= g->m && g->m <= M && g->k <= K);
    assert_int_equal(g->m0 % MR, 0);
    assert_true(g->k == K || g->k % KR == 0);
    weights += (g->m1 - g->m0) * g->k;
    for (size_t n = 0; n < g->n; n++) {
        for (size_t m = g->m0; m < g->m1; m++)
            g->y[n * g->y_stride + m] = (float)m;
    }
}

extern const struct ulb_kernel counting_row;
const struct ulb_kernel counting_row = {.abi = ULB_KERNEL_ABI, .mr = MR, .kr = KR, .run = count};
extern struct ulb_kernel slowed_counting_row;

static double extra_work(size_t m0, size_t m1)
{
    struct ulb_gemm g = {.m = M, .k = K, .n = 1, .m0 = m0, .m1 = m1, .y = results, .y_stride = M};
    for (size_t m = 0; m < M; m++)
        results[m] = -1;
    weights = 0;
    slowed_counting_row.run(&g);
    for (size_t m = 0; m < M; m++)
        assert_true(results[m] == (m >= m0 && m < m1 ? (float)m : -1.0f));
    return (double)weights / (double)((m1 - m0) * K) - 1;
}

static void test_extra_work(void **state)
{
    (void)state;
    assert_int_equal(slowed_counting_row.mr, MR);
    assert_in_range((size_t)(1e5 * extra_work(0, M)), 6950, 7000);
    assert_in_range((size_t)(1e5 * extra_work(800, M)), 6950, 7000);
    /* One tile: a share of its columns. */
    assert_in_range((size_t)(1e5 * extra_work(80, 120)), 5800, 7000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_extra_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
