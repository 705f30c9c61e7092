/* Where prefetches go: by the rounds' median alone, all candidates timed in turn, and from a grid into the
 * record.
 */
#include "harness/timing/stopwatch.h"
#include "harness/grid/grid.h"
#include "harness/session/session.h"
#include "harness/compute/prefetch_tuning.h"
#include "results/record/record.h"

#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { N = ULB_PREFETCH_SAMPLES, CANDIDATES = ULB_PREFETCH_CANDIDATES };

static void test_the_best_candidate(void **state)
{
    (void)state;
    const double none = (double)NAN;
    const struct {
        double ratios[CANDIDATES];
        size_t best;
    } cases[] = {{{1, 0.5, none, none, none, none}, 1},    {{1, 0.98, none, none, none, none}, 1},
                 {{1, 0.9801, none, none, none, none}, 0}, {{1, 1, 1, 1, 1, 1}, 0},
                 {{1, 1.5, none, none, none, none}, 0},    {{none, none, none, none, none, none}, 0},
                 {{1, 0.9, 0.8, 0.85, 0.9, 1}, 2},         {{1, 0.9, 0.95, 0.89, 0.9, 0.9}, 3},
                 {{1, 0.99, 1.2, 0.99, 0.97, 0.98}, 4},    {{1, none, none, 0.91, none, 0.9}, 5},
                 {{1, 0.9, 0.8, 0.8, 0.8, 0.8}, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(ulb_prefetch_best(cases[i].ratios), cases[i].best);
}

static const struct ulb_kernel tunable = {.prefetch = {.kind = ULB_PREFETCH_TUNABLE}},
                               own_or_none = {.prefetch = {.kind = ULB_PREFETCH_OWN_OR_NONE}};

static bool is_same(struct ulb_prefetch a, struct ulb_prefetch b)
{
    return a.target == b.target && a.distance == b.distance;
}

static size_t candidate_of(struct ulb_prefetch_candidates candidates, struct ulb_prefetch prefetch)
{
    for (size_t candidate = 0; candidate < candidates.n; candidate++) {
        if (is_same(candidates.at[candidate], prefetch))
            return candidate;
    }
    fail_msg("target %d and %u bytes are no candidate", (int)prefetch.target, (unsigned)prefetch.distance);
    return 0;
}

/* A call whose time is that of its candidate, but for the first rounds, which are far off the other way. */
struct call {
    const struct ulb_kernel *kernel;
    struct ulb_prefetch prefetch;
    size_t seen[CANDIDATES * N];
    double time[CANDIDATES], grows; /* grows: from call to call, a share */
    size_t n, outliers;
};

static double sample(void *arg)
{
    struct call *call = arg;
    const struct ulb_prefetch_candidates candidates = ulb_prefetch_candidates(call->kernel, 1);
    size_t i = call->n++, candidate = candidate_of(candidates, call->prefetch);
    call->seen[i] = candidate;
    if (i / candidates.n < call->outliers)
        return candidate ? 1e-3 : 1e3;
    return call->time[candidate] * (1 + call->grows * (double)i);
}

static void check(struct call call, size_t candidate, double median)
{
    const struct ulb_prefetch_candidates candidates = ulb_prefetch_candidates(call.kernel, 1);
    double got = ulb_prefetch_choose(&call.prefetch, candidates, N, sample, &call);
    size_t first = 0;
    assert_int_equal(call.n, candidates.n * N);
    assert_true(is_same(call.prefetch, candidates.at[candidate]));
    assert_true(isnan(median) || got == median);
    for (size_t round = 0; round < N; round++) {
        size_t times[CANDIDATES] = {0};
        for (size_t i = 0; i < candidates.n; i++)
            times[call.seen[round * candidates.n + i]]++;
        for (size_t i = 0; i < candidates.n; i++)
            assert_int_equal(times[i], 1);
        first += call.seen[round * candidates.n] == 0;
    }
    assert_int_equal(first, N / 2 + 1); /* none always comes first */
}

static void test_all_are_timed_in_turn(void **state)
{
    (void)state;
    check((struct call){&own_or_none, .time = {2, 1}}, 1, 1);
    check((struct call){&own_or_none, .time = {1, 2}}, 0, 1);
    check((struct call){&own_or_none, .time = {1, 1}}, 0, 1);
    check((struct call){&own_or_none, .time = {1, 2}, .prefetch = {.target = ULB_PREFETCH_NONE}}, 0, 1);
    check((struct call){&own_or_none, .time = {1, 2}, .outliers = N / 2}, 0, 1);
    check((struct call){&tunable, .time = {4, 3, 1, 2, 5, 5}}, 2, 1);
    check((struct call){&tunable, .time = {4, 3, 2, 2, 2, 1}}, CANDIDATES - 1, 1);
    check((struct call){&tunable, .time = {1, 3, 2, 1, 1, 1}}, 0, 1);
    /* A machine that changes from call to call by half of what decides. */
    check((struct call){&own_or_none, .time = {1, 1}, .grows = -0.005}, 0, (double)NAN);
    check((struct call){&own_or_none, .time = {1, 1}, .grows = 0.005}, 0, (double)NAN);
    check((struct call){&tunable, .time = {1, 1, 1, 1, 1, 1}, .grows = -0.0025}, 0, (double)NAN);
    check((struct call){&tunable, .time = {1, 1, 1, 1, 1, 1}, .grows = 0.0025}, 0, (double)NAN);
}

static void test_fewer_samples_of_long_calls(void **state)
{
    (void)state;
    struct call call = {&own_or_none, .time = {2, 1}};
    assert_true(ulb_prefetch_choose(&call.prefetch, ulb_prefetch_candidates(&own_or_none, 1),
                                    ULB_PREFETCH_SAMPLES_LONG, sample, &call) == 1);
    assert_int_equal(call.prefetch.target, ULB_PREFETCH_NONE);
    assert_int_equal(call.n, 2 * ULB_PREFETCH_SAMPLES_LONG);
}

static void test_candidates_of_a_kernel(void **state)
{
    (void)state;
    static const char *const names[CANDIDATES] = {"L1",      "L2+1024", "L2+2048",
                                                  "L2+3072", "L1+1024", "L1+2048"};
    struct ulb_kernel kernel = tunable;
    struct ulb_prefetch_candidates candidates = ulb_prefetch_candidates(&kernel, 1);
    const struct ulb_prefetch own = {ULB_PREFETCH_OWN, 0}, none = {ULB_PREFETCH_NONE, 0};
    assert_int_equal(candidates.n, CANDIDATES);
    assert_true(is_same(candidates.at[0], own));
    for (size_t candidate = 0; candidate < CANDIDATES; candidate++)
        assert_string_equal(ulb_prefetch_name(&kernel, 1, candidates.at[candidate]), names[candidate]);
    assert_int_equal(ulb_prefetch_candidates(&kernel, 1000).n, CANDIDATES);
    kernel.prefetch.max_n = 3;
    assert_int_equal(ulb_prefetch_candidates(&kernel, 3).n, CANDIDATES);
    assert_int_equal(ulb_prefetch_candidates(&kernel, 4).n, 1);
    assert_true(is_same(ulb_prefetch_candidates(&kernel, 4).at[0], own));
    assert_string_equal(ulb_prefetch_name(&kernel, 4, own), "");
    candidates = ulb_prefetch_candidates(&own_or_none, 1);
    assert_int_equal(candidates.n, 2);
    assert_true(is_same(candidates.at[0], own) && is_same(candidates.at[1], none));
    assert_string_equal(ulb_prefetch_name(&own_or_none, 1, own), "L1");
    assert_string_equal(ulb_prefetch_name(&own_or_none, 1, none), "none");
    kernel.prefetch = (struct ulb_prefetch_policy){.kind = ULB_PREFETCH_FIXED, .max_n = 3};
    assert_int_equal(ulb_prefetch_candidates(&kernel, 1).n, 1);
    assert_string_equal(ulb_prefetch_name(&kernel, 1, own), "");
}

/* Two copies of a scalar kernel in which only the flag differs: which settings their calls had, and what is
 * recorded.
 */
static size_t settings_seen[CANDIDATES], others_set;
static const struct ulb_kernel *scalar;

static void run_noting(const struct ulb_gemm *args)
{
    settings_seen[candidate_of(ulb_prefetch_candidates(&tunable, 1), args->prefetch)]++;
    scalar->run(args);
}

static void run_other(const struct ulb_gemm *args)
{
    others_set += args->prefetch.target != ULB_PREFETCH_OWN;
    scalar->run(args);
}

/* Rows of 512 columns are fastest as they say themselves, all others at the last candidate. */
static void run_outvoted(const struct ulb_gemm *args)
{
    size_t best = args->k == 512 ? 0 : CANDIDATES - 1;
    scalar->run(args);
    /* Behind the kernel, which a sanitizer makes take as long itself. */
    size_t candidate = candidate_of(ulb_prefetch_candidates(&tunable, 1), args->prefetch);
    double until = ulb_now() + (candidate == best ? 20e-6 : 200e-6);
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

static void check_prefetch(enum ulb_product product, bool warm)
{
    struct ulb_kernel chooses = *scalar, other = *scalar;
    const struct ulb_kernel *const kernels[] = {&chooses, &other};
    size_t n;
    chooses.prefetch = tunable.prefetch;
    chooses.run = run_noting;
    other.prefetch = (struct ulb_prefetch_policy){0};
    other.run = run_other;
    memset(settings_seen, 0, sizeof settings_seen);
    others_set = 0;
    struct ulb_cell *cells = measure(product, warm, "64x128", kernels, 2, &n);
    assert_int_equal(n, 2);
    assert_true(strncmp(cells[0].prefetch, "L1", 2) == 0 || strncmp(cells[0].prefetch, "L2+", 3) == 0);
    assert_string_equal(cells[1].prefetch, "");
    assert_string_equal(cells[1].mode, warm ? "warm" : "cold");
    for (size_t candidate = 0; candidate < CANDIDATES; candidate++)
        assert_true(settings_seen[candidate] >= ULB_PREFETCH_SAMPLES);
    assert_int_equal(others_set, 0);
    ulb_cells_free(cells, n);
}

/* One shape that differs from the others is noise, or too little to have a candidate of its own. */
static void test_a_kernel_has_one_candidate_for_all_shapes(void **state)
{
    (void)state;
    struct ulb_kernel outvoted = *scalar;
    const struct ulb_kernel *const kernels[] = {&outvoted};
    size_t n;
    outvoted.prefetch = tunable.prefetch;
    outvoted.run = run_outvoted;
    struct ulb_cell *cells = measure(ULB_GEMM, false, "32x128,32x256,32x512,32x640", kernels, 1, &n);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(cells[i].prefetch, "L1+2048");
    ulb_cells_free(cells, n);
    cells = measure(ULB_GEMM, false, "32x512", kernels, 1, &n);
    assert_int_equal(n, 1);
    assert_string_equal(cells[0].prefetch, "L1");
    ulb_cells_free(cells, n);
}

static void test_grids_choose_and_record(void **state)
{
    (void)state;
    check_prefetch(ULB_GEMV, false);
    check_prefetch(ULB_GEMV, true);
    check_prefetch(ULB_GEMM, false);
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
        cmocka_unit_test(test_the_best_candidate),
        cmocka_unit_test(test_all_are_timed_in_turn),
        cmocka_unit_test(test_fewer_samples_of_long_calls),
        cmocka_unit_test(test_candidates_of_a_kernel),
        cmocka_unit_test(test_grids_choose_and_record),
        cmocka_unit_test(test_a_kernel_has_one_candidate_for_all_shapes),
    };
    return cmocka_run_group_tests(tests, find_scalar, NULL);
}
