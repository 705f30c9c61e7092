/* Vector operations in plain C, compiled once for each instruction set (see vector.h). The loops are marked
 * for the vectoriser, and only a marked sum may change its order; it does so alike in each call. */
#include "common/bf16.h"
#include "common/fp16.h"
#include "kernels/vector/vector.h"

#include <math.h>
#include <stdbool.h>

extern const struct ulb_vector_ops ULB_KERNEL;

static inline float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* a * b + c, rounded once where the CPU can; Clang makes that of the expression itself. */
static inline float multiply_add(float a, float b, float c)
{
#if !defined(__clang__) && (defined(__FMA__) || defined(__AVX512F__))
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/* 1.5 * 2^23: adding it rounds to the nearest even integer, which is then in the low bits. */
#define ROUNDER 12582912.0f

/* ulb_activation_block(), as constants. */
enum { Q8_0_COLUMNS = 32, Q8_K_COLUMNS = 256 };

/* `exp(x) = 2^n exp(r)`, `n = round(x` / ln 2), |r| <= ln `2 / 2`.
 * exp(r) is Taylor's polynomial of degree 7: relative error below 2^-22. x is clamped so that 2^n is a normal
 * number. */
static inline float exp_of(float x)
{
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + ROUNDER, n = shifted - ROUNDER;
    float r = x - n * 0.693359375f - n * -2.12194440e-4f; /* ln 2 in two parts (Cody and Waite) */
    float p = 1.0f / 5040;
    p = multiply_add(p, r, 1.0f / 720);
    p = multiply_add(p, r, 1.0f / 120);
    p = multiply_add(p, r, 1.0f / 24);
    p = multiply_add(p, r, 1.0f / 6);
    p = multiply_add(p, r, 0.5f);
    p = multiply_add(p, r, 1.0f);
    p = multiply_add(p, r, 1.0f);
    return p * float_of_bits((bits_of_float(shifted) + 127u) << 23);
}

static void norm(const float *x, const float *gain, size_t n, float mean, float *out)
{
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    float factor = 1 / sqrtf(squares / (float)n + ULB_NORM_EPSILON);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = gain[i] * (x[i] - mean) * factor;
}

static void rms_norm(const float *x, const float *gain, size_t n, float *out)
{
    norm(x, gain, n, 0, out);
}

static void layer_norm(const float *x, const float *gain, size_t n, float *out)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    norm(x, gain, n, sum / (float)n, out);
}

static void silu(const float *x, size_t n, float *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] / (1 + exp_of(-x[i]));
}

static void gelu(const float *x, size_t n, float *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] / (1 + exp_of(-1.5957691216f * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

static void relu(const float *x, size_t n, float *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] > 0 ? x[i] : 0;
}

static void relu2(const float *x, size_t n, float *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] > 0 ? x[i] * x[i] : 0;
}

static void multiply(float *x, const float *y, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        x[i] *= y[i];
}

static void add(float *x, const float *y, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        x[i] += y[i];
}

static void add_scaled(float *x, const float *y, float factor, size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        x[i] += factor * y[i];
}

static void rotate(float *x, const float *cosine, const float *sine, size_t half)
{
    float *y = x + half;
#pragma omp simd
    for (size_t i = 0; i < half; i++) {
        float a = x[i], b = y[i];
        x[i] = a * cosine[i] - b * sine[i];
        y[i] = b * cosine[i] + a * sine[i];
    }
}

static void scale(float *x, size_t n, float factor)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        x[i] *= factor;
}

static void to_bf16(const float *x, size_t n, uint16_t *out)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = bits_of_float(x[i]);
        out[i] = (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
    }
}

static float soften(float *x, size_t n, float *largest)
{
    float most = x[0], sum = 0;
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        x[i] = exp_of(x[i] - most);
        sum += x[i];
    }
    *largest = most;
    return sum;
}

static size_t argmax(const float *x, size_t n)
{
    float most = x[0];
#pragma omp simd reduction(max : most)
    for (size_t i = 0; i < n; i++)
        most = x[i] > most ? x[i] : most;
    size_t at = 0;
    while (at + 1 < n && !(x[at] >= most))
        at++;
    return at;
}

/* q = x * inverse, rounded to nearest even, + zero; -127 to 127. */
static inline void convert(const float *x, size_t k, float inverse, int32_t zero, int8_t *q)
{
#pragma omp simd
    for (size_t i = 0; i < k; i++) {
        float product = x[i] * inverse;
        int32_t value = (int32_t)bits_of_float(product + ROUNDER) - (int32_t)bits_of_float(ROUNDER) + zero;
        value = value < 127 ? value : 127;
        q[i] = (int8_t)(value > -127 ? value : -127);
    }
}

static inline float quantise_absmax(const float *x, size_t k, int8_t *q)
{
    float largest = 0;
#pragma omp simd reduction(max : largest)
    for (size_t i = 0; i < k; i++)
        largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    bool none = largest < ULB_LEAST_SPAN;
    convert(x, k, none ? 0.0f : 127.0f / largest, 0, q);
    return none ? 0.0f : largest / 127.0f;
}

