/* The row of a repacked block format: its run function and struct ulb_kernel, with the instruction mix that
 * follows from its codes (kernels/x86/codes.h), scales and minima. Included at the end of a file that says,
 * as constants: FORMAT (name of the format's structs), COLUMNS and GROUP, LAYOUT, CODES (a struct ulb_codes)
 * and COUNTS (its ULB_..._COUNTS), SETS, ZERO_POINT, SCALES, MINIMA, POWERS, ACTIVATION, NEAR and FAR as in
 * struct ulb_block_row, SHUFFLES (look-ups per step of a vector of rows), BYTES_PER_STEP; LEAST, unless it is
 * 2: tokens that are taken together; and with AVX2 alone, STAGED_STEPS(word_steps) where struct ulb_codes has
 * operand_steps, and of signed codes SIGNED_CODES: what takes several tokens' out of their bytes
 * (kernels/x86/piece_tokens.h's stage). */
#ifndef ULB_KERNELS_X86_BLOCK_ROW_H
#define ULB_KERNELS_X86_BLOCK_ROW_H

#include "kernels/x86/codes.h"
#if ULB_WORD_SUMS
#include "kernels/x86/piece_tokens.h"
#endif

/* One instruction per vector of rows for each so many columns, per 32 weights. */
#define ULB_EACH(of_columns) (1024.0 / ULB_VEC_BITS / (of_columns))
/* Scales of groups: widened and converted for each group, FMA; two in a byte: half as many widened, and one
 * operation more. */
#define ULB_HAS(scales)     ((scales) != ULB_NO_GROUPS)
#define ULB_WIDENED(scales) ((scales) == ULB_NIBBLE_SCALES ? 0.5 : ULB_HAS(scales) ? 1.0 : 0.0)
#define ULB_HALVED(scales)  ((scales) == ULB_NIBBLE_SCALES ? 0.5 : 0.0)
/* Those that multiply 16-bit sums, ulb_scales_integers(), in place of all this: a shuffle each, or for two,
 * and one conversion for a block. */
#define ULB_INTEGERS(scales)                                                                                 \
    (ULB_WORD_SUMS && ((scales) == ULB_UNSIGNED_SCALES || (scales) == ULB_NIBBLE_SCALES))
#define ULB_FLOATS(scales) (ULB_HAS(scales) && !ULB_INTEGERS(scales))
/* struct ulb_block_row's scales_sums: a sum that is a code's own loses ULB_MAGIC in the FMA that multiplies
 * it. At 256 bits only with look-ups: else dot products and FMAs, on two ports of three, decide. */
#define ULB_SCALES_SUMS (!ULB_WORD_SUMS && (ACTIVATION) == ULB_ACT_Q8_0 && (SHUFFLES || ULB_BY_WIDTH(0, 1)))
/* Dot products of minima for each block. */
#define ULB_MINIMA_DOTS(minima) ((minima) == ULB_BYTE_MINIMA ? 4 : (minima) == ULB_NIBBLE_MINIMA ? 8 : 0)

