/* GEMM of codes with int8 activations. A group of columns stays in L1 with its activations, while the
 * register tiles of an N-block iterate over it. Activations of many tokens lie in as many sets
 * (kernels/activations.h). Three tokens share a load and the unpacking of fields. At 512 bits and in EVEX
 * eight vectors of rows share a broadcast, which takes 28 of 32 registers. In VEX four vectors share it,
 * which takes all 16. With AVX2 alone four tokens share two vectors of bytes (kernels/x86/gemm/tile_u8.h).
 *
 * Codes of several planes become bytes once for all tokens, with AVX2 all codes do. A pass is then loads,
 * broadcasts and products alone. Wide codes are bytes in several parts, the uppermost first: above 8 bits,
 * with AVX2 above 7.
 *
 * Each pass prefetches its part of the next K-block in time into L2, which is faster than the K-block after
 * it in the same slice. AVX2 prefetches farther ahead in the slice, which is faster there.
 *
 * With dot products the GEMV is faster for one plane of 1 bit. At 256 bits it is faster for any plane below 8
 * bits. There fields cost as little as loads.
 *
 * Ports: 24 dot products on two ports take 12 cycles, with 11 loads. Codes in place add one operation for
 * each field but the last of a byte. Unpacking takes a load, a shift and an AND for each plane and vector of
 * bytes, and an OR from the second plane on. */
#ifndef ULB_KERNELS_X86_GEMM_PLANES_H
#define ULB_KERNELS_X86_GEMM_PLANES_H

#include "kernels/gemm_blocked.h"
#include "kernels/x86/gemv/planes.h"
#if ULB_S16_SUMS
#include "kernels/x86/gemm/tile_u8.h"
#endif

/* Bytes of a step of four columns. The bytes of a row are adjacent. */
typedef uint8_t ulb_plane_bytes[ULB_PLANE_VECTORS][ULB_VEC_BYTES];

/* (v >> bits) & mask in every byte, or << -bits; words are shifted, and the mask drops what crossed. */
static inline __attribute__((always_inline)) ulb_vec ulb_byte_field(ulb_vec v, int bits, int mask)
{
    typedef uint16_t words __attribute__((vector_size(ULB_VEC_BYTES)));
    const words moved = bits >= 0 ? (words)v >> bits : (words)v << -bits;
    return mask == 255 ? v : ulb_and((ulb_vec)moved, ulb_all8(mask));
}

/* The field of vector v of rows in step s of a plane, which begins at w, as bits first on of the code. */
static inline __attribute__((always_inline)) ulb_vec ulb_plane_field(unsigned bits, unsigned first,
                                                                     const uint8_t *w, size_t s, unsigned v)
{
    const unsigned fields = 8 / bits;
    return ulb_byte_field(ulb_load(w + s * ulb_plane_step(bits) + v / fields * ULB_VEC_BYTES),
                          (int)(v % fields * bits) - (int)first, (int)(((1u << bits) - 1) << first));
}

/* Codes of some steps, in the planes from w: see ulb_sum_codes(). */
static inline __attribute__((always_inline)) void ulb_unpack_planes(unsigned bits, const uint8_t *w,
                                                                    size_t steps, ulb_plane_bytes *codes)
{
    const unsigned first = ulb_plane_bits(bits), left = bits - first;
    const unsigned second = left > 0 ? ulb_plane_bits(left) : 0, third = left - second;
    for (size_t s = 0; s < steps; s++) {
        ULB_UNROLL(8)
        for (unsigned v = 0; v < ULB_PLANE_VECTORS; v++) {
            ulb_vec code = ulb_plane_field(first, 0, w, s, v);
            if (second > 0)
                code = ulb_or(code, ulb_plane_field(second, first, w + steps * ulb_plane_step(first), s, v));
            if (third > 0)
                code = ulb_or(code, ulb_plane_field(third, first + second,
                                                    w + steps * ulb_plane_step(first + second), s, v));
            ulb_store(codes[s][v], code);
        }
    }
}

