/* The formulas against values worked out by hand. */
#include "models/models.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void expect(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g, wanted %.17g", value, wanted);
}

static void expect_nan(double value)
{
    if (!isnan(value))
        fail_msg("%.17g, wanted nan", value);
}

/* 4 + 2 cores share 60 GB/s: 10 GB/s each, 2 bytes/cycle at 5 GHz and 4 at 2.5 GHz. */
static struct ulb_platform small_platform(void)
{
    return (struct ulb_platform){
        .n_classes = 2,
        .classes = {{"P", 4, 5e9, ""}, {"E", 2, 2.5e9, ""}},
        .bandwidth = 60e9,
        .fork_join_s = NAN,
        .n_gammas = 2,
        .gammas = {{"int2", "pshufb", 8, {1, 2}}, {"int1", "blend", 4, {4, 2}}},
    };
}

static void test_roofline(void **state)
{
    (void)state;
    expect(ulb_compute_ceiling(8, 1.25), 6.4);
    expect(ulb_compute_ceiling(64, 2), 32);
    expect(ulb_effective_bandwidth(3.5, 8, 2), 3.5);
    expect(ulb_effective_bandwidth(4.5, 8, 2), 4);
    assert_int_equal(ulb_roofline_bound(3.5, 8, 2), ULB_BOUND_MEMORY);
    assert_int_equal(ulb_roofline_bound(4, 8, 2), ULB_BOUND_MEMORY);
    assert_int_equal(ulb_roofline_bound(4.5, 8, 2), ULB_BOUND_COMPUTE);
    assert_string_equal(ulb_bound_name(ULB_BOUND_MEMORY), "memory");
    assert_string_equal(ulb_bound_name(ULB_BOUND_COMPUTE), "compute");
    assert_string_equal(ulb_bound_name(ULB_BOUND_OVERHEAD), "overhead");
}

static void test_roofline_outside_its_domain(void **state)
{
    (void)state;
    expect_nan(ulb_compute_ceiling(8, 0));
    expect_nan(ulb_compute_ceiling(0, 1));
    expect_nan(ulb_compute_ceiling(-8, 1));
    expect_nan(ulb_compute_ceiling(8, -1));
    expect_nan(ulb_compute_ceiling(NAN, 1));
    expect_nan(ulb_compute_ceiling(8, INFINITY));
    expect_nan(ulb_effective_bandwidth(0, 8, 1));
    expect_nan(ulb_effective_bandwidth(-1, 8, 1));
    expect_nan(ulb_effective_bandwidth(NAN, 8, 1));
    expect_nan(ulb_effective_bandwidth(INFINITY, 8, 1));
    expect_nan(ulb_effective_bandwidth(1, 8, 0));
    expect_nan(ulb_effective_bandwidth(1, 8, NAN));
}

static void test_platform(void **state)
{
    (void)state;
    struct ulb_platform platform = small_platform();
    const struct ulb_platform_gamma *int2 = ulb_platform_gamma_find(&platform, "int2", "pshufb");
    const struct ulb_platform_gamma *int1 = ulb_platform_gamma_find(&platform, "int1", NULL);
    assert_ptr_equal(int2, &platform.gammas[0]);
    assert_ptr_equal(int1, &platform.gammas[1]);
    assert_null(ulb_platform_gamma_find(&platform, "int2", "blend"));
    assert_null(ulb_platform_gamma_find(&platform, "int4", NULL));

    expect(ulb_platform_beta(&platform, 0), 2);
    expect(ulb_platform_beta(&platform, 1), 4);
    /* int2: ceilings 8 and 4, so both classes stay at beta. */
    expect(ulb_platform_core_bandwidth(&platform, int2, 0), 10e9);
    expect(ulb_platform_core_bandwidth(&platform, int2, 1), 10e9);
    expect(ulb_platform_bandwidth(&platform, int2), 60e9);
    /* int1: ceilings 1 and 2: 5 GB/s from each core of either class. */
    expect(ulb_platform_core_bandwidth(&platform, int1, 0), 5e9);
    expect(ulb_platform_core_bandwidth(&platform, int1, 1), 5e9);
    expect(ulb_platform_bandwidth(&platform, int1), 30e9);
    /* 64 x 100 weights are 200 steps, 1600 bytes of int2, 800 of int1. */
    expect(ulb_platform_gemv_seconds(&platform, int2, 6400), 1600 / 60e9);
    expect(ulb_platform_gemv_seconds(&platform, int1, 6400), 800 / 30e9);
    assert_true(ulb_platform_gemv_seconds(&platform, int1, 0) == 0);
}

