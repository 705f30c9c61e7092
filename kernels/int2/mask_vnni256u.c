/* int2 without unpacking: a field stays where it is in its byte, and the dot product of the masked byte is
 * that of the field times a power of four, because vpdpbusd takes the weights as unsigned bytes.
 *
 * D0 = x.(w & 03), D1 = x.(w & 0C) = 4 S1, D2 = x.(w & 30) = 16 S2, raw = x.w, so that at the end of the tile
 * S3 = (raw - D0 - D1 - D2) / 64; all divisions are exact. |raw| <= 255 * 127 * K < 2^31 up to K = 65,536,
 * and the differences are exact modulo 2^32. Per 128 weights: 3 and, 4 dp, 1 load, 1 broadcast: 7 operations
 * on three ports are 0.58 cycle per 32 weights (the paper's unpacking: 11 operations). Three address streams
 * (thirds of K) with 4 accumulators each: 12 chains of latency 5 on two dot-product ports. One prefetch a
 * line, 1 KiB ahead. */
#include "kernels/int2/format.h"
#include "kernels/row.h"
#include "kernels/x86/dp256.h"

enum { STEP_BYTES = 32, STREAMS = 3, PREFETCH = 1024 };

static inline void step(const uint8_t *w, const int8_t *x, __m256i sums[4])
{
    __m256i packed = _mm256_loadu_si256((const __m256i *)w);
    __m256i four = ulb_broadcast4(x);
    ulb_dp256(&sums[0], _mm256_and_si256(packed, _mm256_set1_epi8(0x03)), four);
    ulb_dp256(&sums[1], _mm256_and_si256(packed, _mm256_set1_epi8(0x0C)), four);
    ulb_dp256(&sums[2], _mm256_and_si256(packed, _mm256_set1_epi8(0x30)), four);
    ulb_dp256(&sums[3], packed, four);
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m256i sums[STREAMS][4], total[4];
    for (int i = 0; i < STREAMS; i++) {
        for (int j = 0; j < 4; j++)
            sums[i][j] = _mm256_setzero_si256();
    }
    size_t part = steps / STREAMS;
    const uint8_t *w1 = w + part * STEP_BYTES, *w2 = w1 + part * STEP_BYTES;
    const int8_t *x1 = x + part * 4, *x2 = x1 + part * 4;
    for (size_t s = 0; s < part; s++) {
        step(w + s * STEP_BYTES, x + s * 4, sums[0]);
        step(w1 + s * STEP_BYTES, x1 + s * 4, sums[1]);
        step(w2 + s * STEP_BYTES, x2 + s * 4, sums[2]);
        _mm_prefetch((const char *)w + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
        _mm_prefetch((const char *)w1 + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
        _mm_prefetch((const char *)w2 + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
    }
    for (size_t s = STREAMS * part; s < steps; s++)
        step(w + s * STEP_BYTES, x + s * 4, sums[0]);
    for (int j = 0; j < 4; j++)
        total[j] = _mm256_add_epi32(_mm256_add_epi32(sums[0][j], sums[1][j]), sums[2][j]);
    for (int j = 0; j < 3; j++) {
        total[3] = _mm256_sub_epi32(total[3], total[j]);
        _mm256_storeu_si256((__m256i *)dots + j, _mm256_srai_epi32(total[j], 2 * j));
    }
    _mm256_storeu_si256((__m256i *)dots + 3, _mm256_srai_epi32(total[3], 6));
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int2_vnni4i, tile, ULB_INT2_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int2_vnni4i,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 8,
    .mix = {.loads = 0.25,
            .broadcasts = 0.25,
            .prefetches = 0.25,
            .logic = 0.75,
            .dot_products = 1,
            .vector_bits = 256,
            .chains = 12},
    .run = run,
};
