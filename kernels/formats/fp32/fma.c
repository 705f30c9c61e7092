/* fp32 by FMA with weights from memory: a column of 8 vectors of rows needs 8 loads, 1 broadcast, 8 FMA.
 *
 * 128 bytes per 32 weights: two loads of 256 bits or one of 512 per cycle and FMA on two ports are both 2
 * cycles at 256 bits, 1 at 512; 8 chains of latency 4 as well. With the prefetches, one a line, three ports
 * of loads need 2.2 and 1.4.
 *
 * Several tokens (kernels/x86/gemm/float.h): 3 share the loads. At 256 bits 4 vectors of rows at a time: 12
 * sums, 3 activations, 1 vector of weights are all 16 registers; at 512 all 8: 28 of 32. Ports: 12 or 24 FMA
 * on two ports are 6 or 12 cycles, 7 or 11 loads less: 2 cycles per 32 weights and token, and 1. */
#include "kernels/formats/fp32/format.h"
#include "kernels/x86/float_kernel.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_fp32_columns_128
#else
#define LAYOUT ulb_fp32_columns_64
#endif

enum { WEIGHT_BYTES = 4, NEAR = 512, TOKENS = 3 };

static inline void add(ulb_floats *sum, const uint8_t *w, ulb_floats one)
{
    __asm__("vfmadd231ps %[w], %[one], %[sum]"
            : [sum] "+v"(*sum)
            : [w] "m"(*(const float(*)[ULB_LANES])w), [one] "v"(one));
}

static inline __attribute__((always_inline)) void load(const uint8_t *w, ulb_floats *values)
{
    *values = ulb_load_floats(w);
}

ULB_COLUMNS_RUN(LAYOUT, WEIGHT_BYTES, NEAR, add, load, TOKENS)

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_F32,
    .mr = ULB_COLUMN_ROWS,
    .nr = TOKENS,
    .kr = ULB_COLUMN_SLICES,
    .bytes_per_step = 32 * WEIGHT_BYTES,
    .tolerance = ULB_ONE_CHAIN_TOLERANCE,
    .mix = {ULB_COLUMNS_MIX(WEIGHT_BYTES, 1, ULB_COLUMN_VECTORS)},
    .tile_mix = {ULB_COLUMNS_MIX(WEIGHT_BYTES, TOKENS, ULB_COLUMN_PASS_VECTORS)},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = 1},
    .run = run,
};
