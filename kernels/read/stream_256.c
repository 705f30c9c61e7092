/* 256-bit readers. */
#include <immintrin.h>
#include <stdint.h>

#define ULB_VECTOR       __m256i
#define ULB_VECTOR_BYTES 32

static inline __m256i vector_zero(void)
{
    return _mm256_setzero_si256();
}

static inline __m256i vector_add(__m256i sum, const char *p)
{
    return _mm256_add_epi64(sum, _mm256_loadu_si256((const __m256i *)p));
}

static inline uint64_t vector_total(__m256i sums[8])
{
    uint64_t words[4];
    for (int i = 1; i < 8; i++)
        sums[0] = _mm256_add_epi64(sums[0], sums[i]);
    _mm256_storeu_si256((__m256i *)words, sums[0]);
    return words[0] + words[1] + words[2] + words[3];
}

#include "kernels/read/stream.h"

ULB_READER(one_stream, 1, 0, 0)
ULB_READER(two_streams, 2, 0, 0)
ULB_READER(two_streams_near, 2, 1024, 0)
ULB_READER(two_streams_far, 2, 0, 2048)
ULB_READER(two_streams_both, 2, 512, 4096)
ULB_READER(two_streams_farther, 2, 2048, 4096)
ULB_READER(four_streams_nearer, 4, 512, 0)
ULB_READER(four_streams_near, 4, 1024, 0)
ULB_READER(four_streams_both, 4, 1024, 4096)
ULB_READER(eight_streams_both, 8, 1024, 4096)

static const struct ulb_reader readers[] = {
    {"avx2-1s", ULB_KERNEL_NEEDS, false, one_stream},
    {"avx2-2s", ULB_KERNEL_NEEDS, false, two_streams},
    {"avx2-2s-t0-1024", ULB_KERNEL_NEEDS, true, two_streams_near},
    {"avx2-2s-t1-2048", ULB_KERNEL_NEEDS, true, two_streams_far},
    {"avx2-2s-t0-512-t1-4096", ULB_KERNEL_NEEDS, true, two_streams_both},
    {"avx2-2s-t0-2048-t1-4096", ULB_KERNEL_NEEDS, true, two_streams_farther},
    {"avx2-4s-t0-512", ULB_KERNEL_NEEDS, true, four_streams_nearer},
    {"avx2-4s-t0-1024", ULB_KERNEL_NEEDS, true, four_streams_near},
    {"avx2-4s-t0-1024-t1-4096", ULB_KERNEL_NEEDS, true, four_streams_both},
    {"avx2-8s-t0-1024-t1-4096", ULB_KERNEL_NEEDS, true, eight_streams_both},
};

const struct ulb_reader_set ULB_KERNEL = {readers, sizeof readers / sizeof *readers};
