/* fp16 by conversion and FMA. A column of eight vectors of rows takes eight loads, eight conversions, one
 * broadcast, eight FMA.
 *
 * Eight chains of latency 4 keep FMA on two ports busy. On Intel's cores vcvtph2ps from memory uses one of
 * these ports too, at 512 bits also another for the lanes. Sums in half precision (AVX512-FP16) would avoid
 * that.
 *
 * Several tokens (kernels/x86/gemm/float.h) share the conversions: at 256 bits 2 tokens with four vectors of
 * rows, at 512 bits 3 tokens with all 8. */
#include "kernels/formats/fp16/format.h"
#include "kernels/x86/float_kernel.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_fp16_columns_128
#else
#define LAYOUT ulb_fp16_columns_64
#endif

enum { WEIGHT_BYTES = 2, NEAR = 512, TOKENS = ULB_BY_ENCODING(2, 3) };

static inline void add(ulb_floats *sum, const uint8_t *w, ulb_floats one)
{
    ulb_floats values;
    __asm__("vcvtph2ps %[w], %[values]\n\tvfmadd231ps %[one], %[values], %[sum]"
            : [sum] "+v"(*sum), [values] "=&v"(values)
            : [w] "m"(*(const uint16_t(*)[ULB_LANES])w), [one] "v"(one));
}

static inline __attribute__((always_inline)) void load(const uint8_t *w, ulb_floats *values)
{
    __asm__("vcvtph2ps %[w], %[values]" : [values] "=v"(*values) : [w] "m"(*(const uint16_t(*)[ULB_LANES])w));
}

ULB_COLUMNS_RUN(LAYOUT, WEIGHT_BYTES, NEAR, add, load, TOKENS)

#define MIX(tokens, vectors)                                                                                 \
    {                                                                                                        \
        ULB_COLUMNS_MIX(WEIGHT_BYTES, tokens, vectors), .loaded_halves = ULB_COLUMN_UNITS                    \
    }

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
    .mix = MIX(1, ULB_COLUMN_VECTORS),
    .tile_mix = MIX(TOKENS, ULB_COLUMN_PASS_VECTORS),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = 1},
    .run = run,
};
