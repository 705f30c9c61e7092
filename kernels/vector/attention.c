/* Attention in vectors of the compiler, compiled once for each instruction set (see attention.h). */
#include "kernels/vector/attention.h"

#include "common/bf16.h"
#include "common/fp16.h"
#include "kernels/activations.h"
#include "kernels/vector/attention_private.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern const struct ulb_attention_ops ULB_KERNEL;

/* ---- fp32, and bf16 without dot products of its own: floats ---- */

INLINE floats line_of(enum ulb_kv_type type, words word, size_t line)
{
    if (type == ULB_KV_FP32)
        return floats_of(word);
    return floats_of(line == 0 ? word << 16 : word & 0xFFFF0000);
}

/* sums[r][v] += in[r][at + line] * line of the group, of the rows that hold its first n lines. */
INLINE void add_floats(enum ulb_kv_type type, size_t rows, const float *const *in, size_t at, size_t n,
                       const char *group, floats sums[][VECTORS])
{
    const size_t lines = lines_of_row(type);
    for (size_t i = 0; i < n; i += lines, group += ROW_BYTES) {
        for (size_t v = 0; v < VECTORS; v += WORDS) {
            words word[WORDS];
            load_words(group, v, word);
            for (size_t line = 0; line < lines; line++) {
                for (size_t r = 0; r < rows; r++) {
                    float factor = in[r][at + i + line];
                    for (size_t w = 0; w < WORDS; w++)
                        sums[r][v + w] += factor * line_of(type, word[w], line);
                }
            }
        }
    }
}

/* ---- q8_0, q4_0 and bf16: pairs of lines ---- */

/* Whether pairs are multiplied, by inputs of 16 bits: bf16 by the CPU's dot products of bf16. */
#if defined(__AVX512BF16__)
enum { BF16_PAIRS = true };
#else
enum { BF16_PAIRS = false };
#endif

INLINE bool takes_pairs(enum ulb_kv_type type)
{
    return has_scales(type) || (BF16_PAIRS && type == ULB_KV_BF16);
}

/* Integers of 16 bits: a code's products of all positions of a piece fit 32 bits. */
enum { MOST = 32767 };
_Static_assert(255LL * MOST * ULB_KV_PIECE <= INT32_MAX, "sums of a piece's products need more bits");

/* 1.5 * 2^23: adding it leaves the nearest integer in the low bits. */
#define ROUNDER 0x1.8p23f
enum { ROUNDER_BITS = 0x4B400000 };

/* What turns inputs up to the largest into integers up to MOST. */
INLINE float inverse_step(float largest)
{
    return largest < ULB_LEAST_SPAN ? 0 : MOST / largest;
}

/* Codes of lines 2 * pair and 2 * pair + 1 of a row, side by side. */
INLINE pairs pair_of(enum ulb_kv_type type, words word, size_t pair)
{
    const unsigned shift = (unsigned)pair * bits_of(type);
    pairs codes;
    memcpy(&codes, &word, sizeof codes);
    codes >>= shift;
    return shift + bits_of(type) == 16 ? codes : codes & (uint16_t)(2 * middle_of(type) - 1);
}

/* sum + codes times the two inputs. Sums of bf16 are floats. */
INLINE integers add_products(enum ulb_kv_type type, integers sum, pairs codes, int32_t inputs)
{
#if defined(__AVX512BF16__)
    if (type == ULB_KV_BF16)
        return (integers)_mm512_dpbf16_ps((__m512)sum, (__m512bh)codes, (__m512bh)_mm512_set1_epi32(inputs));
#else
    (void)type;
#endif
#if defined(__AVX512VNNI__)
    return (integers)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)codes, _mm512_set1_epi32(inputs));
#elif defined(__AVX512BW__)
    return sum + (integers)_mm512_madd_epi16((__m512i)codes, _mm512_set1_epi32(inputs));
#elif defined(__AVXVNNI__)
    return (integers)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)codes, _mm256_set1_epi32(inputs));
