/* The sums of groups of columns of a repacked block format (kernels/x86/gemv/block.h). Lanes are rows. Inside
 * a group sums are integers and exact. Groups add up in single precision, with three roundings each. If
 * integer scales multiply 16-bit sums, groups add up as integers. */
#ifndef ULB_KERNELS_X86_GEMV_BLOCK_GROUP_SUMS_H
#define ULB_KERNELS_X86_GEMV_BLOCK_GROUP_SUMS_H

#include "kernels/group_sums.h"
#include "kernels/pack/block_interleave.h"
#include "kernels/microkernel.h"
#include "kernels/x86/codes/code_ops.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/block_minima.h"
#include "kernels/x86/simd/prefetch.h"
#include "kernels/x86/gemv/k_slices.h"

#include <string.h>

enum {
    ULB_BLOCK_VECTORS_MAX = 12,
    ULB_BLOCK_SLICES = 2,
    ULB_BLOCK_BYTES_MAX = 5, /* vectors for 4 columns */
    ULB_CHUNK_STEPS = 8,
    ULB_SIDE_STEPS = 2,
    ULB_LINES_MAX = 8,
    ULB_TURN_BYTES_MAX = 1024
};

/* What scales of groups and minima are in a tile. */
enum ulb_group_scales { ULB_NO_GROUPS, ULB_UNSIGNED_SCALES, ULB_SIGNED_SCALES, ULB_NIBBLE_SCALES };

/* What differs from format to format. */
struct ulb_block_cfg {
    const struct ulb_layout *layout;
    const struct ulb_codes *codes;
    size_t sets;           /* of these vectors side by side */
    size_t columns, group; /* of a block, and of an integer scale: ULB_..._COLUMNS */
    size_t tile_bytes;
    size_t l1_distance, l2_distance; /* as in struct ulb_k_loop */
    int32_t zero_point;              /* of the codes */
    enum ulb_group_scales scales;
    enum ulb_minima minima;
    bool powers;     /* d is an exponent */
    bool tile_pairs; /* for one token two rows of tiles are read side by side: four streams instead of two */
    /* Whether the FMA that subtracts ULB_MAGIC from a block's sums also multiplies them by the activations'
     * scale. The scale of Q8_0 is a half, so that its product with 1.5 * 2^23 is exact. The zero point is
     * subtracted before the first product. */
    bool scales_sums;
    enum ulb_activation activation;
};

static inline __attribute__((always_inline)) size_t ulb_block_vectors(const struct ulb_block_cfg *cfg)
{
    return cfg->sets * cfg->codes->rows;
}

/* The sums of the 16 groups of a block, times each factor. */
static inline __attribute__((always_inline)) void
ulb_scale_zeros(const struct ulb_block_cfg *cfg, const int16_t *sums, int32_t (*zeros)[ULB_SHORT_GROUPS])
{
#pragma GCC unroll 2
    for (size_t half = 0; half < ULB_SHORT_GROUPS; half += 8) {
        __m256i eight = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(sums + half)));
#pragma GCC unroll 3
        for (size_t f = 0; f < ULB_ZERO_FACTORS; f++) {
            if (!cfg->codes->factors[f])
                continue;
            __m256i factor = _mm256_set1_epi32(cfg->codes->factors[f] * cfg->zero_point);
            __m256i scaled =
                _mm256_add_epi32(_mm256_mullo_epi32(eight, factor), _mm256_set1_epi32(ULB_MAGIC));
            _mm256_storeu_si256((__m256i *)(zeros[f] + half), scaled);
        }
    }
}

static inline __attribute__((always_inline)) struct ulb_zero_sum
ulb_group_zero_sum(const struct ulb_block_cfg *cfg, const int16_t *sums, const int32_t *scaled)
{
    ulb_vec magic = ulb_all32(ULB_MAGIC);
    if (!cfg->zero_point)
        return (struct ulb_zero_sum){ulb_zero(), magic, NULL};
    if (cfg->group == ULB_SUM_COLUMNS && !ULB_S16_SUMS)
        return (struct ulb_zero_sum){ulb_zero(), ulb_all32(*scaled), scaled};
    ulb_vec all = cfg->group == 2 * ULB_SUM_COLUMNS
                      ? ulb_all_x_sums(sums, cfg->zero_point)
                      : ulb_all32(cfg->zero_point * ulb_sum_of_x(sums, cfg->group));
    return (struct ulb_zero_sum){all, ulb_add32(magic, all), NULL};
}