static void test_platform_outside_its_domain(void **state)
{
    (void)state;
    struct ulb_platform platform = small_platform();
    const struct ulb_platform_gamma *int2 = &platform.gammas[0];
    expect_nan(ulb_platform_beta(&platform, 2));
    expect_nan(ulb_platform_gemv_seconds(&platform, int2, -1));
    expect_nan(ulb_platform_gemv_seconds(&platform, int2, NAN));

    platform.gammas[0].cycles[1] = 0;
    expect_nan(ulb_platform_core_bandwidth(&platform, int2, 1));
    expect_nan(ulb_platform_bandwidth(&platform, int2));
    expect_nan(ulb_platform_gemv_seconds(&platform, int2, 6400));

    platform = small_platform();
    platform.bandwidth = 0;
    expect_nan(ulb_platform_beta(&platform, 0));
    expect_nan(ulb_platform_core_bandwidth(&platform, int2, 0));
    platform = small_platform();
    platform.classes[0].hz = 0;
    expect_nan(ulb_platform_beta(&platform, 0));
    expect_nan(ulb_platform_bandwidth(&platform, int2));
    platform = small_platform();
    platform.classes[0].cores = platform.classes[1].cores = 0;
    expect_nan(ulb_platform_beta(&platform, 0));
    platform.n_classes = 0;
    expect_nan(ulb_platform_bandwidth(&platform, int2));
}

static void test_amdahl(void **state)
{
    (void)state;
    expect(ulb_amdahl(0, 8), 1);
    expect(ulb_amdahl(1, 8), 8);
    expect(ulb_amdahl(0.8, 4), 2.5);
    expect(ulb_amdahl(0.5, 0.5), 1 / 1.5); /* a slow-down */
    expect_nan(ulb_amdahl(-0.1, 8));
    expect_nan(ulb_amdahl(1.1, 8));
    expect_nan(ulb_amdahl(NAN, 8));
    expect_nan(ulb_amdahl(0.5, 0));
    expect_nan(ulb_amdahl(0.5, INFINITY));

    expect(ulb_amdahl_alpha(2.5, 4), 0.8);
    expect(ulb_amdahl_alpha(8, 8), 1);
    assert_true(ulb_amdahl_alpha(1, 8) == 0);
    expect(ulb_amdahl_alpha(1 / 1.5, 0.5), 0.5);
    expect_nan(ulb_amdahl_alpha(9, 8));   /* more than x */
    expect_nan(ulb_amdahl_alpha(0.9, 8)); /* a slow-down from a speed-up */
    expect_nan(ulb_amdahl_alpha(1, 1));
    expect_nan(ulb_amdahl_alpha(0, 8));
    expect_nan(ulb_amdahl_alpha(NAN, 8));
    expect_nan(ulb_amdahl_alpha(2, NAN));
}

static const struct ulb_gemv_work even_work = {.bytes = 8e6,
                                               .steps = 1e6,
                                               .threads = 4,
                                               .slowest_share = 0.25,
                                               .hz = 2e9,
                                               .beta = 2,
                                               .gamma = 1,
                                               .fork_join_s = 1e-6};

static void test_gemv(void **state)
{
    (void)state;
    /* 2e6 bytes at 4 GB/s; 250,000 steps at 2e9 per second. */
    struct ulb_gemv_prediction p = ulb_predict_gemv(&even_work);
    expect(p.memory_s, 500e-6);
    expect(p.compute_s, 125e-6);
    expect(p.seconds, 501e-6);
    assert_int_equal(p.bound, ULB_BOUND_MEMORY);

    struct ulb_gemv_work work = even_work;
    work.gamma = 8;
    p = ulb_predict_gemv(&work);
    expect(p.compute_s, 1e-3);
    expect(p.seconds, 1.001e-3);
    assert_int_equal(p.bound, ULB_BOUND_COMPUTE);

    work = even_work;
    work.slowest_share = 0.5; /* one thread does half of it */
    expect(ulb_predict_gemv(&work).seconds, 1.001e-3);

    work = even_work;
    work.fork_join_s = 600e-6;
    p = ulb_predict_gemv(&work);
    expect(p.seconds, 1.1e-3);
    assert_int_equal(p.bound, ULB_BOUND_OVERHEAD);

    work = even_work;
    work.threads = 3;
    work.slowest_share = 1.0 / 3;
    expect(ulb_predict_gemv(&work).memory_s, 8e6 / 3 / 4e9);

    work = even_work;
    work.bytes = work.steps = 0;
    p = ulb_predict_gemv(&work);
    expect(p.seconds, 1e-6);
    assert_int_equal(p.bound, ULB_BOUND_OVERHEAD);
}

