/* Unpacked codes of a repacked block format, which several tokens share. They are unpacked to bytes in L1
 * once for an N-block, and the register tiles then iterate over them. The tiles are in
 * kernels/x86/gemm/block_unpacked_avx2.h (AVX2 alone) and kernels/x86/gemm/block_unpacked_vnni.h (dot
 * products). */
#ifndef ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_H
#define ULB_KERNELS_X86_GEMM_BLOCK_UNPACKED_H

#include "kernels/gemm_blocked.h"
#include "kernels/x86/gemv/block.h"

enum {
    /* Tokens that share unpacked codes. */
    ULB_UNPACKED_N_BLOCK =
        ULB_BY_SUMS(ULB_GEMM_N_BLOCK, ULB_BY_ENCODING(ULB_GEMM_N_BLOCK, ULB_GEMM_N_BLOCK_MANY)),
    ULB_UNPACKED_TOKENS_MAX = 4,
    ULB_UNPACKED_SUMS = ULB_BY_SUMS(8, ULB_BY_ENCODING(12, 8)), /* of a register tile */
    ULB_UNPACKED_ROW_VECTORS = 8
};

/* Fewest tokens that use unpacked codes if these are fields of a byte, or one look-up each. Fewer are faster
 * with codes in registers (kernels/x86/gemm/block_tile.h). */
#define ULB_UNPACKED_FIELDS_LEAST 24

/* The register tile for a kernel with this many vectors of rows: its vectors and its tokens. Both are
 * constants. VEX uses 12 sums, as many chains as hide the latency of dot products. The four other registers
 * hold the shorter side of the tile and one operand of the other side. Fewer sums are slower. */
#define ULB_UNPACKED_VECTORS(vectors) ULB_BY_SUMS(2U, ULB_BY_ENCODING((vectors) % 4 == 0 ? 4U : 3U, 2U))
#define ULB_UNPACKED_TOKENS(vectors)  ((unsigned)ULB_UNPACKED_SUMS / (ULB_UNPACKED_VECTORS(vectors)))

/* Epilogue of a block: the factors of its sums. Words of minima hold two groups in a lane: groups 0 and 2 of
 * four, then 1 and 3. */
struct ulb_block_epilogue {
    ulb_floats d[ULB_UNPACKED_ROW_VECTORS], dmin[ULB_UNPACKED_ROW_VECTORS];
    ulb_vec minima[ULB_SHORT_GROUPS / 2][ULB_UNPACKED_ROW_VECTORS];
};

/* Bytes of the codes in vectors packed, of vector i of a set's rows. */
typedef ulb_vec ulb_code_of(const ulb_vec *packed, size_t i);

/* Codes of a step at w, of all vectors of rows. */
static inline __attribute__((always_inline)) void
ulb_unpack_step(const struct ulb_block_cfg *cfg, ulb_code_of *code, const uint8_t *w, uint8_t *to)
{
    const struct ulb_codes *codes = cfg->codes;
    for (size_t set = 0; set < cfg->sets; set++, w += codes->bytes * ULB_VEC_BYTES) {
        ulb_vec packed[ULB_BLOCK_BYTES_MAX];
        ULB_UNROLL(5)
        for (size_t b = 0; b < codes->bytes; b++)
            packed[b] = ulb_load(w + b * ULB_VEC_BYTES);
        ULB_UNROLL(8)
        for (size_t v = 0; v < codes->rows; v++, to += ULB_VEC_BYTES)
            ulb_store(to, code(packed, v));
    }
}

/* Splits the minima of vector v of rows. A lane holds four groups of a row. */
static inline __attribute__((always_inline)) void ulb_split_minima(ulb_vec four, size_t quad, size_t v,
                                                                   struct ulb_block_epilogue *epilogue)
{
    epilogue->minima[2 * quad][v] = ulb_and(four, ulb_all32(0x00FF00FF));
    epilogue->minima[2 * quad + 1][v] = ulb_shr16(four, 8);
}

/* Minima of vector v of rows at quads (kernels/x86/gemv/block_minima.h), a vector of them stride bytes on. */
static inline __attribute__((always_inline)) void ulb_unpack_minima(const struct ulb_block_cfg *cfg,
                                                                    const uint8_t *quads, size_t stride,
                                                                    size_t v,
                                                                    struct ulb_block_epilogue *epilogue)
{
    const size_t n = cfg->columns / cfg->group / 4;
    ULB_UNROLL(4)
    for (size_t quad = 0; quad < n; quad++) {
        ulb_vec four = ulb_load(quads + quad % 2 * stride);
        if (cfg->minima == ULB_NIBBLE_MINIMA)
            four = ulb_and(quad < 2 ? four : ulb_shr16(four, 4), ulb_all8(15));
        ulb_split_minima(four, quad, v, epilogue);
    }
}

