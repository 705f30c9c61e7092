/* 3-bit codes unpacked to bytes, then multiplied. Two kernels compare the two ways of packing eight codes
 * into 3 bytes from the talk on torchao's kernels.
 *
 * Format 1 is a plane of 2 bits and one of 1 bit, the layout of planes.c. Format 2 has two whole codes in
 * each byte, and the last two codes in the remaining bits (kernels/codes/three_bit.h). NEON shifts bytes.
 * Here words are shifted and masked, so that format 1 takes one AND more than in the talk.
 * With AVX2 a step adds at most `2 * 7 * 127` to a 16-bit sum: 18 steps fit. */
#include "kernels/formats/affine/format.h"
#include "kernels/formats/affine/grouped_gemv.h"

#ifdef ULB_DP_512
#define PLANES(of)    ulb_##of##_planes_128
#define THREE_BIT(of) ulb_##of##_three_bit_128
#else
#define PLANES(of)    ulb_##of##_planes_64
#define THREE_BIT(of) ulb_##of##_three_bit_64
#endif

/* One step; steps: of the group, after whose 2-bit plane the other lies. */
typedef void step_fn(const uint8_t *w, size_t steps, size_t s, ulb_vec x, ulb_vec *sums);

static inline __attribute__((always_inline)) void step_1(const uint8_t *w, size_t steps, size_t s, ulb_vec x,
                                                         ulb_vec *sums)
{
    ulb_vec high = ulb_load(w + (2 * steps + s) * ULB_VEC_BYTES);
    ULB_UNROLL(8)
    for (int v = 0; v < ULB_PLANE_VECTORS; v++) {
        ulb_vec low = ulb_load(w + (2 * s + (size_t)v / 4) * ULB_VEC_BYTES);
        ulb_dot(&sums[v], ulb_or(ulb_byte_field(low, v % 4 * 2, 3), ulb_byte_field(high, v - 2, 4)), x);
    }
}

static inline __attribute__((always_inline)) void step_2(const uint8_t *w, size_t steps, size_t s, ulb_vec x,
                                                         ulb_vec *sums)
{
    (void)steps;
    ulb_vec bytes[3];
    ULB_UNROLL(3)
    for (int i = 0; i < 3; i++) {
        bytes[i] = ulb_load(w + (3 * s + (size_t)i) * ULB_VEC_BYTES);
        ulb_dot(&sums[2 * i], ulb_byte_field(bytes[i], 0, 7), x);
        ulb_dot(&sums[2 * i + 1], ulb_byte_field(bytes[i], 3, 7), x);
    }
    ulb_dot(&sums[6], ulb_or(ulb_byte_field(bytes[0], 6, 3), ulb_byte_field(bytes[2], 4, 4)), x);
    ulb_dot(&sums[7], ulb_or(ulb_byte_field(bytes[1], 6, 3), ulb_byte_field(bytes[2], 5, 4)), x);
}

/* sums += steps [begin, end). */
static inline __attribute__((always_inline)) void add_steps(step_fn *step, const uint8_t *w, const int8_t *x,
                                                            size_t steps, size_t begin, size_t end,
                                                            struct ulb_line_prefetch hint, ulb_vec *sums)
{
    ulb_vec words[ULB_PLANE_VECTORS];
    ulb_zero_all(words, ULB_PLANE_VECTORS);
#pragma GCC unroll 1
    for (size_t s = begin; s < end; s++) {
        step(w, steps, s, ulb_broadcast4(x + 4 * s), words);
        ULB_UNROLL(3)
        for (size_t line = 0; line < 3 * ULB_VEC_BYTES; line += ULB_LINE)
            ulb_prefetch_line(w + 3 * s * ULB_VEC_BYTES, line, hint);
    }
    ULB_UNROLL(8)
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v++)
        sums[v] = ulb_add32(sums[v], ulb_widen_s16(words[v]));
    ulb_sums_barrier(sums);
}

