/* The walk of every dot-product row over a tile: K streams.
 *
 * The columns of a tile are read as a few address streams at once (stream i takes the i-th part of K),
 * because one core keeps more misses in flight over several streams than over one; all add to the same rows,
 * so that streams cost no registers. Accumulators come in sets: enough sets hide the latency of the dot
 * product. Every line is prefetched a fixed distance ahead in its stream; near the end of a stream the lines
 * of the same stream of the next tile, so that streams run on from tile to tile. */
#ifndef ULB_KERNELS_X86_STREAMS_H
#define ULB_KERNELS_X86_STREAMS_H

#include "kernels/row.h"
#include "kernels/x86/vec.h"

enum { ULB_LINE = 64 };

/* Compile-time constants of a row. */
struct ulb_walk {
    size_t step_bytes; /* weights of one step: columns columns of the tile */
    size_t columns;
    size_t vectors; /* accumulators that a step adds to */
    size_t streams;
    size_t sets;     /* of accumulators; divides streams */
    size_t prefetch; /* bytes ahead, a multiple of 64 */
    size_t gap;      /* from one prefetched line to the next: 64, or 128 to leave every other line to the
                      * neighbour fetch of L2, where loads are what limits in L1 */
};

/* Adds one step's products to the set of accumulators. */
typedef void ulb_step_fn(const uint8_t *w, const int8_t *x, ulb_vec *sums);

enum { ULB_ACCUMULATORS_MAX = 24 };

/* Steps [begin, end) of every stream; part: steps per stream; ahead: bytes from a line to the one to
 * prefetch. */
static inline __attribute__((always_inline)) void ulb_walk_steps(const struct ulb_walk *walk,
                                                                 ulb_step_fn *step, const uint8_t *w,
                                                                 const int8_t *x, size_t part, size_t begin,
                                                                 size_t end, size_t ahead, ulb_vec *sums)
{
    size_t unit = walk->step_bytes < ULB_LINE ? ULB_LINE / walk->step_bytes : 1;
    for (size_t s = begin; s < end; s += unit) {
#pragma GCC unroll 8
        for (size_t i = 0; i < walk->streams; i++) {
            const uint8_t *at = w + (i * part + s) * walk->step_bytes;
            const int8_t *xs = x + (i * part + s) * walk->columns;
#pragma GCC unroll 8
            for (size_t u = 0; u < unit; u++)
                step(at + u * walk->step_bytes, xs + u * walk->columns,
                     sums + i % walk->sets * walk->vectors);
#pragma GCC unroll 8
            for (size_t line = 0; line < unit * walk->step_bytes; line += walk->gap)
                _mm_prefetch((const char *)at + ahead + line, _MM_HINT_T0);
        }
    }
}

/* Sums of one tile of steps steps into sums[vectors], the first set. */
static inline __attribute__((always_inline)) void ulb_walk_tile(const struct ulb_walk *walk,
                                                                ulb_step_fn *step, const uint8_t *w,
                                                                const int8_t *x, size_t steps, ulb_vec *sums)
{
    size_t unit = walk->step_bytes < ULB_LINE ? ULB_LINE / walk->step_bytes : 1;
    size_t part = steps / walk->streams / unit * unit;
    size_t last = walk->prefetch / walk->step_bytes / unit * unit;
    size_t within = part < last ? 0 : part - last;
#pragma GCC unroll 32
    for (size_t i = 0; i < walk->sets * walk->vectors; i++)
        sums[i] = ulb_zero();
    ulb_walk_steps(walk, step, w, x, part, 0, within, walk->prefetch, sums);
    /* From here a line's successor in its stream is that of the next tile. */
    size_t ahead = (steps - within) * walk->step_bytes;
    ulb_walk_steps(walk, step, w, x, part, within, part, ahead, sums);
    for (size_t s = walk->streams * part; s < steps; s++)
        step(w + s * walk->step_bytes, x + s * walk->columns, sums);
#pragma GCC unroll 8
    for (size_t set = 1; set < walk->sets; set++) {
#pragma GCC unroll 16
        for (size_t i = 0; i < walk->vectors; i++)
            sums[i] = ulb_add32(sums[i], sums[set * walk->vectors + i]);
    }
}

#endif
