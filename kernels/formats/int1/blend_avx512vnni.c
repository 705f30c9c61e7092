/* int1 on 512-bit vectors: the weight bits are the blend's mask register, no expansion is needed.
 *
 * Per 64 weights: 1 mask load (a load and a port-5 operation), 1 blend, 1 dot product: 3 operations on two
 * ports are 0.75 cycle per 32 weights. Two 16-row vectors per column step, even and odd steps in accumulators
 * of their own. */
#include "kernels/formats/int1/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/vnni.h"

enum { STEP_BYTES = 16, PREFETCH = 1024 };

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
    .mix = {.broadcasts = 0.25,
            .prefetches = 0.125,
            .masked_moves = 0.5,
            .dot_products = 0.5,
            .vector_bits = 512,
            .chains = 4},
    .run = run,
};
