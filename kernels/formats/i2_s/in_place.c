/* I2_S as a file stores it. Lanes are columns. ROWS rows are read side by side, each from its own part of the
 * rows, as address streams that continue from row to row (kernels/x86/gemv/k_slices.h). Activations are
 * loaded once for all of these rows.
 *
 * With dot products a field stays in its place in the byte, and each field j has its own sums.
 * `x_j . (w & mask_j) = 4^(3 - j) S_j`; `|sum| <= 128 * 127 * K / 4 < 2^31` up to `K = 65,536`.
 * Fields multiply different activations, so that no field is a difference of others. With AVX2 fields are
 * shifted down, and all add to one 16-bit sum.
 * A block adds at most `4 * 2 * 2 * 127 = 2,032` to it: 16 blocks, 32,512, fit.
 *
 * Registers: four rows of four sums, four vectors of activations. 16 registers hold two rows of sums, two of
 * weights, four masks and the activations of one field: masks from memory would make loads the limit. With
 * AVX2 they hold four rows of one sum. */
#include "kernels/formats/i2_s/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/gemv/k_slices.h"

#include <string.h>

enum {
    FIELDS = 4,
#if defined(ULB_DP_VEX)
    ROWS = 2,
#else
    ROWS = 4,
#endif
    ROW_SUMS = ULB_S16_SUMS ? 1 : FIELDS,
    BLOCKS = ULB_VEC_BYTES / ULB_I2_S_BYTES, /* of one vector */
    FLUSH = 16,                              /* blocks in a 16-bit sum */
    BATCH = 1024 / ROWS, /* rows of a stream whose results are finished together: see ULB_BATCH_ROWS */
    NEAR = 1536,
    FAR = 2560
};

/* Loads the bytes of one block, or if a vector holds two blocks, of two that are `stride` apart. */
static inline __attribute__((always_inline)) ulb_vec load_blocks(const void *first, size_t stride,
                                                                 size_t blocks)
{
#ifdef ULB_DP_512
    if (blocks > 1 && stride == ULB_I2_S_BYTES)
        return ulb_load(first);
    __m512i low = _mm512_zextsi256_si512(_mm256_loadu_si256((const __m256i *)first));
    const char *second = (const char *)first + stride;
    return blocks > 1 ? _mm512_inserti64x4(low, _mm256_loadu_si256((const __m256i *)second), 1) : low;
#else
    (void)stride;
    (void)blocks;
    return ulb_load(first);
#endif
}

#if ULB_S16_SUMS
enum { MASKS = 1 };
static const ulb_vec field_masks[MASKS] = {ULB_BYTES(0x03)};
#else
enum { MASKS = FIELDS };
static const ulb_vec field_masks[MASKS] = {ULB_BYTES(0xC0), ULB_BYTES(0x30), ULB_BYTES(0x0C),
                                           ULB_BYTES(0x03)};
#endif

/* Hides the masks: Clang would load each from memory again in every step, and loads are the limit. */
static inline __attribute__((always_inline)) void take_masks(ulb_vec masks[MASKS])
{
#pragma GCC unroll 4
    for (size_t i = 0; i < MASKS; i++) {
        masks[i] = field_masks[i];
        __asm__("" : "+" ULB_REGISTER(masks[i]));
    }
}

/* Held at its place by a vector that what follows needs: see ulb_prefetch_lines()
 * (kernels/x86/gemv/block_group_sums.h). */
static inline __attribute__((always_inline)) void prefetch_ahead(const uint8_t *weights, ulb_vec *held)
{
    __asm__("prefetcht0 %c[l1](%[at])\n\tprefetcht1 %c[l2](%[at])"
            : "+" ULB_REGISTER(*held)
            : [at] "r"(weights), [l1] "i"(NEAR), [l2] "i"(FAR));
}

#ifdef ULB_DP_VEX

/* Adds a field of both rows. Its activations are then free, so that all masks fit registers. */
static inline __attribute__((always_inline)) void add_field(const ulb_vec packed[ROWS], const int8_t *x,
                                                            ulb_vec mask, ulb_vec *first, ulb_vec *second)
{
    ulb_vec field, x32;
    __asm__(ULB_MOVE " %[at], %[x]\n\t" ULB_AND " %[mask], %[p0], %[field]\n\t" ULB_ASM_DP("field", "s0")
                ULB_AND " %[mask], %[p1], %[field]\n\t" ULB_ASM_DP("field", "s1")
            : [s0] ULB_SUM(*first), [s1] ULB_SUM(*second), [field] ULB_SCRATCH(field), [x] ULB_SCRATCH(x32)
            : [p0] "x"(packed[0]), [p1] "x"(packed[1]), [mask] "x"(mask),
              [at] "m"(*(const int8_t(*)[ULB_VEC_BYTES])x));
}

