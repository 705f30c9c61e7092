/* GEMM: each vector of weights is loaded, and its fields masked, once for all tokens of a register tile. The
 * rest is as in the GEMV (kernels/x86/gemv/k_slices.h): K-slices are address streams, layouts are the same.
 *
 * With dot products fields stay in their places in the byte. The remaining tokens use smaller tiles, whose
 * free registers are further sets of accumulators, so that enough chains hide the latency. With AVX2 fields
 * are cut out of their nibble. 16-bit sums hold eight steps of codes up to 15 (kernels/x86/simd/dot.h). A
 * chunk is one vector of weights for all tokens, and 32-bit sums are kept in memory. */
#ifndef ULB_KERNELS_X86_GEMM_FIELD_TILE_H
#define ULB_KERNELS_X86_GEMM_FIELD_TILE_H

#include <string.h>

#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    ULB_TOKENS_MAX_TILE = 4,
    ULB_TOKENS_CHAINS = ULB_BY_ENCODING(12, 16),
    ULB_TOKENS_CHUNK = 8,         /* steps */
    ULB_TOKENS_STREAMS = 8,       /* of activations, more of which are packed */
    ULB_PACKED_BYTES = 256 * 1024 /* 4 tokens of 65,536 columns */
};

/* Activations of a register tile: four columns of a token at at, the next four and the next token's so many
 * bytes on. Constants where they are packed. */
struct ulb_tokens_x {
    const int8_t *at;
    size_t four, token;
};

/* sums[tokens]`[vectors][fields]` of one row of tiles for some tokens. */
typedef void ulb_tokens_sum_fn(struct ulb_prefetch_setting prefetch, const struct ulb_tiles *tiles,
                               struct ulb_tokens_x x, unsigned tokens, ulb_vec *sums);

/* Compile-time constants of a kernel. */
struct ulb_field_tile_cfg {
    const struct ulb_layout *layout;
    unsigned vectors; /* of packed weights in a step of 4 columns */
    unsigned fields;  /* of a byte */
    unsigned bits;    /* of a field */
    unsigned tokens;  /* of the register tile */
    unsigned slices;  /* of the layout */
    int32_t zero_point;
    size_t l1_distance, l2_distance; /* bytes ahead, in the stream, of the prefetches into L1 and L2 */
    size_t prefetch_stride;          /* from one prefetched line to the next: see struct ulb_k_loop */
    void (*separate)(ulb_vec *sums); /* sums of fields at their places -> of each vector of rows */
    /* For kernels whose weights are not fields of bytes. It replaces the description of the weights: only
     * bits and distances are set. vectors: sums of a token, one for each field. combine: NULL if unused. */
    ulb_tokens_sum_fn *sum;
};

/* The activations of tokens [n, n + tokens). */
static inline __attribute__((always_inline)) struct ulb_tokens_x
ulb_tokens_x(bool packed, const struct ulb_gemm *g, size_t n, unsigned tokens)
{
    const int8_t *at = (const int8_t *)g->x + n * g->x_stride;
    return packed ? (struct ulb_tokens_x){at, 4 * tokens, 4} : (struct ulb_tokens_x){at, 4, g->x_stride};
}

/* packed[fours][n][4] = x[n][x_stride]: four columns of each token, then the next four. */
static __attribute__((noinline, unused)) void ulb_pack_tokens(const struct ulb_gemm *g, size_t fours,
                                                              int8_t *packed)
{
    for (size_t i = 0; i < fours; i++) {
        for (size_t n = 0; n < g->n; n++)
            memcpy(packed + (i * g->n + n) * 4, (const int8_t *)g->x + n * g->x_stride + 4 * i, 4);
    }
}

/* Prefetches lines ahead of a step: each line if the setting is tuned, else one every cfg->prefetch_stride
 * bytes. */
