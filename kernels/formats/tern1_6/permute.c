/* tern1.6 by tables of 64 entries: vpermb looks up a byte by its low six bits.
 *
 * 243 codes are three times 64 and a rest. With n = 27 d1 + 9 d2 + 3 d3 + d4, codes with n < 64 are 64 d0 +
 * n. One table of the low six bits then gives the digits d1 to d4 as four fields of two bits, whatever d0.
 * The other 51 codes are 192 and above. Two more tables, applied to bytes >= 192 only, give their fields and
 * the sum 64 d0 + n. For other codes the byte itself is that sum. The rest is as in
 * kernels/formats/int2/mask.h: dot products of the fields, masked in place, and of the sum.
 * `S0 = (D - 27 S1 - 9 S2 - 3 S3 - S4) / 64`. `|D| <= 208 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: five accumulators in two sets are 10 chains, which hide the latency on two ports. Several tokens
 * have five accumulators for each of four tokens and unpack a byte once. */
#include "kernels/formats/tern1_6/format.h"
#include "kernels/x86/gemm/field_tile.h"

enum { SUMS = 5, SLICES = ULB_TERN1_6_SLICES, SETS = 2, TOKENS = 4, NEAR = 1024, FAR = 1536 };

static const struct ulb_k_loop k_loop = {.step_bytes = ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = SUMS,
                                         .slices = SLICES,
                                         .sets = SETS,
                                         .chunk_bytes = 2 * ULB_LINE,
                                         .l1_distance = NEAR,
                                         .l2_distance = FAR,
                                         .prefetch_stride = ULB_LINE};

/* Digits of n, d4 in the lowest field. */
#define FIELDS(n) ((n) / 27 << 6 | (n) / 9 % 3 << 4 | (n) / 3 % 3 << 2 | (n) % 3)
/* The rest, in order of codes: n from 64 to 80 for d0 = 0, 1, 2. Later entries belong to no code. */
#define REST_N(i)      (64 + (i) % 17)
#define REST_FIELDS(i) FIELDS(REST_N(i))
#define REST_SUM(i)    (64 * ((i) / 17 % 3) + REST_N(i))
#define FOUR(f, i)     f(i), f((i) + 1), f((i) + 2), f((i) + 3)
#define SIXTEEN(f, i)  FOUR(f, i), FOUR(f, (i) + 4), FOUR(f, (i) + 8), FOUR(f, (i) + 12)
#define TABLE(f)                                                                                             \
    {                                                                                                        \
        SIXTEEN(f, 0), SIXTEEN(f, 16), SIXTEEN(f, 32), SIXTEEN(f, 48)                                        \
    }

static const _Alignas(64) uint8_t fields_table[64] = TABLE(FIELDS);
static const _Alignas(64) uint8_t rest_fields_table[64] = TABLE(REST_FIELDS);
static const _Alignas(64) uint8_t rest_sum_table[64] = TABLE(REST_SUM);
static const ulb_vec mask0 = ULB_BYTES(0x03), mask1 = ULB_BYTES(0x0C), mask2 = ULB_BYTES(0x30),
                     rest = ULB_BYTES(192);

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *sums)
{
    ulb_vec packed, fields, x, field;
    __mmask64 is_rest;
    __asm__(
        ULB_ASM_LOAD /* clang-format off */
            "vpcmpub $5, %[rest], %[packed], %[is_rest]\n\t"
            "vpermb %[t0], %[packed], %[fields]\n\t"
            "vpermb %[t1], %[packed], %[fields]%{%[is_rest]%}\n\t"
            "vpermb %[t2], %[packed], %[packed]%{%[is_rest]%}\n\t"
            "vpandd %[m0], %[fields], %[field]\n\t" ULB_ASM_DP("field", "s0")
            "vpandd %[m1], %[fields], %[field]\n\t" ULB_ASM_DP("field", "s1")
            "vpandd %[m2], %[fields], %[field]\n\t" ULB_ASM_DP("field", "s2")
            ULB_ASM_DP("fields", "s3")
            ULB_ASM_DP("packed", "s4") /* clang-format on */
        : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
          [s4] ULB_SUM(sums[4]), [packed] ULB_SCRATCH(packed), [fields] ULB_SCRATCH(fields),
          [x] ULB_SCRATCH(x), [field] ULB_SCRATCH(field), [is_rest] "=&Yk"(is_rest)
        : [w] ULB_WEIGHTS(w), [x4] ULB_ACTIVATIONS(x4), [rest] ULB_KEPT(rest), [m0] ULB_KEPT(mask0),
          [m1] ULB_KEPT(mask1), [m2] ULB_KEPT(mask2), [t0] ULB_KEPT(ulb_load(fields_table)),
          [t1] ULB_KEPT(ulb_load(rest_fields_table)), [t2] ULB_KEPT(ulb_load(rest_sum_table)));
    ulb_prefetch_line_at(hint, w, 0, &sums[0]);
}

/* The five operands of the step above. Tables and masks come from memory: registers hold the sums of 4
 * tokens, their activations and the operands. */