/* Of so many tokens together, which share what they have of codes, scales and minima. */
#define ULB_CODES_MIX_OF(tokens, n_bytes, n_rows, n_masks, n_logic, n_shifts, n_adds, n_dots, word_steps,    \
                         g_adds, g_float_adds, g_fmas, g_shifts, g_conversions, g_plain)                     \
    {                                                                                                        \
        .loads = ((n_bytes) + (n_masks)) / (double)(n_rows)*ULB_EACH(4) +                                    \
                 ULB_WIDENED(SCALES) * ULB_EACH(GROUP) +                                                     \
                 (1 + (MINIMA != ULB_NO_MINIMA) + ULB_MINIMA_DOTS(MINIMA) / 4) * ULB_EACH(COLUMNS),          \
        .broadcasts = (tokens)*ULB_EACH(4) / (SETS * (n_rows)),                                              \
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
                ((word_steps) > 1 ? ULB_EACH(ULB_LESSER(4 * (word_steps), GROUP)) : 0) +                     \
                ((tokens) * (MINIMA > ULB_ONE_MINIMUM) + (ULB_WORD_SUMS ? ULB_MINIMA_DOTS(MINIMA) : 0) +     \
                 2 * (POWERS)) *                                                                             \
                    ULB_EACH(COLUMNS),                                                                       \
        .dot_products = ULB_WORD_SUMS ? 0                                                                    \
                                      : (tokens) * ((n_dots) / (double)(n_rows)*ULB_EACH(4) +                \
                                                    ULB_MINIMA_DOTS(MINIMA) * ULB_EACH(COLUMNS)),            \
        .maddubs = ULB_WORD_SUMS ? (n_dots) / (double)(n_rows)*ULB_EACH(4) +                                 \
                                       ULB_MINIMA_DOTS(MINIMA) * ULB_EACH(COLUMNS)                           \
                                 : 0,                                                                        \
        .madds = (word_steps) > 0 ? ((n_dots) > (n_rows) ? (double)(n_dots) / (n_rows) : 1) *                \
                                            ULB_EACH(ULB_LESSER(4 * (word_steps), GROUP)) +                  \
                                        (MINIMA > ULB_ONE_MINIMUM ? 2 : 0) * ULB_EACH(COLUMNS)               \
                                  : 0,                                                                       \
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
/* With AVX2 alone, apart from what is taken out of bytes once for all tokens of a block. */
#define ULB_STAGED_MINIMA ((MINIMA) > ULB_ONE_MINIMUM || (SCALES) == ULB_SIGNED_SCALES)
#define ULB_STAGED_TILE_MIX(n_bytes, n_rows, n_masks, n_logic, n_shifts, n_adds, n_dots, word_steps, ...)    \
    {                                                                                                        \
        .loads = 1 + ULB_HAS(SCALES) * ULB_EACH(GROUP) + 2 * ULB_EACH(COLUMNS) +                             \
                 ULB_STAGED_MINIMA * ULB_EACH(2 * GROUP),                                                    \
        .broadcasts = (1 + ULB_STAGED_MINIMA * ULB_EACH(2 * GROUP)) * TOKENS / ULB_BYTE_VECTORS,             \
        .prefetches = 1.0 / ULB_BYTE_VECTORS,                                                                \
        .adds = TOKENS * (1 + ULB_STAGED_MINIMA * (ULB_EACH(2 * GROUP) + ULB_EACH(COLUMNS)) +                \
                          ((ZERO_POINT) != 0 && !ULB_STAGED_MINIMA) * ULB_EACH(COLUMNS)),                    \
        .maddubs = TOKENS,                                                                                   \
        .madds = TOKENS * (ULB_EACH(ULB_LESSER(4 * STAGED_STEPS(word_steps), GROUP)) +                       \
                           ULB_STAGED_MINIMA * ULB_EACH(2 * GROUP)),                                         \
        .fmas = TOKENS * (2 + 3 * ((MINIMA) != ULB_NO_MINIMA)) * ULB_EACH(COLUMNS),                          \
        .conversions = TOKENS * (1 + ((MINIMA) != ULB_NO_MINIMA)) * ULB_EACH(COLUMNS),                       \
        .vector_bits = ULB_VEC_BITS                                                                          \
    }
#define ULB_CODES_TILE_MIX(...) ULB_CODES_MIX_OF(TOKENS, __VA_ARGS__)

#if !ULB_WORD_SUMS
enum { TOKENS = ULB_BLOCK_TOKENS(SETS * COUNTS(ULB_SUMS_OF), SCALES) };
#elif defined(SIGNED_CODES)
enum { TOKENS = ULB_WORD_TOKENS };
#else
enum { TOKENS = ULB_BYTE_TOKENS };
#endif
#ifndef LEAST
#define LEAST 2
#endif
#ifndef STAGED_STEPS
#define STAGED_STEPS(word_steps) (word_steps)
#endif

#define ROWS (SETS * COUNTS(ULB_ROWS_OF) * ULB_LANES)

static const struct ulb_block_row row = {.layout = &LAYOUT,
                                         .codes = &CODES,
                                         .sets = SETS,
                                         .columns = COLUMNS,
                                         .group = GROUP,
                                         .tile_bytes = (size_t)(ROWS * BYTES_PER_STEP * COLUMNS / 32 + 0.5),
                                         .near = NEAR,
                                         .far = FAR,
                                         .zero_point = ZERO_POINT,
                                         .scales = SCALES,
                                         .minima = MINIMA,
                                         .powers = POWERS,
                                         .scales_sums = ULB_SCALES_SUMS,
                                         .activation = ACTIVATION};

#if !ULB_WORD_SUMS

/* Not inlined: the code of one token stays what it is without. */
static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    if (g->l2_ahead)
        ulb_run_token_blocks(&row, ulb_told_l2(g->l2_ahead), g, TOKENS);
    else
        ulb_run_token_blocks(&row, ULB_TOLD_L1, g, TOKENS);
}

