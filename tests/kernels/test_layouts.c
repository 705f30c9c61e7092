/* Layouts, quantisation and the scalar truths themselves. */
#include "common/bf16.h"
#include "harness/problem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every code of a tile has bits of its own and the tile has no unused bit. */
static void tiles_are_covered_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_layout *layout = ulb_kernels[i]->layout;
        if (layout->pack_tile) /* no fields: the round trip says it all */
            continue;
        unsigned bits = (unsigned)layout->format->bits, total = layout->tile_m * layout->tile_k * bits;
        unsigned char *used = calloc(total, 1);
        assert_non_null(used);
        assert_int_equal(total % 8, 0);
        for (unsigned row = 0; row < layout->tile_m; row++) {
            for (unsigned col = 0; col < layout->tile_k; col++) {
                for (unsigned bit = 0; bit < bits; bit++) {
                    unsigned at = layout->bit_offset(row, col) + bit;
                    assert_in_range(at, 0, total - 1);
                    assert_int_equal(used[at]++, 0);
                }
            }
        }
        free(used);
    }
}

static void pack_and_unpack_round_trip(void **state)
{
    (void)state;
    static const struct {
        size_t m, k;
    } shapes[] = {{1, 1}, {33, 7}, {64, 64}, {65, 1601}, {7, 5460}};
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_layout *layout = ulb_kernels[i]->layout;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            struct ulb_problem problem;
            struct ulb_error err;
            size_t m = shapes[s].m, k = shapes[s].k, groups = ulb_groups(layout->format, k);
            assert_int_equal(ulb_problem_open(&problem, layout->format, m, k, ULB_FILL_RANDOM, 7, NULL, &err),
                             ULB_OK);
            void *packed = aligned_alloc(64, ulb_layout_bytes(layout, m, k));
            struct ulb_matrix back = {m, k, calloc(m * k, sizeof(int16_t)),
                                      calloc(m * groups, sizeof(float))};
            assert_true(packed && back.values && back.scales);
            ulb_problem_pack(&problem, layout, packed, NULL);
            ulb_layout_unpack(layout, packed, &back);
            assert_memory_equal(back.values, problem.weights.values, m * k * sizeof(int16_t));
            if (!layout->format->floating)
                assert_memory_equal(back.scales, problem.weights.scales, m * groups * sizeof(float));
            free(back.values);
            free(back.scales);
            free(packed);
            ulb_problem_close(&problem);
        }
    }
}

/* Rows that were copies of each other, shifted or not, would hide a kernel that mixes rows up. */
static void random_rows_have_nothing_in_common(void **state)
{
    (void)state;
    struct ulb_problem problem;
    struct ulb_error err;
    assert_int_equal(
        ulb_problem_open(&problem, ulb_kernels[1]->layout->format, 4, 256, ULB_FILL_RANDOM, 1, NULL, &err),
        ULB_OK);
    const int16_t *values = problem.weights.values;
    for (size_t row = 1; row < 4; row++) {
        for (size_t shift = 0; shift < 16; shift++) {
            assert_memory_not_equal(values + shift, values + row * 256, 64 * sizeof *values);
            assert_memory_not_equal(values, values + row * 256 + shift, 64 * sizeof *values);
        }
    }
    ulb_problem_close(&problem);
}

/* The truth's truth: weights and activations as real numbers, summed in double. */
static double exact(const struct ulb_problem *p, size_t m, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (size_t k = 0; k < p->weights.k; k++) {
        int16_t value = p->weights.values[m * p->weights.k + k];
        unsigned group = p->format->group;
        size_t scale = group ? m * ulb_groups(p->format, p->weights.k) + k / group : m;
        double w = p->format->floating ? (double)ulb_bf16_to_float((uint16_t)value)
                                       : (double)value * (double)p->weights.scales[scale];
        double x = p->activation == ULB_ACT_A8 ? (double)p->x8[k] * (double)p->x_scale[0] : (double)p->xf[k];
        sum += w * x;
        *magnitude += fabs(w * x);
    }
    return sum;
}

static void references_equal_dequantised_doubles(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernels[i]->isa, "ref") != 0)
            continue;
        for (int fill = ULB_FILL_RANDOM; fill <= ULB_FILL_ALTERNATING; fill++) {
            struct ulb_problem problem;
            struct ulb_error err;
            assert_int_equal(ulb_problem_open(&problem, ulb_kernels[i]->layout->format, 19, 1603,
                                              (enum ulb_fill)fill, 3, NULL, &err),
                             ULB_OK);
            for (size_t m = 0; m < problem.weights.m; m++) {
                double magnitude, truth = exact(&problem, m, &magnitude);
                /* An exact integer sum, then two roundings to float. */
                assert_true(fabs((double)problem.expected[m] - truth) <= 3e-7 * magnitude);
            }
            ulb_problem_close(&problem);
        }
    }
}

static void activations_are_quantised_by_their_largest(void **state)
{
    (void)state;
    const float x[6] = {1.0f, -2.0f, 0.5f, 0, 0, 0};
    int8_t q[16];
    float scale[2];
    int32_t sum[2];
    memset(q, 99, sizeof q);
    ulb_quantise_a8(x, 2, 3, 8, q, scale, sum);
    assert_true(fabsf(scale[0] - 2.0f / 127) < 1e-9f);
    assert_int_equal(q[0], 64); /* 63.5 rounds to even */
    assert_int_equal(q[1], -127);
    assert_int_equal(q[2], 32);
    assert_int_equal(sum[0], 64 - 127 + 32);
    for (int i = 3; i < 8; i++)
        assert_int_equal(q[i], 0);
    assert_true(scale[1] == 0.0f);
    assert_int_equal(sum[1], 0);
    for (int i = 8; i < 16; i++)
        assert_int_equal(q[i], 0);
}

static void names_are_unique_and_rows_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *row = ulb_kernels[i];
        char name[ULB_KERNEL_NAME_MAX], other[ULB_KERNEL_NAME_MAX];
        ulb_kernel_name(row, name);
        assert_int_equal(row->abi, ULB_KERNEL_ABI);
        assert_non_null(row->run);
        assert_int_equal(row->mr % row->layout->tile_m, 0);
        assert_int_equal(row->kr % row->layout->tile_k, 0);
        const struct ulb_format *format = row->layout->format;
        double scales = format->group ? 32.0 * sizeof(float) / format->group : 0;
        assert_true(fabs(row->bytes_per_step - 32.0 * format->bits / 8 - scales) < 1e-9);
        assert_non_null(ulb_kernel_reference(row));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name, ulb_kernel_name(ulb_kernels[j], other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_covered_exactly),
        cmocka_unit_test(pack_and_unpack_round_trip),
        cmocka_unit_test(random_rows_have_nothing_in_common),
        cmocka_unit_test(references_equal_dequantised_doubles),
        cmocka_unit_test(activations_are_quantised_by_their_largest),
        cmocka_unit_test(names_are_unique_and_rows_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
