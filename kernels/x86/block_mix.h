/* The instruction mixes of a kernel that kernels/x86/block_kernel.h makes, of its constants. */
#ifndef ULB_KERNELS_X86_BLOCK_MIX_H
#define ULB_KERNELS_X86_BLOCK_MIX_H

#include "kernels/x86/codes/codes.h"

#if ULB_S16_SUMS
#include "kernels/x86/gemm/block_unpacked_avx2.h"
#else
#include "kernels/x86/gemm/block_tile.h"
#include "kernels/x86/gemm/block_folded.h"
#endif

#ifndef UNPACKED_STEPS
#define UNPACKED_STEPS(s16_steps) (s16_steps)
#endif

/* One instruction per vector of rows for each group of columns, per 32 weights. */
#define ULB_EACH(of_columns) (1024.0 / ULB_VEC_BITS / (of_columns))
/* Scales of groups: widened and converted for each group, FMA; two in a byte: half as many widened, and one
 * operation more. */
#define ULB_HAS(scales)     ((scales) != ULB_NO_GROUPS)
#define ULB_WIDENED(scales) ((scales) == ULB_NIBBLE_SCALES ? 0.5 : ULB_HAS(scales) ? 1.0 : 0.0)
#define ULB_HALVED(scales)  ((scales) == ULB_NIBBLE_SCALES ? 0.5 : 0.0)
/* Scales that multiply 16-bit sums, ulb_scales_integers(). They replace all of this: a shuffle for one or two
 * of them, and one conversion for a block. */
#define ULB_INTEGERS(scales)                                                                                 \
    (ULB_S16_SUMS && ((scales) == ULB_UNSIGNED_SCALES || (scales) == ULB_NIBBLE_SCALES))
#define ULB_FLOATS(scales) (ULB_HAS(scales) && !ULB_INTEGERS(scales))
/* scales_sums of struct ulb_block_cfg: a sum that is a code's own loses ULB_MAGIC in the FMA that multiplies
 * it. At 256 bits only with look-ups: otherwise dot products and FMA, on two ports of three, are the
 * limit. */
#define ULB_SCALES_SUMS (!ULB_S16_SUMS && (ACTIVATION) == ULB_ACT_Q8_0 && (SHUFFLES || ULB_BY_WIDTH(0, 1)))
/* Dot products of minima for each block. */
#define ULB_MINIMA_DOTS(minima) ((minima) == ULB_BYTE_MINIMA ? 4 : (minima) == ULB_NIBBLE_MINIMA ? 8 : 0)

