/* The K-loop of every dot-product kernel over its tiles. The slices of K (struct ulb_layout) are read as
 * several address streams at once, because one core keeps more misses in flight over several streams. All
 * streams add to the same rows, so that they cost no registers. Accumulators come in sets, enough to hide the
 * latency of the dot product. Every line is prefetched a fixed distance ahead in its stream. Streams continue
 * from tile to tile. */
#ifndef ULB_KERNELS_X86_GEMV_K_SLICES_H
#define ULB_KERNELS_X86_GEMV_K_SLICES_H

#include "kernels/microkernel.h"
#include "kernels/x86/simd/prefetch.h"
#include "kernels/x86/simd/vec.h"

enum { ULB_LINE = 64 };

/* Distance in rows between rows that are read side by side, each an address stream: at least 1. It is rows /
 * streams, or slightly less if the distance in bytes is a multiple of 4 KiB. Such streams would use the same
 * L1 sets and evict one another. */
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
    size_t chunk_bytes; /* bytes of a stream before the next stream: whole lines */
    /* Widens the 16-bit sums of a chunk. NULL: steps add to the accumulators. */
    ulb_widen_s16_fn *widen_s16;
    size_t l1_distance;     /* bytes ahead, in the stream, of the prefetch into L1 */
    size_t l2_distance;     /* distance of the further prefetch into L2; 0: none. Multiples of 64 */
    size_t prefetch_stride; /* bytes between prefetched lines: 64, or 128 to leave every other line to the L2
                               adjacent-line prefetcher if loads are the limit in L1. A tuned setting
                               prefetches every line */
};

/* Steps of a stream before the next stream. */
static inline __attribute__((always_inline)) size_t ulb_k_chunk_steps(const struct ulb_k_loop *k_loop)
{
    return k_loop->step_bytes < k_loop->chunk_bytes ? k_loop->chunk_bytes / k_loop->step_bytes : 1;
}

/* The tile that is read after the tile at w, with two slices that are read one after the other. */
static inline const uint8_t *ulb_next_tile(const uint8_t *w, size_t slice, size_t slice_bytes,
                                           size_t tile_bytes)
{
    return slice == 0 ? w + slice_bytes : w - slice_bytes + tile_bytes;
}

/* How the lines ahead of a step are prefetched. All members are constants, but for the tuned distance. Each
 * of the three code variants has its own constants, because steps have no instruction to spare. */
struct ulb_step_prefetch {
    const struct ulb_k_loop *k_loop;
    size_t begin; /* of the step in its chunk */
    bool whole;   /* the whole chunk; a part of one prefetches nothing */
    struct ulb_prefetch_setting prefetch;
};

/* Adds the products of one step to the set of accumulators. Prefetches follow the load of each vector. */
typedef void ulb_step_fn(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x,
                         ulb_vec *sums);

enum { ULB_ACCUMULATORS_MAX = 24 };

/* Prefetches for the line that begins at w + at in a step at w, if a line begins there. It follows the load
 * of that vector: alternating loads and prefetches keep the most misses in flight. sum: a sum that the vector
 * was added to. It keeps the prefetch in its place, because compilers move the prefetches of a whole chunk
 * together. NULL: in a kernel that keeps its order without. */
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

/* Adds some steps of slice i, from s, to its set of accumulators; whole: they are a chunk, whose lines ahead
 * are prefetched. */
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

/* Adds a chunk of every slice. Accumulators in registers need unrolled slices. 16-bit sums in memory are a
 * loop, because shorter code is faster in L1. A tuned setting unrolls the slices in any case: the prefetchers
 * of Zen follow a stream by the instruction that loads it. */
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

/* Sums of two rows of tiles, read side by side, into sums[2][vectors]. These are twice the streams, and as
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
