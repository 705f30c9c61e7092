/* Defines the kernel of fields of bytes for several tokens (kernels/x86/gemm/field_tile.h): its run function
 * and its struct ulb_kernel. A file includes this header at its end. The file defines these constants:
 *   VARIANT   its name.
 *   LAYOUT, VECTORS, FIELDS, BITS, TOKENS, SLICES, ZERO_POINT, NEAR, FAR, SEPARATE: as in
 *             struct ulb_field_tile_cfg.
 *   STRIDE    of prefetches.
 *   K_BLOCKS  whether calls with more tokens than a register tile are blocked by K
 *             (kernels/x86/gemm/field_blocked.h). */
#ifndef ULB_KERNELS_X86_FIELD_GEMM_KERNEL_H
#define ULB_KERNELS_X86_FIELD_GEMM_KERNEL_H

#include "kernels/x86/gemm/field_tile.h"
#if K_BLOCKS
#include "kernels/x86/gemm/field_blocked.h"
#endif

static const struct ulb_field_tile_cfg cfg = {.layout = &LAYOUT,
                                              .vectors = VECTORS,
                                              .fields = FIELDS,
                                              .bits = BITS,
                                              .tokens = TOKENS,
                                              .slices = SLICES,
                                              .zero_point = ZERO_POINT,
                                              .l1_distance = NEAR,
                                              .l2_distance = FAR,
                                              .prefetch_stride = STRIDE,
                                              .separate = SEPARATE};

#if K_BLOCKS

ULB_TOKENS_PACKED(cfg)

static inline __attribute__((always_inline)) void all(struct ulb_field_n_block *n_block, size_t t,
                                                      unsigned tokens)
{
    ulb_pass_field_k_block(&cfg, n_block, t, tokens);
}

ULB_GEMM_PASSES(pass, struct ulb_field_n_block, TOKENS, all)

static __attribute__((noinline)) void run_k_blocks(const struct ulb_gemm *g)
{
    ulb_run_field_k_blocks(&cfg, pass, g);
}

static void run(const struct ulb_gemm *g)
{
    if (g->n > TOKENS)
        run_k_blocks(g);
    else if (ulb_tokens_packed(&cfg, g))
        run_packed(g);
    else
        ulb_run_tokens(&cfg, g);
}

#else

static void run(const struct ulb_gemm *g)
{
    ulb_run_tokens(&cfg, g);
}

#endif

/* With two or more whole register tiles, passes prefetch the next K-block. */
enum { TUNABLE_TOKENS = K_BLOCKS ? 2 * TOKENS - 1 : 0 };

/* Instructions for some tokens; prefetches of a line are into L1, and into L2 where FAR says so. */
#define MIX(tokens) ULB_TOKENS_MIX(VECTORS, FIELDS, ((FAR) > 0 ? 2.0 : 1.0) * ULB_LINE / (STRIDE), tokens)

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = VARIANT,
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 4 * BITS,
    .mix = MIX(1),
    .tile_mix = MIX(TOKENS),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = TUNABLE_TOKENS},
    .run = run,
};

#endif