/* Of two values with the same magnitude the first decides the sign. */
static inline float quantise_signed_max(const float *x, size_t k, int8_t *q)
{
    float above = 0, below = 0;
#pragma omp simd reduction(max : above, below)
    for (size_t i = 0; i < k; i++) {
        above = x[i] > above ? x[i] : above;
        below = -x[i] > below ? -x[i] : below;
    }
    float largest = above > below ? above : -below;
    for (size_t i = 0; above <= below && below <= above && i < k; i++) {
        if (fabsf(x[i]) >= above) {
            largest = x[i];
            break;
        }
    }
    bool none = fabsf(largest) < ULB_LEAST_SPAN;
    float inverse = none ? 0.0f : -127.0f / largest;
    convert(x, k, inverse, 0, q);
    return none ? 0.0f : 1.0f / inverse;
}

/* Round a zero point; 0 is among the values. */
static inline float quantise_range(const float *x, size_t k, int8_t *q, int32_t *zero)
{
    float least = 0, largest = 0;
#pragma omp simd reduction(min : least) reduction(max : largest)
    for (size_t i = 0; i < k; i++) {
        least = x[i] < least ? x[i] : least;
        largest = x[i] > largest ? x[i] : largest;
    }
    bool none = largest - least < ULB_LEAST_SPAN;
    float step = none ? 0.0f : (largest - least) / 254.0f, inverse = none ? 0.0f : 1.0f / step;
    *zero = (int32_t)-lrintf((largest + least) * inverse * 0.5f);
    convert(x, k, inverse, *zero, q);
    return step;
}

static inline float quantise(enum ulb_activation kind, const float *x, size_t k, int8_t *q)
{
    if (kind == ULB_ACT_Q8_K)
        return quantise_signed_max(x, k, q);
    float step = quantise_absmax(x, k, q);
    return kind == ULB_ACT_Q8_0 ? ulb_fp16_to_float(ulb_fp16_from_float(step)) : step;
}

/* The sum of ULB_SUM_COLUMNS bytes, eight at a time: 128 more makes them unsigned, and sums of as many fit
 * words. */
static inline int32_t sum_of(const int8_t *q)
{
    const uint64_t origin = 0x8080808080808080u, even = 0x00FF00FF00FF00FFu;
    uint64_t words = 0;
    for (size_t i = 0; i < ULB_SUM_COLUMNS; i += 8) {
        uint64_t bytes;
        memcpy(&bytes, q + i, 8);
        bytes ^= origin;
        words += (bytes & even) + (bytes >> 8 & even);
    }
    words += words >> 32;
    words += words >> 16;
    return (int32_t)(words & 0xFFFF) - 128 * ULB_SUM_COLUMNS;
}

static void add_up(const int8_t *q, size_t columns, int16_t *sums, int32_t *total)
{
    int32_t all = 0;
#pragma omp simd reduction(+ : all)
    for (size_t i = 0; i < columns / ULB_SUM_COLUMNS; i++) {
        int32_t sum = sum_of(q + i * ULB_SUM_COLUMNS);
        sums[i] = (int16_t)sum;
        all += sum;
    }
    *total = all;
}

/* Blocks of so many columns, of which the last may have fewer. block: a constant, for which loops are
 * unrolled. */
static inline __attribute__((always_inline)) void quantise_blocks(enum ulb_activation kind, const float *x,
                                                                  size_t k, size_t block, int8_t *q,
                                                                  float *scale, size_t scales)
{
    for (size_t i = 0; i < scales; i++) {
        size_t begin = i * block;
        if (begin + block <= k)
            scale[i] = quantise(kind, x + begin, block, q + begin);
        else
            scale[i] = quantise(kind, x + begin, begin < k ? k - begin : 0, q + begin);
    }
}

static void set_integers(struct ulb_activations *a, size_t token, const float *x, size_t k, int8_t *out)
{
    size_t scales = ulb_activation_scales(a->kind, a->columns);
    float *scale = a->scale + token * scales;
    if (a->kind == ULB_ACT_A8Z)
        *scale = quantise_range(x, k, out, &a->zero[token]);
    else if (a->kind == ULB_ACT_Q8_0)
        quantise_blocks(ULB_ACT_Q8_0, x, k, Q8_0_COLUMNS, out, scale, scales);
    else if (a->kind == ULB_ACT_Q8_K)
        quantise_blocks(ULB_ACT_Q8_K, x, k, Q8_K_COLUMNS, out, scale, scales);
    else
        *scale = quantise(a->kind, x, k, out);
    add_up(out, a->columns, a->sums + token * ulb_activation_sums(a->kind, a->columns), a->sum + token);
}

static void set_activations(struct ulb_activations *a, size_t token, const float *x, size_t k)
{
    size_t element = ulb_activation_bytes(a->kind);
    char *out = (char *)a->x + token * a->stride * element;
    memset(out + k * element, 0, (a->columns - k) * element);
    a->zero[token] = 0;
    if (a->kind == ULB_ACT_F32)
        memcpy(out, x, k * sizeof *x);
    else if (a->kind == ULB_ACT_BF16)
        to_bf16(x, k, (uint16_t *)a->x + token * a->stride);
    else
        set_integers(a, token, x, k, (int8_t *)out);
}

const struct ulb_vector_ops ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .rms_norm = rms_norm,
    .layer_norm = layer_norm,
    .silu = silu,
    .gelu = gelu,
    .relu = relu,
    .relu2 = relu2,
    .multiply = multiply,
    .add = add,
    .add_scaled = add_scaled,
    .rotate = rotate,
    .scale = scale,
    .to_bf16 = to_bf16,
    .soften = soften,
    .argmax = argmax,
    .set_activations = set_activations,
};
