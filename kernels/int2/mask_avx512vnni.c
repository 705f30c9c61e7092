/* int2 by masks (see mask_vnni256u.c) on 512-bit vectors and 64-row tiles.
 *
 * Per 256 weights: 3 and, 4 dp, 1 load, 1 broadcast: 7 operations on two ports are 0.44 cycle per 32 weights.
 * Four address streams with 4 accumulators each, one prefetch a line, 1 KiB ahead. */
#include "kernels/int2/format.h"
#include "kernels/row.h"
#include "kernels/x86/dp512.h"

enum { STEP_BYTES = 64, STREAMS = 4, PREFETCH = 1024 };

static inline void step(const uint8_t *w, const int8_t *x, __m512i sums[4])
{
    __m512i packed = _mm512_loadu_si512(w);
    __m512i four = ulb_broadcast4_512(x);
    ulb_dp512(&sums[0], _mm512_and_si512(packed, _mm512_set1_epi8(0x03)), four);
    ulb_dp512(&sums[1], _mm512_and_si512(packed, _mm512_set1_epi8(0x0C)), four);
    ulb_dp512(&sums[2], _mm512_and_si512(packed, _mm512_set1_epi8(0x30)), four);
    ulb_dp512(&sums[3], packed, four);
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m512i sums[STREAMS][4], total[4];
    for (int i = 0; i < STREAMS; i++) {
        for (int j = 0; j < 4; j++)
            sums[i][j] = _mm512_setzero_si512();
    }
    size_t part = steps / STREAMS;
    for (size_t s = 0; s < part; s++) {
        for (size_t i = 0; i < STREAMS; i++)
            step(w + (i * part + s) * STEP_BYTES, x + (i * part + s) * 4, sums[i]);
    }
    for (size_t s = STREAMS * part; s < steps; s++)
        step(w + s * STEP_BYTES, x + s * 4, sums[0]);
    for (int j = 0; j < 4; j++)
        total[j] = _mm512_add_epi32(_mm512_add_epi32(sums[0][j], sums[1][j]),
                                    _mm512_add_epi32(sums[2][j], sums[3][j]));
    for (unsigned j = 0; j < 3; j++) {
        total[3] = _mm512_sub_epi32(total[3], total[j]);
        _mm512_storeu_si512(dots + 16 * j, _mm512_srai_epi32(total[j], 2 * j));
    }
    _mm512_storeu_si512(dots + 48, _mm512_srai_epi32(total[3], 6));
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int2_vnni4i_64, tile, ULB_INT2_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int2_vnni4i_64,
    .activation = ULB_ACT_A8,
    .mr = 64,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 8,
    .mix = {.loads = 0.125,
            .broadcasts = 0.125,
            .prefetches = 0.125,
            .logic = 0.375,
            .dot_products = 0.5,
            .vector_bits = 512,
            .chains = 16},
    .run = run,
};
