/* Defines a kernel of fields of equal width that stay in their places in the byte. A file includes this
 * header after it defines LAYOUT (prefix of its sdot layouts), FIELDS of a byte (1, 2, 4 or 8), FACTOR and
 * ZERO_POINT. The dot product of a row is FACTOR times the dot product of its codes, less ZERO_POINT *
 * sum(x).
 *
 * sdot takes signed weights; the masked dot product of x86 (kernels/formats/int2/mask.h) needs unsigned ones.
 * A masked field below the top one is positive in either. The whole byte is stored ^ 0x80, so that its sum is
 * corrected exactly, modulo 2^32.
 * `D_j = x.(w & mask_j) = 2^(bits j) S_j`, `raw = x.w = D - 128 sum(x)`,
 * `S_top = (raw + 128 sum(x) - sum of the other D_j) / 2^(bits top)`.
 * `|D| <= 255 * 128 * K < 2^31` up to `K = 65,536`.
 * Registers: eight accumulators for each of two slices are 16 chains, which hide the latency on four
 * pipes. */
#ifndef ULB_KERNELS_ARM_GEMV_FIELDS_H
#define ULB_KERNELS_ARM_GEMV_FIELDS_H

#include "kernels/arm/gemv/k_slices.h"

enum { ROWS = ULB_BY_ISA(ULB_SDOT_ROWS_SHORT, ULB_SDOT_ROWS_LONG), LANES = ROWS / FIELDS, BITS = 8 / FIELDS };

static inline __attribute__((always_inline)) void dots_of(const int32_t *sums, int32_t x_sum, int32_t *dots)
{
    uint32_t lacking = FIELDS > 1 ? 128 * (uint32_t)x_sum : 0;
    for (size_t lane = 0; lane < LANES; lane++) {
        uint32_t rest = (uint32_t)sums[(FIELDS - 1) * LANES + lane] + lacking;
        for (size_t j = 0; j + 1 < FIELDS; j++) {
            rest -= (uint32_t)sums[j * LANES + lane];
            dots[j * LANES + lane] = FACTOR * (sums[j * LANES + lane] >> BITS * j);
        }
        dots[(FIELDS - 1) * LANES + lane] = FACTOR * ((int32_t)rest >> BITS * (FIELDS - 1));
    }
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_sdot_tiles(g, &ULB_SDOT_OF(LAYOUT), ROWS, LANES, dots_of, ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = FIELDS == 1 ? "dot" : "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ULB_SDOT_OF(LAYOUT),
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = ULB_SDOT_GRAIN,
    .bytes_per_step = 4 * BITS,
    .mix = {ULB_SDOT_LOADS(BITS, 32), .logic = 2 - 2.0 / FIELDS, .dot_products = 2, .vector_bits = 128,
            .chains = 8 * ULB_SDOT_SLICES},
    .run = run,
};

#endif