#if ULB_S16_SUMS
/* Unpacks 8 bits in two parts of 4, codes[parts][steps], the upper part first. */
static inline __attribute__((always_inline)) void ulb_unpack_halves(unsigned bits, const uint8_t *w,
                                                                    size_t steps, ulb_plane_bytes *codes)
{
    (void)bits;
    for (size_t s = 0; s < steps; s++) {
        ULB_UNROLL(8)
        for (size_t v = 0; v < ULB_PLANE_VECTORS; v++) {
            const ulb_vec code = ulb_load(w + (s * ULB_PLANE_VECTORS + v) * ULB_VEC_BYTES);
            ulb_store(codes[s][v], ulb_byte_field(code, 4, 15));
            ulb_store(codes[steps + s][v], ulb_byte_field(code, 0, 15));
        }
    }
}
#endif

enum {
    ULB_PLANE_TOKENS = ULB_BY_SUMS(4, 3), /* of a register tile */
    ULB_PLANE_PASS_VECTORS = ULB_BY_SUMS(2, ULB_BY_ENCODING(4, 8)),
    ULB_PLANE_SUMS = ULB_PLANE_TOKENS * ULB_PLANE_PASS_VECTORS,
    ULB_PLANE_COLUMNS_MAX = 256,
    ULB_PLANE_STEPS_MAX = ULB_PLANE_COLUMNS_MAX / 4 /* of all parts of a K-block */
};

struct ulb_plane_k_block {
    _Alignas(64) ulb_plane_bytes codes[ULB_PLANE_STEPS_MAX]; /* [parts][steps] */
    const int8_t *x;                                         /* of its first column and token */
    size_t x_stride;                                         /* from one token to the next */
    const uint8_t *w;                                        /* planes, or the codes above */
    size_t steps;
    unsigned parts, part_bits;
    const uint8_t *ask; /* prefetched into L2 by the next pass, */
    size_t ask_bytes;   /* so much in each step */
};

#if ULB_S16_SUMS

/* Steps of 16-bit sums of codes of this many bits: of a chunk of eight at most. */
#define ULB_PLANE_FULL(bits) ((bits) > 4 ? ULB_S16_STEPS((1 << (bits)) - 1) : 8)

static inline __attribute__((always_inline)) void
ulb_sum_plane_k_block(unsigned bits, const struct ulb_plane_k_block *k_block, size_t vector, size_t t,
                      unsigned tokens, ulb_vec *sums)
{
    const size_t full = ULB_PLANE_FULL(bits);
    struct ulb_byte_steps at = {.w = k_block->w + vector * ULB_VEC_BYTES,
                                .step_bytes = sizeof(ulb_plane_bytes),
                                .x_stride = k_block->x_stride,
                                .ask = k_block->ask,
                                .ask_bytes = k_block->ask_bytes};
    ulb_zero_all(sums, tokens * ULB_PLANE_PASS_VECTORS);
    for (unsigned part = 0; part < k_block->parts; part++) {
        size_t s = 0;
        at.x = k_block->x + t * k_block->x_stride;
        /* Keeps one pointer: Clang would keep one address register for every four activations. */
        __asm__("" : "+r"(at.x));
        if (part > 0) {
            ULB_UNROLL(8)
            for (size_t i = 0; i < tokens * ULB_PLANE_PASS_VECTORS; i++)
                sums[i] = ulb_shl32(sums[i], k_block->part_bits);
        }
        for (; s + full <= k_block->steps; s += full)
            ulb_add_bytes(&at, ULB_PLANE_PASS_VECTORS, tokens, full, NULL, sums);
        for (; s < k_block->steps; s++)
            ulb_add_bytes(&at, ULB_PLANE_PASS_VECTORS, tokens, 1, NULL, sums);
    }
}

#else

