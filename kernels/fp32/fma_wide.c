/* fp32 by FMA with weights from memory: a column of 8 vectors of rows needs 8 loads, 1 broadcast, 8 FMA.
 *
 * 128 bytes per 32 weights: two loads of 256 bits or one of 512 per cycle and FMA on two ports are both 2
 * cycles at 256 bits, 1 at 512; 8 chains of latency 4 as well. With the prefetches, one a line, three ports
 * of loads need 2.2 and 1.4. */
#include "kernels/fp32/format.h"
#include "kernels/x86/float_columns.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_fp32_columns_128
#else
#define LAYOUT ulb_fp32_columns_64
#endif

enum { WEIGHT_BYTES = 4, NEAR = 512 };

static inline void add(ulb_floats *sum, const uint8_t *w, ulb_floats one)
{
    __asm__("vfmadd231ps %[w], %[one], %[sum]"
            : [sum] "+v"(*sum)
            : [w] "m"(*(const float(*)[ULB_LANES])w), [one] "v"(one));
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_columns(g, &LAYOUT, WEIGHT_BYTES, NEAR, add);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_F32,
    .mr = ULB_COLUMN_ROWS,
    .nr = 1,
    .kr = ULB_COLUMN_SLICES,
    .bytes_per_step = 32 * WEIGHT_BYTES,
    .tolerance = ULB_ONE_CHAIN_TOLERANCE,
    .mix = {.loads = 1024.0 / ULB_VEC_BITS,
            .broadcasts = 1024.0 / ULB_VEC_BITS / ULB_COLUMN_VECTORS,
            .prefetches = 4,
            .fmas = 1024.0 / ULB_VEC_BITS,
            .vector_bits = ULB_VEC_BITS,
            .chains = ULB_COLUMN_VECTORS},
    .prefetch_choice = true,
    .run = run,
};
