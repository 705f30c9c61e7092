/* Levels looked up as integers (format.h) and multiplied with int8 activations. The activations have a zero
 * point, as in the other weight-only formats. With the sums of rows it costs one FMA for each row.
 *
 * The integer of a level plus an origin is an unsigned code. FP4's codes, up to 24, take one look-up. NF4's
 * codes of 12 bits take two of 6 bits each.
 * Sums of a group: `|x.code| <= 127 * 4095 * 64 < 2^26`.
 * With AVX2 a word holds two steps, and vpmaddwd by 64 and 1 then joins the parts. Parts of 7 bits would have
 * to be widened at every step, which is slower.
 * `2 * 2 * 63 * 127 = 32,004`. */
#include "kernels/formats/affine/grouped_gemm.h"
#include "kernels/formats/table4/format.h"

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_plane_128
#else
#define LAYOUT(of) ulb_##of##_plane_64
#endif

enum {
    COLUMNS = ULB_TABLE4_COLUMNS,
    NEAR = 1024, /* bytes ahead of the prefetch into L1 */
    STEP_BYTES = 4 * ULB_VEC_BYTES,
    STEPS = ULB_BY_SUMS(2, 1), /* at once */
    PART_BITS = 6,             /* of NF4's codes */
    NF4_ORIGIN = ULB_NF4_ONE + 1,
    FP4_ORIGIN = ULB_FP4_ONE
};

#define NF4_CODE(level) (ULB_LEVEL_INTEGER(level, ULB_NF4_ONE) + NF4_ORIGIN)
#define NF4_HIGH(level) (uint8_t)(NF4_CODE(level) >> PART_BITS),
#define NF4_LOW(level)  (uint8_t)(NF4_CODE(level) & ((1 << PART_BITS) - 1)),
#define FP4_CODE(level) (uint8_t)(ULB_LEVEL_INTEGER(level, ULB_FP4_ONE) + FP4_ORIGIN),

/* Parts of codes, the lowest first. */
struct code_parts {
    uint8_t tables[2][16];
    size_t n;
};
static const struct code_parts nf4_parts = {{{ULB_NF4_LEVELS(NF4_LOW)}, {ULB_NF4_LEVELS(NF4_HIGH)}}, 2};
static const struct code_parts fp4_parts = {{{ULB_FP4_LEVELS(FP4_CODE)}, {0}}, 1};

#if ULB_S16_SUMS

/* sums[2] += two steps of the rows of one vector of bytes: see kernels/x86/simd/dot.h for why this is a
 * statement. */
#define CODES "vpand %[nibble], %[p0], %[c0]\n\tvpand %[nibble], %[p1], %[c1]\n\t"
#define PART(table, factor, sum)                                                                             \
    "vpshufb %[c0], %[" table "], %[a]\n\t"                                                                  \
    "vpmaddubsw %[x0], %[a], %[a]\n\t"                                                                       \
    "vpshufb %[c1], %[" table "], %[b]\n\t"                                                                  \
    "vpmaddubsw %[x1], %[b], %[b]\n\t"                                                                       \
    "vpaddw %[b], %[a], %[a]\n\t"                                                                            \
    "vpmaddwd %[" factor "], %[a], %[a]\n\t"                                                                 \
    "vpaddd %[a], %[" sum "], %[" sum "]\n\t"
#define LOW_PART(sum)   PART("t0", "one", sum)
#define BOTH_PARTS(sum) LOW_PART(sum) PART("t1", "up", sum)
#define STATEMENT(parts)                                                                                     \
    __asm__("vmovdqu %[w0], %[p0]\n\tvmovdqu %[w1], %[p1]\n\t" CODES parts(                                  \
                "s0") "vpsrlw $4, %[p0], %[p0]\n\tvpsrlw $4, %[p1], %[p1]\n\t" CODES parts("s1")             \
            : [s0] "+x"(sums[0]), [s1] "+x"(sums[1]), [p0] "=&x"(p0), [p1] "=&x"(p1), [c0] "=&x"(c0),        \
              [c1] "=&x"(c1), [a] "=&x"(a), [b] "=&x"(b)                                                     \
            : [w0] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])w),                                                 \
              [w1] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])(w + STEP_BYTES)), [x0] "x"(x[0]), [x1] "x"(x[1]),  \
              [t0] "x"(tables[0]), [t1] "x"(tables[1]), [nibble] "x"(ulb_all8(15)), [one] "m"(one),          \
              [up] "m"(up))