/* Blocks side by side of every row. prefetched: whether the line ahead is prefetched, a constant. */
static inline __attribute__((always_inline)) void step(const uint8_t *const w[ROWS], const int8_t *x,
                                                       size_t block, size_t blocks, bool prefetched,
                                                       const ulb_vec masks[MASKS],
                                                       ulb_vec sums[ROWS * ROW_SUMS])
{
    ulb_vec packed[ROWS];
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        const uint8_t *weights = w[r] + block * ULB_I2_S_BYTES;
        packed[r] = load_blocks(weights, ULB_I2_S_BYTES, blocks);
        if (prefetched)
            prefetch_ahead(weights, &packed[r]);
    }
#pragma GCC unroll 4
    for (size_t j = 0; j < FIELDS; j++)
        add_field(packed, x + block * ULB_I2_S_COLUMNS + j * ULB_I2_S_BYTES, masks[j], sums + j,
                  sums + ROW_SUMS + j);
}

#else

#if ULB_S16_SUMS

/* sums of one row += blocks with activations x[field]. */
static inline __attribute__((always_inline)) void
add_blocks(ulb_vec packed, const ulb_vec x[FIELDS], const ulb_vec masks[MASKS], ulb_vec sums[ROW_SUMS])
{
#pragma GCC unroll 4
    for (unsigned j = 0; j < FIELDS; j++)
        ulb_dot(sums, ulb_and(_mm256_srli_epi16(packed, (int)(6 - 2 * j)), masks[0]), x[j]);
}

#else

/* Adds a field as one statement: see kernels/x86/simd/dot.h. */
#define FIELD(mask, x, sum)                                                                                  \
    ULB_AND " %[" mask "], %[packed], %[field]\n\t" ULB_DP_INSTRUCTION " %[" x "], %[field], %[" sum "]\n\t"

static inline __attribute__((always_inline)) void
add_blocks(ulb_vec packed, const ulb_vec x[FIELDS], const ulb_vec masks[MASKS], ulb_vec sums[ROW_SUMS])
{
    ulb_vec field;
    __asm__(FIELD("m0", "x0", "s0") FIELD("m1", "x1", "s1") FIELD("m2", "x2", "s2") FIELD("m3", "x3", "s3")
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [field] ULB_SCRATCH(field)
            : [packed] ULB_REGISTER(packed), [x0] ULB_REGISTER(x[0]), [x1] ULB_REGISTER(x[1]),
              [x2] ULB_REGISTER(x[2]), [x3] ULB_REGISTER(x[3]), [m0] ULB_MASK(masks[0]),
              [m1] ULB_MASK(masks[1]), [m2] ULB_MASK(masks[2]), [m3] ULB_MASK(masks[3]));
}

#endif

/* Blocks side by side of every row. prefetched: as above. */
static inline __attribute__((always_inline)) void step(const uint8_t *const w[ROWS], const int8_t *x,
                                                       size_t block, size_t blocks, bool prefetched,
                                                       const ulb_vec masks[MASKS],
                                                       ulb_vec sums[ROWS * ROW_SUMS])
{
    ulb_vec fields[FIELDS];
    const int8_t *at = x + block * ULB_I2_S_COLUMNS;
    /* Orders the loads after the sums of the previous step: Clang would load the activations of two steps at
     * once and keep sums in memory. */
    __asm__("" : "+r"(at), "+" ULB_REGISTER(sums[0]), "+" ULB_REGISTER(sums[ROWS * ROW_SUMS - 1]));
#pragma GCC unroll 4
    for (size_t j = 0; j < FIELDS; j++)
        fields[j] = load_blocks(at + j * ULB_I2_S_BYTES, ULB_I2_S_COLUMNS, blocks);
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS; r++) {
        const uint8_t *weights = w[r] + block * ULB_I2_S_BYTES;
        ulb_vec packed = load_blocks(weights, ULB_I2_S_BYTES, blocks);
        if (prefetched)
            prefetch_ahead(weights, &packed);
        add_blocks(packed, fields, masks, sums + r * ROW_SUMS);
    }
}

#endif