#elif defined(__AVX2__)
    return sum + (integers)_mm256_madd_epi16((__m256i)codes, _mm256_set1_epi32(inputs));
#elif defined(__x86_64__)
    return sum + (integers)_mm_madd_epi16((__m128i)codes, _mm_set1_epi32(inputs));
#else
    integers both;
    memcpy(&both, &codes, sizeof both);
    return sum + (both & 0xFFFF) * (int16_t)inputs + (both >> 16) * (inputs >> 16);
#endif
}

/* The same in pairs. */
INLINE void add_codes(enum ulb_kv_type type, size_t rows, const int16_t *const *in, size_t at, size_t n,
                      const char *group, integers sums[][VECTORS])
{
    const size_t lines = lines_of_row(type);
    for (size_t i = 0; i < n; i += lines, group += ROW_BYTES) {
        for (size_t v = 0; v < VECTORS; v += WORDS) {
            words word[WORDS];
            load_words(group, v, word);
            for (size_t pair = 0; pair < lines / 2; pair++) {
                for (size_t r = 0; r < rows; r++) {
                    int32_t inputs;
                    memcpy(&inputs, in[r] + at + i + 2 * pair, sizeof inputs);
                    for (size_t w = 0; w < WORDS; w++)
                        sums[r][v + w] =
                            add_products(type, sums[r][v + w], pair_of(type, word[w], pair), inputs);
                }
            }
        }
    }
}

/* n inputs rounded to integers of their largest; gives the step of these. */
static float round_inputs(const float *x, size_t n, int16_t *out)
{
    int32_t most = 0, bits;
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        most = (bits & INT32_MAX) > most ? bits & INT32_MAX : most;
    }
    float largest;
    memcpy(&largest, &most, sizeof largest);
    float inverse = inverse_step(largest);
    for (size_t i = 0; i < n; i++) {
        float shifted = x[i] * inverse + ROUNDER;
        memcpy(&bits, &shifted, sizeof bits);
        out[i] = (int16_t)bits;
    }
    return largest / MOST;
}

/* What sums of products start from, because codes are not counted from their middle. */
static int32_t bias_of(enum ulb_kv_type type, const int16_t *in, size_t n)
{
    int32_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += in[i];
    return -middle_of(type) * sum;
}

/* n inputs, a multiple of LANES, as bf16, round to nearest even. */
INLINE void round_to_bf16(const float *x, size_t n, int16_t *out)
{
    for (size_t i = 0; i < n; i += LANES) {
        floats value = load_floats(x + i);
        words bits;
        memcpy(&bits, &value, sizeof bits);
        halves high = __builtin_convertvector((bits + 0x7FFF + (bits >> 16 & 1)) >> 16, halves);
        memcpy(out + i, &high, sizeof high);
    }
}

/* A query of bf16 pairs in the place of its floats. */
INLINE const int16_t *query_pairs(const float *query)
{
    return (const int16_t *)(const void *)query;
}

/* A query of q8_0 and q4_0 in the place of its floats: the step, a bias for each group, the integers. */
INLINE const int16_t *query_codes(const float *query, size_t groups)
{
    return (const int16_t *)(const void *)(query + 1 + groups);
}

static void set_query(enum ulb_kv_type type, const float *x, float factor, size_t dims, float *out)
{
    const size_t padded = ulb_kv_padded(dims), groups = padded / ULB_KV_LINES;
    memset(out, 0, padded * sizeof *out);
    if (!has_scales(type)) {
        for (size_t i = 0; i < dims; i++)
            out[i] = x[i] * factor;
        if (takes_pairs(type)) {
            for (size_t i = 0; i < padded; i += LANES) /* each pair where a float was or before it */
                round_to_bf16(out + i, LANES, (int16_t *)(void *)out + i);
        }
        return;
    }
    int16_t *codes = (int16_t *)(void *)(out + 1 + groups);
    out[0] = round_inputs(x, dims, codes) * factor;
    for (size_t g = 0; g < groups; g++) {
        int32_t bias = bias_of(type, codes + g * ULB_KV_LINES, ULB_KV_LINES);
        memcpy(&out[1 + g], &bias, sizeof bias);
    }
}

