/* int3 without VNNI: vpmaddubsw into 16-bit sums.
 *
 * Three vectors A, B, C (see format.h) make 10 sums. A and B give two codes each and the low bits of a third.
 * C gives two codes and two high bits, 8 and 16 times too large. Eight steps fit 16 bits: two of each slice.
 * vpmaddwd by ones then widens the sums.
 * A pair adds at most `2 * 16 * 127 = 4,064`: 8 steps, 32,512.
 * Registers: 10 word sums. 32-bit sums are kept in memory. Several tokens:
 * kernels/x86/gemm/avx2_unpacked.h. */
#include "kernels/formats/int3/format.h"
#include "kernels/microkernel.h"
#include "kernels/x86/codes/codes.h"
#include "kernels/x86/gemm/avx2_unpacked.h"

enum {
    SUMS = 10,
    SLICES = ULB_INT3_SLICES,
    CHUNK = 2, /* steps of a slice whose products words hold */
    STEP_BYTES = 3 * ULB_VEC_BYTES,
    NEAR = 256 /* bytes ahead of the prefetches into L1 */
};

_Static_assert(CHUNK *SLICES * 2 * 16 * 127 <= INT16_MAX, "words hold a chunk of every slice");

#define SHIFT "vpsrlw $3, %[packed], %[packed]\n\t"

static const ulb_vec bit3 = ULB_BYTES(8), bit4 = ULB_BYTES(16);

/* words += products of A or B. One statement, so that words stay in registers. */
static inline void add_pair(const uint8_t *w, ulb_vec x, ulb_vec seven, ulb_vec *words)
{
    ulb_vec packed, field;
    const ulb_vec three = ulb_all8(3);
    __asm__("vmovdqu %[w], %[packed]\n\t" /* clang-format off */
            ULB_ASM_FIELD("seven", "w0") SHIFT
            ULB_ASM_FIELD("seven", "w1") SHIFT
            ULB_ASM_FIELD("three", "w2") /* clang-format on */
            : [w0] ULB_SUM(words[0]), [w1] ULB_SUM(words[1]), [w2] ULB_SUM(words[2]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] "x"(x), [seven] "x"(seven), [three] "x"(three));
}

/* Adds a step of vector C. */
static inline void add_rest(const uint8_t *w, ulb_vec x, ulb_vec seven, ulb_vec *words)
{
    ulb_vec packed, field;
    __asm__("vmovdqu %[w], %[packed]\n\t" /* clang-format off */
            ULB_ASM_FIELD("seven", "w0") SHIFT
            ULB_ASM_FIELD("seven", "w1")
            ULB_ASM_FIELD("bit3", "w2")
            ULB_ASM_FIELD("bit4", "w3") /* clang-format on */
            : [w0] ULB_SUM(words[0]), [w1] ULB_SUM(words[1]), [w2] ULB_SUM(words[2]), [w3] ULB_SUM(words[3]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] "x"(x), [seven] "x"(seven), [bit3] "m"(bit3), [bit4] "m"(bit4));
}

