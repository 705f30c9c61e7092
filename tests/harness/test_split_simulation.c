/* The simulator against what can be said without it: rates that add up, tiles that do not divide, what is
 * published. */
#include "common/units.h"
#include "models/platform/platform.h"
#include "harness/threads/split_simulation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 1 << 20, COLUMNS = 4096 };

static struct ulb_platform builtin(const char *name)
{
    struct ulb_platform platform;
    struct ulb_error err;
    assert_int_equal(ulb_platform_load(name, &platform, &err), ULB_OK);
    return platform;
}

static struct ulb_sim_plan plan_of(const struct ulb_platform *platform, const char *format)
{
    return (struct ulb_sim_plan){.platform = platform,
                                 .gamma = ulb_platform_gamma_find(platform, format, NULL),
                                 .tile = 32,
                                 .chunk = 1};
}

static double seconds(const struct ulb_sim_plan *plan, enum ulb_split split, size_t m, size_t k)
{
    struct ulb_simulated result;
    struct ulb_error err;
    assert_int_equal(ulb_simulate(plan, split, m, k, &result, &err), ULB_OK);
    return result.seconds;
}

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected)))
        fail_msg("%.9g is not within %g of %.9g", value, relative, expected);
}

/* Long matrices: parts by rate give the sum of the rates, equal parts the slowest one n times. */
static void splits_give_what_the_rates_imply(void **state)
{
    (void)state;
    static const char *const names[] = {"arl", "arlh", "lnl"}, *const formats[] = {"int2", "int1"};
    for (size_t i = 0; i < 6; i++) {
        struct ulb_platform platform = builtin(names[i % 3]);
        struct ulb_sim_plan plan = plan_of(&platform, formats[i / 3]);
        double ideal = ulb_platform_gemv_seconds(&platform, plan.gamma, (double)ROWS * COLUMNS);
        double implied = ulb_sim_implied_speedup(&plan);
        double dynamic = seconds(&plan, ULB_SPLIT_DYNAMIC, ROWS, COLUMNS);
        assert_near(dynamic, ideal, 0.003);
        assert_near(seconds(&plan, ULB_SPLIT_WEIGHTED, ROWS, COLUMNS), ideal, 0.003);
        assert_near(seconds(&plan, ULB_SPLIT_STATIC, ROWS, COLUMNS), ideal * implied, 0.003);
        assert_near(seconds(&plan, ULB_SPLIT_STATIC, ROWS, COLUMNS) / dynamic, implied, 0.003);
        assert_true(dynamic >= ideal * (1 - 1e-9));
    }
}

/* The ratios themselves, by hand: (6 * 5.357 + 8 * 2.847) / 14 / 2.847 and (4 * 6.364 + 4 * 2.926) / 8
 * / 2.926, GiB/s. */
static void implied_speedups_by_hand(void **state)
{
    (void)state;
    struct ulb_platform arlh = builtin("arlh"), lnl = builtin("lnl"), arl = builtin("arl");
    struct ulb_sim_plan plan = plan_of(&arlh, "int1");
    assert_near(ulb_sim_implied_speedup(&plan), 1.378, 1e-3);
    plan = plan_of(&lnl, "int1");
    assert_near(ulb_sim_implied_speedup(&plan), 1.587, 1e-3);
    plan = plan_of(&arl, "int2");
    assert_near(ulb_sim_implied_speedup(&plan), 1, 1e-9);
}

/* 1600 rows are 50 tiles of 32: 24 cores take two or three. */
static void small_matrices_pay_for_their_tiles(void **state)
{
    (void)state;
    struct ulb_platform arl = builtin("arl");
    struct ulb_sim_plan plan = plan_of(&arl, "int2");
    double ideal = ulb_platform_gemv_seconds(&arl, plan.gamma, 1600.0 * 1600.0);
    for (int split = ULB_SPLIT_STATIC; split <= ULB_SPLIT_WEIGHTED; split++)
        assert_near(seconds(&plan, (enum ulb_split)split, 1600, 1600), ideal * 3 * 24 / 50, 1e-6);
    plan.tile = 1;
    assert_near(seconds(&plan, ULB_SPLIT_STATIC, 1600, 1600), ideal * 67 / (1600 / 24.0), 1e-6);
    double us = 1e6 * seconds(&plan, ULB_SPLIT_DYNAMIC, 1600, 1600);
    assert_true(us >= 5.95 && us <= 6.15); /* published: 6 */
}

