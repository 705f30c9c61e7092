/* int1 without VNNI: the paper's expansion to bytes, then vpmaddubsw into 16-bit sums.
 *
 * Weights are 0 or 2: a pair adds at most 2 * 2 * 127 = 508, so 32 steps (16,256) fit 16 bits, then they are
 * widened. */
#include "kernels/formats/int1/blend.h"
#include "kernels/formats/int1/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vec.h"

enum { STEP_BYTES = 16, FLUSH_STEPS = 32, PREFETCH = 1024 };

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

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int1_vnni4, 32, tile, ULB_INT1_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "blend",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int1_vnni4,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 4,
    .mix = {.broadcasts = 1.25,
            .prefetches = 0.25,
            .shuffles = 1,
            .logic = 1,
            .compares = 1,
            .blends = 1,
            .maddubs = 1,
            .adds = 1,
            .vector_bits = 256},
    .run = run,
};
