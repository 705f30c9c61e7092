/* Sums of products of codes of 1 to 8 bits and int8 activations. Codes are cut into planes of 8, 4, 2 or 1
 * bits, each stored by itself. A lane holds four columns of a row. Every four columns of eight vectors of
 * rows take as many vectors of bytes as the plane has bits. A byte holds fields of neighbouring vectors of
 * rows. The sum of a code is the sum over its planes, each times 2^(its first bit).
 *
 * With dot products fields stay in their places in the byte (see kernels/formats/int2/mask.h). |x.w| of a
 * byte is at most 255 * 127 for each column. With AVX2 fields are shifted down, and 16-bit sums are widened
 * in time. Bytes of 8 bits fit vpmaddubsw only if the activation carries the sign.
 * `|w - 128| <= 128`: two products are at most `2 * 128 * 127 = 32,512`. */
#ifndef ULB_KERNELS_X86_GEMV_PLANES_H
#define ULB_KERNELS_X86_GEMV_PLANES_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/gemv/plane_asm.h"
#include "kernels/x86/simd/prefetch.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_PLANE_ROWS = ULB_PLANE_VECTORS * ULB_LANES, /* of a tile */
    ULB_PLANE_SLICES = 2 /* slices of K that alternate: see kernels/x86/gemv/k_slices.h */
};

/* Bits of the first plane of codes of this many bits; what it leaves makes the next. */
static inline __attribute__((always_inline)) unsigned ulb_plane_bits(unsigned bits)
{
    return bits >= 8 ? 8 : bits >= 4 ? 4 : bits >= 2 ? 2 : 1;
}

/* Bytes of 4 columns of a plane. */
static inline __attribute__((always_inline)) size_t ulb_plane_step(unsigned bits)
{
    return (size_t)bits * ULB_VEC_BYTES;
}

/* What a sum of 8-bit codes lacks: with AVX2 they are taken as code - 128. */
enum { ULB_PLANE_BIAS_8 = ULB_S16_SUMS ? 128 : 0 };

/* With a tuned setting one of the two prefetches is for a line that is being loaded, and has no effect. */
static inline __attribute__((always_inline)) struct ulb_plane_prefetch
ulb_planes_prefetch(struct ulb_line_prefetch hint)
{
    const struct ulb_prefetch_setting prefetch = hint.prefetch;
    if (!prefetch.tuned)
        return (struct ulb_plane_prefetch){hint.l1_distance, ULB_L2_DISTANCE};
    return (struct ulb_plane_prefetch){prefetch.l1 ? prefetch.distance : 0,
                                       prefetch.l1 ? 0 : prefetch.distance};
}

/* Adds steps of one plane to the sums, fields still at their places, words of 16 bits with AVX2. */
static inline __attribute__((always_inline)) void ulb_add_plane_steps(unsigned bits, const uint8_t *w,
                                                                      const int8_t *x, size_t steps,
                                                                      struct ulb_line_prefetch hint,
                                                                      ulb_vec *sums)
{
    const size_t step = ulb_plane_step(bits);
    const struct ulb_plane_prefetch at = ulb_planes_prefetch(hint);
#pragma GCC unroll 1
    for (size_t s = 0; s + 2 <= steps; s += 2, w += 2 * step, x += 8) {
        ulb_add_plane_step(bits, w, x, &at, true, sums);
        ulb_add_plane_step(bits, w + step, x + 4, &at, step % ULB_LINE == 0, sums);
    }
    if (steps % 2)
        ulb_add_plane_step(bits, w, x, &at, true, sums);
}

/* Computes the sums here. Compilers would delay the epilogue of a loop to the use of its result, after the
 * next loop, and hold its registers meanwhile. */
static inline __attribute__((always_inline)) void ulb_sums_barrier(ulb_vec *sums)
{
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
        __asm__("" : "+" ULB_REGISTER(sums[v]));
}

