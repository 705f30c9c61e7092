#include "harness/threads/split.h"

#include <stdatomic.h>
#include <string.h>

enum { TAKEN_OF = 4 };

static const char *const split_names[ULB_SPLITS] = {"static", "dynamic", "weighted"};

const char *ulb_split_name(enum ulb_split split)
{
    return split_names[split];
}

bool ulb_split_parse(const char *word, enum ulb_split *split)
{
    for (int i = 0; i < ULB_SPLITS; i++) {
        if (strcmp(word, split_names[i]) == 0) {
            *split = (enum ulb_split)i;
            return true;
        }
    }
    return false;
}

struct ulb_row_split ulb_split_of(enum ulb_split kind, size_t m, size_t grain, size_t threads,
                                  const double *thread_shares, struct ulb_tile_range *ranges)
{
    return (struct ulb_row_split){
        .kind = kind,
        .m = m,
        .grain = grain,
        .threads = threads,
        .chunk = 1,
        .thread_shares = thread_shares,
        .ranges = ranges,
    };
}

static uint64_t pack(uint32_t front, uint32_t back)
{
    return (uint64_t)back << 32 | front;
}

static size_t parts_of(const struct ulb_row_split *split)
{
    return split->parts > 1 ? split->parts : 1;
}

static size_t tiles_of(const struct ulb_row_split *split)
{
    return (split->m + split->grain - 1) / split->grain * parts_of(split);
}

/* First tile, or part of a tile, of a thread's. */
static uint32_t first_tile(const struct ulb_row_split *split, size_t thread)
{
    size_t tiles = tiles_of(split);
    if (split->kind != ULB_SPLIT_WEIGHTED)
        return (uint32_t)(tiles * thread / split->threads);
    double before = 0, total = 0;
    for (size_t t = 0; t < split->threads; t++) {
        before += t < thread ? split->thread_shares[t] : 0;
        total += split->thread_shares[t];
    }
    return (uint32_t)((double)tiles * before / total + 0.5);
}

void ulb_split_reset(struct ulb_row_split *split)
{
    for (size_t t = 0; t < split->threads; t++) {
        uint64_t range = pack(first_tile(split, t), first_tile(split, t + 1));
        atomic_store_explicit(&split->ranges[t].range, range, memory_order_relaxed);
    }
}

/* Of so many parts of tiles those that make a piece: whole tiles, or what ends within one. at: their front,
 * or their back. */
static uint32_t in_a_piece(const struct ulb_row_split *split, uint32_t n, uint32_t at, bool from_front)
{
    uint32_t parts = (uint32_t)parts_of(split), inside = at % parts;
    uint32_t most = inside == 0 ? n : from_front ? parts - inside : inside;
    if (inside == 0 && n > parts)
        return n - n % parts;
    return n < most ? n : most;
}

/* Takes from the front (own part) or the back (somebody else's): all of it, or in the dynamic split a quarter
 * of what is left but at least chunk tiles. Large pieces come first and keep streams whole. Small ones come
 * at the end, where threads of different speed would wait for each other. */
static bool take(struct ulb_row_split *split, size_t victim, bool from_front, uint32_t *begin, uint32_t *end)
{
    _Atomic uint64_t *range = &split->ranges[victim].range;
    uint64_t seen = atomic_load_explicit(range, memory_order_relaxed);
    for (;;) {
        uint32_t front = (uint32_t)seen, back = (uint32_t)(seen >> 32);
        if (front >= back)
            return false;
        uint32_t left = back - front, n = left;
        if (split->kind == ULB_SPLIT_DYNAMIC) {
            n = left / TAKEN_OF > split->chunk ? left / TAKEN_OF : (uint32_t)split->chunk;
            n = n < left ? n : left;
        }
        n = in_a_piece(split, n, from_front ? front : back, from_front);
        uint64_t rest = from_front ? pack(front + n, back) : pack(front, back - n);
        if (atomic_compare_exchange_weak_explicit(range, &seen, rest, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            *begin = from_front ? front : back - n;
            *end = *begin + n;
            return true;
        }
    }
}

/* Whoever has the most left; the thread itself when nobody has anything. */
static size_t fullest(const struct ulb_row_split *split, size_t thread)
{
    size_t victim = thread;
    uint32_t most = 0;
    for (size_t i = 1; i < split->threads; i++) {
        size_t other = (thread + i) % split->threads;
        uint64_t seen = atomic_load_explicit(&split->ranges[other].range, memory_order_relaxed);
        uint32_t front = (uint32_t)seen, back = (uint32_t)(seen >> 32);
        if (front < back && back - front > most) {
            most = back - front;
            victim = other;
        }
    }
    return victim;
}

bool ulb_split_next_piece(struct ulb_row_split *split, size_t thread, struct ulb_split_piece *piece)
{
    uint32_t begin, end;
    const size_t parts = parts_of(split);
    bool found = take(split, thread, true, &begin, &end);
    while (!found && split->kind == ULB_SPLIT_DYNAMIC) {
        size_t victim = fullest(split, thread);
        if (victim == thread)
            return false;
        found = take(split, victim, false, &begin, &end);
    }
    if (!found)
        return false;
    const size_t first = begin / parts, last = (end + parts - 1) / parts, part0 = begin % parts;
    *piece = (struct ulb_split_piece){.m0 = first * split->grain,
                                      .m1 = last * split->grain < split->m ? last * split->grain : split->m,
                                      .part0 = part0,
                                      .part1 = end - begin < parts ? part0 + (end - begin) : parts};
    return true;
}

bool ulb_split_next(struct ulb_row_split *split, size_t thread, size_t *m0, size_t *m1)
{
    struct ulb_split_piece piece;
    if (!ulb_split_next_piece(split, thread, &piece))
        return false;
    *m0 = piece.m0;
    *m1 = piece.m1;
    return true;
}

bool ulb_split_more(void *rows, size_t *m0, size_t *m1)
{
    struct ulb_split_rows *mine = rows;
    return ulb_split_next(mine->split, mine->thread, m0, m1);
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