static inline __attribute__((always_inline)) void ulb_tokens_prefetch(const struct ulb_field_tile_cfg *cfg,
                                                                      struct ulb_prefetch_setting prefetch,
                                                                      const uint8_t *w, size_t bytes)
{
    ULB_UNROLL(32)
    for (size_t line = 0; line < bytes; line += ULB_LINE) {
        if (line % cfg->prefetch_stride == 0 || prefetch.tuned)
            ulb_prefetch_line_runtime(w, line, (struct ulb_line_prefetch){cfg->l1_distance, prefetch},
                                      cfg->l2_distance);
        else if (ulb_is_runtime_prefetch(prefetch))
            ulb_prefetch_line_if_tuned(w, line, prefetch);
    }
}

#if ULB_S16_SUMS

/* Cuts the fields out of a vector of weights. The upper fields of a nibble, if of two bits, stay four times
 * too large. This and the next function are one statement each: compilers would move the loads of all steps
 * together and spill them. */
static inline __attribute__((always_inline)) void ulb_tokens_cut(unsigned fields, const uint8_t *w,
                                                                 ulb_vec *cut)
{
    static const ulb_vec low = ULB_BYTES(0x03), high = ULB_BYTES(0x0C);
    if (fields == 2)
        __asm__("vmovdqu %[w], %[c1]\n\tvpand %[nibble], %[c1], %[c0]\n\t"
                "vpsrlw $4, %[c1], %[c1]\n\tvpand %[nibble], %[c1], %[c1]"
                : [c0] ULB_SCRATCH(cut[0]), [c1] ULB_SCRATCH(cut[1])
                : [w] ULB_WEIGHTS(w), [nibble] "x"(ulb_all8(0x0F)));
    else
        __asm__("vmovdqu %[w], %[c3]\n\tvpand %[low], %[c3], %[c0]\n\tvpand %[high], %[c3], %[c1]\n\t"
                "vpsrlw $4, %[c3], %[c3]\n\tvpand %[low], %[c3], %[c2]\n\tvpand %[high], %[c3], %[c3]"
                : [c0] ULB_SCRATCH(cut[0]), [c1] ULB_SCRATCH(cut[1]), [c2] ULB_SCRATCH(cut[2]),
                  [c3] ULB_SCRATCH(cut[3])
                : [w] ULB_WEIGHTS(w), [low] "m"(low), [high] "m"(high));
}

/* sums[fields] += products of the fields cut out and a token's activations at x4. */
#define ULB_TOKENS_FIELD(f)                                                                                  \
    "vpmaddubsw %[x], %[c" #f "], %[product]\n\tvpaddw %[product], %[s" #f "], %[s" #f "]\n\t"
static inline __attribute__((always_inline)) void ulb_tokens_dot(unsigned fields, const ulb_vec *cut,
                                                                 const int8_t *x4, ulb_vec *sums)
{
    ulb_vec x, product;
    if (fields == 2)
        __asm__(
            "vpbroadcastd %[x4], %[x]\n\t" ULB_TOKENS_FIELD(0) ULB_TOKENS_FIELD(1)
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [x] ULB_SCRATCH(x), [product] ULB_SCRATCH(product)
            : [c0] "x"(cut[0]), [c1] "x"(cut[1]), [x4] "m"(*(const int8_t(*)[4])x4));
    else
        __asm__("vpbroadcastd %[x4], %[x]\n\t" ULB_TOKENS_FIELD(0) ULB_TOKENS_FIELD(1) ULB_TOKENS_FIELD(2)
                    ULB_TOKENS_FIELD(3)
                : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
                  [x] ULB_SCRATCH(x), [product] ULB_SCRATCH(product)
                : [c0] "x"(cut[0]), [c1] "x"(cut[1]), [c2] "x"(cut[2]), [c3] "x"(cut[3]),
                  [x4] "m"(*(const int8_t(*)[4])x4));
}