/* Instructions for some tokens together. They share the loads and conversions of codes, scales and minima. */
#define ULB_CODES_MIX_OF(tokens, n_bytes, n_rows, n_masks, n_logic, n_shifts, n_adds, n_dots, s16_steps,     \
                         g_adds, g_float_adds, g_fmas, g_shifts, g_conversions, g_plain)                     \
    {                                                                                                        \
        .loads = ((n_bytes) + (n_masks)) / (double)(n_rows)*ULB_EACH(4) +                                    \
                 ULB_WIDENED(SCALES) * ULB_EACH(GROUP) +                                                     \
                 (1 + (MINIMA != ULB_NO_MINIMA) + ULB_MINIMA_DOTS(MINIMA) / 4) * ULB_EACH(COLUMNS),          \
        .broadcasts =                                                                                        \
            ULB_EACH(4) / (n_rows) *                                                                         \
            (ULB_TOKENS_KEPT(tokens) / (double)(SETS) + ((tokens)-ULB_TOKENS_KEPT(tokens)) * (n_dots)),      \
        .prefetches = BYTES_PER_STEP / 64.0 * (((NEAR) ? 1 : 0) + ((FAR) ? 1 : 0)),                          \
        .logic = (n_logic) / (double)(n_rows)*ULB_EACH(4) + ULB_HALVED(SCALES) * ULB_EACH(GROUP) +           \
                 (MINIMA == ULB_NIBBLE_MINIMA ? 4 : 0) * ULB_EACH(COLUMNS),                                  \
        .shifts = (n_shifts) / (double)(n_rows)*ULB_EACH(4) +                                                \
                  ((tokens) * (g_shifts) / (double)(n_rows) + ULB_HALVED(SCALES)) * ULB_EACH(GROUP) +        \
                  (MINIMA == ULB_NIBBLE_MINIMA ? 3                                                           \
                   : MINIMA == ULB_BYTE_MINIMA ? 1                                                           \
                                               : 0) *                                                        \
                      ULB_EACH(COLUMNS) +                                                                    \
                  (POWERS ? 1 : 0) * ULB_EACH(COLUMNS),                                                      \
        .adds = (n_adds) / (double)(n_rows)*ULB_EACH(4) +                                                    \
                (tokens) * (g_adds) / (double)(n_rows)*ULB_EACH(GROUP) +                                     \
                ((s16_steps) > 1 ? ULB_EACH(ULB_LESSER(4 * (s16_steps), GROUP)) : 0) +                       \
                ((tokens) * (MINIMA > ULB_ONE_MINIMUM) + (ULB_S16_SUMS ? ULB_MINIMA_DOTS(MINIMA) : 0) +      \
                 2 * (POWERS)) *                                                                             \
                    ULB_EACH(COLUMNS),                                                                       \
        .dot_products = ULB_S16_SUMS ? 0                                                                     \
                                     : (tokens) * ((n_dots) / (double)(n_rows)*ULB_EACH(4) +                 \
                                                   ULB_MINIMA_DOTS(MINIMA) * ULB_EACH(COLUMNS)),             \
        .maddubs = ULB_S16_SUMS ? (n_dots) / (double)(n_rows)*ULB_EACH(4) +                                  \
                                      ULB_MINIMA_DOTS(MINIMA) * ULB_EACH(COLUMNS)                            \
                                : 0,                                                                         \
        .madds = (s16_steps) > 0 ? ((n_dots) > (n_rows) ? (double)(n_dots) / (n_rows) : 1) *                 \
                                           ULB_EACH(ULB_LESSER(4 * (s16_steps), GROUP)) +                    \
                                       (MINIMA > ULB_ONE_MINIMUM ? 2 : 0) * ULB_EACH(COLUMNS)                \
                                 : 0,                                                                        \
        .float_adds = ULB_INTEGERS(SCALES) ? 0                                                               \
                      : ULB_SCALES_SUMS                                                                      \
                          ? (tokens) * (g_float_adds - g_plain) / (double)(n_rows)*ULB_EACH(GROUP)           \
                          : (tokens) * (g_float_adds) / (double)(n_rows)*ULB_EACH(GROUP),                    \
        .fmas = (tokens) * ((g_fmas) / (double)(n_rows) + ULB_FLOATS(SCALES)) * ULB_EACH(GROUP) +            \
                (tokens) *                                                                                   \
                    (2 + (MINIMA == ULB_NO_MINIMA     ? 0                                                    \
                          : MINIMA == ULB_ONE_MINIMUM ? 1                                                    \
                                                      : 2)) *                                                \
                    ULB_EACH(COLUMNS),                                                                       \
        .conversions =                                                                                       \
            ((tokens) * (g_conversions) / (double)(n_rows) + ULB_FLOATS(SCALES)) * ULB_EACH(GROUP) +         \
            ((tokens) * (MINIMA > ULB_ONE_MINIMUM) + ULB_INTEGERS(SCALES)) * ULB_EACH(COLUMNS),              \
        .loaded_halves = ((POWERS ? 0 : 1) + (MINIMA != ULB_NO_MINIMA)) * ULB_EACH(COLUMNS),                 \
        .widenings = (ULB_INTEGERS(SCALES) ? 0 : ULB_WIDENED(SCALES)) * ULB_EACH(GROUP) +                    \
                     (POWERS ? 1 : 0) * ULB_EACH(COLUMNS),                                                   \
        .shuffles =                                                                                          \
            (SHUFFLES)*ULB_EACH(4) + (ULB_INTEGERS(SCALES) ? ULB_WIDENED(SCALES) : 0) * ULB_EACH(GROUP),     \
        .vector_bits = ULB_VEC_BITS                                                                          \
    }
#define ULB_LESSER(a, b)                                                              ((a) < (b) ? (a) : (b))
#define ULB_BYTES_OF(n_bytes, ...)                                                    (n_bytes)
#define ULB_ROWS_OF(n_bytes, n_rows, ...)                                             (n_rows)
#define ULB_SUMS_OF(n_bytes, n_rows, n_masks, n_logic, n_shifts, n_adds, n_dots, ...) (n_dots)
#define ULB_CODES_MIX(...)                                                            ULB_CODES_MIX_OF(1, __VA_ARGS__)
/* Instructions of a register tile over unpacked codes, without the unpacking, which an N-block shares. */
#if ULB_S16_SUMS
#define ULB_UNPACKED_MINIMA ((MINIMA) > ULB_ONE_MINIMUM || (SCALES) == ULB_SIGNED_SCALES)
#define ULB_SIGNED_MIX                                                                                       \
    {                                                                                                        \
        ULB_S16_TILE_MIX, .conversions = TOKENS * ULB_EACH(COLUMNS), .fmas = 2 * TOKENS * ULB_EACH(COLUMNS)  \
    }