/* Prefetches ahead of the lines that begin in w[begin, begin + bytes). A vector that later code needs keeps
 * each prefetch in its place. Compilers would move the prefetches of an unrolled loop together, which leaves
 * no miss buffers for loads. The number of passes is a constant, because Clang 14 unrolls nothing else. */
static inline __attribute__((always_inline)) void
ulb_prefetch_lines(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch, const uint8_t *w,
                   size_t begin, size_t bytes, ulb_vec *vectors, size_t n_vectors)
{
    size_t first = (begin + ULB_LINE - 1) / ULB_LINE, end = (begin + bytes + ULB_LINE - 1) / ULB_LINE;
#pragma GCC unroll 8
    for (size_t i = 0; i < ULB_LINES_MAX; i++) {
        size_t line = (first + i) * ULB_LINE;
        ulb_vec *held = &vectors[i % n_vectors];
        if (first + i >= end)
            break;
#ifdef ULB_ADDRESS_SANITIZED
        (void)held;
        ulb_prefetch_line_runtime(w, line, (struct ulb_line_prefetch){cfg->l1_distance, prefetch},
                                  cfg->l2_distance);
#else
#define PREFETCH(instruction, ...) __asm__(instruction : [held] "+" ULB_REGISTER(*held) : __VA_ARGS__)
        if (ulb_is_runtime_prefetch(prefetch)) {
            if (cfg->l2_distance)
                PREFETCH(ULB_ASM_PREFETCH_TUNED_OR(ULB_ASM_PREFETCH_L1_L2), [l1] "i"(line + cfg->l1_distance),
                         [l2] "i"(line + cfg->l2_distance), ULB_PREFETCH_TUNED_OPERANDS(w, line, prefetch));
            else
                PREFETCH(ULB_ASM_PREFETCH_TUNED_OR(ULB_ASM_PREFETCH_L1), [l1] "i"(line + cfg->l1_distance),
                         ULB_PREFETCH_TUNED_OPERANDS(w, line, prefetch));
            continue;
        }
        ULB_PREFETCH_BY(PREFETCH, w, line, cfg->l1_distance, prefetch);
        if (!prefetch.tuned && cfg->l2_distance)
            PREFETCH("prefetcht1 %c[distance](%[at])", ULB_PREFETCH_OWN_OPERANDS(w, line + cfg->l2_distance));
#undef PREFETCH
#endif
    }
}

/* sums += some steps, the first at w + at. */
static inline __attribute__((always_inline)) void ulb_add_steps(const struct ulb_block_cfg *cfg,
                                                                struct ulb_prefetch_setting prefetch,
                                                                const uint8_t *w, size_t at, const int8_t *x,
                                                                size_t steps, ulb_vec *sums)
{
    const struct ulb_codes *codes = cfg->codes;
    size_t set_bytes = codes->bytes * ULB_VEC_BYTES, step_bytes = cfg->sets * set_bytes;
    size_t set_sums = codes->s16_steps ? codes->rows : codes->sums;
    size_t chunk = steps < ULB_CHUNK_STEPS ? steps : ULB_CHUNK_STEPS;
    for (size_t begin = 0; begin < steps; begin += chunk, w += chunk * step_bytes, x += 4 * chunk) {
#pragma GCC unroll 8
        for (size_t s = 0; s < chunk; s++) {
            ulb_vec x4 = ulb_broadcast4(x + 4 * s);
#pragma GCC unroll 8
            for (size_t set = 0; set < cfg->sets; set++) {
                size_t set_at = at + s * step_bytes + set * set_bytes;
                codes->step(w + set_at, x4, sums + set * set_sums);
                ulb_prefetch_lines(cfg, prefetch, w, set_at, set_bytes, sums + set * set_sums, set_sums);
            }
        }
    }
}