static inline __attribute__((always_inline)) void take_apart(const uint8_t *w, ulb_vec codes[SUMS])
{
    __mmask64 is_rest;
    __asm__(ULB_MOVE " %[w], %[c4]\n\t" /* clang-format off */
            "vpcmpub $5, %[rest], %[c4], %[is_rest]\n\t"
            "vpermb %[t0], %[c4], %[c3]\n\t"
            "vpermb %[t1], %[c4], %[c3]%{%[is_rest]%}\n\t"
            "vpermb %[t2], %[c4], %[c4]%{%[is_rest]%}\n\t"
            "vpandd %[m0], %[c3], %[c0]\n\t"
            "vpandd %[m1], %[c3], %[c1]\n\t"
            "vpandd %[m2], %[c3], %[c2]" /* clang-format on */
            : [c0] ULB_SCRATCH(codes[0]), [c1] ULB_SCRATCH(codes[1]), [c2] ULB_SCRATCH(codes[2]),
              [c3] ULB_SCRATCH(codes[3]), [c4] ULB_SCRATCH(codes[4]), [is_rest] "=&Yk"(is_rest)
            : [w] ULB_WEIGHTS(w), [rest] "m"(rest), [t0] "m"(fields_table), [t1] "m"(rest_fields_table),
              [t2] "m"(rest_sum_table), [m0] "m"(mask0), [m1] "m"(mask1), [m2] "m"(mask2));
}

/* Step s of the layout. */
static inline __attribute__((always_inline)) void add_tokens(const uint8_t *w, struct ulb_tokens_x x,
                                                             size_t s, unsigned tokens, ulb_vec *sums)
{
    ulb_vec codes[SUMS], four[TOKENS];
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++)
        four[t] = ulb_broadcast4(x.at + s * x.four + t * x.token);
    take_apart(w, codes);
    ULB_UNROLL(5)
    for (unsigned i = 0; i < SUMS; i++) {
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            ulb_dp(&sums[t * SUMS + i], codes[i], four[t]);
    }
}

static inline __attribute__((always_inline)) void sum(struct ulb_prefetch_setting prefetch,
                                                      const struct ulb_tiles *tiles, struct ulb_tokens_x x,
                                                      unsigned tokens, ulb_vec *sums)
{
    ulb_zero_all(sums, tokens * SUMS);
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < SLICES; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * ULB_VEC_BYTES;
            add_tokens(w, x, i * tiles->steps + s, tokens, sums);
            ulb_prefetch_line_runtime(w, 0, (struct ulb_line_prefetch){NEAR, prefetch}, FAR);
        }
    }
}

static inline ulb_vec three_times(ulb_vec v)
{
    return ulb_add32(v, ulb_add32(v, v));
}

/* Turns sums of operands into sums of digits, d0 first. */
static inline void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, 4, 2);
    ulb_vec n = sums[3];
    ULB_UNROLL(3)
    for (int i = 2; i >= 0; i--)
        n = ulb_add32(three_times(n), sums[i]);
    const ulb_vec digits[ULB_TERN1_6_DIGITS] = {ulb_asr32(ulb_sub32(sums[4], n), 6), sums[3], sums[2],
                                                sums[1], sums[0]};
    ULB_UNROLL(5)
    for (int i = 0; i < ULB_TERN1_6_DIGITS; i++)
        sums[i] = digits[i];
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    separate(sums);
    ulb_store_all(dots, sums, ULB_TERN1_6_DIGITS);
}

static const struct ulb_field_tile_cfg cfg = {.layout = &ulb_tern1_6_tables_80,
                                              .vectors = ULB_TERN1_6_DIGITS,
                                              .fields = 1,
                                              .tokens = TOKENS,
                                              .slices = SLICES,
                                              .zero_point = ULB_TERN1_6_ZERO_POINT,
                                              .separate = separate,
                                              .sum = sum};

ULB_TOKENS_PACKED(cfg)

static void run(const struct ulb_gemm *g)
{
    if (g->n == 1)
        ulb_run_tiles(g, cfg.layout, ULB_TERN1_6_DIGITS * ULB_LANES, tile, ULB_TERN1_6_ZERO_POINT);
    else if (ulb_tokens_packed(&cfg, g))
        run_packed(g);
    else
        ulb_run_tokens(&cfg, g);
}

/* sets: of accumulators; loads: of a vector of weights, its tables and masks. */
#define MIX(tokens, sets, loads_)                                                                            \
    {                                                                                                        \
        .loads = 0.1 * (loads_), .broadcasts = 0.1 * (tokens), .prefetches = 0.2, .logic = 0.3,              \
        .compares = 0.1, .permutes = 0.3, .dot_products = 0.5 * (tokens), .vector_bits = 512,                \
        .chains = SUMS * (sets)                                                                              \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "permute",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tern1_6_tables_80,
    .activation = ULB_ACT_A8,
    .mr = ULB_TERN1_6_DIGITS * ULB_LANES,
    .nr = TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 6.4,
    .mix = MIX(1, SETS, 1),
    .tile_mix = MIX(TOKENS, TOKENS, 8),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
