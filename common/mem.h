/* Memory for measurements: page-aligned anonymous mappings, with or without huge pages, and what was got. */
#ifndef ULB_COMMON_MEM_H
#define ULB_COMMON_MEM_H

#include "common/status.h"

#include <stddef.h>

#define ULB_CACHE_LINE ((size_t)64)

enum ulb_page_kind { ULB_PAGES_SMALL, ULB_PAGES_HUGE };

/* One mapping. data is aligned to 2 MiB; bytes is what was asked for. */
struct ulb_pages {
    void *data;
    size_t bytes;
    enum ulb_page_kind asked;
    void *map; /* what munmap takes */
    size_t map_bytes;
};

/* Huge pages only where they are filled: zeroing one for a tiny problem takes longer than the problem. */
enum ulb_page_kind ulb_page_kind_for(size_t bytes);

/* Maps bytes of zeroed memory and advises the kernel (MADV_HUGEPAGE or MADV_NOHUGEPAGE).
 * ULB_ENVIRONMENT when the kernel refuses, or when the memory at hand would not do to fill it; the message
 * states the size wanted. Pages are not yet touched. */
enum ulb_status ulb_pages_map(struct ulb_pages *pages, size_t bytes, enum ulb_page_kind kind,
                              struct ulb_error *err);

/* Has the kernel back a part of a mapping, whole pages, before the caller writes it, on the caller's memory
 * node: one call in the place of a fault for each page. Seen in one guest (bhyve), where faults are dear, 1
 * GiB filled by one thread: from huge pages 0.07 s in place of 1.6, from small ones 1.5 in place of 3.2.
 * Advice only: kernels before 5.14 do not know it, and pages are mapped as they are written. */
void ulb_pages_back(void *part, size_t bytes);

/* Unmaps; a zeroed struct is allowed. */
void ulb_pages_unmap(struct ulb_pages *pages);

/* Bytes of the mapping that are backed by huge pages now, by /proc/self/smaps; -1 when that cannot be read.
 */
long long ulb_pages_huge_bytes(const struct ulb_pages *pages);

/* Bytes that can be used without swapping: MemAvailable, less where RLIMIT_AS or the cgroup allows less.
 * -1 when nothing can be read. */
long long ulb_memory_available(void);

/* Most bytes that the process had resident since it began or since the last reset; -1 when that cannot be
 * read. */
long long ulb_memory_peak(void);

/* Gives free heap memory back and begins anew at what is resident then; where the kernel refuses, peaks stay
 * those of the whole process. */
void ulb_memory_peak_reset(void);

static inline size_t ulb_round_up(size_t value, size_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

#endif