/* Bytes of the codes of one group. */
static inline __attribute__((always_inline)) size_t ulb_group_bytes(const struct ulb_block_cfg *cfg)
{
    return cfg->group / 4 * cfg->sets * cfg->codes->bytes * ULB_VEC_BYTES;
}

/* Whether sums are 16-bit, kept in memory, and a group is too long to be read at once. */
static inline __attribute__((always_inline)) bool ulb_is_long(const struct ulb_block_cfg *cfg)
{
    return cfg->codes->s16_steps && ulb_group_bytes(cfg) > ULB_TURN_BYTES_MAX;
}

/* *sum += words in memory. Compilers would store a sum that they treat as a register twice. */
static inline __attribute__((always_inline)) void ulb_add_in_memory(ulb_vec *sum, ulb_vec words)
{
    __asm__("vpaddd %[sum], %[words], %[words]\n\t" ULB_MOVE " %[words], %[sum]"
            : [sum] "+m"(*sum), [words] "+" ULB_REGISTER(words));
}

/* Whether the groups of all slices are added side by side. Their sums then take at most half of 32 registers,
 * and the sums of one group alone are too few chains for the latency of dot products. */
static inline __attribute__((always_inline)) bool ulb_is_narrow(const struct ulb_block_cfg *cfg)
{
    return ULB_BY_ENCODING(false, true) && ULB_BLOCK_SLICES * cfg->sets * cfg->codes->sums <= 16;
}

/* Steps that are computed together: a few of a group in each slice, or as many as 16-bit sums hold. */
static inline __attribute__((always_inline)) size_t ulb_chunk_steps(const struct ulb_block_cfg *cfg)
{
    size_t steps = cfg->group / 4, words = cfg->codes->s16_steps;
    if (ulb_is_narrow(cfg))
        return ULB_SIDE_STEPS;
    return words && words < steps ? words : steps;
}

/* Widens 16-bit sums, two to a lane, to 32 bits: times 1, or times the pair in scale. */
static inline __attribute__((always_inline)) ulb_vec ulb_widen_by(const ulb_vec *scale, ulb_vec words)
{
#if ULB_S16_SUMS
    if (scale)
        return _mm256_madd_epi16(words, *scale);
#else
    (void)scale;
#endif
    return ulb_widen_s16(words);
}

/* sums += the int32 sums of one chunk, whose codes begin at w + at, times integer scales of rows, or NULL. */
static inline __attribute__((always_inline)) void ulb_add_chunk(const struct ulb_block_cfg *cfg,
                                                                struct ulb_prefetch_setting prefetch,
                                                                const uint8_t *w, size_t at, const int8_t *x,
                                                                const ulb_vec *scales, ulb_vec *sums)
{
    size_t n = cfg->sets * cfg->codes->sums;
    if (!cfg->codes->s16_steps) {
        ulb_add_steps(cfg, prefetch, w, at, x, ulb_chunk_steps(cfg), sums);
        return;
    }
    ulb_vec words[ULB_BLOCK_VECTORS_MAX];
    ulb_zero_all(words, n);
    ulb_add_steps(cfg, prefetch, w, at, x, ulb_chunk_steps(cfg), words);
#pragma GCC unroll 12
    for (size_t i = 0; i < n; i++) {
        ulb_vec wide = ulb_widen_by(scales ? &scales[i] : NULL, words[i]);
        if (ulb_is_long(cfg))
            ulb_add_in_memory(&sums[i], wide);
        else
            sums[i] = ulb_add32(sums[i], wide);
    }
}

/* Groups whose scales lie together, before their codes. */
static inline __attribute__((always_inline)) size_t ulb_groups_together(const struct ulb_block_cfg *cfg)
{
    return cfg->scales == ULB_NIBBLE_SCALES ? 2 : 1;
}

/* Bytes of these scales: one for each row. */
static inline __attribute__((always_inline)) size_t ulb_scale_bytes(const struct ulb_block_cfg *cfg)
{
    return cfg->scales == ULB_NO_GROUPS ? 0 : ulb_block_vectors(cfg) * ULB_LANES;
}

