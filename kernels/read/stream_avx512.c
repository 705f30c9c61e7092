/* 512-bit readers: per 512 bytes 8 loads folded into 8 additions. Fewer variants than at 256 bits, because
 * beyond L1 the width hardly matters. */
#include "kernels/read/stream.h"

#include <immintrin.h>

enum { VECTOR = 64, BLOCK = 512 };

static inline __attribute__((always_inline)) void add_block(const char *p, int prefetch, __m512i sums[8])
{
    for (int i = 0; i < 8; i++) {
        sums[i] = _mm512_add_epi64(sums[i], _mm512_loadu_si512(p + VECTOR * i));
        if (prefetch)
            _mm_prefetch(p + 1024 + VECTOR * i, _MM_HINT_T0);
    }
}

static inline __attribute__((always_inline)) uint64_t read_streams(const void *data, size_t bytes,
                                                                   int streams, int prefetch)
{
    const char *first = data;
    size_t length = streams == 2 ? ulb_second_stream(bytes) : bytes;
    const char *second = first + length;
    size_t second_length = bytes - length;
    __m512i sums[8];
    for (int i = 0; i < 8; i++)
        sums[i] = _mm512_setzero_si512();
    size_t common = streams == 2 ? (second_length < length ? second_length : length) / BLOCK * BLOCK : 0;
    size_t i = 0;
    for (; i < common; i += BLOCK) {
        add_block(first + i, prefetch, sums);
        add_block(second + i, prefetch, sums);
    }
    for (; i + BLOCK <= length; i += BLOCK)
        add_block(first + i, prefetch, sums);
    for (; i < length; i += VECTOR)
        sums[0] = _mm512_add_epi64(sums[0], _mm512_loadu_si512(first + i));
    for (i = common; i < second_length; i += VECTOR)
        sums[0] = _mm512_add_epi64(sums[0], _mm512_loadu_si512(second + i));
    for (int j = 1; j < 8; j++)
        sums[0] = _mm512_add_epi64(sums[0], sums[j]);
    uint64_t words[8];
    _mm512_storeu_si512(words, sums[0]);
    return words[0] + words[1] + words[2] + words[3] + words[4] + words[5] + words[6] + words[7];
}

static uint64_t one_stream(const void *data, size_t bytes)
{
    return read_streams(data, bytes, 1, 0);
}

static uint64_t two_streams(const void *data, size_t bytes)
{
    return read_streams(data, bytes, 2, 0);
}

static uint64_t two_streams_t0(const void *data, size_t bytes)
{
    return read_streams(data, bytes, 2, 1);
}

static const struct ulb_reader readers[] = {
    {"avx512-1s", ULB_ROW_NEEDS, false, one_stream},
    {"avx512-2s", ULB_ROW_NEEDS, false, two_streams},
    {"avx512-2s-t0-1024", ULB_ROW_NEEDS, true, two_streams_t0},
};

const struct ulb_reader_set ULB_ROW = {readers, sizeof readers / sizeof *readers};