/* Sums of 4 lanes. */
static inline __m128i fold(ulb_vec v)
{
#ifdef ULB_DP_512
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
#else
    __m256i half = v;
#endif
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* dots[r] = sum of the lanes of totals[r]; rows are short: 16 blocks where K is 2,048. */
static inline __attribute__((always_inline)) void add_lanes(const ulb_vec totals[ROWS], int32_t dots[ROWS])
{
    __m128i pair = _mm_hadd_epi32(fold(totals[0]), fold(totals[1]));
    __m128i last = ROWS > 2 ? _mm_hadd_epi32(fold(totals[ROWS - 2]), fold(totals[ROWS - 1])) : pair;
    __m128i sums = _mm_hadd_epi32(pair, last);
    memcpy(dots, &sums, ROWS * sizeof *dots);
}

/* Scales the fields of one row back and adds them. */
static inline __attribute__((always_inline)) ulb_vec combine(const ulb_vec sums[ROW_SUMS])
{
    ulb_vec total = ulb_widen_s16(sums[ROW_SUMS - 1]);
#pragma GCC unroll 4
    for (unsigned j = 0; j + 1 < ROW_SUMS; j++)
        total = ulb_add32(total, ulb_asr32(sums[j], 6 - 2 * j));
    return total;
}

/* Dot products of ROWS rows with one token. asks: whether to prefetch, a constant. */
static inline __attribute__((always_inline)) void
rows_of(bool asks, const uint8_t *const w[ROWS], const int8_t *x, size_t n_blocks, int32_t dots[ROWS])
{
    ulb_vec totals[ROWS], masks[MASKS];
    size_t flush = ULB_S16_SUMS ? FLUSH : n_blocks;
    ulb_zero_all(totals, ROWS);
    take_masks(masks);
    for (size_t begin = 0; begin < n_blocks; begin += flush) {
        size_t end = n_blocks - begin < flush ? n_blocks : begin + flush, b = begin;
        ulb_vec sums[ROWS * ROW_SUMS];
        ulb_zero_all(sums, (size_t)ROWS * ROW_SUMS);
        for (; b + 2 * BLOCKS <= end; b += 2 * BLOCKS) {
            step(w, x, b, BLOCKS, asks, masks, sums);
            step(w, x, b + BLOCKS, BLOCKS, asks && BLOCKS > 1, masks, sums);
        }
        for (; b + BLOCKS <= end; b += BLOCKS)
            step(w, x, b, BLOCKS, asks, masks, sums);
        if (b < end)
            step(w, x, b, 1, asks, masks, sums);
#pragma GCC unroll 4
        for (size_t r = 0; r < ROWS; r++)
            totals[r] = ulb_add32(totals[r], combine(sums + r * ROW_SUMS));
    }
    add_lanes(totals, dots);
}

/* count rows of each stream, whose first are m: dots first, so that scales are applied to many at once. Rows
 * after the last repeat it. */
static inline __attribute__((always_inline)) void
run_batch(const struct ulb_gemm *g, bool asks, const size_t m[ROWS], size_t count, size_t row_bytes)
{
    const float *w_scale = ulb_row_scales(g, &ulb_i2_s_in_place);
    for (size_t n = 0; n < g->n; n++) {
        int32_t dots[ROWS][BATCH];
        for (size_t i = 0; i < count; i++) {
            const uint8_t *w[ROWS];
            int32_t of_rows[ROWS];
#pragma GCC unroll 4
            for (size_t r = 0; r < ROWS; r++)
                w[r] = (const uint8_t *)g->w + (m[r] + i < g->m1 ? m[r] + i : g->m1 - 1) * row_bytes;
            rows_of(asks, w, (const int8_t *)g->x + n * g->x_stride, row_bytes / ULB_I2_S_BYTES, of_rows);
#pragma GCC unroll 4
            for (size_t r = 0; r < ROWS; r++)
                dots[r][i] = of_rows[r];
        }
        for (size_t r = 0; r < ROWS && m[r] < g->m1; r++)
            ulb_epilogue_tile(g, w_scale, m[r], count, n, dots[r], ULB_I2_S_ZERO_POINT);
    }
}

static inline __attribute__((always_inline)) void run_as(bool asks, const struct ulb_gemm *g)
{
    size_t row_bytes = ulb_layout_steps(&ulb_i2_s_in_place, g->k) * ULB_I2_S_BYTES;
    size_t m[ROWS], part;
    for (size_t begin = g->m0; begin < g->m1; begin += ROWS * part) {
        part = ulb_stream_rows(g->m1 - begin, ROWS, row_bytes);
        for (size_t i = 0; i < part; i += BATCH) {
            for (size_t r = 0; r < ROWS; r++)
                m[r] = begin + r * part + i;
            run_batch(g, asks, m, part - i < BATCH ? part - i : BATCH, row_bytes);
        }
    }
}

/* With dot products a tuned setting prefetches nothing, which is faster; AVX2 is slightly slower without. */
static void run(const struct ulb_gemm *g)
{
    if (!ULB_S16_SUMS && g->prefetch.target == ULB_PREFETCH_NONE)
        run_as(false, g);
    else
        run_as(true, g);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "inplace",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_i2_s_in_place,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = ULB_I2_S_COLUMNS,
    .bytes_per_step = 8,
    .mix = {.loads = (0.25 + 1.0 / ROWS) * 256 / ULB_VEC_BITS,
            .prefetches = 0.25,
            .logic = 256.0 / ULB_VEC_BITS + ULB_BY_WIDTH(0, 0.5 / ROWS),
#if ULB_S16_SUMS
            .shifts = 0.75,
            .maddubs = 1,
            .adds = 1,
#else
            .dot_products = 256.0 / ULB_VEC_BITS,
            .chains = ROWS * ROW_SUMS,
#endif
            .vector_bits = ULB_VEC_BITS},
    .prefetch = {.kind = ULB_S16_SUMS ? ULB_PREFETCH_FIXED : ULB_PREFETCH_OWN_OR_NONE},
    .run = run,
};
