/* int1 without expansion: each bit stays where it is in its byte (see int2/mask_vnni256u.c).
 *
 * With T_j the sum of x over the set bits of field j: D_j = x.(w & 1 << j) = 2^j T_j for j < 7, raw = x.w,
 * and T_7 = (raw - D_0 - ... - D_6) / 128; a set bit is -1, so that the row's sum is sum(x) - 2 T. |raw| <=
 * 255 * 127 * K < 2^31 up to K = 65,536, and the differences are exact modulo 2^32. Per 256 weights: 7 and, 8
 * dp, 1 load, 1 broadcast: 15 operations on three ports are 0.63 cycle per 32 weights (the paper's
 * expansion: 2.3), which is also what 8 accumulators of latency 5 allow. Four address streams (quarters of K)
 * share the accumulators; one prefetch a line, 1 KiB ahead. */
#include "kernels/int1/format.h"
#include "kernels/row.h"
#include "kernels/x86/dp256.h"

enum { STEP_BYTES = 32, STREAMS = 4, FIELDS = 8, PREFETCH = 1024 };

static inline void step(const uint8_t *w, const int8_t *x, __m256i sums[FIELDS])
{
    __m256i packed = _mm256_loadu_si256((const __m256i *)w);
    __m256i four = ulb_broadcast4(x);
    for (int j = 0; j < FIELDS - 1; j++)
        ulb_dp256(&sums[j], _mm256_and_si256(packed, _mm256_set1_epi8((char)(1 << j))), four);
    ulb_dp256(&sums[FIELDS - 1], packed, four);
}

static inline void store_fields(__m256i sums[FIELDS], int32_t *dots)
{
    __m256i rest = sums[FIELDS - 1];
    for (int j = 0; j < FIELDS; j++) {
        __m256i field = j < FIELDS - 1 ? sums[j] : rest;
        rest = _mm256_sub_epi32(rest, field);
        /* -2 T: the caller adds sum(x). */
        __m256i twice = j == 0 ? _mm256_slli_epi32(field, 1) : _mm256_srai_epi32(field, j - 1);
        _mm256_storeu_si256((__m256i *)dots + j, _mm256_sub_epi32(_mm256_setzero_si256(), twice));
    }
}

static inline void tile(const uint8_t *w, const int8_t *x, size_t steps, int32_t *dots)
{
    __m256i sums[FIELDS];
    for (int j = 0; j < FIELDS; j++)
        sums[j] = _mm256_setzero_si256();
    size_t part = steps / STREAMS;
    for (size_t s = 0; s < part; s++) {
        for (size_t i = 0; i < STREAMS; i++) {
            const uint8_t *at = w + (i * part + s) * STEP_BYTES;
            step(at, x + (i * part + s) * 4, sums);
            _mm_prefetch((const char *)at + PREFETCH, _MM_HINT_T0);
        }
    }
    for (size_t s = STREAMS * part; s < steps; s++)
        step(w + s * STEP_BYTES, x + s * 4, sums);
    store_fields(sums, dots);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int1_fields, tile, -1);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int1_fields,
    .activation = ULB_ACT_A8,
    .mr = 64,
    .nr = 1,
    .kr = 4,
    .bytes_per_step = 4,
    .mix = {.loads = 0.125,
            .broadcasts = 0.125,
            .prefetches = 0.125,
            .logic = 0.875,
            .dot_products = 1,
            .vector_bits = 256,
            .chains = 8},
    .run = run,
};
