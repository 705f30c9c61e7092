/* bf16 by single-precision FMA: a shift makes the even column a float, a mask the odd one.
 *
 * Per 2 columns of a 32-row tile: 2 broadcasts, 4 loads, 4 shifts, 4 and, 8 FMA; even and odd columns have 4
 * accumulators each, which hides FMA latency 4 on two ports: 2 cycles per 32 weights against 64 bytes read.
 * Two address streams. */
#include "kernels/bf16/format.h"
#include "kernels/row.h"

#include <immintrin.h>

enum { STEP_BYTES = 128, PREFETCH = 1024 };

static inline void step(const uint8_t *w, const float *x, __m256 even[4], __m256 odd[4])
{
    __m256 x0 = _mm256_broadcast_ss(x), x1 = _mm256_broadcast_ss(x + 1);
    for (int i = 0; i < 4; i++) {
        __m256i pair = _mm256_loadu_si256((const __m256i *)(w + 32 * i));
        __m256 w0 = _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16));
        __m256 w1 = _mm256_castsi256_ps(_mm256_and_si256(pair, _mm256_set1_epi32((int)0xFFFF0000)));
        even[i] = _mm256_fmadd_ps(w0, x0, even[i]);
        odd[i] = _mm256_fmadd_ps(w1, x1, odd[i]);
    }
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
    _mm_prefetch((const char *)w + PREFETCH + 64, _MM_HINT_T0);
}

static inline void tile(const uint8_t *w, const float *x, size_t steps, float *y)
{
    __m256 even[4], odd[4];
    for (int i = 0; i < 4; i++)
        even[i] = odd[i] = _mm256_setzero_ps();
    size_t half = steps / 2;
    const uint8_t *w2 = w + half * STEP_BYTES;
    const float *x2 = x + half * 2;
    for (size_t s = 0; s < half; s++) {
        step(w + s * STEP_BYTES, x + s * 2, even, odd);
        step(w2 + s * STEP_BYTES, x2 + s * 2, even, odd);
    }
    if (steps % 2)
        step(w2 + half * STEP_BYTES, x2 + half * 2, even, odd);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_ps(y + 8 * i, _mm256_add_ps(even[i], odd[i]));
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_float_tiles(g, &ulb_bf16_vnni2, tile);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_bf16_vnni2,
    .activation = ULB_ACT_F32,
    .mr = 32,
    .nr = 1,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = ULB_FLOAT_TOLERANCE,
    .mix = {.loads = 2,
            .broadcasts = 1,
            .prefetches = 1,
            .logic = 2,
            .shifts = 2,
            .fmas = 4,
            .vector_bits = 256,
            .chains = 8},
    .run = run,
};
