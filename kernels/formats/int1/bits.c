/* int1 for up to 16 tokens on AMX tiles. Weights are read once. The bits of a byte are columns, 4 apart, of
 * the same row. Two packed lines are therefore all the lines of a tile, and the sums of four groups of 16
 * rows fit the tile registers. In kernels/formats/int1/tile.c bits are rows: a line is part of eight tiles of
 * 128 rows, whose sums do not fit, and weights are read twice.
 *
 * vgf2p8affineqb moves a bit to the lowest place: |sum| <= 127 * K < 2^31. The tiles of the next 64 columns
 * are made during the products of the current ones, one before each product. Four panels of rows are address
 * streams. */
#include "kernels/formats/int1/format.h"
#include "kernels/x86/amx/small_n.h"
#include "kernels/x86/gemv/k_slices.h"

enum {
    STREAMS = ULB_AMX_QUAD, /* groups of rows at a time */
    BITS = 8,
    STEP_BYTES = ULB_TILE_BYTES / BITS, /* packed, of a stream */
    GROUP_SUMS = ULB_TILE_ROWS * ULB_TILE_ROWS,
    BATCH = 8 /* panels of each stream whose results are finished together */
};

/* The streams' tiles of one step. */
typedef uint8_t tiles[STREAMS][ULB_TILE_BYTES];

/* The streams, the position in them in bytes, the steps that remain (with the current step), and the tiles of
 * a step: made[turn]. */
struct stream_position {
    const uint8_t *streams[STREAMS];
    size_t at, left, turn;
};

/* Makes the tile of a stream's step, and prefetches weights ahead. */
static inline __attribute__((always_inline)) void make_tile(const uint8_t *packed, uint8_t *tile)
{
    ULB_UNROLL(2)
    for (size_t i = 0; i < STEP_BYTES; i += ULB_TILE_COLUMNS) {
        __m512i line = _mm512_loadu_si512(packed + i);
        ulb_amx_ask(packed + i);
        ULB_UNROLL(8)
        for (unsigned bit = 0; bit < BITS; bit++) {
            /* Byte 7 of the matrix makes the lowest bit. */
            const __m512i matrix = _mm512_set1_epi64((int64_t)((uint64_t)1 << (56 + bit)));
            _mm512_store_si512(tile + i * BITS + bit * ULB_TILE_COLUMNS,
                               _mm512_gf2p8affine_epi64_epi8(line, matrix, 0));
        }
    }
}

/* One step, 64 columns of the tokens at x; the tiles of the next are made meanwhile. */
static inline void step(struct stream_position *stream_position, const int8_t *x, size_t stride,
                        tiles made[2])
{
    ulb_amx_load_tokens(x, stride);
    ULB_UNROLL(4)
    for (unsigned i = 0; i < STREAMS; i++) {
        if (stream_position->left > 1)
            make_tile(stream_position->streams[i] + stream_position->at + STEP_BYTES,
                      made[1 - stream_position->turn][i]);
        ulb_amx_multiply_group(i, made[stream_position->turn][i]);
    }
    stream_position->at += STEP_BYTES;
    stream_position->left--;
    stream_position->turn = 1 - stream_position->turn;
}

/* -2 T: the correction adds sum(x). */
static inline void separate(ulb_vec *sums)
{
    sums[0] = ulb_sub32(ulb_zero(), ulb_add32(sums[0], sums[0]));
}

static const struct ulb_amx_cfg cfg = {
    .layout = &ulb_int1_bits, .vectors = 1, .fields = 1, .bits = 8, .zero_point = -1, .separate = separate};

/* Panels of the streams: stream i has part of them from begin + i * part on, as far as there are panels. */
struct streams {
    size_t begin, part, panels; /* in all */
};

static inline size_t panel_of(const struct streams *s, size_t stream, size_t i)
{
    size_t panel = s->begin + stream * s->part + i;
    return panel < s->panels ? panel : s->panels - 1;
}

/* Results of count panels of each stream, from number i on; one that stands for a missing one is the last
 * panel once more. */
static inline void epilogue(const struct ulb_gemm *g, const struct ulb_amx_weights *weights,
                            const struct streams *s, size_t i, size_t count, const int32_t *sums)
{
    for (size_t token = 0; token < g->n; token++) {
        for (size_t stream = 0; stream < STREAMS; stream++) {
            for (size_t j = 0; j < count; j++)
                ulb_amx_epilogue(&cfg, g, weights, g->m0 + panel_of(s, stream, i + j) * ULB_TILE_ROWS, token,
                                 sums + (j * STREAMS + stream) * GROUP_SUMS + token * ULB_TILE_ROWS, 0,
                                 false);
        }
    }
}

static void run_streams(const struct ulb_gemm *g, const struct ulb_amx_weights *weights,
                        const struct streams *s)
{
    _Alignas(64) tiles made[2];
    _Alignas(64) int32_t sums[BATCH * STREAMS * GROUP_SUMS];
    struct stream_position stream_position = {.left = s->part * weights->steps};
    for (size_t i = 0; i < STREAMS; i++) {
        size_t panel = g->m0 / ULB_TILE_ROWS + panel_of(s, i, 0);
        stream_position.streams[i] = weights->data + panel * weights->steps * STEP_BYTES;
        make_tile(stream_position.streams[i], made[0][i]);
    }
    for (size_t i = 0; i < s->part; i += BATCH) {
        size_t count = s->part - i < BATCH ? s->part - i : BATCH;
        for (size_t j = 0; j < count; j++) {
            ulb_amx_zero();
            for (size_t at = 0; at < weights->steps; at++)
                step(&stream_position, (const int8_t *)g->x + at * ULB_TILE_COLUMNS, g->x_stride, made);
            ulb_amx_store_quad(sums + j * STREAMS * GROUP_SUMS);
        }
        epilogue(g, weights, s, i, count, sums);
    }
}

/* For at most 16 tokens. */
static void run_few(const struct ulb_gemm *g)
{
    const struct ulb_amx_weights weights = ulb_amx_weights_of(&cfg, g);
    struct streams s = {.panels = (g->m1 - g->m0 + ULB_TILE_ROWS - 1) / ULB_TILE_ROWS};
    ulb_amx_configure(g->n, true);
    for (; s.begin < s.panels; s.begin += STREAMS * s.part) {
        s.part = ulb_stream_rows(s.panels - s.begin, STREAMS, weights.steps * STEP_BYTES);
        run_streams(g, &weights, &s);
    }
    ulb_amx_release();
}

static void run(const struct ulb_gemm *g)
{
    for (size_t n = 0; n < g->n; n += ULB_TILE_ROWS) {
        struct ulb_gemm some = *g;
        some.n = g->n - n < ULB_TILE_ROWS ? g->n - n : ULB_TILE_ROWS;
        some.x = (const int8_t *)g->x + n * g->x_stride;
        some.x_scale += n;
        some.x_sum += n;
        some.y += n * g->y_stride;
        run_few(&some);
    }
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "bits",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_int1_bits,
    .activation = ULB_ACT_A8,
    .mr = ULB_TILE_ROWS,
    .nr = ULB_TILE_ROWS,
    .kr = ULB_TILE_COLUMNS,
    .bytes_per_step = 4,
    .run = run,
};
