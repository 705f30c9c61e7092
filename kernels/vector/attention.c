/* Attention in vectors of the compiler, compiled once for each instruction set (see attention.h). */
#include "kernels/vector/attention.h"

#include "common/bf16.h"
#include "common/fp16.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

extern const struct ulb_attention_ops ULB_KERNEL;

/* Lanes of a vector, and rows that share each line read: their sums fill the registers. */
#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 8 };
#elif defined(__AVX__)
enum { LANES = 8, ROWS = 2 };
#elif defined(__aarch64__)
enum { LANES = 4, ROWS = 2 };
#else
enum { LANES = 4, ROWS = 1 };
#endif
enum { VECTORS = ULB_KV_LINES / LANES, HALF = ULB_KV_LINES / 2, CACHE_LINE = 64 };
/* Bytes ahead in the stream of a head: keys, values, the next piece's keys. */
enum { AHEAD = 4096 };

typedef float floats __attribute__((vector_size(LANES * 4)));
typedef uint32_t words __attribute__((vector_size(LANES * 4)));
typedef int32_t integers __attribute__((vector_size(LANES * 4)));
typedef uint16_t halves __attribute__((vector_size(LANES * 2)));

#define INLINE static inline __attribute__((always_inline))

INLINE floats load_floats(const float *at)
{
    floats value;
    memcpy(&value, at, sizeof value);
    return value;
}

INLINE void store_floats(float *at, floats value)
{
    memcpy(at, &value, sizeof value);
}

