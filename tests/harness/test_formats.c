/* What formats keep of normal weights, against what is known of them. */
#include "harness/formats.h"
#include "kernels/quantise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct ulb_format *format_of(const char *name)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernels[i]->layout->format->name, name) == 0)
            return ulb_kernels[i]->layout->format;
    }
    fail_msg("no format %s", name);
    return NULL;
}

static struct ulb_format_error error_of(const struct ulb_format *format)
{
    struct ulb_format_error error;
    struct ulb_error err;
    assert_int_equal(ulb_format_error(format, 16, 4096, 1, &error, &err), ULB_OK);
    return error;
}

/* E|w| = sqrt(2 / pi) of a normal weight, so that of {-E|w|, E|w|} the mean squared error is 1 - 2 / pi. */
static void one_bit_error_is_that_of_theory(void **state)
{
    (void)state;
    assert_true(fabs(error_of(format_of("int1")).rmse - sqrt(1 - 2 / 3.14159265)) < 0.005);
}

/* The best quantisers of equal steps have mean squared errors of 0.1188 with 4 levels and 0.01154 with 16
 * (Max 1960, table II): 0.3447 and 0.1074 are what no scale of a whole row can beat. */
static void no_error_is_below_the_best_uniform_quantiser(void **state)
{
    (void)state;
    assert_in_range((int)(1e4 * error_of(format_of("int2")).rmse), 3440, 4200);
    assert_in_range((int)(1e4 * error_of(format_of("int4")).rmse), 1060, 1200);
}

/* More bits, and scales for fewer columns, keep more. */
static void errors_fall_with_bits_and_groups(void **state)
{
    (void)state;
    static const char *const names[] = {"int1", "int2", "int3", "int4", "int8"};
    for (size_t i = 1; i < sizeof names / sizeof *names; i++)
        assert_true(error_of(format_of(names[i])).rmse < error_of(format_of(names[i - 1])).rmse);
    static const unsigned columns[] = {4096, 256, 128, 64, 32};
    double last = INFINITY;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        struct ulb_format format = *format_of("int4");
        format.group = columns[i];
        double now = error_of(&format).rmse;
        assert_true(now < last);
        last = now;
    }
}

/* What a format holds already comes back as it is. */
static void values_of_the_format_are_kept(void **state)
{
    (void)state;
    const float weights[8] = {-8, 7, 3, -1, 0, 5, -8, 2}, ternary[4] = {1, -1, 0, 0};
    int16_t values[8];
    float scale;
    ulb_quantise_row(format_of("int4"), weights, 8, values, &scale, NULL);
    float back[8];
    ulb_dequantise_row(format_of("int4"), values, &scale, NULL, 8, back);
    for (int i = 0; i < 8; i++)
        assert_true(fabsf(back[i] - weights[i]) <= 0.6f);
    ulb_quantise_row(format_of("tern2"), ternary, 4, values, &scale, NULL);
    assert_true(scale == 0.5f);
    const int16_t expected[4] = {1, -1, 0, 0};
    assert_memory_equal(values, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bit_error_is_that_of_theory),
        cmocka_unit_test(no_error_is_below_the_best_uniform_quantiser),
        cmocka_unit_test(errors_fall_with_bits_and_groups),
        cmocka_unit_test(values_of_the_format_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
