/* Dot products of 2-bit fields without unpacking, for int2 and tern2. A field stays in its place in the byte.
 * The dot product of the masked byte is the field's times a power of four, because vpdpbusd takes the weights
 * as unsigned bytes.
 *
 * `D0 = x.(w & 03)`, `D1 = x.(w & 0C) = 4 S1`, `D2 = x.(w & 30) = 16 S2`, `raw = x.w`.
 * At the end of the tile `S3 = (raw - D0 - D1 - D2) / 64`.
 * `|raw| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: four accumulators in three sets (256 bits) or four sets (512 bits) hide the latency of dot
 * products. 16 registers also hold three for the step and a mask; the other two masks are memory operands.
 * With groups of columns there are two sets, one for each slice. With several tokens there are 4, one for
 * each token (kernels/x86/gemm/grouped.h).
 *
 * With AVX2 alone vpmaddubsw adds to 16-bit sums. The upper nibble is shifted down. The two fields of a
 * nibble are 1 and 4 times their values. After a chunk of eight steps vpmaddwd by ones widens the sums.
 * A pair adds at most `2 * 12 * 127 = 3,048`: 8 steps, 24,384, fit 16 bits. */
#ifndef ULB_KERNELS_FORMATS_INT2_MASK_H
#define ULB_KERNELS_FORMATS_INT2_MASK_H

#include "kernels/x86/simd/dot.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_FIELDS2 = 4,
#if defined(ULB_GROUP)
    ULB_FIELDS2_SLICES = 2,
    ULB_FIELDS2_CHUNK = 2 * ULB_LINE
#elif defined(ULB_DP_512)
    ULB_FIELDS2_SLICES = 4,
    ULB_FIELDS2_CHUNK = ULB_LINE
#else
    ULB_FIELDS2_SLICES = 3,
    ULB_FIELDS2_CHUNK = 3 * ULB_LINE
#endif
};

#if ULB_S16_SUMS

static const struct ulb_k_loop ulb_fields2_k_loop = {.step_bytes = ULB_VEC_BYTES,
                                                     .columns = 4,
                                                     .vectors = ULB_FIELDS2,
                                                     .slices = ULB_FIELDS2_SLICES,
                                                     .sets = 1,
                                                     .chunk_bytes = 8 * ULB_VEC_BYTES,
                                                     .widen_s16 = ulb_add_s16,
                                                     .l1_distance = 1024,
                                                     .prefetch_stride = ULB_LINE};

static inline void ulb_fields2_step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                                    ulb_vec *words)
{
    ulb_dot_two_bit(words, w, ulb_broadcast4(x4));
    ulb_prefetch_line_at(hint, w, 0, &words[0]);
}

static inline __attribute__((always_inline)) void ulb_fields2_separate(ulb_vec *sums)
{
    sums[1] = ulb_asr32(sums[1], 2);
    sums[3] = ulb_asr32(sums[3], 2);
}

#else

static const struct ulb_k_loop ulb_fields2_k_loop = {.step_bytes = ULB_VEC_BYTES,
                                                     .columns = 4,
                                                     .vectors = ULB_FIELDS2,
                                                     .slices = ULB_FIELDS2_SLICES,
                                                     .sets = ULB_FIELDS2_SLICES,
                                                     .chunk_bytes = ULB_FIELDS2_CHUNK,
                                                     .l1_distance = 1024,
                                                     .l2_distance = 1536,
                                                     .prefetch_stride = ULB_LINE};

static const ulb_vec ulb_fields2_mask0 = ULB_BYTES(0x03), ulb_fields2_mask1 = ULB_BYTES(0x0C),
                     ulb_fields2_mask2 = ULB_BYTES(0x30);

static inline void ulb_fields2_step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                                    ulb_vec *sums)
{
    ulb_vec packed, x, field;
    __asm__(ULB_ASM_LOAD /* clang-format off */
            ULB_ASM_FIELD("m0", "s0")
            ULB_ASM_FIELD("m1", "s1")
            ULB_ASM_FIELD("m2", "s2")
            ULB_ASM_DP("packed", "s3") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [packed] ULB_SCRATCH(packed), [x] ULB_SCRATCH(x), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x4] ULB_ACTIVATIONS(x4), [m0] ULB_KEPT(ulb_fields2_mask0),
              [m1] ULB_MASK(ulb_fields2_mask1), [m2] ULB_MASK(ulb_fields2_mask2));
    ulb_prefetch_line_at(hint, w, 0, NULL);
}

static inline __attribute__((always_inline)) void ulb_fields2_separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, ULB_FIELDS2, 2);
}

#endif

static inline void ulb_fields2_tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&ulb_fields2_k_loop, ulb_fields2_step, tiles, sums);
    ulb_fields2_separate(sums);
    ulb_store_all(dots, sums, ULB_FIELDS2);
}

/* Instructions of a kernel for some tokens: struct ulb_mix. */
#if ULB_S16_SUMS
#define ULB_FIELDS2_MIX(tokens)                                                                              \
    {                                                                                                        \
        .loads = 0.25, .broadcasts = 0.25, .prefetches = 0.125, .logic = 1, .shifts = 0.25, .maddubs = 1,    \
        .madds = 0.125, .adds = 1.125, .vector_bits = ULB_VEC_BITS                                           \
    }
#else
#define ULB_FIELDS2_MIX(tokens)                                                                              \
    {                                                                                                        \
        .loads = (1 + ULB_MASK_LOADS(2)) * 64.0 / ULB_VEC_BITS, .broadcasts = (tokens)*64.0 / ULB_VEC_BITS,  \
        .prefetches = 0.25, .logic = 192.0 / ULB_VEC_BITS, .dot_products = (tokens)*256.0 / ULB_VEC_BITS,    \
        .vector_bits = ULB_VEC_BITS, .chains = ULB_FIELDS2 * ((tokens) > 1 ? (tokens) : ULB_FIELDS2_SLICES)  \
    }
#endif

#endif