/* Adds one vector of weights from each step of a slice to sums[tokens][fields], `stride` apart. */
static inline __attribute__((always_inline)) void ulb_tokens_chunk(const struct ulb_field_tile_cfg *cfg,
                                                                   unsigned tokens, const uint8_t *w,
                                                                   struct ulb_tokens_x x, size_t steps,
                                                                   ulb_vec *sums)
{
    const unsigned fields = cfg->fields, each = cfg->vectors * fields;
    ulb_vec words[ULB_ACCUMULATORS_MAX];
    ulb_zero_all(words, tokens * fields);
    ULB_UNROLL(8)
    for (size_t s = 0; s < steps; s++) {
        ulb_vec cut[4];
        ulb_tokens_cut(fields, w + s * cfg->vectors * ULB_VEC_BYTES, cut);
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            ulb_tokens_dot(fields, cut, x.at + s * x.four + t * x.token, words + t * fields);
    }
    ULB_UNROLL(16)
    for (unsigned i = 0; i < tokens * fields; i++)
        ulb_add_s16(words[i], &sums[i / fields * each + i % fields]);
}

/* Adds all vectors of weights of these steps. */
static inline __attribute__((always_inline)) void
ulb_tokens_steps(const struct ulb_field_tile_cfg *cfg, struct ulb_prefetch_setting prefetch, unsigned tokens,
                 const struct ulb_tiles *tiles, size_t slice, size_t s, struct ulb_tokens_x x, size_t steps,
                 ulb_vec *sums)
{
    const size_t step_bytes = (size_t)cfg->vectors * ULB_VEC_BYTES;
    const uint8_t *w = tiles->w + slice * tiles->slice_bytes + s * step_bytes;
    x.at += (slice * tiles->steps + s) * x.four;
#pragma GCC unroll 1
    for (unsigned v = 0; v < cfg->vectors; v++)
        ulb_tokens_chunk(cfg, tokens, w + v * ULB_VEC_BYTES, x, steps, sums + v * cfg->fields);
    ulb_tokens_prefetch(cfg, prefetch, w, steps * step_bytes);
}

/* Adds a chunk of every slice, unrolled: see ulb_k_chunk_slices() in kernels/x86/gemv/k_slices.h. */
static inline __attribute__((always_inline)) void
ulb_tokens_slices(const struct ulb_field_tile_cfg *cfg, struct ulb_prefetch_setting prefetch, unsigned tokens,
                  const struct ulb_tiles *tiles, size_t s, struct ulb_tokens_x x, ulb_vec *sums)
{
    ULB_UNROLL(4)
    for (size_t i = 0; i < cfg->slices; i++)
        ulb_tokens_steps(cfg, prefetch, tokens, tiles, i, s, x, ULB_TOKENS_CHUNK, sums);
}

/* sums[tokens]`[vectors][fields]` of one row of tiles for some tokens. */
static inline __attribute__((always_inline)) void
ulb_tokens_sum(const struct ulb_field_tile_cfg *cfg, struct ulb_prefetch_setting prefetch,
               const struct ulb_tiles *tiles, struct ulb_tokens_x x, unsigned tokens, ulb_vec *sums)
{
    const size_t chunk = ULB_TOKENS_CHUNK, even = tiles->steps / chunk * chunk;
    ulb_zero_all(sums, cfg->vectors * cfg->fields * tokens);
    for (size_t s = 0; s < even; s += chunk)
        ulb_tokens_slices(cfg, prefetch, tokens, tiles, s, x, sums);
    for (size_t s = even; s < tiles->steps; s++) {
        for (size_t i = 0; i < cfg->slices; i++)
            ulb_tokens_steps(cfg, prefetch, tokens, tiles, i, s, x, 1, sums);
    }
}

#else

/* sums += vector v of a step's weights, at w, times four columns of each of some tokens. */
static inline __attribute__((always_inline)) void ulb_tokens_vector(const struct ulb_field_tile_cfg *cfg,
                                                                    unsigned tokens, const uint8_t *w,
                                                                    const ulb_vec *four, unsigned v,
                                                                    ulb_vec *sums)
{
    ulb_vec packed = ulb_load(w + v * ULB_VEC_BYTES);
    /* Keeps the vector in a register: GCC would load it for each field, and loads are the limit. */
    __asm__("" : "+" ULB_REGISTER(packed));
    ULB_UNROLL(8)
    for (unsigned f = 0; f < cfg->fields; f++) {
        unsigned mask = ((1u << cfg->bits) - 1) << f * cfg->bits;
        ulb_vec field = f + 1 == cfg->fields ? packed : ulb_and(packed, ulb_all8((int)mask));
        ULB_UNROLL(4)
        for (unsigned t = 0; t < tokens; t++)
            ulb_dp(&sums[(t * cfg->vectors + v) * cfg->fields + f], field, four[t]);
    }
}

