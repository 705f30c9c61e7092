/* int8 by 256-bit dot products.
 *
 * Per 4 columns of a 32-row tile: 1 broadcast of 4 activations, 4 loads folded into 4 dot products. The
 * tile's columns are read as two address streams (first and second half of K), each with its own 4
 * accumulators: one core keeps more misses in flight over two streams than over one, and 8 chains of latency
 * 5 on two dot-product ports need 10 cycles' worth of work, so that 8 accumulators give 5/8 cycle per 32
 * weights. One prefetch a line, 512 bytes ahead. */
#include "kernels/int8/format.h"
#include "kernels/row.h"
#include "kernels/x86/dp256.h"

#ifdef ULB_DP_SIGNED
#define LAYOUT ulb_int8_vnni4_signed
#else
#define LAYOUT ulb_int8_vnni4
#endif

enum { STEP_BYTES = 128, PREFETCH = 512 };

static inline void step(const uint8_t *w, const int8_t *x, __m256i sums[4])
{
    __m256i four = ulb_broadcast4(x);
    for (int i = 0; i < 4; i++)
        ulb_dp256(&sums[i], _mm256_loadu_si256((const __m256i *)(w + 32 * i)), four);
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
    _mm_prefetch((const char *)w + PREFETCH + 64, _MM_HINT_T0);
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m256i first[4], second[4];
    for (int i = 0; i < 4; i++)
        first[i] = second[i] = _mm256_setzero_si256();
    size_t half = steps / 2;
    const uint8_t *w2 = w + half * STEP_BYTES;
    const int8_t *x2 = x + half * 4;
    for (size_t s = 0; s < half; s++) {
        step(w + s * STEP_BYTES, x + s * 4, first);
        step(w2 + s * STEP_BYTES, x2 + s * 4, second);
    }
    if (steps % 2)
        step(w2 + half * STEP_BYTES, x2 + half * 4, second);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)dots + i, _mm256_add_epi32(first[i], second[i]));
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, tile, ULB_DP_ZERO(ULB_INT8_ZERO_POINT));
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dp",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 32,
    .mix = {.loads = 1,
            .broadcasts = 0.25,
            .prefetches = 0.5,
            .dot_products = 1,
            .vector_bits = 256,
            .chains = 8},
    .run = run,
};
