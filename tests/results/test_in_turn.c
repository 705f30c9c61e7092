/* Builds measured in turn: which kernels changed, which need more sessions, and which cannot be judged. */
#include "results/compare/in_turn.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

enum { KERNELS = 12, SHAPES = 2, CELLS = KERNELS * SHAPES, SESSIONS_MAX = 7 };

static struct ulb_turn_cell cells[CELLS];
static double effects[CELLS][SESSIONS_MAX];
static struct ulb_comparison comparison;
static struct ulb_error err;

/* Every kernel as fast as before but for a scatter between sessions, up to share either way. */
static int set_up(size_t sessions, double share)
{
    for (size_t c = 0; c < CELLS; c++) {
        cells[c] = (struct ulb_turn_cell){.m = (size_t)64 << c % SHAPES,
                                          .k = 256,
                                          .in_base = true,
                                          .in_fresh = true,
                                          .base_us = 10,
                                          .fresh_us = 10,
                                          .effects = effects[c],
                                          .n_sessions = sessions,
                                          .rounds = 16 * sessions};
        snprintf(cells[c].kernel, sizeof cells[c].kernel, "kernel%02zu", c / SHAPES);
        for (size_t s = 0; s < sessions; s++)
            effects[c][s] = share * ((double)((c * 7 + s * 13) % 11) / 5 - 1);
    }
    return 0;
}

/* Makes a kernel slower in one session, or in all. */
static void slow(size_t kernel, double factor, size_t from, size_t to)
{
    for (size_t c = kernel * SHAPES; c < (kernel + 1) * SHAPES; c++) {
        for (size_t s = from; s < to; s++)
            effects[c][s] += log(factor);
    }
}

static enum ulb_status answer(double must_see, const char *allow_missing)
{
    const struct ulb_compare_settings settings = {
        .threshold = NAN, .must_see = must_see, .allow_missing = allow_missing};
    ulb_comparison_free(&comparison);
    enum ulb_status status = ulb_compare_in_turn(cells, CELLS, &settings, &comparison, &err);
    assert_int_equal(status, ULB_OK);
    return ulb_comparison_status(&comparison, &err);
}

static const struct ulb_kernel_change *find(const char *name)
{
    for (size_t i = 0; i < comparison.n_kernels; i++) {
        if (strcmp(comparison.kernels[i].kernel, name) == 0)
            return &comparison.kernels[i];
    }
    fail_msg("no kernel %s", name);
    return NULL;
}

static void one_build_has_not_changed(void **state)
{
    (void)state;
    set_up(3, 0.02);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_OK);
    assert_int_equal(comparison.n_kernels, KERNELS);
    assert_int_equal(comparison.count[ULB_SAME], CELLS);
    assert_int_equal(comparison.sessions, 3);
    for (size_t i = 0; i < KERNELS; i++)
        assert_true(comparison.kernels[i].smallest_detectable <= ULB_MUST_SEE_IN_TURN);
}

static void ten_percent_are_found(void **state)
{
    (void)state;
    for (size_t kernel = 0; kernel < KERNELS; kernel++) {
        set_up(5, 0.02);
        slow(kernel, 1.1, 0, 5);
        assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_FINDING);
        assert_int_equal(comparison.count[ULB_REGRESSED], SHAPES);
        assert_string_equal(comparison.kernels[0].kernel, cells[kernel * SHAPES].kernel);
        assert_false(comparison.kernels[0].open);
    }
}

/* All of them: nothing is explained away as the machine, which both builds shared. */
static void all_slower_is_found(void **state)
{
    (void)state;
    set_up(5, 0.02);
    for (size_t kernel = 0; kernel < KERNELS; kernel++)
        slow(kernel, 1.1, 0, 5);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_FINDING);
    assert_int_equal(comparison.count[ULB_REGRESSED], CELLS);
    assert_float_equal(comparison.common, 0.1, 0.02);
}

/* A session whose code lies badly is no change, but worth another look. */
static void one_session_is_luck(void **state)
{
    (void)state;
    set_up(5, 0.01);
    slow(4, 1.2, 2, 3);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_OK);
    assert_int_equal(find("kernel04")->verdict, ULB_SAME);
}

static void suspects_get_more_sessions(void **state)
{
    (void)state;
    set_up(3, 0.01);
    slow(4, 1.1, 0, 3);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_FINDING);
    assert_true(ulb_kernel_is_open(&comparison, "kernel04"));
    assert_false(ulb_kernel_is_open(&comparison, "kernel05"));
}

static void too_few_sessions_are_blind(void **state)
{
    (void)state;
    set_up(1, 0.01);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_UNDECIDED);
    assert_int_equal(comparison.blind, KERNELS);
    assert_true(ulb_kernel_is_open(&comparison, "kernel00"));
    assert_non_null(strstr(err.message, "--max-minutes"));
}

static void scattered_sessions_are_blind(void **state)
{
    (void)state;
    set_up(7, 0.4);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_UNDECIDED);
    assert_true(comparison.kernels[0].open);
}

static void improvements_pass(void **state)
{
    (void)state;
    set_up(5, 0.01);
    slow(3, 0.8, 0, 5);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_OK);
    assert_int_equal(find("kernel03")->verdict, ULB_IMPROVED);
}

/* One shape alone must stand out twice as far. */
static void one_shape_is_found(void **state)
{
    (void)state;
    set_up(5, 0.01);
    for (size_t s = 0; s < 5; s++)
        effects[9][s] += log(1.2);
    effects[8][0] -= log(1.2) / 1000;
    for (size_t s = 0; s < 5; s++)
        effects[8][s] -= log(1.12);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_FINDING);
    assert_int_equal(find("kernel04")->verdict, ULB_SAME);
    assert_string_equal(comparison.cells[0].key, "kernel04 128x256");
}

static void missing_kernels_fail(void **state)
{
    (void)state;
    set_up(3, 0.01);
    for (size_t c = 0; c < SHAPES; c++) {
        cells[c].in_fresh = false;
        cells[c].n_sessions = 0;
        cells[CELLS - 1 - c].in_base = false;
        cells[CELLS - 1 - c].n_sessions = 0;
    }
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, NULL), ULB_FINDING);
    assert_int_equal(comparison.missing, SHAPES);
    assert_int_equal(comparison.count[ULB_NEW], SHAPES);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, "kernel00"), ULB_OK);
    assert_int_equal(answer(ULB_MUST_SEE_IN_TURN, "kernel07"), ULB_FINDING);
}

static int tear_down(void **state)
{
    (void)state;
    ulb_comparison_free(&comparison);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_build_has_not_changed),    cmocka_unit_test(ten_percent_are_found),
        cmocka_unit_test(all_slower_is_found),          cmocka_unit_test(one_session_is_luck),
        cmocka_unit_test(suspects_get_more_sessions),   cmocka_unit_test(too_few_sessions_are_blind),
        cmocka_unit_test(scattered_sessions_are_blind), cmocka_unit_test(improvements_pass),
        cmocka_unit_test(one_shape_is_found),           cmocka_unit_test(missing_kernels_fail),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
