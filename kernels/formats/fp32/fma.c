/* fp32 by FMA with weights from memory. A column of eight vectors of rows takes eight loads, one broadcast,
 * eight FMA.
 *
 * Loads and FMA are balanced: both take two ports, and eight chains of latency 4 keep FMA busy.
 *
 * Several tokens (kernels/x86/gemm/float.h): three tokens share the loads. At 256 bits 4 vectors of rows at a
 * time use all 16 registers: 12 sums, three activations, one vector of weights. At 512 bits all eight vectors
 * use 28 of 32 registers. */
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