/* Offset of the scales of group g in a block. */
static inline __attribute__((always_inline)) size_t ulb_scales_at(const struct ulb_block_cfg *cfg, size_t g)
{
    size_t together = ulb_groups_together(cfg);
    return g / together * (ulb_scale_bytes(cfg) + together * ulb_group_bytes(cfg));
}

/* Offset of the codes of group g in a block. */
static inline __attribute__((always_inline)) size_t ulb_codes_at(const struct ulb_block_cfg *cfg, size_t g)
{
    return ulb_scales_at(cfg, g) + ulb_scale_bytes(cfg) + g % ulb_groups_together(cfg) * ulb_group_bytes(cfg);
}

/* Scale of group g, whose scales lie at scales, for vector v of rows. */
static inline __attribute__((always_inline)) ulb_vec
ulb_group_scale_integer(const struct ulb_block_cfg *cfg, const uint8_t *scales, size_t g, size_t v)
{
    const uint8_t *at = scales + v * ULB_LANES;
    if (cfg->scales == ULB_SIGNED_SCALES)
        return ulb_load_signed_bytes(at);
    ulb_vec bytes = ulb_load_unsigned_bytes(at);
    if (cfg->scales == ULB_NIBBLE_SCALES)
        bytes = g % 2 ? ulb_shr16(bytes, 4) : ulb_and(bytes, ulb_all32(15));
    return bytes;
}

static inline __attribute__((always_inline)) ulb_floats
ulb_group_scale(const struct ulb_block_cfg *cfg, const uint8_t *scales, size_t g, size_t v)
{
    return ulb_to_floats(ulb_group_scale_integer(cfg, scales, g, v));
}

/* Whether scales multiply 16-bit sums while these are widened to 32 bits. The sums are then the block's, and
 * exact. Signed scales are excluded: they would have to multiply the zero point too.
 * Sum of 256 columns: `|scale * sum| <= 63 * 31 * 128 * 256 < 2^26`. */
static inline __attribute__((always_inline)) bool ulb_scales_integers(const struct ulb_block_cfg *cfg)
{
    return ULB_S16_SUMS && cfg->codes->s16_steps &&
           (cfg->scales == ULB_UNSIGNED_SCALES || cfg->scales == ULB_NIBBLE_SCALES);
}

#if ULB_S16_SUMS

/* Scale of group g, whose scales lie at scales, for vector v of rows: twice in each lane, 16 bits. */
static inline __attribute__((always_inline)) ulb_vec
ulb_paired_scale(const struct ulb_block_cfg *cfg, const uint8_t *scales, size_t g, size_t v)
{
    const __m256i pairs = _mm256_setr_epi8(0, -1, 0, -1, 1, -1, 1, -1, 2, -1, 2, -1, 3, -1, 3, -1, 4, -1, 4,
                                           -1, 5, -1, 5, -1, 6, -1, 6, -1, 7, -1, 7, -1);
    int64_t eight;
    memcpy(&eight, scales + v * ULB_LANES, sizeof eight);
    __m256i scale = _mm256_shuffle_epi8(_mm256_set1_epi64x(eight), pairs);
    if (cfg->scales == ULB_NIBBLE_SCALES)
        scale = g % 2 ? _mm256_srli_epi16(scale, 4) : _mm256_and_si256(scale, _mm256_set1_epi16(15));
    return scale;
}

#endif

/* A block, or some of its groups: scales and codes of groups, activations. */
struct ulb_groups_at {
    const uint8_t *w;
    const int8_t *x;
    const int16_t *sums;
    const int32_t *zeros; /* of groups of 16 columns: struct ulb_zero_sum's */
    const float *scale;   /* of a block's activations */
};

/* Sums of a group, and what is taken off them; or integer scales, for which sums are the block's. */
struct ulb_group_sums {
    struct ulb_zero_sum zero;
    ulb_vec sums[ULB_BLOCK_VECTORS_MAX], scales[ULB_BLOCK_VECTORS_MAX];
};