/* Step s of the layout for some tokens. */
static inline __attribute__((always_inline)) void ulb_tokens_step(const struct ulb_field_tile_cfg *cfg,
                                                                  unsigned tokens, const uint8_t *w,
                                                                  struct ulb_tokens_x x, size_t s,
                                                                  ulb_vec *sums)
{
    ulb_vec four[ULB_TOKENS_MAX_TILE];
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++)
        four[t] = ulb_broadcast4(x.at + s * x.four + t * x.token);
    ULB_UNROLL(8)
    for (unsigned v = 0; v < cfg->vectors; v++)
        ulb_tokens_vector(cfg, tokens, w, four, v, sums);
}

/* Sets of so many accumulators. */
static inline __attribute__((always_inline)) unsigned ulb_tokens_sets(const struct ulb_field_tile_cfg *cfg,
                                                                      unsigned all)
{
    return ULB_TOKENS_CHAINS / all > cfg->slices ? cfg->slices
           : ULB_TOKENS_CHAINS / all > 1         ? ULB_TOKENS_CHAINS / all
                                                 : 1;
}

/* sums[tokens]`[vectors][fields]` of one row of tiles for some tokens. */
static inline __attribute__((always_inline)) void
ulb_tokens_sum(const struct ulb_field_tile_cfg *cfg, struct ulb_prefetch_setting prefetch,
               const struct ulb_tiles *tiles, struct ulb_tokens_x x, unsigned tokens, ulb_vec *sums)
{
    const unsigned all = cfg->vectors * cfg->fields * tokens, sets = ulb_tokens_sets(cfg, all);
    const size_t step_bytes = (size_t)cfg->vectors * ULB_VEC_BYTES;
    ulb_zero_all(sums, sets * all);
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(4)
        for (size_t i = 0; i < cfg->slices; i++) {
            const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * step_bytes;
            ulb_tokens_step(cfg, tokens, w, x, i * tiles->steps + s, sums + i % sets * all);
            ulb_tokens_prefetch(cfg, prefetch, w, step_bytes);
        }
    }
    ulb_add_sets(sums, sets, all);
}

#endif

/* sums[tokens][each] of one row of tiles, as each token's vectors of rows. */
static inline __attribute__((always_inline)) void
ulb_tokens_sums(const struct ulb_field_tile_cfg *cfg, struct ulb_prefetch_setting prefetch,
                const struct ulb_tiles *tiles, struct ulb_tokens_x x, unsigned tokens, ulb_vec *sums)
{
    if (cfg->sum)
        cfg->sum(prefetch, tiles, x, tokens, sums);
    else
        ulb_tokens_sum(cfg, prefetch, tiles, x, tokens, sums);
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++) {
        if (cfg->separate)
            cfg->separate(sums + t * cfg->vectors * cfg->fields);
    }
}

/* One row of tiles for tokens [n, n + tokens). */
static inline __attribute__((always_inline)) void ulb_tokens_tile(const struct ulb_field_tile_cfg *cfg,
                                                                  struct ulb_prefetch_setting prefetch,
                                                                  const struct ulb_gemm *g, bool packed,
                                                                  const struct ulb_tiles *tiles, size_t panel,
                                                                  size_t n, unsigned tokens)
{
    const unsigned each = cfg->vectors * cfg->fields;
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_tokens_sums(cfg, prefetch, tiles, ulb_tokens_x(packed, g, n, tokens), tokens, sums);
    const float *scale = ulb_row_scales(g, cfg->layout);
    ULB_UNROLL(4)
    for (unsigned t = 0; t < tokens; t++) {
        int32_t dots[ULB_TILE_ROWS_MAX];
        ulb_store_all(dots, sums + t * each, (int)each);
        ulb_epilogue_tile(g, scale, panel, (size_t)each * ULB_LANES, n + t, dots, cfg->zero_point);
    }
}