#define ULB_UNPACKED_MIX(n_bytes, n_rows, n_masks, n_logic, n_shifts, n_adds, n_dots, s16_steps, ...)        \
    {                                                                                                        \
        .loads = 1 + ULB_HAS(SCALES) * ULB_EACH(GROUP) + 2 * ULB_EACH(COLUMNS) +                             \
                 ULB_UNPACKED_MINIMA * ULB_EACH(2 * GROUP),                                                  \
        .broadcasts = (1 + ULB_UNPACKED_MINIMA * ULB_EACH(2 * GROUP)) * TOKENS / ULB_BYTE_VECTORS,           \
        .prefetches = 1.0 / ULB_BYTE_VECTORS,                                                                \
        .adds = TOKENS * (1 + ULB_UNPACKED_MINIMA * (ULB_EACH(2 * GROUP) + ULB_EACH(COLUMNS)) +              \
                          ((ZERO_POINT) != 0 && !ULB_UNPACKED_MINIMA) * ULB_EACH(COLUMNS)),                  \
        .maddubs = TOKENS,                                                                                   \
        .madds = TOKENS * (ULB_EACH(ULB_LESSER(4 * UNPACKED_STEPS(s16_steps), GROUP)) +                      \
                           ULB_UNPACKED_MINIMA * ULB_EACH(2 * GROUP)),                                       \
        .fmas = TOKENS * (2 + 3 * ((MINIMA) != ULB_NO_MINIMA)) * ULB_EACH(COLUMNS),                          \
        .conversions = TOKENS * (1 + ((MINIMA) != ULB_NO_MINIMA)) * ULB_EACH(COLUMNS),                       \
        .vector_bits = ULB_VEC_BITS                                                                          \
    }
#else
/* Columns of a sum of its own: a group, or a block whose scales are in its codes. */
#ifdef FOLDED
#define ULB_UNPACKED_GROUP  (COLUMNS)
#define ULB_UNPACKED_SCALES 0
#else
#define ULB_UNPACKED_GROUP  (GROUP)
#define ULB_UNPACKED_SCALES ULB_HAS(SCALES)
#endif
#define ULB_UNPACKED_MIX(...)                                                                                \
    {                                                                                                        \
        .loads = ULB_EACH(4) + ULB_EACH(ULB_UNPACKED_GROUP) +                                                \
                 (2 * ULB_HAS(SCALES) + ULB_MINIMA_DOTS(MINIMA)) * ULB_EACH(COLUMNS),                        \
        .broadcasts = (ULB_EACH(4) + ((ZERO_POINT) != 0) * ULB_EACH(ULB_UNPACKED_GROUP)) * TOKENS * TOKENS / \
                          ULB_UNPACKED_SUMS +                                                                \
                      TOKENS * (1 + ULB_MINIMA_DOTS(MINIMA)) * ULB_EACH(COLUMNS),                            \
        .prefetches = BYTES_PER_STEP / 64.0,                                                                 \
        .dot_products = TOKENS * (ULB_EACH(4) + ULB_MINIMA_DOTS(MINIMA) * ULB_EACH(COLUMNS)),                \
        .float_adds = TOKENS * !ULB_SCALES_SUMS * ULB_EACH(ULB_UNPACKED_GROUP),                              \
        .fmas =                                                                                              \
            TOKENS * (ULB_UNPACKED_SCALES * ULB_EACH(ULB_UNPACKED_GROUP) +                                   \
                      (2 + ((MINIMA) != ULB_NO_MINIMA) + ((MINIMA) > ULB_ONE_MINIMUM)) * ULB_EACH(COLUMNS)), \
        .conversions = TOKENS * ((MINIMA) > ULB_ONE_MINIMUM) * ULB_EACH(COLUMNS),                            \
        .vector_bits = ULB_VEC_BITS, .chains = ULB_UNPACKED_SUMS                                             \
    }
#endif
#define ULB_CODES_TILE_MIX(...) ULB_CODES_MIX_OF(TOKENS, __VA_ARGS__)

#endif
