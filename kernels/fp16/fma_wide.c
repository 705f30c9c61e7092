/* fp16 by conversion and FMA: a column of 8 vectors of rows needs 8 loads, 8 conversions, 1 broadcast, 8 FMA.
 *
 * FMA on two ports alone are 2 cycles per 32 weights at 256 bits, 1 at 512; so are 8 chains of latency 4. On
 * Intel's cores vcvtph2ps from memory takes one of the same ports too, 4 cycles in all, and at 512 bits
 * another for the lanes, 3 in all: what sums in half precision (AVX512-FP16) reach, 1.3, these cannot.
 *
 * Several tokens (kernels/x86/float_tokens.h) share the conversions: at 256 bits 2 and 4 vectors of rows at a
 * time, 3 and all 8 at 512. Ports, Intel's: 8 FMA and 4 conversions on two are 6 cycles, 3 cycles per 32
 * weights and token; at 512 bits 24, 8 and 8 for the lanes are 20, 1.7. */
#include "kernels/fp16/format.h"
#include "kernels/x86/float_columns.h"
#include "kernels/x86/float_tokens.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_fp16_columns_128
#else
#define LAYOUT ulb_fp16_columns_64
#endif

enum { WEIGHT_BYTES = 2, NEAR = 512, TOKENS = ULB_BY_ENCODING(2, 3), PASS_VECTORS = ULB_BY_ENCODING(4, 8) };

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

static inline __attribute__((always_inline)) void add_value(ulb_floats *sum, ulb_floats value, ulb_floats one)
{
    __asm__("vfmadd231ps %[one], %[value], %[sum]" : [sum] "+v"(*sum) : [value] "v"(value), [one] "v"(one));
}

static const struct ulb_float_tokens tokens = {.rows = ULB_COLUMN_ROWS,
                                               .vector_bytes = WEIGHT_BYTES * ULB_LANES,
                                               .streams = ULB_COLUMN_SLICES,
                                               .columns = 1,
                                               .vectors = PASS_VECTORS,
                                               .tokens = TOKENS,
                                               .load = load,
                                               .add = add_value};

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    ulb_run_float_tokens(&tokens, NULL, &LAYOUT, g);
}

static void run(const struct ulb_gemm *g)
{
    if (g->n == 1)
        ulb_run_columns(g, &LAYOUT, WEIGHT_BYTES, NEAR, add);
    else
        run_tokens(g);
}

/* vectors: that share a broadcast. */
#define MIX(tokens_, vectors_)                                                                               \
    {                                                                                                        \
        .loads = 1024.0 / ULB_VEC_BITS, .broadcasts = 1024.0 / ULB_VEC_BITS / (vectors_) * (tokens_),        \
        .prefetches = 2, .loaded_halves = 1024.0 / ULB_VEC_BITS, .fmas = 1024.0 / ULB_VEC_BITS * (tokens_),  \
        .vector_bits = ULB_VEC_BITS, .chains = (vectors_) * (tokens_)                                        \
    }

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "fma",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_F32,
    .mr = ULB_COLUMN_ROWS,
    .nr = TOKENS,
    .kr = ULB_COLUMN_SLICES,
    .bytes_per_step = 32 * WEIGHT_BYTES,
    .tolerance = ULB_ONE_CHAIN_TOLERANCE,
    .mix = MIX(1, ULB_COLUMN_VECTORS),
    .tile_mix = MIX(TOKENS, PASS_VECTORS),
    .prefetch_choice = true,
    .run = run,
};
