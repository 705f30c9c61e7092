/* Layouts, quantisation and the scalar references themselves. */
#include "common/fp16.h"
#include "harness/verify/test_case.h"
#include "kernels/gguf_block.h"
#include "kernels/float_words.h"
#include "kernels/opencl/device_kernel.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every layout once, with a kernel of its format. */
enum { LAYOUTS_MOST = 1024 };
static struct {
    const struct ulb_layout *layout;
    const struct ulb_kernel *kernel;
} layouts[LAYOUTS_MOST];
static size_t n_layouts;

static void add_layout(const struct ulb_layout *layout, const struct ulb_kernel *kernel)
{
    for (size_t i = 0; i < n_layouts; i++) {
        if (layouts[i].layout == layout)
            return;
    }
    assert_true(n_layouts < LAYOUTS_MOST);
    layouts[n_layouts].layout = layout;
    layouts[n_layouts++].kernel = kernel;
}

/* Of the device kernel's format, where the build has it. */
static void add_device_layout(const struct ulb_layout *layout)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (ulb_kernels[i]->layout->format == layout->format) {
            add_layout(layout, ulb_kernels[i]);
            return;
        }
    }
}

static int list_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++)
        add_layout(ulb_kernels[i]->layout, ulb_kernels[i]);
    for (const struct ulb_device_file *const *file = ulb_device_files; *file; file++) {
        for (size_t i = 0; i < (*file)->n; i++)
            add_device_layout((*file)->kernels[i].layout);
    }
    return 0;
}

/* Every code of a tile has bits of its own and the tile has no unused bit. */
static void tiles_are_covered_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_layouts; i++) {
        const struct ulb_layout *layout = layouts[i].layout;
        /* Without fields the round trip says it all. */
        if (layout->kind != ULB_LAYOUT_FIELDS)
            continue;
        unsigned bits = (unsigned)layout->format->bits, total = layout->tile_m * layout->tile_k * bits;
        unsigned char *used = calloc(total, 1);
        assert_non_null(used);
        assert_int_equal(total % 8, 0);
        for (unsigned row = 0; row < layout->tile_m; row++) {
            for (unsigned col = 0; col < layout->tile_k; col++) {
                for (unsigned bit = 0; bit < bits; bit++) {
                    unsigned at = layout->fields.bit_offset(row, col) + bit;
                    assert_in_range(at, 0, total - 1);
                    assert_int_equal(used[at]++, 0);
                }
            }
        }
        free(used);
    }
}

/* Slice after slice holds all tiles of K once, padded by less than a tile, or a group of columns, for each
 * that is read at once; these are equally long, and a slice begins where the rows of the one before end. */
static void expect_slices(const struct ulb_layout *layout, size_t m, size_t k)
{
    const size_t slices = ulb_layout_slices(layout, k), side = layout->slices ? layout->slices : 1;
    const size_t most = ulb_layout_steps(layout, k), rows = (m + layout->tile_m - 1) / layout->tile_m;
    const size_t grain = layout->format->group ? layout->format->group : layout->tile_k;
    size_t first = 0;
    for (size_t i = 0; i < slices; i++) {
        const struct ulb_slice slice = ulb_layout_slice(layout, m, k, i);
        const struct ulb_slice next = ulb_layout_slice(layout, m, k, i + 1);
        assert_int_equal(slice.first, first);
        assert_int_equal(slice.steps, ulb_layout_slice(layout, m, k, i / side * side).steps);
        assert_in_range(slice.steps, most - 1, most);
        assert_true(layout->slice_tiles == 0 || slice.steps <= layout->slice_tiles);
        assert_true(next.offset >= slice.offset + rows * slice.steps * ulb_layout_tile_bytes(layout));
        first += slice.steps;
    }
    assert_int_equal(first * layout->tile_k, ulb_layout_columns(layout, k));
    assert_in_range(ulb_layout_columns(layout, k), k, k + side * grain - 1);
    assert_int_equal(ulb_layout_slice(layout, m, k, slices).offset, ulb_layout_scales_offset(layout, m, k));
}

