/* int1 for 3 tokens at once (kernels/x86/gemm/field_tile.h); the sums are those of int1/mask.c, the
 * layout too.
 *
 * Registers: 24 accumulators, 3 vectors of activations. Ports: per vector of weights 7 and, 24 dp on two
 * ports: 0.32 cycle per 32 weights and token. */
#include "kernels/formats/int1/format.h"
#include "kernels/x86/gemm/field_tile.h"

enum { VECTORS = 1, FIELDS = 8, BITS = 1, TOKENS = 3, SLICES = 4 };

static inline __attribute__((always_inline)) void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, FIELDS, BITS);
    /* -2 T: the correction adds sum(x). */
#pragma GCC unroll 8
    for (int j = 0; j < FIELDS; j++)
        sums[j] = ulb_sub32(ulb_zero(), ulb_add32(sums[j], sums[j]));
}

static const struct ulb_field_tile_cfg cfg = {.layout = &ulb_int1_fields_128,
                                              .vectors = VECTORS,
                                              .fields = FIELDS,
                                              .bits = BITS,
                                              .tokens = TOKENS,
                                              .slices = SLICES,
                                              .zero_point = -1,
                                              .near = 1024,
                                              .far = 4096,
                                              .prefetch_stride = ULB_LINE,
                                              .separate = separate};

static void run(const struct ulb_gemm *g)
{
    ulb_run_tokens(&cfg, g);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maskn",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int1_fields_128,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 2, 1),
    .tile_mix = ULB_TOKENS_MIX(VECTORS, FIELDS, 2, TOKENS),
    .prefetch_choice = true,
    .run = run,
};