/* sums[tokens][vectors] += products of a step. Fields of the vectors of rows stay in their places in the
 * byte; the last field of a byte is the whole byte (ulb_separate_plane). x4: activations of the tokens. */
static inline __attribute__((always_inline)) void
ulb_add_token_step(unsigned bits, const uint8_t *w, const ulb_vec *x4, unsigned tokens, ulb_vec *sums)
{
    const unsigned fields = 8 / bits;
    ULB_UNROLL(8)
    for (unsigned v = 0; v < ULB_PLANE_PASS_VECTORS; v++) {
        const unsigned field = v % fields;
        ulb_vec codes = ulb_load(w + v / fields * ULB_VEC_BYTES);
        if (field + 1 < fields)
            codes = ulb_and(codes, ulb_all8((int)(((1u << bits) - 1) << field * bits)));
        ULB_UNROLL(3)
        for (size_t i = 0; i < tokens; i++)
            ulb_dp(&sums[i * ULB_PLANE_PASS_VECTORS + v], codes, x4[i]);
    }
}

/* sums[tokens][vectors] of a K-block, for vectors of rows from `vector` and tokens of the N-block from t.
 * bits: of planes, or with 16-bit sums of the bytes. */
static inline __attribute__((always_inline)) void
ulb_sum_plane_k_block(unsigned bits, const struct ulb_plane_k_block *k_block, size_t vector, size_t t,
                      unsigned tokens, ulb_vec *sums)
{
    const uint8_t *ask = k_block->ask;
    const size_t ask_bytes = k_block->ask_bytes, steps = k_block->steps, x_stride = k_block->x_stride;
    const uint8_t *w = k_block->w + vector * bits / 8 * ULB_VEC_BYTES;
    ulb_zero_all(sums, tokens * ULB_PLANE_PASS_VECTORS);
    for (unsigned part = 0; part < (bits == 8 ? k_block->parts : 1); part++) {
        const int8_t *x = k_block->x + t * x_stride;
        if (bits == 8) {
            ULB_UNROLL(24)
            for (size_t i = 0; i < tokens * ULB_PLANE_PASS_VECTORS; i++)
                sums[i] = ulb_shl32(sums[i], k_block->part_bits); /* 0 at first */
        }
        for (size_t s = 0; s < steps; s++, w += ulb_plane_step(bits), x += 4) {
            ulb_vec x4[ULB_PLANE_TOKENS];
            ULB_UNROLL(3)
            for (size_t i = 0; i < tokens; i++)
                x4[i] = ulb_broadcast4(x + i * x_stride);
            ulb_add_token_step(bits, w, x4, tokens, sums);
            for (size_t line = 0; line < ask_bytes; line += ULB_LINE)
                ulb_prefetch_l2_from(ask, line, 0);
            ask += ask_bytes;
        }
    }
    ULB_UNROLL(24)
    for (size_t i = 0; i < tokens * ULB_PLANE_PASS_VECTORS; i++)
        __asm__("" : "+" ULB_REGISTER(sums[i])); /* see ulb_sums_barrier() */
    ULB_UNROLL(3)
    for (size_t i = 0; i < tokens; i++)
        ulb_separate_vectors(bits, ULB_PLANE_PASS_VECTORS, sums + i * ULB_PLANE_PASS_VECTORS);
}

#endif

/* Consumes the sums of a pass, `[tokens][vectors]`. */
typedef void ulb_take_plane_k_block_fn(void *n_block, size_t vector, size_t t, unsigned tokens,
                                       const ulb_vec *sums);

/* All vectors of rows, for some tokens. */
static inline __attribute__((always_inline)) void
ulb_pass_plane_k_block(unsigned bits, struct ulb_plane_k_block *k_block, size_t t, unsigned tokens,
                       ulb_take_plane_k_block_fn *take, void *n_block)
{
    for (size_t v = 0; v < ULB_PLANE_VECTORS; v += ULB_PLANE_PASS_VECTORS) {
        ulb_vec sums[ULB_PLANE_SUMS];
        ulb_sum_plane_k_block(bits, k_block, v, t, tokens, sums);
        take(n_block, v, t, tokens, sums);
        k_block->ask += k_block->parts * k_block->steps * k_block->ask_bytes;
    }
}

