/* The overlap of memory and compute time: its arithmetic by hand, and that a fit finds what points were made
 * with. */
#include "models/models.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { POINTS = 5 };

static void expect_near(double value, double wanted, double relative)
{
    if (!(fabs(value - wanted) <= relative * fabs(wanted) + 1e-18))
        fail_msg("%.17g, wanted %.17g", value, wanted);
}

/* Two threads at 2 GHz read 4 bytes a cycle in all; gamma makes compute the longer term from 2 on. */
static struct ulb_gemv_prediction plain_of(double m, double k, double gamma)
{
    struct ulb_gemv_work work = {.bytes = m * k / 4,
                                 .steps = m * k / 32,
                                 .threads = 2,
                                 .slowest_share = 0.5,
                                 .hz = 2e9,
                                 .beta = 2,
                                 .gamma = gamma,
                                 .fork_join_s = 0.5e-6};
    return ulb_predict_gemv(&work);
}

/* Short rows, long rows, few rows, and two between. */
static void make_points(struct ulb_overlap_point points[POINTS], double gamma,
                        const struct ulb_overlap *truth)
{
    static const double shapes[POINTS][2] = {
        {8192, 1792}, {2048, 7168}, {512, 1792}, {4096, 3584}, {2048, 2048}};
    for (int i = 0; i < POINTS; i++) {
        points[i].plain = plain_of(shapes[i][0], shapes[i][1], gamma);
        points[i].tiles = shapes[i][0] / 32 / 2;
        points[i].columns = shapes[i][1];
        points[i].seconds = ulb_predict_overlap(&points[i].plain, points[i].tiles, points[i].columns, truth);
    }
}

static void test_by_hand(void **state)
{
    (void)state;
    /* 2 MiB at 8e9 bytes/s: 262.144 us; 262144 steps of 1 cycle on two threads at 2 GHz: 65.536 us. */
    struct ulb_gemv_prediction plain = plain_of(4096, 2048, 1);
    expect_near(plain.memory_s, 262.144e-6, 1e-12);
    expect_near(plain.compute_s, 65.536e-6, 1e-12);
    expect_near(plain.shorter_s, 65.536e-6, 1e-12);
    struct ulb_overlap overlap = {.c = 0.25, .tile_s = 0.1e-6, .call_s = 2e-6, .column_s = 1e-9};
    expect_near(ulb_predict_overlap(&plain, 64, 2048, &overlap),
                0.5e-6 + 262.144e-6 + 16.384e-6 + 6.4e-6 + 2e-6 + 2.048e-6, 1e-12);
    overlap = (struct ulb_overlap){0};
    expect_near(ulb_predict_overlap(&plain, 64, 2048, &overlap), plain.seconds, 1e-15);
    overlap.c = 1; /* the sum */
    expect_near(ulb_predict_overlap(&plain, 0, 0, &overlap), 0.5e-6 + plain.memory_s + plain.compute_s,
                1e-12);
    /* Bound by compute, the memory is the shorter term. */
    plain = plain_of(4096, 2048, 8);
    expect_near(plain.shorter_s, plain.memory_s, 1e-15);
}

static void test_outside_its_domain(void **state)
{
    (void)state;
    struct ulb_gemv_prediction plain = plain_of(4096, 2048, 1);
    struct ulb_overlap overlap = {.c = 0.25};
    assert_true(isnan(ulb_predict_overlap(&plain, -1, 1, &overlap)));
    assert_true(isnan(ulb_predict_overlap(&plain, 1, NAN, &overlap)));
    overlap.c = -1e6;
    assert_true(isnan(ulb_predict_overlap(&plain, 1, 1, &overlap)));
    overlap.c = NAN;
    assert_true(isnan(ulb_predict_overlap(&plain, 1, 1, &overlap)));
    overlap.c = 0;
    plain = plain_of(4096, 2048, NAN);
    assert_true(isnan(plain.shorter_s) && isnan(ulb_predict_overlap(&plain, 1, 1, &overlap)));

    struct ulb_overlap truth = {.c = 0.5, .tile_s = 1e-7, .call_s = 1e-6};
    struct ulb_overlap_point points[POINTS];
    make_points(points, 1, &truth);
    assert_true(isnan(ulb_overlap_fit(points, 2, false).c));
    points[1].seconds = 0;
    assert_true(isnan(ulb_overlap_fit(points, POINTS, false).c));
    make_points(points, 1, &truth);
    points[2].plain = plain;
    assert_true(isnan(ulb_overlap_fit(points, POINTS, false).tile_s));
    assert_true(isnan(ulb_overlap_refit(points, 0, &truth)));
}