static void test_gemv_outside_its_domain(void **state)
{
    (void)state;
    struct ulb_gemv_work work;
#define EXPECT_REFUSED(field, value)                                                                         \
    work = even_work;                                                                                        \
    work.field = value;                                                                                      \
    expect_nan(ulb_predict_gemv(&work).seconds);                                                             \
    expect_nan(ulb_predict_gemv(&work).memory_s);                                                            \
    expect_nan(ulb_predict_gemv(&work).compute_s)
    EXPECT_REFUSED(bytes, -1);
    EXPECT_REFUSED(bytes, NAN);
    EXPECT_REFUSED(steps, INFINITY);
    EXPECT_REFUSED(threads, 0);
    EXPECT_REFUSED(threads, 2); /* two threads, and the slower has a quarter */
    EXPECT_REFUSED(slowest_share, 1.5);
    EXPECT_REFUSED(slowest_share, NAN);
    EXPECT_REFUSED(hz, 0);
    EXPECT_REFUSED(beta, 0);
    EXPECT_REFUSED(beta, NAN);
    EXPECT_REFUSED(gamma, 0);
    EXPECT_REFUSED(gamma, NAN);
    EXPECT_REFUSED(fork_join_s, -1e-9);
    EXPECT_REFUSED(fork_join_s, NAN);
#undef EXPECT_REFUSED
}

static struct ulb_device_work device_work(double bytes, double operations)
{
    return (struct ulb_device_work){bytes, operations, 2e-6, 456e9, 200e12, 0, 0};
}

/* IV-C: a launch of 2 us on top of what is longer, reading or computing. */
static void test_device(void **state)
{
    (void)state;
    const struct ulb_device_work reads = device_work(4.56e6, 1e9), computes = device_work(4.56e6, 8e9),
                                 launches = device_work(4.56e5, 2e7), nothing = device_work(0, 0);
    struct ulb_device_prediction p = ulb_predict_device(&reads);
    assert_true(fabs(p.seconds - 12e-6) < 1e-12 && p.bound == ULB_BOUND_MEMORY);
    assert_true(fabs(p.memory_s - 10e-6) < 1e-12 && fabs(p.compute_s - 5e-6) < 1e-12);
    p = ulb_predict_device(&computes);
    assert_true(fabs(p.seconds - 42e-6) < 1e-12 && p.bound == ULB_BOUND_COMPUTE);
    p = ulb_predict_device(&launches);
    assert_true(fabs(p.seconds - 3e-6) < 1e-12 && p.bound == ULB_BOUND_OVERHEAD);
    struct ulb_device_work rounds = device_work(4.56e6, 1e9);
    rounds.quantise = 3e7;
    rounds.vector = 1e12;
    p = ulb_predict_device(&rounds);
    assert_true(fabs(p.seconds - 32e-6) < 1e-12 && fabs(p.quantise_s - 30e-6) < 1e-12 &&
                p.bound == ULB_BOUND_COMPUTE);
    p = ulb_predict_device(&nothing);
    assert_true(p.seconds == 2e-6 && p.bound == ULB_BOUND_OVERHEAD);
}

static void test_device_outside_its_domain(void **state)
{
    (void)state;
    struct ulb_device_work work;
#define EXPECT_REFUSED(field, value)                                                                         \
    work = device_work(1e6, 1e6);                                                                            \
    work.field = value;                                                                                      \
    expect_nan(ulb_predict_device(&work).seconds)
    EXPECT_REFUSED(bytes, -1);
    EXPECT_REFUSED(bytes, NAN);
    EXPECT_REFUSED(operations, INFINITY);
    EXPECT_REFUSED(launch_s, -1e-9);
    EXPECT_REFUSED(launch_s, NAN);
    EXPECT_REFUSED(beta, 0);
    EXPECT_REFUSED(beta, NAN);
    EXPECT_REFUSED(peak, 0);
    EXPECT_REFUSED(peak, NAN);
#undef EXPECT_REFUSED
    /* Without anything to compute no peak is needed. */
    work = device_work(4.56e6, 0);
    work.peak = NAN;
    assert_true(ulb_predict_device(&work).seconds > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_roofline_outside_its_domain),
        cmocka_unit_test(test_platform),
        cmocka_unit_test(test_platform_outside_its_domain),
        cmocka_unit_test(test_amdahl),
        cmocka_unit_test(test_gemv),
        cmocka_unit_test(test_gemv_outside_its_domain),
        cmocka_unit_test(test_device),
        cmocka_unit_test(test_device_outside_its_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