static inline __attribute__((always_inline)) void sum_steps(step_fn *step,
                                                            const struct ulb_plane_groups *groups,
                                                            size_t steps, struct ulb_line_prefetch hint,
                                                            ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    const size_t turn = ULB_S16_STEPS(7);
    ULB_UNROLL(16)
    for (size_t i = 0; i < ULB_PLANE_SLICES * ULB_PLANE_VECTORS; i++)
        sums[i / ULB_PLANE_VECTORS][i % ULB_PLANE_VECTORS] = ulb_zero();
    for (size_t begin = 0; begin < steps; begin += turn) {
        ULB_UNROLL(2)
        for (size_t i = 0; i < ULB_PLANE_SLICES; i++)
            add_steps(step, groups->w[i], groups->x[i], steps, begin, begin + turn, hint, sums[i]);
    }
}

static inline __attribute__((always_inline)) void sum_1(unsigned bits, const struct ulb_plane_groups *groups,
                                                        size_t steps, struct ulb_line_prefetch hint,
                                                        ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    (void)bits;
    sum_steps(step_1, groups, steps, hint, sums);
}

static inline __attribute__((always_inline)) void sum_2(unsigned bits, const struct ulb_plane_groups *groups,
                                                        size_t steps, struct ulb_line_prefetch hint,
                                                        ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    (void)bits;
    sum_steps(step_2, groups, steps, hint, sums);
}

/* Shifts, ands and ors are of 8 codes; widenings are twice a group. */
#if ULB_S16_SUMS
#define PRODUCTS .maddubs = 1, .madds = 2 * ULB_PER_GROUP(128), .adds = 1 + 3 * ULB_PER_GROUP(128)
#else
#define PRODUCTS .dot_products = ULB_VECTORS_PER_STEP, .adds = ULB_GROUP_ENDS(128)
#endif
#define MIX(shifts_, ands, ors, zero_)                                                                       \
    {                                                                                                        \
        .loads = 3 / 8.0 * ULB_VECTORS_PER_STEP + (1 + (zero_)) * ULB_GROUP_ENDS(128),                       \
        .broadcasts = ULB_VECTORS_PER_STEP / 8, .prefetches = 3 / 8.0,                                       \
        .shifts = (shifts_) / 8.0 * ULB_VECTORS_PER_STEP,                                                    \
        .logic = ((ands) + ULB_BY_ENCODING(ors, 0)) / 8.0 * ULB_VECTORS_PER_STEP,                            \
        .widenings = (zero_)*ULB_GROUP_ENDS(128), .conversions = (1 + (zero_)) * ULB_GROUP_ENDS(128),        \
        .fmas = (1 + (zero_)) * ULB_GROUP_ENDS(128), PRODUCTS, .vector_bits = ULB_VEC_BITS                   \
    }

#define ROW(of, zero_, way, layout_, sum_, mix_)                                                             \
    static void run_##of##_##way(const struct ulb_gemm *g)                                                   \
    {                                                                                                        \
        static const struct ulb_affine_cfg cfg = {&(layout_),      3,    zero_, 128, sum_, 0,                \
                                                  ULB_PLANES_NEAR, NULL, 1,     0};                          \
        ulb_run_affine(&cfg, g);                                                                             \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(of##_##way) = {                                                                       \
        ULB_PLANE_FIELDS(layout_, run_##of##_##way),                                                         \
        .variant = #way,                                                                                     \
        .nr = 1,                                                                                             \
        .kr = ULB_PLANE_SLICES * 128,                                                                        \
        .bytes_per_step = 32.0 * ULB_AFFINE_BYTES(3, zero_, 128) / 128,                                      \
        .tolerance = ULB_BLOCK_TOLERANCE,                                                                    \
        .mix = mix_,                                                                                         \
        .prefetch = {.kind = ULB_PREFETCH_TUNABLE},                                                          \
    };

ROW(u3, 0, unpack1, PLANES(u3), sum_1, MIX(13, 16, 8, 0))
ROW(u3, 0, unpack2, THREE_BIT(u3), sum_2, MIX(7, 10, 2, 0))
ROW(u3z, 1, unpack1, PLANES(u3z), sum_1, MIX(13, 16, 8, 1))
ROW(u3z, 1, unpack2, THREE_BIT(u3z), sum_2, MIX(7, 10, 2, 1))
