#include "harness/split.h"

#include <stdatomic.h>

static uint64_t pack(uint32_t front, uint32_t back)
{
    return (uint64_t)back << 32 | front;
}

static size_t tiles_of(const struct ulb_row_split *split)
{
    return (split->m + split->grain - 1) / split->grain;
}

/* First tile of a thread's part. */
static uint32_t first_tile(const struct ulb_row_split *split, size_t thread)
{
    size_t tiles = tiles_of(split);
    if (split->kind != ULB_SPLIT_WEIGHTED)
        return (uint32_t)(tiles * thread / split->threads);
    double before = 0, total = 0;
    for (size_t t = 0; t < split->threads; t++) {
        before += t < thread ? split->weights[t] : 0;
        total += split->weights[t];
    }
    return (uint32_t)((double)tiles * before / total + 0.5);
}

void ulb_split_reset(struct ulb_row_split *split)
{
    for (size_t t = 0; t < split->threads; t++) {
        uint64_t range = pack(first_tile(split, t), first_tile(split, t + 1));
        atomic_store_explicit(&split->shares[t].range, range, memory_order_relaxed);
    }
}

/* Takes up to chunk tiles from the front (own part) or the back (somebody else's). */
static bool take(struct ulb_row_split *split, size_t victim, bool from_front, uint32_t chunk, uint32_t *begin,
                 uint32_t *end)
{
    _Atomic uint64_t *range = &split->shares[victim].range;
    uint64_t seen = atomic_load_explicit(range, memory_order_relaxed);
    for (;;) {
        uint32_t front = (uint32_t)seen, back = (uint32_t)(seen >> 32);
        if (front >= back)
            return false;
        uint32_t n = back - front < chunk ? back - front : chunk;
        uint64_t rest = from_front ? pack(front + n, back) : pack(front, back - n);
        if (atomic_compare_exchange_weak_explicit(range, &seen, rest, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *begin = from_front ? front : back - n;
            *end = *begin + n;
            return true;
        }
    }
}

bool ulb_split_next(struct ulb_row_split *split, size_t thread, size_t *m0, size_t *m1)
{
    uint32_t begin, end;
    uint32_t own = split->kind == ULB_SPLIT_DYNAMIC ? (uint32_t)split->chunk : UINT32_MAX;
    bool found = take(split, thread, true, own, &begin, &end);
    for (size_t i = 1; !found && split->kind == ULB_SPLIT_DYNAMIC && i < split->threads; i++)
        found = take(split, (thread + i) % split->threads, false, own, &begin, &end);
    if (!found)
        return false;
    *m0 = begin * split->grain;
    *m1 = end * split->grain < split->m ? end * split->grain : split->m;
    return true;
}

double ulb_split_slowest(const struct ulb_row_split *split)
{
    uint32_t largest = 0;
    for (size_t t = 0; t < split->threads; t++) {
        uint32_t n = first_tile(split, t + 1) - first_tile(split, t);
        largest = n > largest ? n : largest;
    }
    return (double)largest / (double)tiles_of(split);
}