static void slices_hold_all_of_k(void **state)
{
    (void)state;
    const size_t columns[] = {1, 24, 896, 1600, 4096, 5460, 8640, 14336, 65536};
    for (size_t i = 0; i < n_layouts; i++) {
        const struct ulb_layout *layout = layouts[i].layout;
        size_t block = layout->format->block ? layout->format->block->columns : 1;
        for (size_t j = 0; j < sizeof columns / sizeof *columns; j++)
            expect_slices(layout, 300, ulb_round_up(columns[j], block));
    }
}

static size_t whole_blocks(const struct ulb_format *format, size_t k)
{
    return format->block ? ulb_round_up(k, format->block->columns) : k;
}

static void open_matrix(const struct ulb_format *format, size_t m, size_t k, struct ulb_matrix *matrix)
{
    *matrix = (struct ulb_matrix){.m = m, .k = k};
    if (format->block) {
        matrix->blocks = calloc(m, ulb_block_row_bytes(format, k));
        assert_non_null(matrix->blocks);
        return;
    }
    matrix->values = calloc(m * k * ulb_words(format), sizeof *matrix->values);
    matrix->scales = calloc(m * ulb_groups(format, k), sizeof *matrix->scales);
    matrix->zeros = format->zeros ? calloc(m * ulb_groups(format, k), sizeof *matrix->zeros) : NULL;
    assert_true(matrix->values && matrix->scales && (!format->zeros || matrix->zeros));
}

static void close_matrix(struct ulb_matrix *matrix)
{
    free(matrix->values);
    free(matrix->scales);
    free(matrix->zeros);
    free(matrix->blocks);
}

static void expect_equal(const struct ulb_format *format, const struct ulb_matrix *a,
                         const struct ulb_matrix *b)
{
    size_t m = a->m, k = a->k;
    if (format->block) {
        assert_memory_equal(a->blocks, b->blocks, m * ulb_block_row_bytes(format, k));
        return;
    }
    assert_memory_equal(a->values, b->values, m * k * ulb_words(format) * sizeof *a->values);
    if (!format->floating)
        assert_memory_equal(a->scales, b->scales, m * ulb_groups(format, k) * sizeof *a->scales);
    if (format->zeros)
        assert_memory_equal(a->zeros, b->zeros, m * ulb_groups(format, k) * sizeof *a->zeros);
}

static void pack_and_unpack_round_trip(void **state)
{
    (void)state;
    static const struct {
        size_t m, k;
    } shapes[] = {{1, 1}, {33, 7}, {64, 64}, {65, 1601}, {7, 5460}};
    for (size_t i = 0; i < n_layouts; i++) {
        const struct ulb_layout *layout = layouts[i].layout;
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            struct ulb_test_case test_case;
            struct ulb_error err;
            size_t m = shapes[s].m, k = whole_blocks(layout->format, shapes[s].k);
            assert_int_equal(
                ulb_test_case_open(&test_case, layouts[i].kernel, m, k, ULB_FILL_RANDOM, 7, NULL, &err),
                ULB_OK);
            void *packed = aligned_alloc(64, ulb_layout_bytes(layout, m, k));
            struct ulb_matrix back;
            open_matrix(layout->format, m, k, &back);
            assert_non_null(packed);
            ulb_test_case_pack(&test_case, layout, packed, NULL);
            ulb_layout_unpack(layout, packed, &back);
            expect_equal(layout->format, &back, &test_case.weights);
            close_matrix(&back);
            free(packed);
            ulb_test_case_close(&test_case);
        }
    }
}

/* Rows that were copies of each other, shifted or not, would hide a kernel that mixes rows up. */
static void random_rows_have_nothing_in_common(void **state)
{
    (void)state;
    struct ulb_test_case test_case;
    struct ulb_error err;
    size_t i = 0; /* of integers: those of blocks come otherwise */
    while (i < ulb_kernel_count &&
           (ulb_kernels[i]->layout->format->block || ulb_kernels[i]->layout->format->floating))
        i++;
    if (i == ulb_kernel_count)
        skip();
    assert_int_equal(ulb_test_case_open(&test_case, ulb_kernels[i], 4, 256, ULB_FILL_RANDOM, 1, NULL, &err),
                     ULB_OK);
    const int16_t *values = test_case.weights.values;
    for (size_t row = 1; row < 4; row++) {
        for (size_t shift = 0; shift < 16; shift++) {
            assert_memory_not_equal(values + shift, values + row * 256, 64 * sizeof *values);
            assert_memory_not_equal(values, values + row * 256 + shift, 64 * sizeof *values);
        }
    }
    ulb_test_case_close(&test_case);
}

