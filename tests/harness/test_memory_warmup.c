/* What runs before a sample of memory: the same kernel or reader on bytes inside the ring, all rows of a
 * matrix that is large enough and not much larger, for as long as memory takes to wake up; and what that
 * costs. */
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/timing/stopwatch.h"
#include "harness/memory/cold_ring.h"
#include "harness/compute/parallel_gemm.h"
#include "harness/bandwidth/idle_penalty.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 2, K = 1024, GRAIN = 64, MIB = 1 << 20 };

/* What the kernel and the reader below, were called with; nothing else shows it. */
static struct {
    _Atomic size_t calls, rows, bytes;
    size_t m;
    const char *begin, *end; /* the mapping */
    atomic_bool outside, other_shape;
} seen;

static void look_at(const void *data, size_t bytes)
{
    const char *begin = data;
    if (begin < seen.begin || begin + bytes > seen.end)
        atomic_store(&seen.outside, true);
    seen.calls++;
    seen.bytes += bytes;
}

static const struct ulb_kernel *like(void)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernels[i]->layout->format->name, "int8") == 0 &&
            strcmp(ulb_kernels[i]->isa, "ref") == 0)
            return ulb_kernels[i];
    }
    fail_msg("no scalar kernel of int8");
    return NULL;
}

static void see_rows(const struct ulb_gemm *g)
{
    look_at(g->w, ulb_layout_bytes(like()->layout, g->m, g->k));
    seen.rows += g->m1 - g->m0;
    if (g->m != seen.m || g->k != K)
        atomic_store(&seen.other_shape, true);
}

static uint64_t see_bytes(const void *data, size_t bytes)
{
    look_at(data, bytes);
    return 0;
}

static struct ulb_team *two_threads(void)
{
    unsigned pus[THREADS] = {0};
    cpu_set_t allowed;
    struct ulb_team *team;
    struct ulb_error err;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (unsigned pu = 0, n = 0; pu < CPU_SETSIZE && n < THREADS; pu++) {
        if (CPU_ISSET(pu, &allowed))
            pus[n++] = pu;
    }
    if (CPU_COUNT(&allowed) < THREADS)
        skip();
    assert_int_equal(ulb_team_start(&team, pus, THREADS, &err), ULB_OK);
    return team;
}

static struct ulb_arena ring_of(size_t bytes, void *memory)
{
    memset(&seen, 0, sizeof seen);
    seen.begin = memory;
    seen.end = seen.begin + bytes;
    return (struct ulb_arena){.pages = {.data = memory, .bytes = bytes}, .ring_bytes = bytes};
}

/* Leads in to a matrix of m rows; m_led: rows of the one that is run. */
static void check_rows(size_t m, size_t m_led)
{
    static const size_t bytes = 16 * (size_t)MIB;
    struct ulb_team *team = two_threads();
    struct ulb_kernel kernel = *like();
    struct ulb_tile_range ranges[THREADS];
    void *memory = aligned_alloc(4096, bytes);
    struct ulb_arena arena = ring_of(bytes, memory);
    struct ulb_row_split split = ulb_split_of(ULB_SPLIT_STATIC, m, GRAIN, THREADS, NULL, ranges);
    struct ulb_team_gemm job = {&kernel, {.m = m, .k = K, .n = 1}, &split};
    assert_non_null(memory);
    kernel.run = see_rows;
    seen.m = m_led;
    double begin = ulb_now();
    ulb_team_gemm_warm_up(team, &job, &arena);
    assert_true(ulb_now() - begin >= ULB_WARM_UP_SECONDS);
    assert_false(seen.outside);
    assert_false(seen.other_shape);
    assert_true(seen.calls > 0);
    assert_int_equal(seen.rows % m_led, 0);
    assert_int_equal(job.gemm.m, m);
    assert_int_equal(split.m, m);
    ulb_team_stop(team);
    free(memory);
}

static void small_matrices_are_led_in_to_by_themselves(void **state)
{
    (void)state;
    check_rows(GRAIN, GRAIN);
    check_rows(100, 100);
    check_rows(1500, 1500);
}

/* 2 MiB are 2041 rows of K bytes and a scale, in whole tiles of both threads. */
static void large_ones_by_fewer_rows(void **state)
{
    (void)state;
    check_rows(8000, 2048);
}

static void readers_stay_within_the_ring(void **state)
{
    (void)state;
    static const size_t rings[] = {(size_t)THREADS * 4096, 3 * 4096 * (size_t)THREADS, 8 * (size_t)MIB};
    const struct ulb_reader reader = {.name = "seen", .run = see_bytes};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        struct ulb_team *team = two_threads();
        void *memory = aligned_alloc(4096, rings[i]);
        struct ulb_arena arena = ring_of(rings[i], memory);
        assert_non_null(memory);
        double begin = ulb_now();
        ulb_read_warm_up(team, &reader, &arena);
        assert_true(ulb_now() - begin >= ULB_WARM_UP_SECONDS);
        assert_false(seen.outside);
        size_t most = rings[i] / THREADS;
        assert_int_equal(seen.bytes, seen.calls * (most < ULB_WARM_UP_BYTES ? most : ULB_WARM_UP_BYTES));
        ulb_team_stop(team);
        free(memory);
    }
}

/* Three slow pieces of 32, and a late one that is noise. */
static void what_a_rest_costs(void **state)
{
    (void)state;
    double seconds[32];
    for (size_t i = 0; i < 32; i++)
        seconds[i] = i < 3 ? 25e-6 : i == 30 ? 1e-3 : 10e-6;
    struct ulb_idle_penalty penalty = ulb_idle_penalty_of(seconds, 32, 1e6);
    assert_true(fabs(penalty.lost - 45e-6) < 1e-9);
    assert_true(fabs(penalty.first - 40e9) < 1);
    assert_true(fabs(penalty.awake - 100e9) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_matrices_are_led_in_to_by_themselves),
        cmocka_unit_test(large_ones_by_fewer_rows),
        cmocka_unit_test(readers_stay_within_the_ring),
        cmocka_unit_test(what_a_rest_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