/* ---- keys ---- */

INLINE void score_floats(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row)
{
    const size_t groups = call->dims / ULB_KV_LINES;
    for (size_t block = call->begin; block < call->end; block++) {
        floats sums[ROWS][VECTORS] = {0};
        for (size_t g = 0; g < groups; g++) {
            add_floats(type, rows, call->in + row, g * ULB_KV_LINES, ULB_KV_LINES,
                       key_codes(type, call->half, block * groups + g), sums);
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t v = 0; v < VECTORS; v++)
                store_floats(call->out[row + r] + block * ULB_KV_LINES + v * LANES, sums[r][v]);
        }
    }
}

/* Of bf16 by pairs. */
INLINE void score_pairs(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row)
{
    const size_t groups = call->dims / ULB_KV_LINES;
    const int16_t *in[ROWS];
    for (size_t r = 0; r < rows; r++)
        in[r] = query_pairs(call->in[row + r]);
    for (size_t block = call->begin; block < call->end; block++) {
        integers sums[ROWS][VECTORS] = {0};
        for (size_t g = 0; g < groups; g++)
            add_codes(type, rows, in, g * ULB_KV_LINES, ULB_KV_LINES,
                      key_codes(type, call->half, block * groups + g), sums);
        for (size_t r = 0; r < rows; r++) {
            for (size_t v = 0; v < VECTORS; v++)
                store_floats(call->out[row + r] + block * ULB_KV_LINES + v * LANES, (floats)sums[r][v]);
        }
    }
}

/* Sums of a group times the scales of its positions, to those of the groups before. */
INLINE void add_scores(const floats scales[VECTORS], bool first, const integers sums[VECTORS], float *out)
{
    for (size_t v = 0; v < VECTORS; v++, out += LANES) {
        floats before = first ? (floats){0} : load_floats(out);
        store_floats(out, before + __builtin_convertvector(sums[v], floats) * scales[v]);
    }
}

INLINE void score_group(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row,
                        size_t block, size_t g)
{
    const size_t groups = call->dims / ULB_KV_LINES, group = block * groups + g;
    const int16_t *in[ROWS];
    integers sums[ROWS][VECTORS];
    floats scales[VECTORS];
    for (size_t v = 0; v < VECTORS; v++)
        scales[v] = load_scales(key_scales(type, call->half, group), v);
    for (size_t r = 0; r < rows; r++) {
        int32_t bias;
        memcpy(&bias, &call->in[row + r][1 + g], sizeof bias);
        for (size_t v = 0; v < VECTORS; v++)
            sums[r][v] = (integers){0} + bias;
        in[r] = query_codes(call->in[row + r], groups);
    }
    add_codes(type, rows, in, g * ULB_KV_LINES, ULB_KV_LINES, key_codes(type, call->half, group), sums);
    for (size_t r = 0; r < rows; r++)
        add_scores(scales, g == 0, sums[r], call->out[row + r] + block * ULB_KV_LINES);
}

INLINE void score_codes(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row)
{
    for (size_t block = call->begin; block < call->end; block++) {
        for (size_t g = 0; g < call->dims / ULB_KV_LINES; g++)
            score_group(call, type, rows, row, block, g);
        for (size_t r = 0; r < rows; r++) {
            float *out = call->out[row + r] + block * ULB_KV_LINES;
            for (size_t v = 0; v < VECTORS; v++)
                store_floats(out + v * LANES, load_floats(out + v * LANES) * call->in[row + r][0]);
        }
    }
}

/* ---- values ---- */

/* Lines of a block of values up to the last position that is seen. */
INLINE size_t lines_read(const struct ulb_kv_rows *call, size_t block)
{
    const size_t left = call->seen - block * ULB_KV_LINES;
    return left < ULB_KV_LINES ? left : ULB_KV_LINES;
}