static inline __attribute__((always_inline)) void ulb_start_group(const struct ulb_block_cfg *cfg,
                                                                  const struct ulb_groups_at *at, size_t g,
                                                                  struct ulb_group_sums *group)
{
#if ULB_S16_SUMS
    if (ulb_scales_integers(cfg)) {
        ULB_UNROLL(12)
        for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
            group->scales[v] = ulb_paired_scale(cfg, at->w + ulb_scales_at(cfg, g), g, v);
        return;
    }
#endif
    group->zero = ulb_group_zero_sum(cfg, at->sums + g * cfg->group / ULB_SUM_COLUMNS, at->zeros + g);
    ulb_vec magic = ulb_all32(ULB_MAGIC);
    if (cfg->scales_sums)
        magic = ulb_sub32(magic, group->zero.all);
#pragma GCC unroll 12
    for (size_t i = 0; i < cfg->sets * cfg->codes->sums; i++)
        group->sums[i] = cfg->codes->start(i % cfg->codes->sums, magic, &group->zero);
}

/* block += group g, a constant. ask: prefetches for the lines ahead of its scales. */
static inline __attribute__((always_inline)) void ulb_end_group(const struct ulb_block_cfg *cfg,
                                                                struct ulb_prefetch_setting prefetch,
                                                                const struct ulb_groups_at *at, size_t g,
                                                                const struct ulb_group_sums *group, bool ask,
                                                                ulb_floats *block)
{
    const struct ulb_codes *codes = cfg->codes;
    ulb_floats values[ULB_BLOCK_VECTORS_MAX];
    size_t scales_at = ulb_scales_at(cfg, g);
    if (ulb_scales_integers(cfg)) {
        if (g % ulb_groups_together(cfg) == 0)
            ulb_prefetch_lines(cfg, prefetch, at->w, scales_at, ulb_scale_bytes(cfg), (ulb_vec *)block,
                               ulb_block_vectors(cfg));
        return;
    }
    struct ulb_sum_scale scale;
    if (cfg->scales_sums) {
        scale.by = ulb_all_floats(cfg->powers ? *at->scale / 2 : *at->scale);
        __asm__(""
                : "+" ULB_REGISTER(
                    scale.by)); /* keeps the compiler from multiplying it before it is in all lanes */
        scale.less = ulb_mul(scale.by, ulb_all_floats(-(float)ULB_MAGIC_VALUE));
    }
#pragma GCC unroll 8
    for (size_t set = 0; set < cfg->sets; set++)
        codes->floats(group->sums + set * codes->sums, &group->zero, cfg->scales_sums ? &scale : NULL,
                      values + set * codes->rows);
    if (ask && g % ulb_groups_together(cfg) == 0)
        ulb_prefetch_lines(cfg, prefetch, at->w, scales_at, ulb_scale_bytes(cfg), (ulb_vec *)values,
                           ulb_block_vectors(cfg));
#pragma GCC unroll 12
    for (size_t v = 0; v < ulb_block_vectors(cfg); v++)
        block[v] = cfg->scales ? ulb_fma(values[v], ulb_group_scale(cfg, at->w + scales_at, g, v), block[v])
                               : values[v];
}

/* block += a chunk, from step s on, of group g. */
static inline __attribute__((always_inline)) void ulb_add_chunk_of(const struct ulb_block_cfg *cfg,
                                                                   struct ulb_prefetch_setting prefetch,
                                                                   const struct ulb_groups_at *at, size_t g,
                                                                   size_t s, struct ulb_group_sums *group,
                                                                   ulb_floats *block)
{
    const uint8_t *w = at->w + s * cfg->sets * cfg->codes->bytes * ULB_VEC_BYTES;
    const int8_t *x = at->x + g * cfg->group + 4 * s;
    if (ulb_scales_integers(cfg))
        ulb_add_chunk(cfg, prefetch, w, ulb_codes_at(cfg, g), x, group->scales, (ulb_vec *)block);
    else
        ulb_add_chunk(cfg, prefetch, w, ulb_codes_at(cfg, g), x, NULL, group->sums);
}

