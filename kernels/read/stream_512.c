/* 512-bit readers. */
#include <immintrin.h>
#include <stdint.h>

#define ULB_VECTOR       __m512i
#define ULB_VECTOR_BYTES 64

static inline __m512i vector_zero(void)
{
    return _mm512_setzero_si512();
}

static inline __m512i vector_add(__m512i sum, const char *p)
{
    return _mm512_add_epi64(sum, _mm512_loadu_si512(p));
}

static inline uint64_t vector_total(__m512i sums[8])
{
    for (int i = 1; i < 8; i++)
        sums[0] = _mm512_add_epi64(sums[0], sums[i]);
    uint64_t lanes[8],
        total = 0; /* _mm512_reduce_add_epi64 adds signed numbers, whose overflow is undefined */
    _mm512_storeu_si512(lanes, sums[0]);
    for (int i = 0; i < 8; i++)
        total += lanes[i];
    return total;
}

#include "kernels/read/stream.h"

ULB_READER(one_stream, 1, 0, 0)
ULB_READER(two_streams, 2, 0, 0)
ULB_READER(two_streams_near, 2, 1024, 0)
ULB_READER(two_streams_both, 2, 512, 4096)
ULB_READER(two_streams_farther, 2, 2048, 4096)
ULB_READER(four_streams_nearer, 4, 512, 0)
ULB_READER(four_streams_near, 4, 1024, 0)
ULB_READER(four_streams_both, 4, 1024, 4096)
ULB_READER(eight_streams_both, 8, 1024, 4096)

static const struct ulb_reader readers[] = {
    {"avx512-1s", ULB_KERNEL_NEEDS, false, one_stream},
    {"avx512-2s", ULB_KERNEL_NEEDS, false, two_streams},
    {"avx512-2s-t0-1024", ULB_KERNEL_NEEDS, true, two_streams_near},
    {"avx512-2s-t0-512-t1-4096", ULB_KERNEL_NEEDS, true, two_streams_both},
    {"avx512-2s-t0-2048-t1-4096", ULB_KERNEL_NEEDS, true, two_streams_farther},
    {"avx512-4s-t0-512", ULB_KERNEL_NEEDS, true, four_streams_nearer},
    {"avx512-4s-t0-1024", ULB_KERNEL_NEEDS, true, four_streams_near},
    {"avx512-4s-t0-1024-t1-4096", ULB_KERNEL_NEEDS, true, four_streams_both},
    {"avx512-8s-t0-1024-t1-4096", ULB_KERNEL_NEEDS, true, eight_streams_both},
};

const struct ulb_reader_set ULB_KERNEL = {readers, sizeof readers / sizeof *readers};
