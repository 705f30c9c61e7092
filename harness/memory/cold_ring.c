#include "harness/memory/cold_ring.h"

#include "common/rng.h"
#include "common/units.h"

#include <stdint.h>

enum { PAGE_WORDS = (2 << 20) / sizeof(uint64_t) }; /* of a huge page */

size_t ulb_arena_ring_bytes(size_t llc_bytes)
{
    size_t two_gib = (size_t)2 << 30;
    return llc_bytes > two_gib / 4 ? 4 * llc_bytes : two_gib;
}

struct fill {
    uint64_t *words;
    size_t n, threads;
};

/* Threads take pages in turn, so that every piece of the ring lies on all memory nodes of the team alike.
 * Which thread reads what of it differs from cell to cell. All must not wait for one node. */
static void fill_part(void *arg, size_t thread)
{
    struct fill *fill = arg;
    for (size_t begin = thread * PAGE_WORDS; begin < fill->n; begin += fill->threads * PAGE_WORDS) {
        struct ulb_rng rng = {0x9E3779B9u + begin};
        size_t end = begin + PAGE_WORDS < fill->n ? begin + PAGE_WORDS : fill->n;
        ulb_pages_back(fill->words + begin, (end - begin) * sizeof *fill->words);
        for (size_t i = begin; i < end; i++)
            fill->words[i] = (ulb_rng_next(&rng) & 0x803F803F803F803Full) | 0x3F403F403F403F40ull;
    }
}

/* A sixteenth more: page tables, and what the counters of a control group lag behind; one byte too many
 * kills. */
size_t ulb_arena_needs(size_t ring_bytes, size_t largest_copy)
{
    size_t bytes = ring_bytes + ulb_round_up(largest_copy, ULB_CACHE_LINE);
    return bytes + bytes / 16;
}

enum ulb_status ulb_arena_open(struct ulb_arena *arena, size_t ring_bytes, size_t largest_copy,
                               enum ulb_page_kind kind, struct ulb_team *team, struct ulb_error *err)
{
    *arena = (struct ulb_arena){.ring_bytes = ring_bytes, .huge_bytes = -1};
    size_t bytes = ring_bytes + ulb_round_up(largest_copy, ULB_CACHE_LINE);
    long long available = ulb_memory_available();
    if (available >= 0 && (unsigned long long)available < ulb_arena_needs(ring_bytes, largest_copy))
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "not enough memory: cold weights need a ring of %.0f MiB and %.0f MiB can be used; free memory, "
            "raise the limit (ulimit -v, cgroup), or take %s",
            (double)bytes / ULB_MIB, (double)available / ULB_MIB,
            largest_copy > ring_bytes ? "smaller shapes" : "a smaller ring with --ring-mib");
    enum ulb_status status = ulb_pages_map(&arena->pages, bytes, kind, err);
    if (status != ULB_OK)
        return status;
    struct fill fill = {arena->pages.data, bytes / sizeof(uint64_t), ulb_team_size(team)};
    ulb_team_run(team, fill_part, &fill);
    arena->huge_bytes = ulb_pages_huge_bytes(&arena->pages);
    return ULB_OK;
}

void ulb_arena_close(struct ulb_arena *arena)
{
    ulb_pages_unmap(&arena->pages);
    *arena = (struct ulb_arena){0};
}

void *ulb_arena_next(struct ulb_arena *arena, size_t bytes, size_t alignment)
{
    size_t at = ulb_round_up(arena->position, alignment);
    if (at >= arena->ring_bytes || at + bytes > arena->pages.bytes)
        at = 0;
    arena->position = at + bytes;
    return (char *)arena->pages.data + at;
}
