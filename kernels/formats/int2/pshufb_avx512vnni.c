/* int2, the paper's sequence on 512-bit vectors and 64-row tiles.
 *
 * Per 256 weights: 1 load, 1 broadcast, 1 shift, 2 and, 4 pshufb, 4 dp: 11 operations on two ports are 0.69
 * cycle per 32 weights where both take them; a core with one 512-bit shuffle port needs 0.5 for the shuffles
 * alone. Two sets of 4 accumulators (even and odd columns) hide the dot product's latency. */
#include "kernels/formats/int2/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vnni.h"

enum { STEP_BYTES = 64, PREFETCH = 1024 };

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

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int2_vnni4i_64, 64, tile, ULB_INT2_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "pshufb",
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
            .logic = 0.25,
            .shifts = 0.125,
            .shuffles = 0.5,
            .dot_products = 0.5,
            .vector_bits = 512,
            .chains = 8},
    .run = run,
};
