/* Shared by the reader files: the streams and prefetches that are tried as the yardstick.
 *
 * A reader reads its bytes in one to eight address streams, because one core keeps more misses in flight over
 * several streams. Each stream starts 1 KiB + 64 B further into its page than the previous one, so that they
 * use different L1 sets. A stream may prefetch every line: into L1, into L2 from further away, or both. All
 * parameters are compile-time constants, because a stream count known only at run time costs bandwidth.
 *
 * A file that includes this header first defines ULB_VECTOR (type), ULB_VECTOR_BYTES, and the functions
 * vector_zero(), vector_add(sum, address of a vector), vector_total(sums[8]). */
#ifndef ULB_KERNELS_READ_STREAM_H
#define ULB_KERNELS_READ_STREAM_H

#define ULB_KERNEL_IS_READER
#include "common/mem.h"
#include "kernels/microkernel.h"

enum { ULB_STREAM_SKEW = 1024 + 64, ULB_SKEWED_FROM = 65536, ULB_PAGE_MASK = 4095 };

/* Offset of stream i of streams; of stream `streams`, the end. Multiples of 64. */
static inline size_t ulb_stream_start(size_t bytes, size_t streams, size_t i)
{
    size_t part = bytes / streams & ~(size_t)ULB_PAGE_MASK;
    return i == streams ? bytes : i * part + (bytes < ULB_SKEWED_FROM ? 0 : i * ULB_STREAM_SKEW);
}

#ifdef ULB_VECTOR

enum { ULB_BLOCK = 8 * ULB_VECTOR_BYTES };

/* Prefetches for the line at p. near: distance in bytes into L1; far: into L2; 0: none. */
static inline __attribute__((always_inline)) void ulb_prefetch_line(const char *p, size_t near, size_t far)
{
    if (near)
        __builtin_prefetch(p + near, 0, 3);
    if (far)
        __builtin_prefetch(p + far, 0, 2);
}

/* Adds `turn` bytes of one stream, and prefetches. Each vector is added to its own sum, from `first`. */
static inline __attribute__((always_inline)) void ulb_add_turn(const char *p, size_t turn, size_t first,
                                                               size_t near, size_t far, ULB_VECTOR sums[8])
{
    for (size_t i = 0; i < turn / ULB_VECTOR_BYTES; i++)
        sums[(first + i) % 8] = vector_add(sums[(first + i) % 8], p + ULB_VECTOR_BYTES * i);
    if (near || far)
        ulb_prefetch_line(p, near, far);
}

/* Streams alternate after a line if they prefetch, otherwise after eight loads. Longer runs with prefetches
 * are slower. */
static inline __attribute__((always_inline)) uint64_t
ulb_read_streams(const void *data, size_t bytes, size_t streams, size_t near, size_t far)
{
    const size_t turn = near || far ? ULB_CACHE_LINE : ULB_BLOCK;
    const char *start[8];
    size_t length[8], common = bytes;
    ULB_VECTOR sums[8];
    for (int i = 0; i < 8; i++)
        sums[i] = vector_zero();
    for (size_t s = 0; s < streams; s++) {
        start[s] = (const char *)data + ulb_stream_start(bytes, streams, s);
        length[s] = ulb_stream_start(bytes, streams, s + 1) - ulb_stream_start(bytes, streams, s);
        common = length[s] < common ? length[s] : common;
    }
    common = common / ULB_BLOCK * ULB_BLOCK;
    for (size_t i = 0; i < common; i += turn) {
        ULB_UNROLL(8)
        for (size_t s = 0; s < streams; s++)
            ulb_add_turn(start[s] + i, turn, s * (turn / ULB_VECTOR_BYTES), near, far, sums);
    }
    for (size_t s = 0; s < streams; s++) {
        for (size_t i = common; i < length[s]; i += ULB_VECTOR_BYTES)
            sums[0] = vector_add(sums[0], start[s] + i);
    }
    return vector_total(sums);
}

#define ULB_READER(name, streams, near, far)                                                                 \
    static uint64_t name(const void *data, size_t bytes)                                                     \
    {                                                                                                        \
        return ulb_read_streams(data, bytes, streams, near, far);                                            \
    }

#endif
#endif
