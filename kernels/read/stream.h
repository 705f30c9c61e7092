/* Shared by the reader files: which streams and prefetches are tried as the yardstick.
 *
 * A reader walks its bytes in one or two address streams (the second starts half-way, moved by 1 KiB + 64 B
 * so that the two do not meet in the same L1 sets) and may prefetch one line per line read, DISTANCE bytes
 * ahead. All parameters are compile-time constants: a stream count known only at run time costs a fifth of
 * the bandwidth. */
#ifndef ULB_KERNELS_READ_STREAM_H
#define ULB_KERNELS_READ_STREAM_H

#define ULB_ROW_IS_READER
#include "kernels/row.h"

/* Offset of the second of two streams; both have then at least half - 2 KiB. Multiples of 64. */
static inline size_t ulb_second_stream(size_t bytes)
{
    size_t half = bytes / 2 & ~(size_t)4095;
    return bytes < 65536 ? half : half + 1024 + 64;
}

#endif