/* sums[8] += int32 sums of some steps of one plane; what fields lack is left to ulb_separate_plane(). */
static inline __attribute__((always_inline)) void ulb_sum_plane(unsigned bits, const uint8_t *w,
                                                                const int8_t *x, size_t steps,
                                                                struct ulb_line_prefetch hint, ulb_vec *sums)
{
    const size_t chunk = 127 / ((1u << bits) - 1); /* as much as 16-bit sums hold (kernels/x86/simd/dot.h) */
    if (!ULB_S16_SUMS || bits == 8) {
        ulb_add_plane_steps(bits, w, x, steps, hint, sums);
        ulb_sums_barrier(sums);
        return;
    }
    for (size_t begin = 0; begin < steps; begin += chunk) {
        ulb_vec words[ULB_PLANE_VECTORS];
        ulb_zero_all(words, ULB_PLANE_VECTORS);
        ulb_add_plane_steps(bits, w + begin * ulb_plane_step(bits), x + 4 * begin,
                            steps - begin < chunk ? steps - begin : chunk, hint, words);
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
            sums[v] = ulb_add32(sums[v], ulb_widen_s16(words[v]));
        ulb_sums_barrier(sums);
    }
}

/* Sums of fields at their places -> of each of some vectors of rows. */
static inline __attribute__((always_inline)) void ulb_separate_vectors(unsigned bits, unsigned vectors,
                                                                       ulb_vec *sums)
{
#if !ULB_S16_SUMS
    const unsigned fields = 8 / bits;
    ULB_UNROLL(8)
    for (unsigned v = 0; v < vectors && fields > 1; v += fields)
        ulb_separate_fields(sums + v, fields, bits);
#else
    (void)bits;
    (void)vectors;
    (void)sums;
#endif
}

static inline __attribute__((always_inline)) void ulb_separate_plane(unsigned bits, ulb_vec *sums)
{
    ulb_separate_vectors(bits, ULB_PLANE_VECTORS, sums);
}

/* A group of columns of each slice: its codes and its activations. */
struct ulb_plane_groups {
    const uint8_t *w[ULB_PLANE_SLICES];
    const int8_t *x[ULB_PLANE_SLICES];
};

/* Steps of a slice before the next slice. If slices alternate after more than 1 or 2 KiB, they are read one
 * after the other, and the prefetches of one stream do not keep memory busy. */
static inline __attribute__((always_inline)) size_t ulb_plane_turn(unsigned bits, size_t steps)
{
    return bits >= 4 ? 8 : steps;
}

/* sums += some steps of one plane. The sums are in registers, unless they are separate 16-bit sums. */
static inline __attribute__((always_inline)) void ulb_take_turn(unsigned bits, const uint8_t *w,
                                                                const int8_t *x, size_t steps,
                                                                struct ulb_line_prefetch hint, ulb_vec *sums)
{
    ulb_vec held[ULB_PLANE_VECTORS];
    if (ULB_S16_SUMS && bits < 8) {
        ulb_sum_plane(bits, w, x, steps, hint, sums);
        return;
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
        held[v] = sums[v];
    ulb_sum_plane(bits, w, x, steps, hint, held);
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
        sums[v] = held[v];
}

/* Whether the sums of all slices of a plane fit into registers, so that slices may alternate after each
 * step. */
static inline __attribute__((always_inline)) bool ulb_planes_abreast(unsigned bits)
{
    return ULB_BY_ENCODING(false, true) && bits >= 4;
}

/* sums[slices][8] = the sums of some steps of one plane. The slices alternate after each step. */
static inline __attribute__((always_inline)) void
ulb_sum_abreast(unsigned bits, const struct ulb_plane_groups *groups, size_t at, size_t steps,
                struct ulb_line_prefetch hint, ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    const struct ulb_plane_prefetch from = ulb_planes_prefetch(hint);
    const size_t step = ulb_plane_step(bits);
    const uint8_t *w0 = groups->w[0] + at, *w1 = groups->w[1] + at;
    const int8_t *x0 = groups->x[0], *x1 = groups->x[1];
    ulb_vec first[ULB_PLANE_VECTORS], second[ULB_PLANE_VECTORS];
    ulb_zero_all(first, ULB_PLANE_VECTORS);
    ulb_zero_all(second, ULB_PLANE_VECTORS);
#pragma GCC unroll 1
    for (size_t s = 0; s < steps; s++, w0 += step, w1 += step, x0 += 4, x1 += 4) {
        ulb_add_plane_step(bits, w0, x0, &from, true, first);
        ulb_add_plane_step(bits, w1, x1, &from, true, second);
    }
    ulb_sums_barrier(first);
    ulb_sums_barrier(second);
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++) {
        sums[0][v] = first[v];
        sums[1][v] = second[v];
    }
}