/* A single token, whose rows are finished in batches (ULB_BATCH_BYTES); fields of bytes have kernels of their
 * own for it. */
static inline __attribute__((always_inline)) void ulb_one_token(const struct ulb_field_tile_cfg *cfg,
                                                                struct ulb_prefetch_setting prefetch,
                                                                const struct ulb_gemm *g)
{
    const size_t rows = (size_t)cfg->vectors * cfg->fields * ULB_LANES;
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k)};
    const size_t row_bytes = tiles.steps * ulb_layout_tile_bytes(cfg->layout);
    const size_t batch = ulb_batch_rows(cfg->layout, g->k, rows);
    for (size_t m = g->m0; m < g->m1; m += batch) {
        size_t end = ulb_batch_end(g, m, batch);
        int32_t dots[ULB_BATCH_ROWS];
        for (size_t at = m; at < end; at += rows) {
            ulb_vec sums[ULB_ACCUMULATORS_MAX];
            tiles.w = (const uint8_t *)g->w + at / rows * row_bytes;
            ulb_tokens_sums(cfg, prefetch, &tiles, ulb_tokens_x(false, g, 0, 1), 1, sums);
            ulb_store_all(dots + (at - m), sums, (int)(cfg->vectors * cfg->fields));
        }
        ulb_epilogue_rows(g->y + m, dots, ulb_row_scales(g, cfg->layout) + m, end - m,
                          (uint32_t)cfg->zero_point * (uint32_t)g->x_sum[0], g->x_scale[0]);
    }
}

/* packed: a constant. One code variant obeys every setting: a line serves several tokens' products. */
static inline __attribute__((always_inline)) void
ulb_run_tiles_of_tokens(const struct ulb_field_tile_cfg *cfg, const struct ulb_gemm *g, bool packed)
{
    const struct ulb_prefetch_setting prefetch = ULB_RUNTIME_PREFETCH(g->prefetch);
    const size_t rows = (size_t)cfg->vectors * cfg->fields * ULB_LANES;
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(cfg->layout, g->m, g->k),
                              .steps = ulb_layout_steps(cfg->layout, g->k)};
    size_t row_bytes = tiles.steps * ulb_layout_tile_bytes(cfg->layout);
    for (size_t panel = g->m0; panel < g->m1; panel += rows) {
        size_t n = 0;
        tiles.w = (const uint8_t *)g->w + panel / rows * row_bytes;
        for (; n + cfg->tokens <= g->n; n += cfg->tokens)
            ulb_tokens_tile(cfg, prefetch, g, packed, &tiles, panel, n, cfg->tokens);
        if (cfg->tokens > 3 && g->n - n == 3)
            ulb_tokens_tile(cfg, prefetch, g, packed, &tiles, panel, n, 3);
        else if (cfg->tokens > 2 && g->n - n == 2)
            ulb_tokens_tile(cfg, prefetch, g, packed, &tiles, panel, n, 2);
        else if (g->n - n == 1)
            ulb_tokens_tile(cfg, prefetch, g, packed, &tiles, panel, n, 1);
    }
}

/* Computes a call with activations as they lie in memory. A single token has three code variants: see
 * kernels/x86/gemv/k_slices.h. */
static inline __attribute__((always_inline)) void ulb_run_tokens(const struct ulb_field_tile_cfg *cfg,
                                                                 const struct ulb_gemm *g)
{
    if (cfg->sum && g->n == 1)
        ULB_SPECIALISE_PREFETCH(g->prefetch, ulb_one_token(cfg, prefetch, g));
    else
        ulb_run_tiles_of_tokens(cfg, g, false);
}