/* Adds some steps of every slice, from s. */
static inline __attribute__((always_inline)) void chunk(const struct ulb_tiles *tiles,
                                                        struct ulb_prefetch_setting prefetch, size_t s,
                                                        size_t steps, ulb_vec sums[SUMS])
{
    const ulb_vec seven = ulb_all8(7);
    ulb_vec words[SUMS];
    ulb_zero_all(words, SUMS);
    ULB_UNROLL(8)
    for (size_t i = 0; i < SLICES * steps; i++) {
        size_t at = s + i % steps;
        const uint8_t *w = tiles->w + i / steps * tiles->slice_bytes + at * STEP_BYTES;
        ulb_vec x = ulb_broadcast4(tiles->x + (i / steps * tiles->steps + at) * 4);
        add_pair(w, x, seven, words);
        add_pair(w + ULB_VEC_BYTES, x, seven, words + 3);
        add_rest(w + 2 * ULB_VEC_BYTES, x, seven, words + 6);
        ULB_UNROLL(2)
        for (size_t line = 0; line < STEP_BYTES; line += 64)
            ulb_prefetch_line(w, line, (struct ulb_line_prefetch){NEAR, prefetch});
    }
    ULB_UNROLL(16)
    for (int i = 0; i < SUMS; i++) {
        ulb_add_s16(words[i], &sums[i]);
        __asm__("" : "+m"(sums[i])); /* here, in one instruction less than a register that is spilled */
    }
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[SUMS];
    for (int i = 0; i < SUMS; i++)
        sums[i] = ulb_zero();
    size_t even = tiles->steps / CHUNK * CHUNK;
    /* Three code variants: see kernels/x86/gemv/k_slices.h. */
    ULB_SPECIALISE_PREFETCH(*tiles->prefetch,
                            for (size_t s = 0; s < even; s += CHUNK) chunk(tiles, prefetch, s, CHUNK, sums));
    if (even < tiles->steps)
        chunk(tiles, ulb_prefetch_setting(*tiles->prefetch), even, 1, sums);
    ulb_vec code6 = ulb_add32(sums[2], ulb_asr32(sums[8], 1));
    ulb_vec code7 = ulb_add32(sums[5], ulb_asr32(sums[9], 2));
    ulb_vec codes[ULB_INT3_FIELDS] = {sums[0], sums[1], sums[3], sums[4], sums[6], sums[7], code6, code7};
    ulb_store_all(dots, codes, ULB_INT3_FIELDS);
}

/* Several tokens. */
static inline void unpack(const uint8_t *w, uint8_t *bytes)
{
    const ulb_vec packed[] = {ulb_load(w), ulb_load(w + ULB_VEC_BYTES), ulb_load(w + 2 * ULB_VEC_BYTES)};
    ULB_UNROLL(8)
    for (size_t i = 0; i < ULB_INT3_FIELDS; i++)
        ulb_store(bytes + i * ULB_VEC_BYTES, ulb_byte_of_three_bit(packed, i));
}

static inline void epilogue(const struct ulb_gemm_block *block, size_t t, const ulb_vec *results)
{
    ulb_epilogue_sums(block, t, ULB_INT3_FIELDS * ULB_LANES, results, ULB_INT3_ZERO_POINT);
}

static const struct ulb_k_block_cfg k_blocks = {.layout = &ulb_int3_vnni4,
                                                .slices = SLICES,
                                                .vectors = ULB_INT3_FIELDS,
                                                .steps = ULB_K_BLOCK_STEPS_MAX,
                                                .step_bytes = STEP_BYTES,
                                                .full = ULB_S16_STEPS(7),
                                                .unpack = unpack,
                                                .take = ulb_take_sums,
                                                .epilogue = epilogue};
ULB_K_BLOCK_RUN(k_blocks)

static void run(const struct ulb_gemm *g)
{
    if (g->n > 1)
        run_tokens(g);
    else
        ulb_run_tiles(g, &ulb_int3_vnni4, ULB_INT3_FIELDS * ULB_LANES, tile, ULB_INT3_ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maddubs",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int3_vnni4,
    .activation = ULB_ACT_A8,
    .mr = ULB_INT3_FIELDS * ULB_LANES,
    .nr = ULB_K_BLOCK_TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 12,
    /* The masks of the high bits are in memory, and the sums that words are added to. */
    .mix = {.loads = 0.375 + 0.25 + 1.25 / (CHUNK * SLICES),
            .broadcasts = 0.125,
            .prefetches = 0.5,
            .logic = 1.25,
            .shifts = 0.625,
            .maddubs = 1.25,
            .madds = 1.25 / (CHUNK * SLICES),
            .adds = 1.25 + 1.25 / (CHUNK * SLICES),
            .vector_bits = 256},
    .tile_mix = {ULB_BYTE_TILE_MIX(ULB_S16_STEPS(7))},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = 1},
    .run = run,
};