static inline __attribute__((always_inline)) void add_steps(const struct code_parts *parts,
                                                            const ulb_vec *tables, const uint8_t *w,
                                                            const ulb_vec *x, ulb_vec *sums)
{
    static const ulb_vec one = ULB_WORDS(1), up = ULB_WORDS(1 << PART_BITS);
    ulb_vec p0, p1, c0, c1, a, b;
    if (parts->n == 2)
        STATEMENT(BOTH_PARTS);
    else
        STATEMENT(LOW_PART);
}

#else

/* sums[n][2] += a step of the rows of one vector of bytes. */
static inline __attribute__((always_inline)) void add_steps(const struct code_parts *parts,
                                                            const ulb_vec *tables, const uint8_t *w,
                                                            const ulb_vec *x, ulb_vec *sums)
{
    ulb_vec packed = ulb_load(w), nibble = ulb_all8(15);
    ulb_vec codes[2] = {ulb_and(packed, nibble), ulb_and(ulb_shr16(packed, 4), nibble)};
    ULB_UNROLL(4)
    for (size_t i = 0; i < 2 * parts->n; i++)
        ulb_dp(&sums[i], ulb_look_up(tables[i / 2], codes[i % 2]), x[0]);
}

#endif

/* sums[2 * vectors] of some vectors of bytes. asks: whether to prefetch as many bytes ahead of next. */
static inline __attribute__((always_inline)) void sum_vectors(const struct code_parts *parts,
                                                              const uint8_t *w, const uint8_t *next,
                                                              const int8_t *x, size_t steps, size_t vectors,
                                                              struct ulb_line_prefetch hint, ulb_vec *sums)
{
    const size_t each = ULB_BY_SUMS(2, 2 * parts->n); /* sums of a vector of bytes */
    const ulb_vec tables[2] = {ulb_all128(parts->tables[0]), ulb_all128(parts->tables[1])};
    ulb_vec all[8];
    ulb_zero_all(all, each * vectors);
    for (size_t s = 0; s < steps; s += STEPS) {
        ulb_vec x4[STEPS];
        ULB_UNROLL(2)
        for (size_t i = 0; i < STEPS; i++)
            x4[i] = ulb_broadcast4(x + 4 * (s + i));
        ULB_UNROLL(4)
        for (size_t v = 0; v < vectors; v++) {
            add_steps(parts, tables, w + s * STEP_BYTES + v * ULB_VEC_BYTES, x4, all + each * v);
            if (v * ULB_VEC_BYTES % ULB_LINE)
                continue;
            ULB_UNROLL(2)
            for (size_t i = 0; i < STEPS; i++)
                ULB_PREFETCH_LINE_AFTER(all[each * v], next + (s + i) * vectors * ULB_VEC_BYTES,
                                        v * ULB_VEC_BYTES, hint);
        }
    }
    ULB_UNROLL(8)
    for (size_t i = 0; i < 2 * vectors; i++) {
        const ulb_vec *of = all + i / 2 * each + i % 2;
        sums[i] = each == 4 ? ulb_add32(of[0], ulb_shl32(of[2], PART_BITS)) : of[0];
    }
}

/* A pass takes as many vectors of bytes as keep their sums in registers, for each slice in turn. A pass that
 * reads every other line still prefetches lines in the order of memory. At its end they are `near` bytes
 * ahead. */
static inline __attribute__((always_inline)) void sum_levels(const struct code_parts *parts,
                                                             const struct ulb_plane_groups *groups,
                                                             size_t steps, struct ulb_line_prefetch hint,
                                                             ulb_vec (*sums)[ULB_PLANE_VECTORS])
{
    const size_t vectors = ULB_BY_SUMS(2, 4 / parts->n), pass = steps * vectors * ULB_VEC_BYTES;
    ULB_UNROLL(2)
    for (size_t v = 0; v < 4; v += vectors) {
        const size_t next = v / vectors * pass + steps * STEP_BYTES - pass;
        for (size_t i = 0; i < ULB_PLANE_SLICES; i++)
            sum_vectors(parts, groups->w[i] + v * ULB_VEC_BYTES, groups->w[i] + next, groups->x[i], steps,
                        vectors, hint, sums[i] + 2 * v);
    }
}

/* Bytes of the parts of codes. */
static inline __attribute__((always_inline)) void
unpack_levels(const struct code_parts *parts, const uint8_t *w, size_t steps, ulb_plane_bytes *codes)
{
    ULB_UNROLL(2)
    for (size_t part = 0; part < parts->n; part++) {
        const ulb_vec table = ulb_all128(parts->tables[parts->n - 1 - part]);
        for (size_t s = 0; s < steps; s++) {
            ULB_UNROLL(8)
            for (unsigned v = 0; v < ULB_PLANE_VECTORS; v++)
                ulb_store(codes[part * steps + s][v], ulb_look_up(table, ulb_plane_field(4, 0, w, s, v)));
        }
    }
}