INLINE floats floats_of(words bits)
{
    floats value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE bool has_scales(enum ulb_kv_type type)
{
    return type == ULB_KV_Q8_0 || type == ULB_KV_Q4_0;
}

INLINE unsigned bits_of(enum ulb_kv_type type)
{
    static const unsigned all[ULB_KV_TYPES] = {16, 8, 4, 32};
    return all[type];
}

/* A row of a group is one cache line, or two of fp32, and holds so many lines of elements. */
INLINE size_t lines_of_row(enum ulb_kv_type type)
{
    return type == ULB_KV_FP32 ? 1 : 16 / bits_of(type);
}

INLINE size_t row_bytes(enum ulb_kv_type type)
{
    return type == ULB_KV_FP32 ? 2 * CACHE_LINE : CACHE_LINE;
}

INLINE size_t group_bytes(enum ulb_kv_type type)
{
    return ULB_KV_LINES * (ULB_KV_LINES * bits_of(type) / 8 + (has_scales(type) ? sizeof(uint16_t) : 0));
}

INLINE const char *codes_of(enum ulb_kv_type type, const char *group)
{
    return group + (has_scales(type) ? ULB_KV_LINES * sizeof(uint16_t) : 0);
}

/* Scales of fp16: shifted to a single's place the exponent lacks 112. */
INLINE floats load_scales(const char *group, size_t v)
{
    halves half;
    memcpy(&half, group + v * sizeof half, sizeof half);
    words wide = __builtin_convertvector(half, words);
    floats size = floats_of((wide & 0x7FFF) << 13) * 0x1p112f;
    words bits;
    memcpy(&bits, &size, sizeof bits);
    return floats_of(bits | (wide & 0x8000) << 16);
}

/* Field f of each word, of codes from 0 on whose middle is 0: set into the mantissa of a power of two, they
 * lack the shift and the conversion to floats, which take the shuffle and FMA units' time. */
INLINE floats field_of(enum ulb_kv_type type, words word, size_t f)
{
    const unsigned bits = bits_of(type);
    if (type == ULB_KV_BF16)
        return floats_of(f == 0 ? word << 16 : word & 0xFFFF0000);
    unsigned shift = (unsigned)f * bits;
    if (shift >= 16) {
        word >>= 16;
        shift -= 16;
    }
    const uint32_t mask = ((1u << bits) - 1) << shift, power = (127 + 23 - shift) << 23;
    const float middle = (float)(1u << (23 - shift)) + (float)(1u << (bits - 1));
    return floats_of((word & mask) | power) - middle;
}

/* Vector v of line number `line` of a row. A word holds elements i and i + 16 of each line of its row. */
INLINE floats load_line(enum ulb_kv_type type, const char *row, size_t line, size_t v)
{
    const size_t in_half = VECTORS / 2;
    words word;
    if (type == ULB_KV_FP32)
        return load_floats((const float *)(const void *)row + v * LANES);
    memcpy(&word, row + v % in_half * sizeof word, sizeof word);
    return field_of(type, word, 2 * line + v / in_half);
}

/* sums[r][v] += in[r][line] * line of the group. Only the first rows of queries prefetch what is ahead. */
INLINE void add_group(enum ulb_kv_type type, size_t rows, bool first, const float *const *in, size_t at,
                      const char *group, floats sums[][VECTORS])
{
    const size_t lines = lines_of_row(type), ahead = first ? AHEAD : 0;
    const char *row = codes_of(type, group);
    for (size_t i = 0; i < ULB_KV_LINES; i += lines, row += row_bytes(type)) {
        for (size_t byte = 0; byte < row_bytes(type); byte += CACHE_LINE)
            __builtin_prefetch(row + ahead + byte);
        for (size_t line = 0; line < lines; line++) {
            floats values[VECTORS];
            for (size_t v = 0; v < VECTORS; v++)
                values[v] = load_line(type, row, line, v);
            for (size_t r = 0; r < rows; r++) {
                float factor = in[r][at + i + line];
                for (size_t v = 0; v < VECTORS; v++)
                    sums[r][v] += factor * values[v];
            }
        }
    }
}

/* ---- keys ---- */

INLINE void score_block(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row,
                        size_t block)
{
    const size_t groups = call->dims / ULB_KV_LINES;
    const char *group = (const char *)call->half + block * groups * group_bytes(type);
    const float *in[ROWS];
    floats sums[ROWS][VECTORS] = {0};
    for (size_t r = 0; r < rows; r++)
        in[r] = call->in[row + r];
    for (size_t g = 0; g < groups; g++, group += group_bytes(type)) {
        add_group(type, rows, row == 0, in, g * ULB_KV_LINES, group, sums);
        if (!has_scales(type))
            continue;
        for (size_t r = 0; r < rows; r++) {
            float *out = call->out[row + r] + block * ULB_KV_LINES;
            for (size_t v = 0; v < VECTORS; v++) {
                floats before = g == 0 ? (floats){0} : load_floats(out + v * LANES);
                store_floats(out + v * LANES, before + sums[r][v] * load_scales(group, v));
            }
            memset(sums[r], 0, sizeof sums[r]);
        }
    }
    for (size_t r = 0; r < rows && !has_scales(type); r++) {
        for (size_t v = 0; v < VECTORS; v++)
            store_floats(call->out[row + r] + block * ULB_KV_LINES + v * LANES, sums[r][v]);
    }
}

/* ---- values ---- */

/* The weights of a block times the scales of its positions. */
INLINE const float *scale_weights(const char *group, const float *weights, float scaled[ULB_KV_LINES])
{
    for (size_t v = 0; v < VECTORS; v++)
        store_floats(scaled + v * LANES, load_floats(weights + v * LANES) * load_scales(group, v));
    return scaled;
}

INLINE void sum_group(const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows, size_t row,
                      size_t g)
{
    const char *groups = (const char *)call->half + g * ULB_KV_BLOCKS * group_bytes(type);
    float scaled[ROWS][ULB_KV_LINES];
    const float *in[ROWS];
    floats sums[ROWS][VECTORS] = {0};
    for (size_t block = call->begin; block < call->end; block++) {
        const char *group = groups + block * group_bytes(type);
        for (size_t r = 0; r < rows; r++) {
            in[r] = call->in[row + r] + block * ULB_KV_LINES;
            if (has_scales(type))
                in[r] = scale_weights(group, in[r], scaled[r]);
        }
        add_group(type, rows, row == 0, in, 0, group, sums);
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t v = 0; v < VECTORS; v++)
            store_floats(call->out[row + r] + g * ULB_KV_LINES + v * LANES, sums[r][v]);
    }
}

