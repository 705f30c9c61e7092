/* int8 without VNNI: vpmaddubsw needs one unsigned side, so the sign of each weight is moved to its
 * activation.
 *
 * |w| <= 128 and |x| <= 127, so a pair sums to at most 2 * 128 * 127 = 32,512 and 16 bits never saturate;
 * every pair is widened at once. Per 32 weights: abs, sign, maddubs, madd, add on at most three ports. Two
 * address streams. */
#include "kernels/int8/format.h"
#include "kernels/row.h"
#include "kernels/x86/avx2.h"

enum { STEP_BYTES = 128, PREFETCH = 512 };

static inline void step(const uint8_t *w, const int8_t *x, __m256i sums[4])
{
    __m256i x4 = ulb_broadcast4(x);
    __m256i ones = _mm256_set1_epi16(1);
    for (int i = 0; i < 4; i++) {
        __m256i weights = _mm256_loadu_si256((const __m256i *)(w + 32 * i));
        __m256i pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(weights), _mm256_sign_epi8(x4, weights));
        sums[i] = _mm256_add_epi32(sums[i], _mm256_madd_epi16(pairs, ones));
    }
    _mm_prefetch((const char *)w + PREFETCH, _MM_HINT_T0);
    _mm_prefetch((const char *)w + PREFETCH + 64, _MM_HINT_T0);
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m256i sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = _mm256_setzero_si256();
    size_t half = steps / 2;
    const uint8_t *w2 = w + half * STEP_BYTES;
    const int8_t *x2 = x + half * 4;
    for (size_t s = 0; s < half; s++) {
        step(w + s * STEP_BYTES, x + s * 4, sums);
        step(w2 + s * STEP_BYTES, x2 + s * 4, sums);
    }
    if (steps % 2)
        step(w2 + half * STEP_BYTES, x2 + half * 4, sums);
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)dots + i, sums[i]);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int8_vnni4_signed, tile, 0);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "sign",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int8_vnni4_signed,
    .activation = ULB_ACT_A8,
    .mr = 32,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 32,
    .mix = {.loads = 1,
            .broadcasts = 0.25,
            .prefetches = 0.5,
            .adds = 3,
            .maddubs = 1,
            .madds = 1,
            .vector_bits = 256},
    .run = run,
};