/* Two classes of which one does nothing but compute: what it leaves of the memory goes to the other. */
static void fair_sharing_passes_on_what_is_left(void **state)
{
    (void)state;
    struct ulb_platform platform = builtin("lnl");
    struct ulb_sim_plan plan = plan_of(&platform, "int2");
    struct ulb_platform_gamma gamma = *plan.gamma;
    plan.gamma = &gamma;
    plan.sharing = ULB_SIM_FAIR;
    platform.bandwidth = 80e9;
    gamma.cycles[0] = 8 / (30e9 / platform.classes[0].hz); /* P computes at 30 GB/s, E at 4 GB/s */
    gamma.cycles[1] = 8 / (4e9 / platform.classes[1].hz);
    double bytes = (double)ROWS * COLUMNS / 4;
    assert_near(bytes / seconds(&plan, ULB_SPLIT_DYNAMIC, ROWS, COLUMNS), 80e9, 0.003);
    plan.sharing = ULB_SIM_EQUAL; /* 4 * 10 + 4 * 4 */
    assert_near(bytes / seconds(&plan, ULB_SPLIT_DYNAMIC, ROWS, COLUMNS), 56e9, 0.003);
    /* Static, fair: E cores end last, at their own rate. */
    plan.sharing = ULB_SIM_FAIR;
    assert_near(bytes / seconds(&plan, ULB_SPLIT_STATIC, ROWS, COLUMNS), 8 * 4e9, 0.003);
}

static void taking_costs_and_large_chunks_wait(void **state)
{
    (void)state;
    struct ulb_platform lnl = builtin("lnl");
    struct ulb_sim_plan plan = plan_of(&lnl, "int1");
    double free_of_cost = seconds(&plan, ULB_SPLIT_DYNAMIC, 4096, 4096);
    plan.take_s = 1e-6;
    assert_near(seconds(&plan, ULB_SPLIT_STATIC, 4096, 4096),
                1e-6 + 512.0 * 4096 / 8 / ulb_platform_core_bandwidth(&lnl, plan.gamma, 1), 1e-6);
    assert_true(seconds(&plan, ULB_SPLIT_DYNAMIC, 4096, 4096) > free_of_cost + 2e-6);
    plan.take_s = 0;
    plan.chunk = 16; /* a thread's whole part: as if static */
    assert_near(seconds(&plan, ULB_SPLIT_DYNAMIC, 4096, 4096), seconds(&plan, ULB_SPLIT_STATIC, 4096, 4096),
                1e-9);
}

static void what_is_missing_is_named(void **state)
{
    (void)state;
    struct ulb_platform platform = builtin("arlh");
    struct ulb_sim_plan plan = plan_of(&platform, "int1");
    struct ulb_simulated result;
    struct ulb_error err = {""};
    platform.classes[1].hz = NAN;
    assert_int_equal(ulb_simulate(&plan, ULB_SPLIT_STATIC, 64, 64, &result, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "class E"));
    platform.n_classes = 0;
    assert_int_equal(ulb_simulate(&plan, ULB_SPLIT_STATIC, 64, 64, &result, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "no cores"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(splits_give_what_the_rates_imply),
        cmocka_unit_test(implied_speedups_by_hand),
        cmocka_unit_test(small_matrices_pay_for_their_tiles),
        cmocka_unit_test(fair_sharing_passes_on_what_is_left),
        cmocka_unit_test(taking_costs_and_large_chunks_wait),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