/* sums[slices][8] = the sums of some steps of one plane. The slices alternate after several steps. */
static inline __attribute__((always_inline)) void
ulb_sum_in_turns(unsigned bits, const struct ulb_plane_groups *groups, size_t at, size_t steps,
                 struct ulb_line_prefetch hint, ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    const size_t turn = ulb_plane_turn(bits, steps);
    ULB_UNROLL(16)
    for (size_t i = 0; i < ULB_PLANE_SLICES * ULB_PLANE_VECTORS; i++)
        sums[i / ULB_PLANE_VECTORS][i % ULB_PLANE_VECTORS] = ulb_zero();
    for (size_t s = 0; s < steps; s += turn) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < ULB_PLANE_SLICES; i++)
            ulb_take_turn(bits, groups->w[i] + at + s * ulb_plane_step(bits), groups->x[i] + 4 * s, turn,
                          hint, sums[i]);
    }
}

/* sums[slices][8] = the sums of one plane, which begins at bytes after the first. */
static inline __attribute__((always_inline)) void
ulb_sum_slices(unsigned bits, const struct ulb_plane_groups *groups, size_t at, size_t steps,
               struct ulb_line_prefetch hint, ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    if (ulb_planes_abreast(bits))
        ulb_sum_abreast(bits, groups, at, steps, hint, sums);
    else
        ulb_sum_in_turns(bits, groups, at, steps, hint, sums);
    ULB_UNROLL(2)
    for (size_t i = 0; i < ULB_PLANE_SLICES; i++)
        ulb_separate_plane(bits, sums[i]);
}

/* sums[slices][8] += 2^first times the sums of one plane. */
static inline __attribute__((always_inline)) void
ulb_add_slices(unsigned bits, unsigned first, const struct ulb_plane_groups *groups, size_t at, size_t steps,
               struct ulb_line_prefetch hint, ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    ulb_vec plane[ULB_PLANE_SLICES][ULB_PLANE_VECTORS];
    ulb_sum_slices(bits, groups, at, steps, hint, plane);
    ULB_UNROLL(2)
    for (size_t i = 0; i < ULB_PLANE_SLICES; i++) {
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
            sums[i][v] = ulb_add32(sums[i][v], ulb_shl32(plane[i][v], first));
    }
}

/* sums[slices][8] = sums of products of codes of `bits` bits, a constant. The planes, at most three, lie one
 * after the other, lowest bits first. Sums of 8-bit codes are ULB_PLANE_BIAS_8 * sum(x) too small. */
static inline __attribute__((always_inline)) void ulb_sum_codes(unsigned bits,
                                                                const struct ulb_plane_groups *groups,
                                                                size_t steps, struct ulb_line_prefetch hint,
                                                                ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    const unsigned first = ulb_plane_bits(bits), left = bits - first;
    const unsigned second = left > 0 ? ulb_plane_bits(left) : 0, third = left - second;
    ulb_sum_slices(first, groups, 0, steps, hint, sums);
    if (second > 0)
        ulb_add_slices(second, first, groups, steps * ulb_plane_step(first), steps, hint, sums);
    if (third > 0)
        ulb_add_slices(third, first + second, groups, steps * ulb_plane_step(first + second), steps, hint,
                       sums);
}

