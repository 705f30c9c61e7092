/* Q8_0 repacked: bytes are values, 128 too large for dot products.
 *
 * |sum| <= 255 * 127 * 32 = 1,036,320. With AVX2 every pair is widened at once;
 * several tokens are kernels/x86/word_tokens.h. Registers: 6 sums, 6 results,
 * 2 of a step's own. Ports, per 32 weights at 256 bits: a dot product, and of every block and vector of rows
 * a conversion, a multiplication and an FMA on the same two ports: 0.69 cycle. At 512 bits loads decide,
 * 0.39. */
#include "kernels/q8_0/format.h"
#include "kernels/x86/codes.h"

#define LAYOUT         ULB_BY_WIDTH(ULB_BY_SUMS(ulb_q8_0_signed_rows_48, ulb_q8_0_rows_48), ulb_q8_0_rows_96)
#define CODES          ulb_whole_codes
#define COUNTS         ULB_WHOLE_COUNTS
#define BYTES_PER_STEP 34
#define SETS           6
#define COLUMNS        ULB_Q8_0_COLUMNS
#define GROUP          ULB_Q8_0_COLUMNS
#define ZERO_POINT     ULB_BY_SUMS(0, ULB_Q8_0_ZERO_POINT)
#define SCALES         ULB_NO_GROUPS
#define MINIMA         ULB_NO_MINIMA
#define POWERS         0
#define ACTIVATION     ULB_ACT_Q8_0
#define NEAR           ULB_BY_SUMS(2048, 512)
#define FAR            ULB_BY_SUMS(4096, 0)
#define SHUFFLES       0

#if ULB_WORD_SUMS
#include "kernels/x86/word_tokens.h"
#define WORD_TOKENS ULB_WORD_TOKENS

/* As one token's: see ulb_finish_block() (kernels/x86/block_walk.h). */
static inline __attribute__((always_inline)) void take(const struct ulb_word_piece *piece, size_t v,
                                                       float x_scale, ulb_vec sums, ulb_vec *result)
{
    const uint8_t *d = piece->w + COLUMNS / 4 * ULB_WORD_STEP_BYTES;
    const ulb_floats scale =
        ulb_mul(ulb_load_halves(d + v * ULB_LANES * sizeof(uint16_t)), ulb_all_floats(x_scale));
    *result = (ulb_vec)ulb_fma(ulb_to_floats(sums), scale, ulb_as_floats(*result));
}

static inline void finish(const struct ulb_gemm *g, size_t m, size_t n, const ulb_vec *results)
{
    memcpy(g->y + n * g->y_stride + m, results, ulb_rows_left(g, m, SETS * ULB_LANES) * sizeof(float));
}

static const struct ulb_word_row words = {.layout = &LAYOUT,
                                          .slices = ULB_BLOCK_SLICES,
                                          .steps = COLUMNS / 4,
                                          .behind = SETS * ULB_LANES * sizeof(uint16_t),
                                          .block_scales = true,
                                          .take = take,
                                          .finish = finish};
ULB_WORD_RUN(words)
#endif

#include "kernels/x86/block_row.h"
