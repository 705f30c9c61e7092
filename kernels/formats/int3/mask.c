/* int3 without unpacking (see kernels/formats/int2/mask.h). Three bytes A, B, C hold eight codes. Each byte
 * holds two whole codes; the remaining bits hold the other two.
 *
 * A: `D0 = x.(A & 07)`, `D1 = x.(A & 38) = 8 S1`, `x.A - D0 - D1 = 64 L6`, the low bits of code 6.
 * B: the same for codes 2, 3 and 7.
 * C: codes 4 and 5, `x.(C & 40) = 64 H6`, the rest 128 H7, the high bits.
 * `S6 = L6 + 4 H6`, `S7 = L7 + 4 H7`. Every D is at most `255 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: 10 accumulators, at 512 bits in two sets: 10 or 20 chains hide the latency on two ports. In EVEX
 * the 20 belong to two tokens, whose fields are masked once. */
#include "kernels/formats/int3/format.h"
#include "kernels/x86/gemm/field_tile.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int3_vnni4_128
enum { SETS = 2 };
#else
#define LAYOUT ulb_int3_vnni4
enum { SETS = 1 };
#endif

enum {
    FIELDS = ULB_INT3_FIELDS,
    SUMS = 10,
    SLICES = ULB_INT3_SLICES,
    TOKENS = ULB_BY_ENCODING(1, 2),
    NEAR = 1024,
    FAR = 1536
};

static const struct ulb_k_loop k_loop = {.step_bytes = 3 * ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = SUMS,
                                         .slices = SLICES,
                                         .sets = SETS,
                                         .chunk_bytes = 3 * ULB_LINE,
                                         .l1_distance = NEAR,
                                         .l2_distance = FAR,
                                         .prefetch_stride = ULB_LINE};

static const ulb_vec mask0 = ULB_BYTES(0x07), mask1 = ULB_BYTES(0x38), mask2 = ULB_BYTES(0x40);

/* A or B: two codes and the byte itself. */
static inline void step_pair(const uint8_t *w, ulb_vec x, ulb_vec *sums)
{
    ulb_vec packed, field;
    __asm__(ULB_MOVE " %[w], %[packed]\n\t" /* clang-format off */
            ULB_ASM_FIELD("m0", "s0")
            ULB_ASM_FIELD("m1", "s1")
            ULB_ASM_DP("packed", "s2") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x] ULB_REGISTER(x), [m0] ULB_KEPT(mask0), [m1] ULB_KEPT(mask1));
}

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *sums)
{
    ulb_vec x = ulb_broadcast4(x4), packed, field;
    step_pair(w, x, sums);
    ulb_prefetch_line_at(hint, w, 0, &sums[0]);
    step_pair(w + ULB_VEC_BYTES, x, sums + 3);
    ulb_prefetch_line_at(hint, w, ULB_VEC_BYTES, &sums[3]);
    __asm__(ULB_MOVE " %[w], %[packed]\n\t" /* clang-format off */
            ULB_ASM_FIELD("m0", "s0")
            ULB_ASM_FIELD("m1", "s1")
            ULB_ASM_FIELD("m2", "s2")
            ULB_ASM_DP("packed", "s3") /* clang-format on */
            : [s0] ULB_SUM(sums[6]), [s1] ULB_SUM(sums[7]), [s2] ULB_SUM(sums[8]), [s3] ULB_SUM(sums[9]),
              [packed] ULB_SCRATCH(packed), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w + 2 * ULB_VEC_BYTES), [x] ULB_REGISTER(x), [m0] ULB_KEPT(mask0),
              [m1] ULB_KEPT(mask1), [m2] ULB_MASK(mask2));
    ulb_prefetch_line_at(hint, w, 2 * ULB_VEC_BYTES, &sums[6]);
}

/* low + 4 high */
static inline ulb_vec join(ulb_vec low, ulb_vec high)
{
    ulb_vec twice = ulb_add32(high, high);
    return ulb_add32(low, ulb_add32(twice, twice));
}

