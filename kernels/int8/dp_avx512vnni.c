/* int8 by 512-bit dot products, on the same buffer as the 256-bit row.
 *
 * Per 4 columns of a 32-row tile: 1 broadcast, 2 loads folded into 2 dot products. Four address streams
 * (quarters of K) with 2 accumulators each hide the dot product's latency (5 cycles) on two ports and keep
 * misses in flight. */
#include "kernels/int8/format.h"
#include "kernels/row.h"
#include "kernels/x86/dp512.h"

enum { STEP_BYTES = 128, STREAMS = 4, PREFETCH = 512 };

static inline void step(const uint8_t *w, const int8_t *x, __m512i sums[2])
{
    __m512i x4 = ulb_broadcast4_512(x);
    for (int i = 0; i < 2; i++) {
        ulb_dp512(&sums[i], _mm512_loadu_si512(w + 64 * i), x4);
        _mm_prefetch((const char *)w + PREFETCH + 64 * i, _MM_HINT_T0);
    }
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m512i sums[STREAMS][2];
    for (int i = 0; i < STREAMS; i++)
        sums[i][0] = sums[i][1] = _mm512_setzero_si512();
    size_t quarter = steps / STREAMS;
    for (size_t s = 0; s < quarter; s++) {
        for (size_t i = 0; i < STREAMS; i++)
            step(w + (i * quarter + s) * STEP_BYTES, x + (i * quarter + s) * 4, sums[i]);
    }
    for (size_t s = STREAMS * quarter; s < steps; s++)
        step(w + s * STEP_BYTES, x + s * 4, sums[0]);
    for (int i = 0; i < 2; i++) {
        __m512i low = _mm512_add_epi32(sums[0][i], sums[1][i]);
        __m512i high = _mm512_add_epi32(sums[2][i], sums[3][i]);
        _mm512_storeu_si512(dots + 16 * i, _mm512_add_epi32(low, high));
    }
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int8_vnni4, tile, ULB_INT8_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dp",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int8_vnni4,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 32,
    .mix = {.loads = 0.5,
            .broadcasts = 0.25,
            .prefetches = 0.5,
            .dot_products = 0.5,
            .vector_bits = 512,
            .chains = 8},
    .run = run,
};
