/* The K-loop of every dot-product kernel over its tiles: the slices of K (see struct ulb_layout) are read as
 * so many address streams at once, because one core keeps more misses in flight over several streams than
 * over one; all add to the same rows, so that streams cost no registers. Accumulators come in sets: enough
 * sets hide the latency of the dot product. Every line is prefetched a fixed distance ahead in its stream;
 * streams run on from tile to tile. */
#ifndef ULB_KERNELS_X86_GEMV_K_SLICES_H
#define ULB_KERNELS_X86_GEMV_K_SLICES_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"
#include "kernels/x86/simd/vec.h"

enum { ULB_LINE = 64 };

/* Rows that are read side by side, each an address stream of its own, lie so many rows apart, at least 1: as
 * many as rows has for each stream, or a few less where that is a multiple of 4 KiB: streams would drive one
 * another out of L1, whose sets the address's lower bits choose. */
static inline size_t ulb_stream_rows(size_t rows, size_t streams, size_t row_bytes)
{
    enum { PAGE = 4096, APART = 256, TRIES = 16 };
    size_t part = rows / streams;
    for (size_t i = 0; i < TRIES && part > TRIES && (part * row_bytes + APART) % PAGE < 2 * APART; i++)
        part--;
    return part > 1 ? part : 1;
}

/* *sum += words, two to a lane. */
typedef void ulb_widen_s16_fn(ulb_vec words, ulb_vec *sum);

/* Compile-time constants of a kernel. */
struct ulb_k_loop {
    size_t step_bytes; /* weights of one step: columns columns of the tile */
    size_t columns;
    size_t vectors;     /* accumulators that a step adds to */
    size_t slices;      /* of the layout: address streams */
    size_t sets;        /* of accumulators; divides slices */
    size_t chunk_bytes; /* bytes of a stream in turn: whole lines */
    /* Where steps add to 16-bit sums, which hold those of a chunk; NULL: to accumulators. */
    ulb_widen_s16_fn *widen_s16;
    size_t l1_distance;     /* bytes ahead, in the stream, of the prefetch into L1 */
    size_t l2_distance;     /* and of the one into L2 beside it; 0: none. Multiples of 64 */
    size_t prefetch_stride; /* from one prefetched line to the next: 64, or 128 to leave every other line to
                             * the neighbour fetch of L2, where loads are what limits in L1. By the caller's
                             * setting every line is:  Zen 5, int8 at 512 bits and AVX-VNNI, 14336x4096, 3 and
                             * 8 % faster */
};

/* Steps of a stream in turn. */
static inline __attribute__((always_inline)) size_t ulb_k_chunk_steps(const struct ulb_k_loop *k_loop)
{
    return k_loop->step_bytes < k_loop->chunk_bytes ? k_loop->chunk_bytes / k_loop->step_bytes : 1;
}

/* Of tiles that are read slice by slice, two slices, the one after that at w in time. */
static inline const uint8_t *ulb_next_tile(const uint8_t *w, size_t slice, size_t slice_bytes,
                                           size_t tile_bytes)
{
    return slice == 0 ? w + slice_bytes : w - slice_bytes + tile_bytes;
}

/* Of so many tokens that are left, at least two at first, those of the next register tile: none is left alone
 * where tiles hold more than two, for the sums of one are too few chains for the latency of dot products. */
static inline size_t ulb_next_tokens(size_t left, unsigned tokens)
{
    if (left == tokens + 1u && tokens > 2)
        return tokens - 1u;
    return left < tokens ? left : tokens;
}

/* Of so many tokens that are left, those of the next block, at most so many: blocks of a call differ by one.
 */
static inline size_t ulb_next_n_block(size_t left, size_t most)
{
    return left / ((left + most - 1) / most);
}

/* How the lines ahead of a step are prefetched. All constants, but for the setting's distance: the rest of it
 * is one in each of three code variants, because steps have no instruction to spare. */
struct ulb_step_prefetch {
    const struct ulb_k_loop *k_loop;
    size_t begin; /* of the step in its chunk */
    bool whole;   /* the chunk; of a part of one nothing is asked for */
    struct ulb_prefetch_setting prefetch;
};

/* Adds one step's products to the set of accumulators; prefetches beside the load of each vector. */
typedef void ulb_step_fn(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x,
                         ulb_vec *sums);

enum { ULB_ACCUMULATORS_MAX = 24 };

/* Beside the load of the vector at w + at of a step at w: for the line that begins there, if one does. Loads
 * and prefetches in turn are what keeps most misses in flight: Golden Cove, int4 at 512 bits, three lines and
 * then their six prefetches 34.5 GB/s, line by line 37.5. sum: one that the vector was added to; it keeps the
 * prefetch at its place, where compilers bring those of a whole chunk together (int4 with AVX2 on Zen 3: 0.75
 * of the best reader, 0.91 with them in turn). NULL: they are apart without, in a kernel that has no
 * instruction to spare. */
static inline __attribute__((always_inline)) void
ulb_prefetch_line_at(const struct ulb_step_prefetch *hint, const uint8_t *w, size_t at, ulb_vec *sum)
{
    const size_t prefetch_stride = hint->prefetch.tuned ? ULB_LINE : hint->k_loop->prefetch_stride;
    if (hint->whole && (hint->begin + at) % prefetch_stride == 0) {
        if (sum)
            __asm__ volatile("" : "+v"(*sum));
        ulb_prefetch_line_l1_l2(w, at, (struct ulb_line_prefetch){hint->k_loop->l1_distance, hint->prefetch},
                                hint->k_loop->l2_distance);
    }
}