INLINE void sum_floats(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row)
{
    const size_t groups = call->dims / ULB_KV_LINES;
    for (size_t g = 0; g < groups; g++) {
        const char *codes = value_codes(type, call->half, groups, g);
        floats sums[ROWS][VECTORS] = {0};
        for (size_t block = call->begin; block < call->end; block++) {
            add_floats(type, rows, call->in + row, block * ULB_KV_LINES, lines_read(call, block),
                       codes + block * code_bytes(type), sums);
        }
        for (size_t r = 0; r < rows; r++) {
            for (size_t v = 0; v < VECTORS; v++)
                store_floats(call->out[row + r] + g * ULB_KV_LINES + v * LANES, sums[r][v]);
        }
    }
}

/* Of bf16 by pairs. */
INLINE void sum_pairs(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row)
{
    const size_t groups = call->dims / ULB_KV_LINES, begin = call->begin * ULB_KV_LINES;
    int16_t weights[ROWS][ULB_KV_PIECE];
    const int16_t *in[ROWS];
    for (size_t r = 0; r < rows; r++) {
        round_to_bf16(call->in[row + r] + begin, call->end * ULB_KV_LINES - begin, weights[r] + begin);
        in[r] = weights[r];
    }
    for (size_t g = 0; g < groups; g++) {
        const char *codes = value_codes(type, call->half, groups, g);
        integers sums[ROWS][VECTORS] = {0};
        for (size_t block = call->begin; block < call->end; block++)
            add_codes(type, rows, in, block * ULB_KV_LINES, lines_read(call, block),
                      codes + block * code_bytes(type), sums);
        for (size_t r = 0; r < rows; r++) {
            for (size_t v = 0; v < VECTORS; v++)
                store_floats(call->out[row + r] + g * ULB_KV_LINES + v * LANES, (floats)sums[r][v]);
        }
    }
}

/* A group of dims of values, and for each row its weights times the scales of positions: first as they are,
 * with their largest magnitude, then rounded to steps of MOST of these. Only positions that a row weighs
 * decide on its steps. */
struct weighted_group {
    float largest[ROWS], products[ROWS][ULB_KV_PIECE];
    int32_t bias[ROWS];
    int16_t weights[ROWS][ULB_KV_PIECE];
};

INLINE void weigh_scales(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row,
                         size_t g, struct weighted_group *out)
{
    const char *scales = value_scales(type, call->half, g);
    integers most[ROWS] = {0}, size;
    for (size_t block = call->begin; block < call->end; block++) {
        for (size_t v = 0; v < VECTORS; v++) {
            size_t at = block * ULB_KV_LINES + v * LANES;
            floats scale = load_scales(scales + block * scale_bytes(type), v);
            for (size_t r = 0; r < rows; r++) {
                floats product = load_floats(call->in[row + r] + at) * scale;
                store_floats(out->products[r] + at, product);
                memcpy(&size, &product, sizeof size);
                most[r] = larger_of(most[r], size & INT32_MAX);
            }
        }
    }
    for (size_t r = 0; r < rows; r++) {
        int32_t bits = largest_lane(most[r]);
        memcpy(&out->largest[r], &bits, sizeof bits);
    }
}

INLINE void round_weights(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows,
                          struct weighted_group *out)
{
    for (size_t r = 0; r < rows; r++) {
        const float inverse = inverse_step(out->largest[r]);
        integers sum = {0}, bits;
        for (size_t at = call->begin * ULB_KV_LINES; at < call->end * ULB_KV_LINES; at += LANES) {
            floats shifted = load_floats(out->products[r] + at) * inverse + ROUNDER;
            memcpy(&bits, &shifted, sizeof bits);
            sum += bits - ROUNDER_BITS;
            halves low = __builtin_convertvector(bits, halves);
            memcpy(out->weights[r] + at, &low, sizeof low);
        }
        out->bias[r] = -middle_of(type) * sum_of_lanes(sum);
    }
}

