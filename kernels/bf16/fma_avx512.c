/* bf16 by single-precision FMA on 512-bit vectors, on the same buffer as the 256-bit row.
 *
 * Per 2 columns of a 32-row tile: 2 broadcasts, 2 loads, 2 shifts, 2 and, 4 FMA. Two address streams share
 * the 4 accumulators: 8 FMA in chains of 2 take 8 cycles per 128 weights, 2 per 32, with 64 bytes read for
 * each. */
#include "kernels/bf16/format.h"
#include "kernels/row.h"

#include <immintrin.h>

enum { STEP_BYTES = 128, PREFETCH = 1024 };

static inline void step(const uint8_t *w, const float *x, __m512 even[2], __m512 odd[2])
{
    __m512 x0 = _mm512_set1_ps(x[0]), x1 = _mm512_set1_ps(x[1]);
    for (int i = 0; i < 2; i++) {
        __m512i pair = _mm512_loadu_si512(w + 64 * i);
        __m512 w0 = _mm512_castsi512_ps(_mm512_slli_epi32(pair, 16));
        __m512 w1 = _mm512_castsi512_ps(_mm512_and_si512(pair, _mm512_set1_epi32((int)0xFFFF0000)));
        even[i] = _mm512_fmadd_ps(w0, x0, even[i]);
        odd[i] = _mm512_fmadd_ps(w1, x1, odd[i]);
    }
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
    _mm_prefetch((const char *)w + PREFETCH + 64, _MM_HINT_T0);
}

static inline void tile(const uint8_t *w, const float *x, size_t steps, float *y)
{
    __m512 even[2], odd[2];
    for (int i = 0; i < 2; i++)
        even[i] = odd[i] = _mm512_setzero_ps();
    size_t half = steps / 2;
    const uint8_t *w2 = w + half * STEP_BYTES;
    const float *x2 = x + half * 2;
    for (size_t s = 0; s < half; s++) {
        step(w + s * STEP_BYTES, x + s * 2, even, odd);
        step(w2 + s * STEP_BYTES, x2 + s * 2, even, odd);
    }
    if (steps % 2)
        step(w2 + half * STEP_BYTES, x2 + half * 2, even, odd);
    for (int i = 0; i < 2; i++)
        _mm512_storeu_ps(y + 16 * i, _mm512_add_ps(even[i], odd[i]));
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
    .mix = {.loads = 1,
            .broadcasts = 1,
            .prefetches = 1,
            .logic = 1,
            .shifts = 1,
            .fmas = 2,
            .vector_bits = 512,
            .chains = 4},
    .run = run,
};