/* Whether the activations of a register tile are packed. Otherwise every token and slice is an address
 * stream. With many streams the L2 prefetchers, which follow few, lose the weights. L1 does not keep the
 * activations while weights pass through it. int1 does not gain, because dot products are its limit. AVX2
 * does not gain, because arithmetic is its limit. Calls of several tiles wait for memory once for all tiles,
 * so that they need no packing. */
static inline __attribute__((always_inline)) bool ulb_may_pack(const struct ulb_field_tile_cfg *cfg)
{
    return ULB_BY_SUMS(false, true) && cfg->slices * cfg->tokens > ULB_TOKENS_STREAMS;
}

/* Whether this call packs activations: it has one register tile, and its columns fit the buffer. */
static inline __attribute__((always_inline)) bool ulb_tokens_packed(const struct ulb_field_tile_cfg *cfg,
                                                                    const struct ulb_gemm *g)
{
    if (!ulb_may_pack(cfg))
        return false;
    return g->n <= cfg->tokens && cfg->slices * g->n > ULB_TOKENS_STREAMS &&
           ulb_layout_steps(cfg->layout, g->k) * cfg->slices * 4 * g->n <= ULB_PACKED_BYTES;
}

static inline __attribute__((always_inline)) void ulb_run_packed_tokens(const struct ulb_field_tile_cfg *cfg,
                                                                        const struct ulb_gemm *g)
{
    if (!ulb_may_pack(cfg))
        return; /* no code in kernels that have no such calls */
    _Alignas(64) int8_t x[ULB_PACKED_BYTES];
    struct ulb_gemm tile = *g;
    ulb_pack_tokens(g, ulb_layout_steps(cfg->layout, g->k) * cfg->slices, x);
    tile.x = x;
    ulb_run_tiles_of_tokens(cfg, &tile, true);
}

/* A function run_packed() for calls with ulb_tokens_packed(). It is not inlined: GCC keeps the sums of some
 * tiles in memory if it compiles them together with others. */
#define ULB_TOKENS_PACKED(cfg)                                                                               \
    static __attribute__((noinline)) void run_packed(const struct ulb_gemm *g)                               \
    {                                                                                                        \
        ulb_run_packed_tokens(&(cfg), g);                                                                    \
    }

/* Instructions for some tokens. prefetches: of a line. Accumulators: one set for each token of the tile, or
 * more sets if tokens are fewer. With AVX2 the masks of two-bit fields are in memory (ulb_tokens_cut). */
#if ULB_S16_SUMS
#define ULB_TOKENS_MIX(vectors_, fields_, prefetches_, tokens_)                                              \
    {                                                                                                        \
        .loads = 1.0 / (fields_) + ((fields_) == 4), .broadcasts = 1.0 / (fields_) * (tokens_),              \
        .prefetches = 0.5 / (fields_), .logic = 1, .shifts = 1.0 / (fields_), .maddubs = (tokens_),          \
        .madds = 1.0 / ULB_TOKENS_CHUNK * (tokens_), .adds = (1 + 1.0 / ULB_TOKENS_CHUNK) * (tokens_),       \
        .vector_bits = ULB_VEC_BITS                                                                          \
    }
#else
#define ULB_TOKENS_MIX(vectors_, fields_, prefetches_, tokens_)                                              \
    {                                                                                                        \
        .loads = 0.5 / (fields_), .broadcasts = 0.5 / (fields_) / (vectors_) * (tokens_),                    \
        .prefetches = 0.5 / (fields_) * (prefetches_), .logic = 0.5 / (fields_) * ((fields_)-1),             \
        .dot_products = 0.5 * (tokens_), .vector_bits = ULB_VEC_BITS,                                        \
        .chains = ULB_TOKENS_ACCUMULATORS((vectors_) * (fields_) * (tokens_))                                \
    }
#define ULB_TOKENS_ACCUMULATORS(n) ((n) * (ULB_TOKENS_CHAINS / (n) > 1 ? ULB_TOKENS_CHAINS / (n) : 1))
#endif

#endif