/* Loads the epilogue of the block at tile. */
static inline __attribute__((always_inline)) void
ulb_load_epilogue(const struct ulb_block_cfg *cfg, const uint8_t *tile, struct ulb_block_epilogue *epilogue)
{
    const size_t groups = cfg->columns / cfg->group, rows = ulb_block_vectors(cfg) * ULB_LANES;
    const uint8_t *minima = tile + ulb_scales_at(cfg, groups),
                  *d = minima + ulb_minima_bytes(cfg->minima, rows, groups);
    ULB_UNROLL(8)
    for (size_t v = 0; v < ulb_block_vectors(cfg); v++) {
        epilogue->d[v] = cfg->powers ? ulb_load_powers(d + v * ULB_LANES)
                                     : ulb_load_halves(d + v * ULB_LANES * sizeof(uint16_t));
        if (cfg->minima)
            epilogue->dmin[v] = ulb_load_halves(d + (rows + v * ULB_LANES) * sizeof(uint16_t));
        if (cfg->minima > ULB_ONE_MINIMUM)
            ulb_unpack_minima(cfg, minima + v * ULB_VEC_BYTES, rows * 4, v, epilogue);
    }
}

/* Copies activations; columns is a multiple of 32. GCC turns a plain copy into a string instruction, which is
 * slow to start. */
static inline __attribute__((always_inline)) void ulb_copy_columns(int8_t *to, const int8_t *from,
                                                                   size_t columns)
{
    for (size_t i = 0; i < columns; i += 32) {
        __m256i some = _mm256_loadu_si256((const __m256i *)(from + i));
        __asm__("" : "+x"(some));
        _mm256_storeu_si256((__m256i *)(to + i), some);
    }
}

/* x_sums = sums of the groups of a block, of which these are 16, in the order of minima if there are any. */
static inline __attribute__((always_inline)) void ulb_unpack_x_sums(const struct ulb_block_cfg *cfg,
                                                                    const int16_t *sums, int16_t *x_sums)
{
    __m256i all = _mm256_loadu_si256((const __m256i *)sums);
    if (cfg->group > ULB_SUM_COLUMNS) {
        const __m256i pairs = _mm256_madd_epi16(all, _mm256_set1_epi16(1));
        all = _mm256_permute4x64_epi64(_mm256_packs_epi32(pairs, pairs), 0xD8);
    }
    if (cfg->minima)
        all = _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(all, 0xD8), 0xD8);
    _mm256_storeu_si256((__m256i *)x_sums, all);
}

/* Bytes that each step of some vectors of rows prefetches, so that the next block arrives in time. */
static inline __attribute__((always_inline)) size_t ulb_unpacked_ask(const struct ulb_block_cfg *cfg,
                                                                     size_t tokens, size_t vectors)
{
    const size_t most = ULB_UNPACKED_TOKENS(ulb_block_vectors(cfg));
    const size_t passes = ulb_gemm_tiles(tokens, most) * ((ulb_block_vectors(cfg) + vectors - 1) / vectors);
    return ulb_gemm_share(cfg->tile_bytes, passes * (cfg->columns / 4));
}

/* Lines that a step prefetches, a constant. It fits one tile of tokens; further tiles prefetch some lines
 * twice. */
static inline __attribute__((always_inline)) size_t ulb_pass_lines(const struct ulb_block_cfg *cfg,
                                                                   size_t vectors)
{
    return (ulb_unpacked_ask(cfg, 1, vectors) + ULB_LINE - 1) / ULB_LINE;
}

/* What is unpacked of a panel, and what it meets: kernels/x86/gemm/block_unpacked_avx2.h,
 * kernels/x86/gemm/block_unpacked_vnni.h. */
struct ulb_unpacked;

/* The nest of a struct ulb_block_cfg of tiles of some rows, with a stage() and a pass() of the kernel's own,
 * and some tokens in a register tile. */
#define ULB_UNPACKED_NEST(cfg_, rows_, stage_, pass_, tokens)                                                \
    {                                                                                                        \
        .cfg = (cfg_), .layout = (cfg_)->layout, .rows = (rows_), .n_block = ULB_UNPACKED_N_BLOCK,           \
        .least = 2, .tile = (tokens), .begin = ulb_begin_unpacked, .stage = (stage_),                        \
        .pack_x = ulb_pack_unpacked, .pass = (pass_), .finish = ulb_finish_unpacked                          \
    }

#endif
