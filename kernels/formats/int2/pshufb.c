/* int2, the paper's own sequence (arXiv 2508.06753, III-C): unpack by byte shuffles, then four dot products.
 *
 * At 256 bits a vector of weights takes a load, a broadcast, a shift, two ANDs, four pshufb and four dot
 * products. The paper's tile (m32 x k4) has only four accumulators, so that the latency of a dot product is
 * the limit. One prefetch a line, 1 KiB ahead.
 *
 * At 512 bits, with tiles of 64 rows, a vector takes as many operations. Two sets of four accumulators, for
 * even and odd columns, hide the latency.
 *
 * AVX2: vpmaddubsw into 16-bit sums, which are widened after 32 steps.
 * A pair adds at most `2 * 3 * 127 = 762`: 32 steps, 24,384, fit 16 bits. */
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int2/pshufb.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"

#if defined(ULB_DP_512)

#define LAYOUT   ulb_int2_vnni4i_64
#define PRODUCTS .prefetches = 0.125, .dot_products = 0.5, .chains = 8

enum { STEP_BYTES = 64, PREFETCH = 1024, ZERO_POINT = ULB_INT2_ZERO_POINT };

static inline __m512i table(int high_field)
{
    int8_t entry[16];
    for (int nibble = 0; nibble < 16; nibble++)
        entry[nibble] = (int8_t)(high_field ? nibble >> 2 : nibble & 3);
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)entry));
}

static inline void step(const uint8_t *w, const int8_t *x, __m512i low_field, __m512i high_field,
                        __m512i sums[4])
{
    __m512i nibble = _mm512_set1_epi8(0x0F);
    __m512i packed = _mm512_loadu_si512(w);
    __m512i low = _mm512_and_si512(packed, nibble);
    __m512i high = _mm512_and_si512(_mm512_srli_epi32(packed, 4), nibble);
    __m512i x4 = ulb_broadcast4(x);
    ulb_dp(&sums[0], _mm512_shuffle_epi8(low_field, low), x4);
    ulb_dp(&sums[1], _mm512_shuffle_epi8(high_field, low), x4);
    ulb_dp(&sums[2], _mm512_shuffle_epi8(low_field, high), x4);
    ulb_dp(&sums[3], _mm512_shuffle_epi8(high_field, high), x4);
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    __m512i low_field = table(0), high_field = table(1);
    __m512i even[4], odd[4];
    for (int i = 0; i < 4; i++)
        even[i] = odd[i] = _mm512_setzero_si512();
    size_t s = 0;
    for (; s + 2 <= steps; s += 2) {
        step(w + s * STEP_BYTES, x + s * 4, low_field, high_field, even);
        step(w + (s + 1) * STEP_BYTES, x + (s + 1) * 4, low_field, high_field, odd);
    }
    if (s < steps)
        step(w + s * STEP_BYTES, x + s * 4, low_field, high_field, even);
    for (int i = 0; i < 4; i++)
        _mm512_storeu_si512(dots + 16 * i, _mm512_add_epi32(even[i], odd[i]));
}

#elif defined(ULB_DP_VEX) || defined(ULB_DP_EVEX) || defined(ULB_DP_SIGNED)

#define LAYOUT   ulb_int2_vnni4i
#define PRODUCTS .prefetches = 0.125, .dot_products = 1, .chains = 4

enum { STEP_BYTES = 32, PREFETCH = 1024, ZERO_POINT = ULB_DP_ZERO(ULB_INT2_ZERO_POINT) };

static inline void step(const uint8_t *w, const int8_t *x, __m256i low_field, __m256i high_field,
                        __m256i sums[4])
{
    __m256i codes[4];
    ulb_int2_unpack(_mm256_loadu_si256((const __m256i *)w), low_field, high_field, codes);
    __m256i four = ulb_broadcast4(x);
    for (int i = 0; i < 4; i++)
        ulb_dp(&sums[i], codes[i], four);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    int offset = ZERO_POINT - ULB_INT2_ZERO_POINT;
    __m256i low_field = ulb_int2_table(0, offset), high_field = ulb_int2_table(1, offset);
    __m256i sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_setzero_si256();
    size_t s = 0;
    for (; s + 2 <= steps; s += 2) {
        step(w + s * STEP_BYTES, x + s * 4, low_field, high_field, sums);
        step(w + (s + 1) * STEP_BYTES, x + (s + 1) * 4, low_field, high_field, sums);
        _mm_prefetch((const char *)w + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
    }
    if (s < steps)
        step(w + s * STEP_BYTES, x + s * 4, low_field, high_field, sums);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)dots + i, sums[i]);
}

#else

#define LAYOUT   ulb_int2_vnni4i
#define PRODUCTS .prefetches = 0.25, .maddubs = 1, .adds = 1

enum { STEP_BYTES = 32, FLUSH_STEPS = 32, PREFETCH = 1024, ZERO_POINT = ULB_INT2_ZERO_POINT };

static inline void step(const uint8_t *w, const int8_t *x, __m256i low_field, __m256i high_field,
                        __m256i pairs[4])
{
    __m256i codes[4];
    ulb_int2_unpack(_mm256_loadu_si256((const __m256i *)w), low_field, high_field, codes);
    __m256i x4 = ulb_broadcast4(x);
    for (int i = 0; i < 4; i++)
        ulb_dot(&pairs[i], codes[i], x4);
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    __m256i low_field = ulb_int2_table(0, 0), high_field = ulb_int2_table(1, 0);
    __m256i sums[4], pairs[4];
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_setzero_si256();
    for (size_t begin = 0; begin < steps; begin += FLUSH_STEPS) {
        size_t end = steps - begin < FLUSH_STEPS ? steps : begin + FLUSH_STEPS;
        for (int i = 0; i < 4; i++)
            pairs[i] = _mm256_setzero_si256();
#pragma GCC unroll 2
        for (size_t s = begin; s < end; s++)
            step(w + s * STEP_BYTES, x + s * 4, low_field, high_field, pairs);
        for (int i = 0; i < 4; i++)
            sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(pairs[i], _mm256_set1_epi16(1)));
    }
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)dots + i, sums[i]);
}

#endif

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, 4 * ULB_LANES, tile, ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "pshufb",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = 4 * ULB_LANES,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 8,
    .mix = {PRODUCTS, .loads = 64.0 / ULB_VEC_BITS, .broadcasts = 64.0 / ULB_VEC_BITS,
            .logic = 128.0 / ULB_VEC_BITS, .shifts = 64.0 / ULB_VEC_BITS, .shuffles = 256.0 / ULB_VEC_BITS,
            .vector_bits = ULB_VEC_BITS},
    .run = run,
};
