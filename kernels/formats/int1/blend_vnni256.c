/* int1, the paper's own sequence (arXiv 2508.06753, III-D): expand each 32 bits to bytes, then one dot
 * product.
 *
 * Per 32 weights: 1 broadcast load, 1 pshufb, 1 and, 1 cmpeq, 1 blendv, 1 dp. vpblendvb is 3 operations on
 * Golden Cove and 2 on older cores: 7 or 6 on three ports, 2.33 or 2.0 cycles; the paper prints 2.4. On
 * Atom-class cores it is microcode. 4 accumulators as in the paper's m32 x k4 tile; at this rate their
 * latency is hidden. */
#include "kernels/formats/int1/blend.h"
#include "kernels/formats/int1/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vnni.h"

enum { STEP_BYTES = 16, PREFETCH = 1024 };

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    const uint8_t *w = tiles->w;
    const int8_t *x = tiles->x;
    size_t steps = tiles->steps;
    /* A clear bit is +1, a set one -1; unsigned weights are those values + 1. */
    int zero_point = ULB_DP_ZERO(ULB_INT1_ZERO_POINT);
    __m256i plus = _mm256_set1_epi8((char)(1 + zero_point)),
            minus = _mm256_set1_epi8((char)(-1 + zero_point));
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

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int1_vnni4, 32, tile, ULB_DP_ZERO(ULB_INT1_ZERO_POINT));
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
            .dot_products = 1,
            .vector_bits = 256,
            .chains = 4},
    .run = run,
};
