/* What formats keep of normal weights, against what is known of them. */
#include "harness/compute/format_table.h"
#include "harness/compute/outlier_error.h"
#include "kernels/quantise/quantise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* NULL: of a build of few kernels. */
static const struct ulb_format *built_format(const char *name)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernels[i]->layout->format->name, name) == 0)
            return ulb_kernels[i]->layout->format;
    }
    return NULL;
}

static const struct ulb_format *format_of(const char *name)
{
    const struct ulb_format *format = built_format(name);
    if (!format)
        fail_msg("no format %s", name);
    return format;
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

/* What each format keeps stays what it is: a quantiser that leaves a level out, or a block's scale that is
 * rounded coarsely, computes products that agree with the reference all the same. */
static void errors_of_formats_stay(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        double rmse;
    } known[] = {
        {"fp16", 0.00021},     {"bf16", 0.00166},      {"int8", 0.00885},     {"int8g32", 0.00538},
        {"int8g64", 0.00595},  {"int8g128", 0.00645},  {"int4", 0.10869},     {"int4g32", 0.08679},
        {"int4g64", 0.09504},  {"int4g128", 0.10118},  {"int3", 0.20154},     {"int2", 0.38628},
        {"int2g32", 0.36994},  {"int2g64", 0.37793},   {"int2g128", 0.38223}, {"tern2", 0.51381},
        {"tern1.6", 0.51381},  {"int1", 0.60416},      {"i2_s", 0.51381},     {"tl1", 0.51381},
        {"tl2", 0.51381},      {"q4_0", 0.08602},      {"q4_k", 0.07843},     {"q4_1", 0.07823},
        {"q5_0", 0.04269},     {"q5_1", 0.03780},      {"q8_0", 0.00538},     {"q2_k", 0.32920},
        {"q3_k", 0.15504},     {"q5_k", 0.03820},      {"q6_k", 0.01878},     {"tq1_0", 0.80371},
        {"tq2_0", 0.80371},    {"mxfp4", 0.11491},     {"iq4_nl", 0.07981},   {"u1", 0.87344},
        {"u2", 0.42085},       {"u3", 0.20751},        {"u4", 0.10324},       {"u5", 0.05124},
        {"u6", 0.02560},       {"u7", 0.01282},        {"u8", 0.00641},       {"u1z", 0.99097},
        {"u2z", 0.50159},      {"u3z", 0.21516},       {"u4z", 0.10060},      {"u5z", 0.04849},
        {"u6z", 0.02389},      {"u7z", 0.01186},       {"u8z", 0.00592},      {"woq4g32", 0.08602},
        {"woq4g64", 0.09512},  {"woq4g128", 0.10324},  {"woq4g256", 0.11011}, {"woq4zg128", 0.10060},
        {"woq8g128", 0.00641}, {"woq8zg128", 0.00592}, {"woq8", 0.00885},     {"woq4", 0.10869},
        {"woq8z", 0.00833},    {"woq4z", 0.14151},     {"nf4", 0.09213},      {"fp4", 0.10572},
    };
    size_t checked = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct ulb_format *format = built_format(known[i].format);
        double now = format ? error_of(format).rmse : NAN;
        if (format && !(fabs(now / known[i].rmse - 1) < 0.02))
            fail_msg("the error of %s was %g, and is %g", known[i].format, known[i].rmse, now);
        checked += format != NULL;
    }
    assert_true(checked >= 5);
}

static struct ulb_outlier_error outlier_error_of(const char *format, enum ulb_activation activation)
{
    struct ulb_outlier_error error;
    struct ulb_error err;
    assert_int_equal(ulb_outlier_error(format_of(format), activation, 1, &error, &err), ULB_OK);
    return error;
}

/* The step of a token is its largest outlier over 127: 1.5, of the largest of 8 normal numbers times 100.
 * Each other channel is off by step^2 / 12 in the mean square, where products have the variance 84,088. */
static void outliers_coarsen_the_other_channels(void **state)
{
    (void)state;
    double plain = outlier_error_of("int8", ULB_ACT_A8).plain, theory = sqrt(4088 * 1.5 * 1.5 / 12 / 84088);
    assert_true(fabs(plain / theory - 1) < 0.3);
    /* A scale for each 32 columns: 120 of 128 groups have no outlier. */
    assert_true(outlier_error_of("int8", ULB_ACT_Q8_0).plain < 0.5 * plain);
}

/* Outliers that move into 8-bit weights are halved there; what 1-bit weights keep of them is next to nothing.
 */
static void smoothing_helps_eight_bits_alone(void **state)
{
    (void)state;
    struct ulb_outlier_error eight = outlier_error_of("int8", ULB_ACT_A8);
    struct ulb_outlier_error one = outlier_error_of("int1", ULB_ACT_A8);
    assert_true(eight.smoothed > 0 && eight.smoothed < 0.5 * eight.plain);
    assert_true(one.smoothed > one.plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_bit_error_is_that_of_theory),
        cmocka_unit_test(no_error_is_below_the_best_uniform_quantiser),
        cmocka_unit_test(errors_fall_with_bits_and_groups),
        cmocka_unit_test(values_of_the_format_are_kept),
        cmocka_unit_test(errors_of_formats_stay),
        cmocka_unit_test(outliers_coarsen_the_other_channels),
        cmocka_unit_test(smoothing_helps_eight_bits_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