/* What integer sums take the weights of a block for. */
static void integer_weights(const struct ulb_block *block, const struct ulb_block_values *values,
                            double *weights)
{
    for (unsigned k = 0; k < block->columns; k++) {
        unsigned g = k / block->group;
        double weight = (double)values->d * values->scale[g] * ulb_block_value(block, values, k) -
                        (double)values->dmin * values->min[g];
        weights[k] = weight * ulb_block_unit(block);
    }
}

/* The weights of row m from column k on as real numbers, a block of them or one; returns how many. */
static size_t weights_at(const struct ulb_test_case *p, size_t m, size_t k,
                         double weights[ULB_BLOCK_COLUMNS_MAX])
{
    const struct ulb_format *format = p->format;
    if (format->block) {
        struct ulb_block_values values;
        size_t columns = format->block->columns;
        format->block->decode(p->weights.blocks + m * ulb_block_row_bytes(format, p->weights.k) +
                                  k / columns * format->block->bytes,
                              &values);
        if (ulb_activation_is_floating(p->x.kind))
            ulb_block_dequantise(format->block, &values, weights);
        else
            integer_weights(format->block, &values, weights);
        return columns;
    }
    const int16_t *value = p->weights.values + (m * p->weights.k + k) * ulb_words(format);
    if (format->floating) {
        weights[0] = (double)ulb_float_of(format->kind, value);
        return 1;
    }
    size_t scale = format->group ? m * ulb_groups(format, p->weights.k) + k / format->group : m;
    int zero = format->zeros ? p->weights.zeros[scale] : 0;
    weights[0] = (double)(*value - zero) * (double)p->weights.scales[scale];
    return 1;
}

/* The reference's own reference: weights and activations as real numbers, summed in double. */
static double exact(const struct ulb_test_case *p, size_t m, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (size_t k = 0; k < p->weights.k;) {
        double weights[ULB_BLOCK_COLUMNS_MAX];
        size_t n = weights_at(p, m, k, weights);
        for (size_t i = 0; i < n; i++, k++) {
            double product = weights[i] * ulb_activations_at(&p->x, 0, k);
            sum += product;
            *magnitude += fabs(product);
        }
    }
    /* Minima cancel much of a weight; what is rounded are its parts. */
    if (p->magnitude)
        *magnitude = (double)p->magnitude[m];
    return sum;
}

static void references_equal_dequantised_doubles(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernels[i]->isa, "ref") != 0)
            continue;
        for (int fill = ULB_FILL_RANDOM; fill <= ULB_FILL_ALTERNATING; fill++) {
            struct ulb_test_case test_case;
            struct ulb_error err;
            size_t k = whole_blocks(ulb_kernels[i]->layout->format, 1603);
            assert_int_equal(
                ulb_test_case_open(&test_case, ulb_kernels[i], 19, k, (enum ulb_fill)fill, 3, NULL, &err),
                ULB_OK);
            for (size_t m = 0; m < test_case.weights.m; m++) {
                double magnitude, reference = exact(&test_case, m, &magnitude);
                /* An exact integer sum, then two roundings to float. */
                assert_true(fabs((double)test_case.expected[m] - reference) <= 3e-7 * magnitude);
            }
            ulb_test_case_close(&test_case);
        }
    }
}

/* One token of three columns, in room for so many. */
static void quantise_three(enum ulb_activation kind, size_t columns, const float *x,
                           struct ulb_activations *a, void **memory)
{
    size_t bytes = ulb_activations_bytes(kind, 1, columns);
    *memory = aligned_alloc(64, bytes);
    assert_non_null(*memory);
    memset(*memory, 99, bytes);
    ulb_activations_place(a, kind, 1, columns, *memory);
    ulb_activations_set(a, 0, x, 3);
}

