/* int2 without VNNI: the paper's unpacking, then vpmaddubsw into 16-bit sums.
 *
 * A pair adds at most 2 * 3 * 127 = 762, so 32 steps (24,384) fit 16 bits; then the sums are widened into 32
 * bits. Per 128 weights: 7 unpacking operations, 4 maddubs, 4 add, and 1/32 of 8 for the widening. */
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int2/pshufb.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"

enum { STEP_BYTES = 32, FLUSH_STEPS = 32, PREFETCH = 1024 };

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

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int2_vnni4i, 32, tile, ULB_INT2_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "pshufb",
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
            .logic = 0.5,
            .shifts = 0.25,
            .shuffles = 1,
            .maddubs = 1,
            .adds = 1,
            .vector_bits = 256},
    .run = run,
};
