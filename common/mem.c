#include "common/mem.h"

#include "common/cgroup.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
/* From here on a mapping is refused that does not fit: the system grants it, and kills who fills it. */
#define LARGE ((size_t)256 << 20)

enum ulb_page_kind ulb_page_kind_for(size_t bytes)
{
    return bytes < (size_t)8 << 20 ? ULB_PAGES_SMALL : ULB_PAGES_HUGE;
}

enum ulb_status ulb_pages_map(struct ulb_pages *pages, size_t bytes, enum ulb_page_kind kind,
                              struct ulb_error *err)
{
    *pages = (struct ulb_pages){0};
    if (bytes == 0 || bytes > SIZE_MAX - 2 * HUGE_PAGE)
        return ulb_fail(err, ULB_BAD_INPUT, "cannot map a buffer of %zu bytes", bytes);
    size_t map_bytes = ulb_round_up(bytes, HUGE_PAGE) + HUGE_PAGE;
    long long available = bytes < LARGE ? -1 : ulb_memory_available();
    if (available >= 0 && bytes > (unsigned long long)available)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "not enough memory: %.0f MiB are needed and %.0f MiB can be used; take a smaller shape or "
            "model, free memory, or raise the limit (ulimit -v, cgroup)",
            (double)bytes / (1 << 20), (double)available / (1 << 20));
    void *map =
        mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "not enough memory: %.1f MiB could not be mapped (%s); raise ulimit -v or the container's limit",
            (double)bytes / (1 << 20), strerror(errno));
    pages->map = map;
    pages->map_bytes = map_bytes;
    pages->data = (void *)(((uintptr_t)map + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    pages->bytes = bytes;
    pages->asked = kind;
    /* Advice only: a kernel without transparent huge pages says EINVAL, and what was got is recorded. */
    madvise(pages->data, ulb_round_up(bytes, HUGE_PAGE),
            kind == ULB_PAGES_HUGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return ULB_OK;
}

void ulb_pages_back(void *part, size_t bytes)
{
#ifndef MADV_POPULATE_WRITE
    enum { MADV_POPULATE_WRITE = 23 }; /* include/uapi/asm-generic/mman-common.h */
#endif
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)part % page;
    madvise((char *)part - before, bytes + before, MADV_POPULATE_WRITE);
}

void ulb_pages_unmap(struct ulb_pages *pages)
{
    if (pages->map)
        munmap(pages->map, pages->map_bytes);
    *pages = (struct ulb_pages){0};
}

long long ulb_pages_huge_bytes(const struct ulb_pages *pages)
{
    FILE *smaps = fopen("/proc/self/smaps", "re");
    if (!smaps)
        return -1;
    uintptr_t begin = (uintptr_t)pages->data;
    uintptr_t end = begin + pages->bytes;
    long long total = 0;
    int inside = 0;
    char line[512];
    while (fgets(line, sizeof line, smaps)) {
        uintptr_t from, to;
        long long kib;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " ", &from, &to) == 2)
            inside = from < end && to > begin;
        else if (inside && sscanf(line, "AnonHugePages: %lld kB", &kib) == 1)
            total += kib * 1024;
    }
    fclose(smaps);
    return total > (long long)pages->bytes ? (long long)pages->bytes : total;
}

static long long read_number(const char *path, const char *format)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return -1;
    char line[256];
    long long value = -1;
    while (fgets(line, sizeof line, file) && sscanf(line, format, &value) != 1)
        value = -1;
    fclose(file);
    return value;
}

static long long lesser(long long a, long long b)
{
    return b >= 0 && (a < 0 || b < a) ? b : a;
}

long long ulb_memory_available(void)
{
    long long kib = read_number("/proc/meminfo", "MemAvailable: %lld");
    long long available = kib < 0 ? -1 : kib * 1024;
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        long long pages_used = read_number("/proc/self/statm", "%lld");
        long long used = pages_used < 0 ? 0 : pages_used * sysconf(_SC_PAGESIZE);
        long long free_space = (long long)limit.rlim_cur - used;
        available = lesser(available, free_space > 0 ? free_space : 0);
    }
    return lesser(available, ulb_cgroup_memory_left(""));
}

long long ulb_memory_peak(void)
{
    long long kib = read_number("/proc/self/status", "VmHWM: %lld");
    return kib < 0 ? -1 : kib * 1024;
}

void ulb_memory_peak_reset(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
    FILE *file = fopen("/proc/self/clear_refs", "we");
    if (!file)
        return;
    fputs("5\n", file); /* proc(5): resets the peak resident set size */
    fclose(file);
}