INLINE void sum_group(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row,
                      size_t g, const struct weighted_group *group)
{
    const char *codes = value_codes(type, call->half, call->dims / ULB_KV_LINES, g);
    const int16_t *in[ROWS];
    integers sums[ROWS][VECTORS] = {0};
    for (size_t r = 0; r < rows; r++)
        in[r] = group->weights[r];
    for (size_t block = call->begin; block < call->end; block++)
        add_codes(type, rows, in, block * ULB_KV_LINES, lines_read(call, block),
                  codes + block * code_bytes(type), sums);
    for (size_t r = 0; r < rows; r++) {
        const float step = group->largest[r] / MOST;
        for (size_t v = 0; v < VECTORS; v++)
            store_floats(call->out[row + r] + g * ULB_KV_LINES + v * LANES,
                         __builtin_convertvector(sums[r][v] + group->bias[r], floats) * step);
    }
}

/* The next group's scales are weighed before the products of a group, which hide how long that takes. */
INLINE void sum_codes(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row)
{
    const size_t groups = call->dims / ULB_KV_LINES;
    struct weighted_group weighted[2];
    weigh_scales(call, type, rows, row, 0, &weighted[0]);
    for (size_t g = 0; g < groups; g++) {
        round_weights(call, type, rows, &weighted[g % 2]);
        if (g + 1 < groups)
            weigh_scales(call, type, rows, row, g + 1, &weighted[(g + 1) % 2]);
        sum_group(call, type, rows, row, g, &weighted[g % 2]);
    }
}

/* ---- all rows ---- */

INLINE void run_tile(bool value, const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows,
                     size_t row)
{
    if (value && has_scales(type))
        sum_codes(call, type, rows, row);
    else if (value && takes_pairs(type))
        sum_pairs(call, type, rows, row);
    else if (value)
        sum_floats(call, type, rows, row);
    else if (has_scales(type))
        score_codes(call, type, rows, row);
    else if (takes_pairs(type))
        score_pairs(call, type, rows, row);
    else
        score_floats(call, type, rows, row);
}

INLINE void run_tiles(bool value, const struct ulb_kv_rows *call, enum ulb_kv_type type)
{
    size_t row = 0;
    for (; row + ROWS <= call->rows; row += ROWS)
        run_tile(value, call, type, ROWS, row);
    for (; ROWS > 4 && row + 4 <= call->rows; row += 4)
        run_tile(value, call, type, 4, row);
    for (; ROWS > 2 && row + 2 <= call->rows; row += 2)
        run_tile(value, call, type, 2, row);
    for (; ROWS > 1 && row < call->rows; row++)
        run_tile(value, call, type, 1, row);
}

INLINE void run_type(bool value, const struct ulb_kv_rows *call)
{
    switch (call->type) {
    case ULB_KV_BF16:
        run_tiles(value, call, ULB_KV_BF16);
        break;
    case ULB_KV_Q8_0:
        run_tiles(value, call, ULB_KV_Q8_0);
        break;
    case ULB_KV_Q4_0:
        run_tiles(value, call, ULB_KV_Q4_0);
        break;
    default:
        run_tiles(value, call, ULB_KV_FP32);
    }
}

/* Block by block: all rows meet a block while it is in L1. */
static void scores(const struct ulb_kv_rows *call)
{
    struct ulb_kv_rows block = *call;
    for (size_t b = call->begin; b < call->end; b++) {
        block.begin = b;
        block.end = b + 1;
        run_type(false, &block);
    }
}

static void sums(const struct ulb_kv_rows *call)
{
    run_type(true, call);
}

/* ---- pieces ---- */

/* n elements, at most ULB_KV_LINES, which are registers over all pieces. */
INLINE void merge_lines(const struct ulb_kv_pieces *pieces, size_t at, size_t n, float *out)
{
    floats merged[VECTORS] = {0};
    memcpy(merged, out, n * sizeof *out);
    for (size_t p = 0; p < pieces->n; p++) {
        const struct ulb_kv_shares *shares = &pieces->shares[p];
        const float *sums = pieces->sums + p * pieces->distance + at;
        for (size_t v = 0; v < VECTORS; v++)
            merged[v] = merged[v] * shares->keep + load_floats(sums + v * LANES) * shares->take;
    }
    memcpy(out, merged, n * sizeof *out);
}