/* Shares out the prefetches of so many bytes at `ask` to the passes of some tokens. */
static inline void ulb_share_plane_prefetches(struct ulb_plane_k_block *k_block, const uint8_t *ask,
                                              size_t bytes, size_t tokens)
{
    const size_t passes =
        ulb_gemm_tiles(tokens, ULB_PLANE_TOKENS) * (ULB_PLANE_VECTORS / ULB_PLANE_PASS_VECTORS);
    k_block->ask = ask;
    k_block->ask_bytes = (bytes / (k_block->parts * k_block->steps) + passes) / passes;
}

/* For codes of some bits: whether they become bytes for several tokens, the function that unpacks them, the
 * parts and the bits of a part. */
#if ULB_S16_SUMS
#define ULB_PLANE_UNPACKED(bits)  true
#define ULB_PLANE_UNPACK(bits)    ((bits) == 8 ? ulb_unpack_halves : ulb_unpack_planes)
#define ULB_PLANE_PARTS(bits)     ((bits) == 8 ? 2 : 1)
#define ULB_PLANE_PART_BITS(bits) ((bits) == 8 ? 4 : (bits))
#else
#define ULB_PLANE_UNPACKED(bits)  (ULB_PLANES_OF(bits) > 1)
#define ULB_PLANE_UNPACK(bits)    (ULB_PLANE_UNPACKED(bits) ? ulb_unpack_planes : NULL)
#define ULB_PLANE_PARTS(bits)     1
#define ULB_PLANE_PART_BITS(bits) 0
#endif

/* Instructions per 32 weights of a register tile, without the unpacking that an N-block shares. loads_ and
 * ands: for a vector of bytes. */
#define ULB_PLANE_TOKENS_MIX(parts, part_bits, loads_, ands)                                                 \
    .loads = (loads_)*ULB_VECTORS_PER_STEP, .logic = (ands)*ULB_VECTORS_PER_STEP,                            \
    .broadcasts = (double)(parts)*ULB_PLANE_TOKENS / ULB_PLANE_PASS_VECTORS * ULB_VECTORS_PER_STEP,          \
    ULB_PLANE_PRODUCTS((parts)*ULB_PLANE_TOKENS, part_bits), .vector_bits = ULB_VEC_BITS,                    \
    .chains = ULB_PLANE_SUMS
#if ULB_S16_SUMS
#define ULB_PLANE_PRODUCTS(n, bits) .maddubs = (n), .adds = (n), .madds = (double)(n) / ULB_PLANE_FULL(bits)
#else
#define ULB_PLANE_PRODUCTS(n, bits) .dot_products = (n)*ULB_VECTORS_PER_STEP
#endif

/* Tokens of a register tile of codes of this many bits. */
#define ULB_PLANE_TILE(bits)                                                                                 \
    (ULB_PLANE_UNPACKED(bits) || (bits) == 8 || ((bits) > 1 && ULB_BY_WIDTH(false, true)) ? ULB_PLANE_TOKENS \
                                                                                          : 1)

/* Instructions of a register tile of such codes. */
#define ULB_PLANE_TILE_MIX(bits)                                                                             \
    ULB_PLANE_TOKENS_MIX(ULB_PLANE_PARTS(bits), ULB_PLANE_PART_BITS(bits),                                   \
                         ULB_PLANE_UNPACKED(bits) ? ULB_PLANE_PARTS(bits) : (bits) / 8.0,                    \
                         ULB_PLANE_UNPACKED(bits) ? 0 : 1 - (bits) / 8.0)

#endif
