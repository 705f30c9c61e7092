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

ULB_READER(one_stream, 1, -1, 0)
ULB_READER(two_streams, 2, -1, 0)
ULB_READER(one_stream_t0, 1, 3, 1024)
ULB_READER(two_streams_t0, 2, 3, 512)
ULB_READER(two_streams_t0_far, 2, 3, 1024)
ULB_READER(two_streams_t1, 2, 2, 512)
ULB_READER(two_streams_t1_far, 2, 2, 2048)
ULB_READER(four_streams_t0, 4, 3, 512)
ULB_READER(four_streams_t0_far, 4, 3, 1024)

static const struct ulb_reader readers[] = {
    {"avx2-1s", ULB_ROW_NEEDS, false, one_stream},
    {"avx2-2s", ULB_ROW_NEEDS, false, two_streams},
    {"avx2-1s-t0-1024", ULB_ROW_NEEDS, true, one_stream_t0},
    {"avx2-2s-t0-512", ULB_ROW_NEEDS, true, two_streams_t0},
    {"avx2-2s-t0-1024", ULB_ROW_NEEDS, true, two_streams_t0_far},
    {"avx2-2s-t1-512", ULB_ROW_NEEDS, true, two_streams_t1},
    {"avx2-2s-t1-2048", ULB_ROW_NEEDS, true, two_streams_t1_far},
    {"avx2-4s-t0-512", ULB_ROW_NEEDS, true, four_streams_t0},
    {"avx2-4s-t0-1024", ULB_ROW_NEEDS, true, four_streams_t0_far},
};

const struct ulb_reader_set ULB_ROW = {readers, sizeof readers / sizeof *readers};