#elif defined(SIGNED_CODES)

static inline void stage(const uint8_t *w, uint8_t *bytes)
{
    ulb_stage_step(&row, w, bytes);
}

/* As one token's: see ulb_finish_block() (kernels/x86/block_walk.h). */
static inline __attribute__((always_inline)) void take(const struct ulb_piece *piece, size_t v, float x_scale,
                                                       ulb_vec sums, ulb_vec *result)
{
    const uint8_t *d = piece->w + ulb_group_bytes(&row);
    const ulb_floats scale =
        ulb_mul(ulb_load_halves(d + v * ULB_LANES * sizeof(uint16_t)), ulb_all_floats(x_scale));
    *result = (ulb_vec)ulb_fma(ulb_to_floats(sums), scale, ulb_as_floats(*result));
}

static inline void finish(const struct ulb_gemm *g, size_t m, size_t n, const ulb_vec *results)
{
    memcpy(g->y + n * g->y_stride + m, results, ulb_rows_left(g, m, ROWS) * sizeof(float));
}

static const struct ulb_piece_row pieces = {.layout = &LAYOUT,
                                            .slices = ULB_BLOCK_SLICES,
                                            .vectors = SETS * COUNTS(ULB_ROWS_OF),
                                            .steps = COLUMNS / 4,
                                            .step_bytes = SETS * COUNTS(ULB_BYTES_OF) * ULB_VEC_BYTES,
                                            .behind = ROWS * sizeof(uint16_t),
                                            .block_scales = true,
                                            .stage = SIGNED_CODES,
                                            .take = take,
                                            .finish = finish};
ULB_PIECE_RUN(pieces)

#else

ULB_STAGED_PASS(pass_2, row, 2)
ULB_STAGED_PASS(pass_3, row, 3)
ULB_STAGED_PASS(pass_4, row, 4)
static __attribute__((noinline)) void run_tokens(const struct ulb_gemm *g)
{
    static ulb_pass_staged_fn *const passes[] = {pass_2, pass_3, pass_4};
    ulb_run_staged(&row, passes, g);
}

#endif

static void run(const struct ulb_gemm *g)
{
    if (TOKENS > 1 && g->n >= LEAST)
        run_tokens(g);
    else
        ulb_run_blocks(g, &row);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "rows",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ACTIVATION,
    .mr = ROWS,
    .nr = TOKENS,
    .kr = ULB_BLOCK_SLICES * COLUMNS,
    .bytes_per_step = BYTES_PER_STEP,
    .tolerance = ULB_BLOCK_TOLERANCE,
    .mix = COUNTS(ULB_CODES_MIX),
#if !ULB_WORD_SUMS
    .tile_mix = COUNTS(ULB_CODES_TILE_MIX),
#else
#ifdef SIGNED_CODES
    .tile_mix = {ULB_WORD_TILE_MIX, .loaded_halves = TOKENS * ULB_EACH(COLUMNS),
                 .conversions = TOKENS * ULB_EACH(COLUMNS), .fmas = 2 * TOKENS * ULB_EACH(COLUMNS)},
#else
    .tile_mix = COUNTS(ULB_STAGED_TILE_MIX),
#endif
    .prefetch_tokens = LEAST - 1,
#endif
    .prefetch_choice = true,
    .run = run,
};

#endif