/* ---- all rows ---- */

/* A tile of rows over one block of keys, or one group of dims of values. */
INLINE void run_tile(bool value, const struct ulb_kv_rows *call, enum ulb_kv_type type, size_t rows,
                     size_t row, size_t at)
{
    if (value)
        sum_group(call, type, rows, row, at);
    else
        score_block(call, type, rows, row, at);
}

/* What is read stays in the first-level cache from tile to tile. */
INLINE void run_tiles(bool value, const struct ulb_kv_rows *call, enum ulb_kv_type type)
{
    const size_t begin = value ? 0 : call->begin, end = value ? call->dims / ULB_KV_LINES : call->end;
    for (size_t at = begin; at < end; at++) {
        size_t row = 0;
        /* Eight rows and the constants of eight fields are more than there are registers. */
        for (; (ROWS <= 4 || type != ULB_KV_Q4_0) && row + ROWS <= call->rows; row += ROWS)
            run_tile(value, call, type, ROWS, row, at);
        for (; ROWS > 4 && row + 4 <= call->rows; row += 4)
            run_tile(value, call, type, 4, row, at);
        for (; ROWS > 2 && row + 2 <= call->rows; row += 2)
            run_tile(value, call, type, 2, row, at);
        for (; ROWS > 1 && row < call->rows; row++)
            run_tile(value, call, type, 1, row, at);
    }
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

static void scores(const struct ulb_kv_rows *call)
{
    run_type(false, call);
}

static void sums(const struct ulb_kv_rows *call)
{
    run_type(true, call);
}

/* ---- what goes into the cache ---- */

/* Puts a code, which q8_0 and q4_0 count from 0, at an element of a line of a group: see load_line(). */
static void put(enum ulb_kv_type type, char *codes, size_t line, size_t element, uint32_t code)
{
    const unsigned bits = bits_of(type);
    if (type == ULB_KV_FP32) {
        memcpy(codes + (line * ULB_KV_LINES + element) * sizeof code, &code, sizeof code);
        return;
    }
    const size_t lines = lines_of_row(type);
    const unsigned shift = (unsigned)(2 * (line % lines) + element / HALF) * bits;
    char *at = codes + line / lines * CACHE_LINE + element % HALF * sizeof code;
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
        return (uint32_t)(lrintf(fminf(fmaxf(x * inverse, least), most)) + (1 << (bits_of(type) - 1)));
    if (type == ULB_KV_BF16)
        return ulb_bf16_from_float(x);
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void store_group(enum ulb_kv_type type, bool value, const float *x, size_t n, size_t position,
                        char *group)
{
    float inverse = 1;
    if (has_scales(type)) {
        uint16_t scale = scale_of(type, x, n);
        float step = ulb_fp16_to_float(scale);
        memcpy(group + position * sizeof scale, &scale, sizeof scale);
        inverse = fabsf(step) > 0 ? 1 / step : 0;
    }
    for (size_t i = 0; i < n; i++)
        put(type, (char *)codes_of(type, group), value ? position : i, value ? i : position,
            code_of(type, x[i], inverse));
}

static void store(enum ulb_kv_type type, bool value, const float *x, size_t dims, size_t position, void *half)
{
    const size_t groups = (dims + ULB_KV_LINES - 1) / ULB_KV_LINES, block = position / ULB_KV_LINES;
    for (size_t g = 0; g < groups; g++) {
        size_t at = value ? g * ULB_KV_BLOCKS + block : block * groups + g, left = dims - g * ULB_KV_LINES;
        store_group(type, value, x + g * ULB_KV_LINES, left < ULB_KV_LINES ? left : ULB_KV_LINES,
                    position % ULB_KV_LINES, (char *)half + at * group_bytes(type));
    }
}

const struct ulb_attention_ops ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .store = store,
    .scores = scores,
    .sums = sums,
};