static void merge(const struct ulb_kv_pieces *pieces, size_t dims, float *out)
{
    const size_t whole = dims / ULB_KV_LINES * ULB_KV_LINES;
    for (size_t at = 0; at < whole; at += ULB_KV_LINES)
        merge_lines(pieces, at, ULB_KV_LINES, out + at);
    if (whole < dims)
        merge_lines(pieces, whole, dims - whole, out + whole);
}

/* ---- what goes into the cache ---- */

/* Puts a code, which q8_0 and q4_0 count from 0, at an element of a line of a group. Neighbours of lines 2i
 * and 2i + 1 are 16 bits apart: see pair_of(). */
static void put(enum ulb_kv_type type, char *codes, size_t line, size_t element, uint32_t code)
{
    const size_t lines = lines_of_row(type), in_row = line % lines;
    const unsigned bits = bits_of(type), shift = (unsigned)(in_row % 2 * 16 + in_row / 2 * bits);
    char *at = codes + line / lines * ROW_BYTES + element * sizeof code;
    if (bits >= 8) { /* whole bytes of a little-endian word */
        memcpy(at + shift / 8, &code, bits / 8);
        return;
    }
    uint32_t word, mask = ((1u << bits) - 1) << shift;
    memcpy(&word, at, sizeof word);
    word = (word & ~mask) | code << shift;
    memcpy(at, &word, sizeof word);
}

/* The scale of n elements. q4_0's takes that of the largest magnitude to -8. */
static uint16_t scale_of(enum ulb_kv_type type, const float *x, size_t n)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fabsf(x[i]) > fabsf(largest) ? x[i] : largest;
    return ulb_fp16_from_float(type == ULB_KV_Q8_0 ? fabsf(largest) / 127 : largest / -8);
}

static uint32_t code_of(enum ulb_kv_type type, float x, float inverse)
{
    const float most = type == ULB_KV_Q8_0 ? 127 : 7, least = type == ULB_KV_Q8_0 ? -127 : -8;
    uint32_t bits;
    if (has_scales(type))
        return (uint32_t)(lrintf(fminf(fmaxf(x * inverse, least), most)) + middle_of(type));
    if (type == ULB_KV_BF16)
        return ulb_bf16_from_float(x);
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void store_group(enum ulb_kv_type type, bool value, const float *x, size_t n, size_t position,
                        char *scales, char *codes)
{
    float inverse = 1;
    if (has_scales(type)) {
        uint16_t scale = scale_of(type, x, n);
        float step = ulb_fp16_to_float(scale);
        memcpy(scales + position * sizeof scale, &scale, sizeof scale);
        inverse = fabsf(step) > 0 ? 1 / step : 0;
    }
    for (size_t i = 0; i < n; i++)
        put(type, codes, value ? position : i, value ? i : position, code_of(type, x[i], inverse));
}

static void store(enum ulb_kv_type type, bool value, const float *x, size_t dims, size_t position, void *half)
{
    const size_t groups = ulb_kv_padded(dims) / ULB_KV_LINES, block = position / ULB_KV_LINES;
    for (size_t g = 0; g < groups; g++) {
        const size_t left = dims - g * ULB_KV_LINES, n = left < ULB_KV_LINES ? left : ULB_KV_LINES;
        const char *scales = value ? value_scales(type, half, g) + block * scale_bytes(type)
                                   : key_scales(type, half, block * groups + g);
        const char *codes = value ? value_codes(type, half, groups, g) + block * code_bytes(type)
                                  : key_codes(type, half, block * groups + g);
        store_group(type, value, x + g * ULB_KV_LINES, n, position % ULB_KV_LINES, (char *)scales,
                    (char *)codes);
    }
}

const struct ulb_attention_ops ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .store = store,
    .query = set_query,
    .scores = scores,
    .sums = sums,
    .merge = merge,
};