/* Adds so many steps of slice i, from s on, to its set of accumulators; whole: they are a chunk, whose lines
 * ahead are prefetched. */
static inline __attribute__((always_inline)) void
ulb_k_chunk(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch, ulb_step_fn *step,
            const struct ulb_tiles *tiles, size_t i, size_t s, size_t steps, bool whole, ulb_vec *sums)
{
    const uint8_t *w = tiles->w + i * tiles->slice_bytes + s * k_loop->step_bytes;
    const int8_t *x = tiles->x + (i * tiles->steps + s) * k_loop->columns;
    ulb_vec words[ULB_ACCUMULATORS_MAX], *set = sums + i % k_loop->sets * k_loop->vectors;
    if (k_loop->widen_s16)
        ulb_zero_all(words, k_loop->vectors);
    ULB_UNROLL(8)
    for (size_t u = 0; u < steps; u++) {
        const struct ulb_step_prefetch hint = {k_loop, u * k_loop->step_bytes, whole, prefetch};
        step(&hint, w + u * k_loop->step_bytes, x + u * k_loop->columns, k_loop->widen_s16 ? words : set);
    }
    if (k_loop->widen_s16) {
        ULB_UNROLL(32)
        for (size_t v = 0; v < k_loop->vectors; v++)
            k_loop->widen_s16(words[v], &set[v]);
    }
}

/* The same of every slice. Accumulators are registers, so that slices are laid out one after the other; those
 * of 16-bit sums wait in memory, and a loop is shorter code, which is faster in L1. With the caller's
 * setting slices are laid out all the same: prefetchers of Zen follow a stream by the instruction that loads
 * it (Zen 5, 14336x4096: int4 0.45 of the best reader with one instruction for four streams, 0.97 with four).
 */
static inline __attribute__((always_inline)) void
ulb_k_chunk_slices(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch, ulb_step_fn *step,
                   const struct ulb_tiles *tiles, size_t s, size_t steps, bool whole, ulb_vec *sums)
{
    if (k_loop->widen_s16 && !prefetch.tuned) {
#pragma GCC unroll 1
        for (size_t i = 0; i < k_loop->slices; i++)
            ulb_k_chunk(k_loop, prefetch, step, tiles, i, s, steps, whole, sums);
        return;
    }
    ULB_UNROLL(8)
    for (size_t i = 0; i < k_loop->slices; i++)
        ulb_k_chunk(k_loop, prefetch, step, tiles, i, s, steps, whole, sums);
}

/* Adds steps [begin, end) of every slice to the sets of accumulators. */
static inline __attribute__((always_inline)) void
ulb_k_loop_steps(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch, ulb_step_fn *step,
                 const struct ulb_tiles *tiles, size_t begin, size_t end, ulb_vec *sums)
{
    size_t unit = ulb_k_chunk_steps(k_loop);
    size_t even = begin + (end - begin) / unit * unit;
    for (size_t s = begin; s < even; s += unit)
        ulb_k_chunk_slices(k_loop, prefetch, step, tiles, s, unit, true, sums);
    for (size_t s = even; s < end; s++)
        ulb_k_chunk_slices(k_loop, prefetch, step, tiles, s, 1, false, sums);
}

/* Sums of one row of tiles into sums[vectors], the first set. */
static inline __attribute__((always_inline)) void ulb_k_loop_tiles(const struct ulb_k_loop *k_loop,
                                                                   ulb_step_fn *step,
                                                                   const struct ulb_tiles *tiles,
                                                                   ulb_vec *sums)
{
    ulb_zero_all(sums, k_loop->sets * k_loop->vectors);
    ULB_SPECIALISE_PREFETCH(*tiles->prefetch,
                            ulb_k_loop_steps(k_loop, prefetch, step, tiles, 0, tiles->steps, sums));
    ulb_add_sets(sums, k_loop->sets, k_loop->vectors);
}

/* Adds all steps, whole lines, of two rows of tiles side by side to one set of accumulators each. */
static inline __attribute__((always_inline)) void
ulb_k_loop_tile_pair_steps(const struct ulb_k_loop *k_loop, struct ulb_prefetch_setting prefetch,
                           ulb_step_fn *step, const struct ulb_tiles *tiles, ulb_vec *sums)
{
    struct ulb_tiles second = *tiles;
    second.w += tiles->tile_distance;
    for (size_t s = 0; s < tiles->steps; s++) {
        ULB_UNROLL(8)
        for (size_t i = 0; i < k_loop->slices; i++) {
            ulb_k_chunk(k_loop, prefetch, step, tiles, i, s, 1, true, sums);
            ulb_k_chunk(k_loop, prefetch, step, &second, i, s, 1, true, sums + k_loop->vectors);
        }
    }
}

/* Sums of two rows of tiles, which are read side by side, into sums[2][vectors]: twice the streams, and as
 * many chains as two sets have. k_loop: of one set, with steps of whole lines. */
static inline __attribute__((always_inline)) void ulb_k_loop_tile_pair(const struct ulb_k_loop *k_loop,
                                                                       ulb_step_fn *step,
                                                                       const struct ulb_tiles *tiles,
                                                                       ulb_vec *sums)
{
    ulb_zero_all(sums, 2 * k_loop->vectors);
    ULB_SPECIALISE_PREFETCH(*tiles->prefetch,
                            ulb_k_loop_tile_pair_steps(k_loop, prefetch, step, tiles, sums));
}

#endif
