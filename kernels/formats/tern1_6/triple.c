/* tern1.6 without digits.
 *
 * A byte is a base-3 fraction of 256. x0 is the byte, and x(i+1) = 3 x(i) mod 256. Digit i is the overflow of
 * the tripling:
 * `256 d(i) = 3 x(i) - x(i+1)`.
 * Digits are therefore never extracted. With D(i) the dot product of x(i), the sum of digit i is
 * `S(i) = (3 D(i) - D(i+1)) / 256`. `|D| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * 256 S exceeds 32 bits, see ulb_digit_sums(). Registers: six accumulators in two sets are 12 chains, which
 * hide the latency on two ports. */
#include "kernels/formats/tern1_6/digits.h"
#include "kernels/formats/tern1_6/format.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/codes/ternary_base3.h"
#include "kernels/x86/simd/dot.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_tern1_6_fifths_80
#else
#define LAYOUT ulb_tern1_6_fifths
#endif

enum { DIGITS = ULB_TERN1_6_DIGITS, SUMS = DIGITS + 1, SLICES = ULB_TERN1_6_SLICES, SETS = 2 };

static const struct ulb_k_loop k_loop = {.step_bytes = ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = SUMS,
                                         .slices = SLICES,
                                         .sets = SETS,
                                         .chunk_bytes = 2 * ULB_LINE,
                                         .l1_distance = 1024,
                                         .l2_distance = 1536,
                                         .prefetch_stride = ULB_LINE};

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *sums)
{
    ulb_vec packed, x, twice;
    __asm__(ULB_ASM_LOAD /* clang-format off */
            ULB_ASM_DP("packed", "s0") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s1") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s2") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s3") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s4") ULB_ASM_TRIPLE
            ULB_ASM_DP("packed", "s5") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [s4] ULB_SUM(sums[4]), [s5] ULB_SUM(sums[5]), [packed] ULB_SCRATCH(packed), [x] ULB_SCRATCH(x),
              [twice] ULB_SCRATCH(twice)
            : [w] ULB_WEIGHTS(w), [x4] ULB_ACTIVATIONS(x4));
    ulb_prefetch_line_at(hint, w, 0, &sums[0]);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    ulb_digit_sums(sums);
    ulb_store_all(dots, sums, DIGITS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, DIGITS * ULB_LANES, tile, ULB_TERN1_6_ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "triple",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = DIGITS * ULB_LANES,
    .nr = 1,
    .kr = 4 * SLICES,
    .bytes_per_step = 6.4,
    .mix = {.loads = 51.2 / ULB_VEC_BITS,
            .broadcasts = 51.2 / ULB_VEC_BITS,
            .prefetches = 0.2,
            .adds = 512.0 / ULB_VEC_BITS,
            .dot_products = 307.2 / ULB_VEC_BITS,
            .vector_bits = ULB_VEC_BITS,
            .chains = SUMS * SETS},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