/* Instructions of ulb_sum_codes() per 32 weights. b: bits of the codes. e: operations done once for each sum,
 * in sums per 32 weights. Planes of 8 bits are counted separately (ULB_BYTES_OF). */
#define ULB_PLANES_OF(b)     (((b) >> 3 & 1) + ((b) >> 2 & 1) + ((b) >> 1 & 1) + ((b)&1))
#define ULB_BYTES_OF(b)      ((b) >> 3 & 1)
#define ULB_MOVED_FIELDS(b)  (ULB_PLANES_OF(b) - (b) / 8.0) /* all fields of a byte but one */
#define ULB_VECTORS_PER_STEP (256.0 / ULB_VEC_BITS)

#if ULB_S16_SUMS
#define ULB_WIDENS(b, e)         (ULB_BYTES_OF(b) + ((b) >> 2 & 1) / 8.0 + (((b) >> 1 & 1) + ((b)&1)) * (e))
#define ULB_SPLITS(b)            0
#define ULB_CODES_LOGIC(b)       ULB_PLANES_OF(b)
#define ULB_CODES_SHIFTS(b)      ULB_MOVED_FIELDS(b)
#define ULB_CODES_ADDS(b, e)     (ULB_PLANES_OF(b) + ULB_BYTES_OF(b) + ULB_WIDENS(b, e))
#define ULB_CODES_PRODUCTS(b, e) .maddubs = ULB_PLANES_OF(b), .madds = ULB_WIDENS(b, e)
#else
#define ULB_SPLITS(b)            ULB_MOVED_FIELDS(b)
#define ULB_CODES_LOGIC(b)       ULB_MOVED_FIELDS(b)
#define ULB_CODES_SHIFTS(b)      0
#define ULB_CODES_ADDS(b, e)     0
#define ULB_CODES_PRODUCTS(b, e) .dot_products = ULB_PLANES_OF(b) * ULB_VECTORS_PER_STEP
#endif

/* Loads of sums into registers for every eight steps (ulb_take_turn); none if all slices are summed in
 * registers. Masks in memory: three for each vector of a plane of two bits, seven for a plane of one bit
 * (kernels/x86/simd/dot.h). */
#define ULB_TURN_LOADS(b) (ULB_BY_ENCODING(((b) >> 3 & 1) + (ULB_S16_SUMS ? 0 : ((b) >> 2 & 1)), 0) / 8.0)
#if ULB_S16_SUMS
#define ULB_PLANE_MASK_LOADS(b) 0
#else
#define ULB_PLANE_MASK_LOADS(b) ULB_MASK_LOADS((((b) >> 1 & 1) * 6 + ((b)&1) * 7) / 8.0)
#endif

#define ULB_CODES_MIX(b, e)                                                                                  \
    .broadcasts = ULB_PLANES_OF(b) / 8.0 * ULB_VECTORS_PER_STEP, .prefetches = (b) / 8.0,                    \
    .logic = ULB_CODES_LOGIC(b) * ULB_VECTORS_PER_STEP,                                                      \
    .shifts = (ULB_CODES_SHIFTS(b) + (ULB_SPLITS(b) + ULB_PLANES_OF(b) - 1) * (e)) * ULB_VECTORS_PER_STEP,   \
    .adds = (ULB_CODES_ADDS(b, e) + (ULB_SPLITS(b) + ULB_PLANES_OF(b) + 1) * (e)) * ULB_VECTORS_PER_STEP,    \
    ULB_CODES_PRODUCTS(b, e)

/* What kernels of planes have alike, of struct ulb_kernel. */
#define ULB_PLANE_FIELDS(layout_, run_)                                                                      \
    .abi = ULB_KERNEL_ABI, .isa = ULB_KERNEL_ISA, .needs = ULB_KERNEL_NEEDS, .layout = &(layout_),           \
    .activation = ULB_ACT_A8Z, .mr = ULB_PLANE_ROWS, .run = (run_)

#endif
