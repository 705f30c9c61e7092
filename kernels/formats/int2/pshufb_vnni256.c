/* int2, the paper's own sequence (arXiv 2508.06753, III-C): unpack by byte shuffles, then 4 dot products.
 *
 * Per 128 weights: 1 load, 1 broadcast, 1 shift, 2 and, 4 pshufb, 4 dp: 11 vector operations on three ports
 * are 0.92 cycle per 32 weights, but the 4 accumulators of the paper's tile (m32 x k4) make it dp latency 5 /
 * 4 = 1.25, which is the gamma the paper prints. One prefetch a line, 1 KiB ahead. */
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int2/pshufb.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vnni.h"

enum { STEP_BYTES = 32, PREFETCH = 1024 };

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
    int offset = ULB_DP_ZERO(ULB_INT2_ZERO_POINT) - ULB_INT2_ZERO_POINT;
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

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int2_vnni4i, 32, tile, ULB_DP_ZERO(ULB_INT2_ZERO_POINT));
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
            .prefetches = 0.125,
            .logic = 0.5,
            .shifts = 0.25,
            .shuffles = 1,
            .dot_products = 1,
            .vector_bits = 256,
            .chains = 4},
    .run = run,
};