/* The loop, and the sums of rows, are of integers. */
static void take_units(const struct ulb_gemm *g, float unit)
{
    for (size_t n = 0; n < g->n; n++) {
        for (size_t m = g->m0; m < g->m1; m++)
            g->y[n * g->y_stride + m] *= unit;
    }
}

/* Instructions per 32 weights with so many look-ups. */
#if ULB_S16_SUMS
#define SUMS(look_ups)                                                                                       \
    .loads = 0.5 + 0.5 * (look_ups) + ULB_GROUP_ENDS(COLUMNS), .broadcasts = 0.25, .maddubs = (look_ups),    \
    .madds = 0.5 * (look_ups), .adds = (look_ups) + ULB_GROUP_ENDS(COLUMNS), .shifts = 0.5
#else
#define SUMS(look_ups)                                                                                       \
    .loads = 0.5 * ULB_VECTORS_PER_STEP + ULB_GROUP_ENDS(COLUMNS),                                           \
    .broadcasts = (look_ups) / 8.0 * ULB_VECTORS_PER_STEP, .dot_products = (look_ups)*ULB_VECTORS_PER_STEP,  \
    .adds = (look_ups)*ULB_GROUP_ENDS(COLUMNS),                                                              \
    .shifts = 0.5 * ULB_VECTORS_PER_STEP + ((look_ups)-1) * ULB_GROUP_ENDS(COLUMNS), .chains = 8
#endif
#define MIX(look_ups)                                                                                        \
    {                                                                                                        \
        SUMS(look_ups), .prefetches = sizeof(struct ulb_table4) / 64.0, .logic = ULB_VECTORS_PER_STEP,       \
                        .shuffles = (look_ups)*ULB_VECTORS_PER_STEP, .conversions = ULB_GROUP_ENDS(COLUMNS), \
                        .fmas = ULB_GROUP_ENDS(COLUMNS), .vector_bits = ULB_VEC_BITS                         \
    }

#define ROW(of, one, origin, look_ups)                                                                       \
    static inline __attribute__((always_inline)) void sum_##of(                                              \
        unsigned bits, const struct ulb_plane_groups *groups, size_t steps, struct ulb_line_prefetch hint,   \
        ulb_vec(*sums)[ULB_PLANE_VECTORS])                                                                   \
    {                                                                                                        \
        (void)bits;                                                                                          \
        sum_levels(&of##_parts, groups, steps, hint, sums);                                                  \
    }                                                                                                        \
    static inline __attribute__((always_inline)) void unpack_##of(unsigned bits, const uint8_t *w,           \
                                                                  size_t steps, ulb_plane_bytes *codes)      \
    {                                                                                                        \
        (void)bits;                                                                                          \
        unpack_levels(&of##_parts, w, steps, codes);                                                         \
    }                                                                                                        \
    ULB_AFFINE_RUN(of, &LAYOUT(of), 4, 0, COLUMNS, sum_##of, 8 - (origin), NEAR, unpack_##of, look_ups,      \
                   PART_BITS)                                                                                \
    static void run_##of(const struct ulb_gemm *g)                                                           \
    {                                                                                                        \
        run_affine_##of(g);                                                                                  \
        take_units(g, 1.0f / (one));                                                                         \
    }                                                                                                        \
    ULB_KERNEL_VARIANT(of) = {                                                                               \
        ULB_PLANE_FIELDS(LAYOUT(of), run_##of),                                                              \
        .variant = "lookup",                                                                                 \
        .nr = ULB_PLANE_TOKENS,                                                                              \
        .kr = ULB_PLANE_SLICES * COLUMNS,                                                                    \
        .bytes_per_step = 32.0 * sizeof(struct ulb_table4) / COLUMNS,                                        \
        .tolerance = ULB_BLOCK_TOLERANCE,                                                                    \
        .mix = MIX(look_ups),                                                                                \
        .tile_mix = {ULB_PLANE_TOKENS_MIX(look_ups, PART_BITS, look_ups, 0)},                                \
        .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = ULB_AFFINE_LEAST(4, COLUMNS, true) - 1},         \
    };

ROW(nf4, ULB_NF4_ONE, NF4_ORIGIN, 2)
ROW(fp4, ULB_FP4_ONE, FP4_ORIGIN, 1)
