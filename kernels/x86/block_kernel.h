/* Defines the kernel of a repacked block format: its run function and its struct ulb_kernel. The instruction
 * mix follows from its codes (kernels/x86/codes/codes.h), scales and minima. A file includes this header at
 * its end. The file defines these constants:
 *   FORMAT          name of the format's structs.
 *   COLUMNS, GROUP  of a block and of a group.
 *   LAYOUT, SETS, ZERO_POINT, SCALES, MINIMA, POWERS, ACTIVATION, NEAR, FAR: as in struct ulb_block_cfg.
 *   CODES, COUNTS   a struct ulb_codes and its ULB_..._COUNTS.
 *   SHUFFLES        look-ups per step of a vector of rows.
 *   BYTES_PER_STEP.
 *   UNPACKED        optional: dot products also unpack codes for several tokens (struct ulb_codes' byte).
 *   FOLDED          optional, with UNPACKED: products of codes and scales fit a byte
 *                   (kernels/x86/gemm/block_folded.h).
 *   LEAST           optional, 2 by default: fewest tokens that use unpacked codes.
 *   TILE_PAIRS      optional, 0 by default.
 *   UNPACKED_STEPS  with AVX2 alone: UNPACKED_STEPS(s16_steps), if struct ulb_codes has operand_steps.
 *   IS_SIGNED       with AVX2 alone: codes are values. */
#ifndef ULB_KERNELS_X86_BLOCK_KERNEL_H
#define ULB_KERNELS_X86_BLOCK_KERNEL_H

#include "kernels/x86/block_mix.h"

#ifndef LEAST
#define LEAST 2
#endif
#ifndef TILE_PAIRS
#define TILE_PAIRS 0
#endif

#define ROWS (SETS * COUNTS(ULB_ROWS_OF) * ULB_LANES)

static const struct ulb_block_cfg cfg = {.layout = &LAYOUT,
                                         .codes = &CODES,
                                         .sets = SETS,
                                         .columns = COLUMNS,
                                         .group = GROUP,
                                         .tile_bytes = (size_t)(ROWS * BYTES_PER_STEP * COLUMNS / 32 + 0.5),
                                         .l1_distance = NEAR,
                                         .l2_distance = FAR,
                                         .zero_point = ZERO_POINT,
                                         .scales = SCALES,
                                         .minima = MINIMA,
                                         .powers = POWERS,
                                         .tile_pairs = TILE_PAIRS,
                                         .scales_sums = ULB_SCALES_SUMS,
                                         .activation = ACTIVATION};

#if !ULB_S16_SUMS

enum { FIELD_TOKENS = ULB_BLOCK_TOKENS(SETS * COUNTS(ULB_SUMS_OF), SCALES) };

/* Not inlined, nor is the next function, so that the code of one token stays the same. With 12 sums in 16
 * registers the branch after ULB_RUNTIME_PREFETCH would slow it down. */
static __attribute__((noinline)) void run_fields(const struct ulb_gemm *g)
{
    if (ULB_BY_ENCODING(true, false))
        ULB_SPECIALISE_PREFETCH(g->prefetch, ulb_run_token_blocks(&cfg, prefetch, g, FIELD_TOKENS));
    else
        ulb_run_token_blocks(&cfg, ULB_RUNTIME_PREFETCH(g->prefetch), g, FIELD_TOKENS);
}

#endif

#if ULB_S16_SUMS || defined(UNPACKED)

enum { UNPACKS = true, TOKENS = ULB_UNPACKED_TOKENS(ROWS / ULB_LANES) };
#if ULB_S16_SUMS && defined(IS_SIGNED)
#define TILE_MIX ULB_SIGNED_MIX
#else
#define TILE_MIX COUNTS(ULB_UNPACKED_MIX)
#endif
#if !ULB_S16_SUMS
/* For repacked kernels. In place no group is as long, and 4-bit minima are unpacked. */
_Static_assert(GROUP <= ULB_UNPACKED_CODES / ROWS, "a group must fit into the codes that are unpacked");
#endif

#ifdef FOLDED

static inline __attribute__((always_inline)) void all(struct ulb_folded *folded, size_t t, unsigned tokens)
{
    ulb_pass_folded(&cfg, folded, t, tokens);
}

ULB_GEMM_PASSES(pass, struct ulb_folded, TOKENS, all)

/* With cfg itself: GCC finds what functions it holds too late to inline them if the nest hands it on. */
static inline __attribute__((always_inline)) void stage(const void *of, const struct ulb_gemm_block *block,
                                                        void *state, size_t k)
{
    (void)of;
    ulb_stage_folded(&cfg, block, state, k);
}

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    const struct ulb_gemm_nest nest = {.cfg = &cfg,
                                       .layout = cfg.layout,
                                       .rows = ROWS,
                                       .n_block = ULB_UNPACKED_N_BLOCK,
                                       .least = 2,
                                       .tile = TOKENS,
                                       .begin = ulb_begin_folded,
                                       .stage = stage,
                                       .pack_x = ulb_pack_folded,
                                       .pass = pass,
                                       .finish = ulb_finish_folded};
    struct ulb_folded folded;
    ulb_gemm_blocked(&nest, g, &folded);
}

#else

static inline __attribute__((always_inline)) void all(struct ulb_unpacked *unpacked, size_t t,
                                                      unsigned tokens)
{
    ulb_pass_unpacked(&cfg, unpacked, t, tokens);
}

ULB_GEMM_PASSES(pass, struct ulb_unpacked, TOKENS, all)

/* With cfg itself: GCC finds what functions it holds too late to inline them if the nest hands it on. */
static inline __attribute__((always_inline)) void stage(const void *of, const struct ulb_gemm_block *block,
                                                        void *state, size_t k)
{
    (void)of;
    ulb_stage_unpacked(&cfg, block, state, k);
}

static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    const struct ulb_gemm_nest nest = ULB_UNPACKED_NEST(&cfg, ROWS, stage, pass, TOKENS);
    struct ulb_unpacked unpacked;
    ulb_gemm_blocked(&nest, g, &unpacked);
}

#endif

#else

enum { UNPACKS = false, TOKENS = FIELD_TOKENS };
#define TILE_MIX COUNTS(ULB_CODES_TILE_MIX)

#endif

static void run(const struct ulb_gemm *g)
{
#if ULB_S16_SUMS || defined(UNPACKED)
    if (g->n >= LEAST) {
        run_tokens(g);
        return;
    }
#endif
#if !ULB_S16_SUMS
    if (FIELD_TOKENS > 1 && g->n > 1) {
        run_fields(g);
        return;
    }
#endif
    ulb_run_blocks(g, &cfg);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "rows",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ACTIVATION,
    .mr = ROWS,
    .nr = TOKENS,
    .kr = ULB_BLOCK_SLICES * COLUMNS,
    .bytes_per_step = BYTES_PER_STEP,
    .tolerance = ULB_BLOCK_TOLERANCE,
    .mix = COUNTS(ULB_CODES_MIX),
    .tile_mix = TILE_MIX,
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = UNPACKS ? LEAST - 1 : 0},
    .run = run,
};

#endif
