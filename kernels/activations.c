#include "kernels/activations.h"

#include "common/bf16.h"
#include "common/fp16.h"
#include "common/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Properties of each activation format. */
static const struct {
    const char *name;
    size_t bytes, block;
} kinds[] = {
    [ULB_ACT_A8] = {"a8", 1, 0},
    [ULB_ACT_A8Z] = {"a8z", 1, 0},
    [ULB_ACT_F32] = {"f32", sizeof(float), 0},
    [ULB_ACT_BF16] = {"bf16", sizeof(uint16_t), 0},
    [ULB_ACT_Q8_0] = {"q8_0", 1, 32},
    [ULB_ACT_Q8_K] = {"q8_k", 1, 256},
};

const char *ulb_activation_name(enum ulb_activation kind)
{
    return kinds[kind].name;
}

size_t ulb_activation_bytes(enum ulb_activation kind)
{
    return kinds[kind].bytes;
}

size_t ulb_activation_block(enum ulb_activation kind)
{
    return kinds[kind].block;
}

bool ulb_activation_is_floating(enum ulb_activation kind)
{
    return kind == ULB_ACT_F32 || kind == ULB_ACT_BF16;
}

size_t ulb_activation_scales(enum ulb_activation kind, size_t columns)
{
    if (ulb_activation_is_floating(kind))
        return 0;
    return kinds[kind].block ? (columns + kinds[kind].block - 1) / kinds[kind].block : 1;
}

size_t ulb_activation_sums(enum ulb_activation kind, size_t columns)
{
    return ulb_activation_is_floating(kind) ? 0 : (columns + ULB_SUM_COLUMNS - 1) / ULB_SUM_COLUMNS;
}

size_t ulb_activation_stride(enum ulb_activation kind, size_t columns)
{
    size_t bytes = ulb_round_up(columns * kinds[kind].bytes, ULB_CACHE_LINE);
    return (bytes / ULB_CACHE_LINE | 1) * ULB_CACHE_LINE / kinds[kind].bytes;
}

size_t ulb_activations_bytes(enum ulb_activation kind, size_t n, size_t columns)
{
    struct ulb_activations a;
    ulb_activations_place(&a, kind, n, columns, NULL);
    return (size_t)(uintptr_t)a.zero + ulb_round_up(n * sizeof *a.zero, ULB_CACHE_LINE);
}

static void *take(uintptr_t *at, size_t bytes)
{
    uintptr_t begin = *at;
    *at += ulb_round_up(bytes, ULB_CACHE_LINE);
    return (void *)begin;
}

void ulb_activations_place(struct ulb_activations *a, enum ulb_activation kind, size_t n, size_t columns,
                           void *memory)
{
    uintptr_t at = (uintptr_t)memory;
    *a = (struct ulb_activations){
        .kind = kind, .n = n, .columns = columns, .stride = ulb_activation_stride(kind, columns)};
    a->x = take(&at, n * a->stride * ulb_activation_bytes(kind));
    a->scale = take(&at, n * ulb_activation_scales(kind, columns) * sizeof *a->scale);
    a->sums = take(&at, n * ulb_activation_sums(kind, columns) * sizeof *a->sums);
    a->sum = take(&at, n * sizeof *a->sum);
    a->zero = take(&at, n * sizeof *a->zero);
}

/* int8 in [-127, 127]. -128 is excluded so that |x| fits seven bits (vpsignb cannot negate -128). The inverse
 * is computed from the scale before rounding. */
