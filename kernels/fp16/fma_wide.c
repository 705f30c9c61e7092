/* fp16 by conversion and FMA: a column of 8 vectors of rows needs 8 loads, 8 conversions, 1 broadcast, 8 FMA.
 *
 * FMA on two ports alone are 2 cycles per 32 weights at 256 bits, 1 at 512; so are 8 chains of latency 4. On
 * Intel's cores vcvtph2ps from memory takes one of the same ports too, 4 cycles in all, and at 512 bits
 * another for the lanes, 3 in all: what sums in half precision (AVX512-FP16) reach, 1.3, these cannot. */
#include "kernels/fp16/format.h"
#include "kernels/x86/float_columns.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_fp16_columns_128
#else
#define LAYOUT ulb_fp16_columns_64
#endif

enum { WEIGHT_BYTES = 2, NEAR = 512 };

static inline void add(ulb_floats *sum, const uint8_t *w, ulb_floats one)
{
    ulb_floats values;
    __asm__("vcvtph2ps %[w], %[values]\n\tvfmadd231ps %[one], %[values], %[sum]"
            : [sum] "+v"(*sum), [values] "=&v"(values)
            : [w] "m"(*(const uint16_t(*)[ULB_LANES])w), [one] "v"(one));
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
            .prefetches = 2,
            .loaded_halves = 1024.0 / ULB_VEC_BITS,
            .fmas = 1024.0 / ULB_VEC_BITS,
            .vector_bits = ULB_VEC_BITS,
            .chains = ULB_COLUMN_VECTORS},
    .prefetch_choice = true,
    .run = run,
};