/* block += group g of one slice. */
static inline __attribute__((always_inline)) void ulb_add_group(const struct ulb_block_cfg *cfg,
                                                                struct ulb_prefetch_setting prefetch,
                                                                const struct ulb_groups_at *at, size_t g,
                                                                ulb_floats *block)
{
    struct ulb_group_sums group;
    ulb_start_group(cfg, at, g, &group);
    for (size_t s = 0; s < cfg->group / 4; s += ulb_chunk_steps(cfg))
        ulb_add_chunk_of(cfg, prefetch, at, g, s, &group, block);
    ulb_end_group(cfg, prefetch, at, g, &group, true, block);
}

/* block += group g of each slice. The slices alternate after some steps. Sums in registers are unrolled, sums
 * in memory are a loop. */
static inline __attribute__((always_inline)) void
ulb_add_side_by_side(const struct ulb_block_cfg *cfg, struct ulb_prefetch_setting prefetch,
                     const struct ulb_groups_at *at, size_t g, ulb_floats (*block)[ULB_BLOCK_VECTORS_MAX])
{
    struct ulb_group_sums groups[ULB_BLOCK_SLICES];
    size_t steps = cfg->group / 4, chunk = ulb_chunk_steps(cfg);
    size_t pass = ulb_is_long(cfg) ? chunk : steps < ULB_CHUNK_STEPS ? steps : ULB_CHUNK_STEPS;
#pragma GCC unroll 4
    for (size_t i = 0; i < ULB_BLOCK_SLICES; i++)
        ulb_start_group(cfg, &at[i], g, &groups[i]);
    for (size_t begin = 0; begin < steps; begin += pass) {
#pragma GCC unroll 8
        for (size_t s = begin; s < begin + pass; s += chunk) {
#pragma GCC unroll 4
            for (size_t i = 0; i < ULB_BLOCK_SLICES; i++)
                ulb_add_chunk_of(cfg, prefetch, &at[i], g, s, &groups[i], block[i]);
        }
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < ULB_BLOCK_SLICES; i++)
        ulb_end_group(cfg, prefetch, &at[i], g, &groups[i], true, block[i]);
}

/* Groups of a slice before the next slice. Two if two scales share a byte. Also two of 16 columns: sums of
 * the block that have no registers are then loaded and stored half as often. 16-bit sums do not gain by
 * it. */
static inline __attribute__((always_inline)) size_t ulb_turn_groups(const struct ulb_block_cfg *cfg)
{
    return cfg->scales == ULB_NIBBLE_SCALES || (cfg->group == ULB_SUM_COLUMNS && !ULB_S16_SUMS) ? 2 : 1;
}

/* Whether the sums of a long group fill all 16 registers. Clang 14 allocates them in one copy of the code,
 * but not in one copy for each slice. */
static inline __attribute__((always_inline)) bool ulb_fills_registers(const struct ulb_block_cfg *cfg)
{
    return ULB_BY_ENCODING(true, false) && cfg->sets * cfg->codes->sums == 12 && cfg->group == cfg->columns;
}

/* block += some groups of each slice. */
static inline __attribute__((always_inline)) void ulb_add_turn(const struct ulb_block_cfg *cfg,
                                                               struct ulb_prefetch_setting prefetch,
                                                               const struct ulb_groups_at *at,
                                                               ulb_floats (*block)[ULB_BLOCK_VECTORS_MAX])
{
    size_t turn = ulb_turn_groups(cfg), slices = ULB_BLOCK_SLICES;
    if (ulb_fills_registers(cfg)) {
        __asm__("" : "+r"(slices)); /* a loop */
        for (size_t i = 0; i < slices; i++)
            ulb_add_group(cfg, prefetch, &at[i], 0, block[i]);
        return;
    }
    if (ulb_is_long(cfg) || ulb_is_narrow(cfg)) {
#pragma GCC unroll 2
        for (size_t g = 0; g < turn; g++)
            ulb_add_side_by_side(cfg, prefetch, at, g, block);
        return;
    }
#pragma GCC unroll 8
    for (size_t i = 0; i < ULB_BLOCK_SLICES * turn; i++)
        ulb_add_group(cfg, prefetch, &at[i / turn], i % turn, block[i / turn]);
}

#endif
