/* int1 by masks (see mask_vnni256u.c) on 512-bit vectors and 128-row tiles.
 *
 * Per 512 weights: 7 and, 8 dp, 1 load, 1 broadcast: 15 operations on two ports are 0.47 cycle per 32
 * weights. Two sets of 8 accumulators (even and odd streams) hide the latency. */
#include "kernels/int1/format.h"
#include "kernels/row.h"
#include "kernels/x86/dp512.h"

enum { STEP_BYTES = 64, STREAMS = 4, FIELDS = 8, PREFETCH = 1024 };

static inline void step(const uint8_t *w, const int8_t *x, __m512i sums[FIELDS])
{
    __m512i packed = _mm512_loadu_si512(w);
    __m512i four = ulb_broadcast4_512(x);
    for (int j = 0; j < FIELDS - 1; j++)
        ulb_dp512(&sums[j], _mm512_and_si512(packed, _mm512_set1_epi8((char)(1 << j))), four);
    ulb_dp512(&sums[FIELDS - 1], packed, four);
}

static inline void store_fields(__m512i sums[FIELDS], int32_t *dots)
{
    __m512i rest = sums[FIELDS - 1];
    for (unsigned j = 0; j < FIELDS; j++) {
        __m512i field = j < FIELDS - 1 ? sums[j] : rest;
        rest = _mm512_sub_epi32(rest, field);
        /* -2 T: the caller adds sum(x). */
        __m512i twice = j == 0 ? _mm512_slli_epi32(field, 1) : _mm512_srai_epi32(field, j - 1);
        _mm512_storeu_si512(dots + 16 * j, _mm512_sub_epi32(_mm512_setzero_si512(), twice));
    }
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m512i sums[2][FIELDS];
    for (int j = 0; j < FIELDS; j++)
        sums[0][j] = sums[1][j] = _mm512_setzero_si512();
    size_t part = steps / STREAMS;
    for (size_t s = 0; s < part; s++) {
        for (size_t i = 0; i < STREAMS; i++) {
            const uint8_t *at = w + (i * part + s) * STEP_BYTES;
            step(at, x + (i * part + s) * 4, sums[i % 2]);
            _mm_prefetch((const char *)at + PREFETCH, _MM_HINT_T0);
        }
    }
    for (size_t s = STREAMS * part; s < steps; s++)
        step(w + s * STEP_BYTES, x + s * 4, sums[0]);
    for (int j = 0; j < FIELDS; j++)
        sums[0][j] = _mm512_add_epi32(sums[0][j], sums[1][j]);
    store_fields(sums[0], dots);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int1_fields_128, tile, -1);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int1_fields_128,
    .activation = ULB_ACT_A8,
    .mr = 128,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 4,
    .mix = {.loads = 0.0625,
            .broadcasts = 0.0625,
            .prefetches = 0.0625,
            .logic = 0.4375,
            .dot_products = 0.5,
            .vector_bits = 512,
            .chains = 16},
    .run = run,
};