static void test_fit_finds_what_was_put_in(void **state)
{
    (void)state;
    static const struct ulb_overlap truths[] = {{.c = 0.1, .tile_s = 0.2e-6, .call_s = 0.5e-6},
                                                {.c = 0.9},
                                                {.c = 1.4, .tile_s = 1e-9},
                                                {.c = -0.1, .call_s = 3e-6}};
    for (size_t t = 0; t < sizeof truths / sizeof *truths; t++) {
        for (size_t n = 3; n <= POINTS; n++) {
            for (double gamma = 1; gamma < 20; gamma *= 3) {
                struct ulb_overlap_point points[POINTS];
                make_points(points, gamma, &truths[t]);
                struct ulb_overlap found = ulb_overlap_fit(points, n, false);
                expect_near(found.c, truths[t].c, 1e-9);
                assert_true(fabs(found.tile_s - truths[t].tile_s) < 1e-15);
                assert_true(fabs(found.call_s - truths[t].call_s) < 1e-13);
                assert_true(found.column_s == 0);
                expect_near(ulb_overlap_refit(points, n, &found), truths[t].c, 1e-9);
            }
        }
    }
}

static void test_tables_cost_by_column(void **state)
{
    (void)state;
    struct ulb_overlap truth = {.c = 0.6, .column_s = 2e-9};
    struct ulb_overlap_point points[POINTS];
    make_points(points, 1, &truth);
    struct ulb_overlap found = ulb_overlap_fit(points, POINTS, true);
    expect_near(found.c, 0.6, 1e-9);
    expect_near(found.column_s, 2e-9, 1e-9);
    assert_true(found.call_s == 0 && found.tile_s < 1e-15);
}

/* A cost below 0 is none: the rest is fitted without it. */
static void test_costs_are_not_negative(void **state)
{
    (void)state;
    struct ulb_overlap truth = {.c = 0.5, .tile_s = -0.05e-6, .call_s = 1e-6};
    struct ulb_overlap_point points[POINTS];
    make_points(points, 1, &truth);
    struct ulb_overlap found = ulb_overlap_fit(points, POINTS, false);
    assert_true(found.tile_s == 0 && found.call_s >= 0);
    assert_true(found.c < 0.5 && found.c > 0.2);
    truth = (struct ulb_overlap){.c = 0.5, .tile_s = 0.1e-6, .call_s = -1e-6};
    make_points(points, 1, &truth);
    found = ulb_overlap_fit(points, POINTS, false);
    assert_true(found.call_s == 0 && found.tile_s > 0);
}

/* Two unknowns that no point tells apart: still a fit, with fewer of them. */
static void test_points_of_one_shape(void **state)
{
    (void)state;
    struct ulb_overlap truth = {.c = 0.5, .tile_s = 0.1e-6};
    struct ulb_overlap_point points[POINTS];
    make_points(points, 1, &truth);
    for (int i = 1; i < POINTS; i++)
        points[i] = points[0];
    struct ulb_overlap found = ulb_overlap_fit(points, POINTS, false);
    assert_true(isfinite(found.c) && isfinite(found.tile_s) && isfinite(found.call_s));
    expect_near(ulb_predict_overlap(&points[0].plain, points[0].tiles, points[0].columns, &found),
                points[0].seconds, 1e-9);
}

static void test_refit_takes_costs_as_given(void **state)
{
    (void)state;
    struct ulb_overlap truth = {.c = 0.5, .tile_s = 0.1e-6, .call_s = 1e-6};
    struct ulb_overlap_point points[POINTS];
    make_points(points, 1, &truth);
    for (int i = 0; i < POINTS; i++)
        points[i].seconds += 0.1 * points[i].plain.shorter_s;
    expect_near(ulb_overlap_refit(points, POINTS, &truth), 0.6, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_outside_its_domain),
        cmocka_unit_test(test_fit_finds_what_was_put_in),
        cmocka_unit_test(test_tables_cost_by_column),
        cmocka_unit_test(test_costs_are_not_negative),
        cmocka_unit_test(test_points_of_one_shape),
        cmocka_unit_test(test_refit_takes_costs_as_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