static void activations_are_quantised_by_their_largest(void **state)
{
    (void)state;
    const float x[3] = {1.0f, -2.0f, 0.5f}, zeros[3] = {0, 0, 0};
    struct ulb_activations a;
    void *memory;
    quantise_three(ULB_ACT_A8, 8, x, &a, &memory);
    const int8_t expected[8] = {64, -127, 32}; /* 63.5 rounds to even */
    assert_memory_equal(a.x, expected, sizeof expected);
    assert_true(fabsf(a.scale[0] - 2.0f / 127) < 1e-9f);
    assert_int_equal(a.sum[0], 64 - 127 + 32);
    assert_int_equal(a.sums[0], 64 - 127 + 32);
    free(memory);
    quantise_three(ULB_ACT_A8, 8, zeros, &a, &memory);
    const int8_t nothing[8] = {0};
    assert_memory_equal(a.x, nothing, sizeof nothing);
    assert_true(a.scale[0] == 0.0f);
    assert_int_equal(a.sum[0], 0);
    free(memory);
}

static void block_activations_have_scales_of_their_own(void **state)
{
    (void)state;
    const float x[3] = {1.0f, -2.0f, 0.5f};
    struct ulb_activations a;
    void *memory;
    quantise_three(ULB_ACT_Q8_0, 64, x, &a, &memory);
    assert_int_equal(((const int8_t *)a.x)[1], -127);
    assert_true(a.scale[0] == ulb_fp16_to_float(ulb_fp16_from_float(2.0f / 127)));
    assert_true(a.scale[1] == 0.0f);
    assert_int_equal(a.sums[0], 64 - 127 + 32);
    for (size_t i = 1; i < 4; i++)
        assert_int_equal(a.sums[i], 0);
    free(memory);
    /* -2 becomes -127, so that the scale is positive; 1 and 0.5 follow. */
    quantise_three(ULB_ACT_Q8_K, 256, x, &a, &memory);
    const int8_t expected[4] = {64, -127, 32, 0};
    assert_memory_equal(a.x, expected, sizeof expected);
    assert_true(a.scale[0] == 1 / (127.0f / 2));
    assert_int_equal(a.sums[0], -31);
    free(memory);
    const float upwards[3] = {-1.0f, 2.0f, 2.0f};
    quantise_three(ULB_ACT_Q8_K, 256, upwards, &a, &memory);
    const int8_t turned[4] = {64, -127, -127, 0};
    assert_memory_equal(a.x, turned, sizeof turned);
    assert_true(a.scale[0] == -1 / (127.0f / 2));
    free(memory);
}

static void names_are_unique_and_kernels_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        char name[ULB_KERNEL_NAME_MAX], other[ULB_KERNEL_NAME_MAX];
        ulb_kernel_name(kernel, name);
        assert_int_equal(kernel->abi, ULB_KERNEL_ABI);
        assert_non_null(kernel->run);
        assert_int_equal(kernel->mr % kernel->layout->tile_m, 0);
        assert_int_equal(kernel->kr % kernel->layout->tile_k, 0);
        const struct ulb_format *format = kernel->layout->format;
        double scales = format->group ? 32.0 * sizeof(float) / format->group : 0,
               tile_m = kernel->layout->tile_m;
        double bytes = format->block
                           ? 32.0 * (double)kernel->layout->tile_bytes / tile_m / kernel->layout->tile_k
                           : 32.0 * format->bits / 8 + scales;
        assert_true(fabs(kernel->bytes_per_step - bytes) < 1e-9);
        assert_non_null(ulb_kernel_reference(kernel));
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(name, ulb_kernel_name(ulb_kernels[j], other));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_covered_exactly),
        cmocka_unit_test(slices_hold_all_of_k),
        cmocka_unit_test(pack_and_unpack_round_trip),
        cmocka_unit_test(random_rows_have_nothing_in_common),
        cmocka_unit_test(references_equal_dequantised_doubles),
        cmocka_unit_test(activations_are_quantised_by_their_largest),
        cmocka_unit_test(block_activations_have_scales_of_their_own),
        cmocka_unit_test(names_are_unique_and_kernels_complete),
    };
    return cmocka_run_group_tests(tests, list_layouts, NULL);
}