/* Turns sums of bytes and of masked bytes into sums of codes. */
static inline void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, 3, 3);
    ulb_separate_fields(sums + 3, 3, 3);
    sums[9] = ulb_sub32(sums[9], sums[8]);
    ulb_vec high6 = ulb_asr32(sums[8], 6);
    sums[8] = sums[9];
    ulb_separate_fields(sums + 6, 3, 3);
    ulb_vec high7 = ulb_asr32(sums[8], 1);
    const ulb_vec codes[FIELDS] = {
        sums[0], sums[1], sums[3], sums[4], sums[6], sums[7], join(sums[2], high6), join(sums[5], high7)};
    ULB_UNROLL(8)
    for (int i = 0; i < FIELDS; i++)
        sums[i] = codes[i];
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    separate(sums);
    ulb_store_all(dots, sums, FIELDS);
}

/* sums[tokens][SUMS], from the sum i on, += products of a vector and of what the masks leave of it. */
static inline __attribute__((always_inline)) void add_vector(const uint8_t *w, const ulb_vec *x,
                                                             unsigned tokens, const ulb_vec *masks,
                                                             unsigned n, unsigned i, ulb_vec *sums)
{
    ulb_vec packed = ulb_load(w);
    /* Keeps the vector in a register: GCC would load it for each field. */
    __asm__("" : "+" ULB_REGISTER(packed));
    ULB_UNROLL(4)
    for (unsigned f = 0; f <= n; f++) {
        const ulb_vec field = f < n ? ulb_and(packed, masks[f]) : packed;
        ULB_UNROLL(2)
        for (unsigned t = 0; t < tokens; t++)
            ulb_dp(&sums[t * SUMS + i + f], field, x[t]);
    }
}

static inline __attribute__((always_inline)) void sum(struct ulb_prefetch_setting prefetch,
                                                      const struct ulb_tiles *tiles, struct ulb_tokens_x x,
                                                      unsigned tokens, ulb_vec *sums)
{
    const ulb_vec masks[] = {mask0, mask1, mask2};
    ulb_vec all[TOKENS * SUMS];
    ulb_zero_all(all, tokens * SUMS);
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * 3 * ULB_VEC_BYTES;
            ulb_vec four[TOKENS];
            ULB_UNROLL(2)
            for (unsigned t = 0; t < tokens; t++)
                four[t] = ulb_broadcast4(x.at + (i * tiles->steps + s) * x.four + t * x.token);
            ULB_UNROLL(3)
            for (unsigned v = 0; v < 3; v++) {
                add_vector(w + v * ULB_VEC_BYTES, four, tokens, masks, v < 2 ? 2 : 3, 3 * v, all);
                __asm__ volatile("" : "+" ULB_REGISTER(all[3 * v]));
                ulb_prefetch_line_runtime(w, v * ULB_VEC_BYTES, (struct ulb_line_prefetch){NEAR, prefetch},
                                          FAR);
            }
        }
    }
    ULB_UNROLL(2)
    for (unsigned t = 0; t < tokens; t++) {
        separate(all + t * SUMS);
        ULB_UNROLL(8)
        for (unsigned i = 0; i < FIELDS; i++)
            sums[t * FIELDS + i] = all[t * SUMS + i];
    }
}

static void run(const struct ulb_gemm *g)
{
    static const struct ulb_field_tile_cfg cfg = {.layout = &LAYOUT,
                                                  .vectors = FIELDS,
                                                  .fields = 1,
                                                  .tokens = TOKENS,
                                                  .slices = SLICES,
                                                  .zero_point = ULB_INT3_ZERO_POINT,
                                                  .sum = sum};
    if (g->n == 1 || TOKENS == 1)
        ulb_run_tiles(g, &LAYOUT, FIELDS * ULB_LANES, tile, ULB_INT3_ZERO_POINT);
    else
        ulb_run_tokens(&cfg, g);
}

/* sets: of accumulators. */
#define MIX(tokens, sets)                                                                                    \
    {                                                                                                        \
        .loads = (3 + ULB_MASK_LOADS(1)) * 32.0 / ULB_VEC_BITS,                                              \
        .broadcasts = 32.0 / ULB_VEC_BITS * (tokens), .prefetches = 0.375, .logic = 224.0 / ULB_VEC_BITS,    \
        .dot_products = 320.0 / ULB_VEC_BITS * (tokens), .vector_bits = ULB_VEC_BITS,                        \
        .chains = SUMS * (sets)                                                                              \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 12,
    .mix = MIX(1, SETS),
    .tile_mix = MIX(TOKENS, TOKENS),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