static float quantise_absmax(const float *x, size_t k, int8_t *q)
{
    float largest = 0.0f;
    for (size_t i = 0; i < k; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    bool none = largest < ULB_LEAST_SPAN;
    float inverse = none ? 0.0f : 127.0f / largest;
    for (size_t i = 0; i < k; i++)
        q[i] = (int8_t)lrintf(x[i] * inverse);
    return none ? 0.0f : largest / 127.0f;
}

/* Of two values with the same magnitude the first decides the sign. */
static float quantise_signed_max(const float *x, size_t k, int8_t *q)
{
    float largest = 0.0f;
    for (size_t i = 0; i < k; i++)
        largest = fabsf(x[i]) > fabsf(largest) ? x[i] : largest;
    bool none = fabsf(largest) < ULB_LEAST_SPAN;
    float inverse = none ? 0.0f : -127.0f / largest;
    for (size_t i = 0; i < k; i++)
        q[i] = (int8_t)lrintf(x[i] * inverse);
    return none ? 0.0f : 1.0f / inverse;
}

/* int8 in [-127, 127] around a zero point. 0 is among the values. */
static float quantise_range(const float *x, size_t k, int8_t *q, int32_t *zero)
{
    float least = 0.0f, largest = 0.0f;
    for (size_t i = 0; i < k; i++) {
        least = fminf(least, x[i]);
        largest = fmaxf(largest, x[i]);
    }
    bool none = largest - least < ULB_LEAST_SPAN;
    float scale = none ? 0.0f : (largest - least) / 254.0f, inverse = none ? 0.0f : 1.0f / scale;
    *zero = (int32_t)-lrintf((largest + least) * inverse * 0.5f);
    for (size_t i = 0; i < k; i++) {
        long value = lrintf(x[i] * inverse) + *zero;
        q[i] = (int8_t)(value < -127 ? -127 : value > 127 ? 127 : value);
    }
    return scale;
}

static float quantise_block(enum ulb_activation kind, const float *x, size_t k, int8_t *q)
{
    if (kind == ULB_ACT_Q8_K)
        return quantise_signed_max(x, k, q);
    float scale = quantise_absmax(x, k, q);
    return kind == ULB_ACT_Q8_0 ? ulb_fp16_to_float(ulb_fp16_from_float(scale)) : scale;
}

static void add_up(const int8_t *q, size_t columns, int16_t *sums, int32_t *total)
{
    *total = 0;
    for (size_t i = 0; i < columns; i += ULB_SUM_COLUMNS) {
        int sum = 0;
        for (size_t j = i; j < i + ULB_SUM_COLUMNS && j < columns; j++)
            sum += q[j];
        *sums++ = (int16_t)sum;
        *total += sum;
    }
}

void ulb_activations_set(struct ulb_activations *a, size_t token, const float *x, size_t k)
{
    size_t element = ulb_activation_bytes(a->kind), scales = ulb_activation_scales(a->kind, a->columns);
    char *out = (char *)a->x + token * a->stride * element;
    memset(out + k * element, 0, (a->columns - k) * element);
    a->zero[token] = 0;
    if (a->kind == ULB_ACT_F32)
        memcpy(out, x, k * sizeof *x);
    for (size_t i = 0; i < k && a->kind == ULB_ACT_BF16; i++)
        ((uint16_t *)a->x)[token * a->stride + i] = ulb_bf16_from_float(x[i]);
    if (ulb_activation_is_floating(a->kind))
        return;
    size_t block = kinds[a->kind].block ? kinds[a->kind].block : a->columns;
    for (size_t i = 0; i < scales; i++) {
        size_t begin = i * block, left = begin < k ? k - begin : 0;
        int8_t *q = (int8_t *)out + begin;
        left = left < block ? left : block;
        a->scale[token * scales + i] = a->kind == ULB_ACT_A8Z ? quantise_range(x, k, q, &a->zero[token])
                                                              : quantise_block(a->kind, x + begin, left, q);
    }
    add_up((const int8_t *)out, a->columns, a->sums + token * ulb_activation_sums(a->kind, a->columns),
           a->sum + token);
}

double ulb_activations_at(const struct ulb_activations *a, size_t token, size_t k)
{
    size_t at = token * a->stride + k, block = kinds[a->kind].block ? kinds[a->kind].block : a->columns;
    if (a->kind == ULB_ACT_F32)
        return (double)((const float *)a->x)[at];
    if (a->kind == ULB_ACT_BF16)
        return (double)ulb_bf16_to_float(((const uint16_t *)a->x)[at]);
    return (double)a->scale[token * ulb_activation_scales(a->kind, a->columns) + k / block] *
           (((const int8_t *)a->x)[at] - a->zero[token]);
}

void ulb_activations_magnitudes(const struct ulb_activations *a, size_t token, size_t k, double *magnitudes)
{
    const int8_t *x = (const int8_t *)a->x + token * a->stride;
    for (size_t i = 0; i < k; i++)
        magnitudes[i] = a->kind == ULB_ACT_A8Z ? (double)a->scale[token] * (abs(x[i]) + abs(a->zero[token]))
                                               : fabs(ulb_activations_at(a, token, i));
}

void ulb_activations_give(const struct ulb_activations *a, struct ulb_gemm *g)
{
    g->x = a->x;
    g->x_stride = a->stride;
    g->x_scale = a->scale;
    g->x_scale_stride = ulb_activation_scales(a->kind, a->columns);
    g->x_sums = a->sums;
    g->x_sums_stride = ulb_activation_sums(a->kind, a->columns);
    g->x_sum = a->sum;
    g->x_zero = a->zero;
}
