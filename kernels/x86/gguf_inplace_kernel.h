/* Defines the kernel of a block format in place: its run function and its struct ulb_kernel. A file includes
 * this header at its end. The file defines these constants:
 *   LAYOUT, ACTIVATION, BLOCK_BYTES, ZERO_POINT, MINIMA: as in struct ulb_block_cfg.
 *   LARGEST        largest code.
 *   MIX            instruction mix of one token.
 *   format         a struct ulb_paired or ulb_long.
 *   POWERS         for blocks of 32 columns.
 *   GROUP, SCALES  for blocks of 256 columns.
 *   IS_SIGNED      codes are values if sums are 16-bit, because such sums do not hold unsigned codes. */
#ifndef ULB_KERNELS_X86_GGUF_INPLACE_KERNEL_H
#define ULB_KERNELS_X86_GGUF_INPLACE_KERNEL_H

#include "kernels/x86/block_mix.h"

#define BYTES_PER_STEP (32.0 * (BLOCK_BYTES) / COLUMNS)

#if ULB_S16_SUMS && defined(IS_SIGNED)
#define S16_STEPS 0
#define TILE_MIX  ULB_SIGNED_MIX
#else
#define S16_STEPS ULB_S16_STEPS(LARGEST)
#define SHUFFLES  0
#define TILE_MIX  ULB_UNPACKED_MIX(0, 0, 0, 0, 0, 0, 0, S16_STEPS, 0)
#endif

enum { LEAST = ULB_IN_PLACE_LEAST, TOKENS = ULB_UNPACKED_TOKENS(ULB_IN_PLACE_VECTORS) };

static const struct ulb_codes byte_codes = {
    .rows = ULB_IN_PLACE_VECTORS, .s16_steps = S16_STEPS, .shift = ulb_no_shift};
static const struct ulb_block_cfg cfg = {.codes = &byte_codes,
                                         .sets = 1,
                                         .columns = COLUMNS,
                                         .group = GROUP,
                                         .zero_point = ZERO_POINT,
                                         .scales = SCALES,
                                         .minima = MINIMA,
                                         .powers = POWERS,
                                         .activation = ACTIVATION};

static inline __attribute__((always_inline)) void unpack(const struct ulb_in_place_tile *tile, size_t b,
                                                         size_t i, struct ulb_unpacked *unpacked)
{
    UNPACK(&format, tile, b, i, unpacked);
}

static inline __attribute__((always_inline)) void all(struct ulb_unpacked *unpacked, size_t t,
                                                      unsigned tokens)
{
    ulb_pass_unpacked(&cfg, unpacked, t, tokens);
}

ULB_GEMM_PASSES(pass, struct ulb_unpacked, TOKENS, all)

/* Not inlined: the code of one token stays what it is without. */
static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    static const struct ulb_in_place_gemm gemm = {&cfg, unpack, BLOCK_BYTES};
    ulb_run_in_place_tokens(&gemm, pass, TOKENS, g);
}

static void run(const struct ulb_gemm *g)
{
    if (g->n >= LEAST)
        run_tokens(g);
    else
        RUN_ONE_BY_ONE(g, &format);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "inplace",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ACTIVATION,
    .mr = ROWS,
    .nr = TOKENS,
    .kr = COLUMNS,
    .bytes_per_step = BYTES_PER_STEP,
    .tolerance = ULB_BLOCK_TOLERANCE,
    .mix = {MIX, .prefetches = (ROWS * (BLOCK_BYTES) + ULB_LINE - 1) / ULB_LINE * 32.0 / (COLUMNS * ROWS),
            .vector_bits = 256},
    .tile_mix = TILE_MIX,
    .prefetch = {.kind = ROWS == 1 ? ULB_PREFETCH_OWN_OR_NONE : ULB_PREFETCH_TUNABLE, .max_n = LEAST - 1},
    .run = run,
};

#endif
