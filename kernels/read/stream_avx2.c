/* 256-bit readers. Per 256 bytes: 8 loads folded into 8 additions, each with its own sum. */
#include "kernels/read/stream.h"

#include <immintrin.h>

enum { VECTOR = 32, BLOCK = 256 };

static inline __attribute__((always_inline)) void add_block(const char *p, __m256i sums[8])
{
    for (int i = 0; i < 8; i++)
        sums[i] = _mm256_add_epi64(sums[i], _mm256_loadu_si256((const __m256i *)(p + VECTOR * i)));
}

/* The hint must be a literal for the compiler, hence one function each. */
static inline void prefetch_t0(const char *p, size_t distance)
{
    for (size_t line = 0; line < BLOCK; line += 64)
        _mm_prefetch(p + distance + line, _MM_HINT_T0);
}

static inline void prefetch_t1(const char *p, size_t distance)
{
    for (size_t line = 0; line < BLOCK; line += 64)
        _mm_prefetch(p + distance + line, _MM_HINT_T1);
}

static inline void prefetch_none(const char *p, size_t distance)
{
    (void)p;
    (void)distance;
}

typedef void prefetch_fn(const char *p, size_t distance);

static inline __attribute__((always_inline)) uint64_t
read_streams(const void *data, size_t bytes, int streams, prefetch_fn *prefetch, size_t distance)
{
    const char *first = data;
    size_t length = streams == 2 ? ulb_second_stream(bytes) : bytes;
    const char *second = first + length;
    size_t second_length = bytes - length;
    __m256i sums[8];
    for (int i = 0; i < 8; i++)
        sums[i] = _mm256_setzero_si256();
    size_t common = streams == 2 ? (second_length < length ? second_length : length) / BLOCK * BLOCK : 0;
    size_t i = 0;
    for (; i < common; i += BLOCK) {
        add_block(first + i, sums);
        prefetch(first + i, distance);
        add_block(second + i, sums);
        prefetch(second + i, distance);
    }
    for (; i + BLOCK <= length; i += BLOCK) {
        add_block(first + i, sums);
        prefetch(first + i, distance);
    }
    for (; i + VECTOR <= length; i += VECTOR)
        sums[0] = _mm256_add_epi64(sums[0], _mm256_loadu_si256((const __m256i *)(first + i)));
    for (i = common; i + VECTOR <= second_length; i += VECTOR)
        sums[0] = _mm256_add_epi64(sums[0], _mm256_loadu_si256((const __m256i *)(second + i)));
    for (int j = 1; j < 8; j++)
        sums[0] = _mm256_add_epi64(sums[0], sums[j]);
    uint64_t words[4];
    _mm256_storeu_si256((__m256i *)words, sums[0]);
    return words[0] + words[1] + words[2] + words[3];
}

#define READER(name, streams, prefetch, distance)                                                            \
    static uint64_t name(const void *data, size_t bytes)                                                     \
    {                                                                                                        \
        return read_streams(data, bytes, streams, prefetch, distance);                                       \
    }

READER(one_stream, 1, prefetch_none, 0)
READER(two_streams, 2, prefetch_none, 0)
READER(one_stream_t0, 1, prefetch_t0, 1024)
READER(two_streams_t0, 2, prefetch_t0, 512)
READER(two_streams_t0_far, 2, prefetch_t0, 1024)
READER(two_streams_t1, 2, prefetch_t1, 512)
READER(two_streams_t1_far, 2, prefetch_t1, 2048)

static const struct ulb_reader readers[] = {
    {"avx2-1s", ULB_ROW_NEEDS, false, one_stream},
    {"avx2-2s", ULB_ROW_NEEDS, false, two_streams},
    {"avx2-1s-t0-1024", ULB_ROW_NEEDS, true, one_stream_t0},
    {"avx2-2s-t0-512", ULB_ROW_NEEDS, true, two_streams_t0},
    {"avx2-2s-t0-1024", ULB_ROW_NEEDS, true, two_streams_t0_far},
    {"avx2-2s-t1-512", ULB_ROW_NEEDS, true, two_streams_t1},
    {"avx2-2s-t1-2048", ULB_ROW_NEEDS, true, two_streams_t1_far},
};

const struct ulb_reader_set ULB_ROW = {readers, sizeof readers / sizeof *readers};
