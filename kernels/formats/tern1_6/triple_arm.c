/* tern1.6 without digits (see triple.c) by signed dot products.
 *
 * Bytes are stored ^ 0x80: as signed bytes they are 128 too small. Tripling modulo 256 keeps that, since 3 *
 * 128 = 256 + 128. The dot products of the signed bytes therefore give the sum of the values.
 * `D'(i) = D(i) - 128 sum(x)`, `(3 D'(i) - D'(i+1)) / 256 = S(i) - sum(x)`.
 * `|D'| <= 128 * 127 * K < 2^31` up to `K = 65,536`.
 * The numerator takes 64 bits, once per row. Registers: six accumulators for each of two slices. */
#include "kernels/formats/tern1_6/format.h"

#define PLANES      (ULB_TERN1_6_DIGITS + 1)
#define BYTE_PLANES 1
#define VECTORS(X)  X(0)
#define MASKS
#define SUMS(X) X(0) X(1) X(2) X(3) X(4) X(5)

#define TRIPLED(set, n, q)                                                                                   \
    ULB_DOT(set, n, bytes, q);                                                                               \
    bytes = ulb_triple(bytes);
#define STEP(set, w, q)                                                                                      \
    {                                                                                                        \
        ulb_bytes bytes = ULB_VECTOR_AT(0, w);                                                               \
        TRIPLED(set, 0, q)                                                                                   \
        TRIPLED(set, 1, q)                                                                                   \
        TRIPLED(set, 2, q)                                                                                   \
        TRIPLED(set, 3, q)                                                                                   \
        TRIPLED(set, 4, q)                                                                                   \
        ULB_DOT(set, 5, bytes, q);                                                                           \
    }

#include "kernels/arm/gemv/k_slices.h"

enum {
    DIGITS = ULB_TERN1_6_DIGITS,
    LANES = ULB_BY_ISA(ULB_TERN1_6_LANES_SHORT, ULB_TERN1_6_LANES_LONG),
    ROWS = DIGITS * LANES
};

#define LAYOUT ULB_BY_ISA(ulb_tern1_6_sdot_20, ulb_tern1_6_sdot_80)

static inline __attribute__((always_inline)) void dots_of(const int32_t *sums, int32_t x_sum, int32_t *dots)
{
    (void)x_sum;
    for (size_t i = 0; i < DIGITS * (size_t)LANES; i++)
        dots[i] = (int32_t)((3 * (int64_t)sums[i] - sums[i + LANES]) / 256);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_sdot_tiles(g, &LAYOUT, ROWS, LANES, dots_of, 0);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "triple",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = ULB_SDOT_GRAIN,
    .bytes_per_step = 6.4,
    .mix = {ULB_SDOT_LOADS(1.6, 20), .adds = 4, .dot_products = 2.4, .vector_bits = 128,
            .chains = PLANES * ULB_SDOT_SLICES},
    .run = run,
};
