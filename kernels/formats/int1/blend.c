/* int1, the paper's own sequence (arXiv 2508.06753, III-D): expand each 32 bits to bytes, then one dot
 * product.
 *
 * At 256 bits, 32 weights take a broadcast load, pshufb, AND, cmpeq, blendv and a dot product. vpblendvb is
 * several operations, on Atom-class cores microcode. Four accumulators, as in the paper's m32 x k4 tile, hide
 * the latency.
 *
 * At 512 bits the weight bits are the mask register of the blend, and no expansion is needed. 64 weights take
 * a mask load (a load and a port-5 operation), a blend and a dot product. Each column step has two vectors of
 * 16 rows. Even and odd steps have their own accumulators.
 *
 * AVX2: vpmaddubsw into 16-bit sums, which are widened after 32 steps. Weights are 0 or 2.
 * A pair adds at most `2 * 2 * 127 = 508`: 32 steps, 16,256, fit 16 bits. */
#include "kernels/formats/int1/blend.h"
#include "kernels/formats/int1/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"

#define EXPANSION_MIX                                                                                        \
    .broadcasts = 1.25, .prefetches = 0.25, .shuffles = 1, .logic = 1, .compares = 1, .blends = 1

#if defined(ULB_DP_512)

#define MIX .broadcasts = 0.25, .prefetches = 0.125, .masked_moves = 0.5, .dot_products = 0.5, .chains = 4

enum { STEP_BYTES = 16, PREFETCH = 1024, ZERO_POINT = ULB_INT1_ZERO_POINT };

static inline void step(const uint8_t *w, const int8_t *x, __m512i sums[2])
{
    __m512i plus = _mm512_set1_epi8(1 + ULB_INT1_ZERO_POINT);
    __m512i minus = _mm512_setzero_si512();
    __m512i x4 = ulb_broadcast4(x);
    for (int i = 0; i < 2; i++) {
        __m512i weights;
        __mmask64 is_minus;
        __asm__("kmovq %[word], %[is_minus]\n\tvpblendmb %[minus], %[plus], %[weights]%{%[is_minus]%}"
                : [weights] "=v"(weights), [is_minus] "=&Yk"(is_minus)
                : [word] "m"(*(const uint8_t(*)[8])(w + 8 * i)), [plus] "v"(plus), [minus] "v"(minus));
        ulb_dp(&sums[i], weights, x4);
    }
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    __m512i even[2], odd[2];
    for (int i = 0; i < 2; i++)
        even[i] = odd[i] = _mm512_setzero_si512();
    size_t s = 0;
    for (; s + 2 <= steps; s += 2) {
        step(w + s * STEP_BYTES, x + s * 4, even);
        step(w + (s + 1) * STEP_BYTES, x + (s + 1) * 4, odd);
        _mm_prefetch((const char *)w + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
    }
    if (s < steps)
        step(w + s * STEP_BYTES, x + s * 4, even);
    for (int i = 0; i < 2; i++)
        _mm512_storeu_si512(dots + 16 * i, _mm512_add_epi32(even[i], odd[i]));
}

#elif defined(ULB_DP_VEX) || defined(ULB_DP_EVEX) || defined(ULB_DP_SIGNED)

#define MIX EXPANSION_MIX, .dot_products = 1, .chains = 4

enum { STEP_BYTES = 16, PREFETCH = 1024, ZERO_POINT = ULB_DP_ZERO(ULB_INT1_ZERO_POINT) };

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    /* A clear bit is +1, a set bit -1. Unsigned weights are these values + 1. */
    __m256i plus = _mm256_set1_epi8((char)(1 + ZERO_POINT)),
            minus = _mm256_set1_epi8((char)(-1 + ZERO_POINT));
    __m256i sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_setzero_si256();
    for (size_t s = 0; s < steps; s++) {
        __m256i four = ulb_broadcast4(x + s * 4);
        for (int i = 0; i < 4; i++)
            ulb_dp(&sums[i], ulb_int1_expand(w + s * STEP_BYTES + 4 * i, plus, minus), four);
        _mm_prefetch((const char *)w + s * STEP_BYTES + PREFETCH, _MM_HINT_T0);
    }
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)dots + i, sums[i]);
}

#else

#define MIX EXPANSION_MIX, .maddubs = 1, .adds = 1

enum { STEP_BYTES = 16, FLUSH_STEPS = 32, PREFETCH = 1024, ZERO_POINT = ULB_INT1_ZERO_POINT };

static inline void step(const uint8_t *w, const int8_t *x, __m256i pairs[4])
{
    __m256i plus = _mm256_set1_epi8(1 + ULB_INT1_ZERO_POINT), minus = _mm256_setzero_si256();
    __m256i x4 = ulb_broadcast4(x);
    for (int i = 0; i < 4; i++) {
        __m256i weights = ulb_int1_expand(w + 4 * i, plus, minus);
        pairs[i] = _mm256_add_epi16(pairs[i], _mm256_maddubs_epi16(weights, x4));
    }
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    __m256i sums[4], pairs[4];
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_setzero_si256();
    for (size_t begin = 0; begin < steps; begin += FLUSH_STEPS) {
        size_t end = steps - begin < FLUSH_STEPS ? steps : begin + FLUSH_STEPS;
        for (int i = 0; i < 4; i++)
            pairs[i] = _mm256_setzero_si256();
        for (size_t s = begin; s < end; s++)
            step(w + s * STEP_BYTES, x + s * 4, pairs);
        for (int i = 0; i < 4; i++)
            sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(pairs[i], _mm256_set1_epi16(1)));
    }
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)dots + i, sums[i]);
}

#endif

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int1_vnni4, 32, tile, ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "blend",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int1_vnni4,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 4,
    .mix = {MIX, .vector_bits = ULB_VEC_BITS},
    .run = run,
};
