/* int4 without VNNI: vpmaddubsw into 16-bit sums.
 *
 * A pair adds at most 2 * 15 * 127 = 3,810, so 8 steps (30,480) fit 16 bits: two of each slice; then vpmaddwd
 * by ones widens them. Registers: 3 vectors of 2 fields: 6 word sums; 32-bit sums wait in memory. Ports: per
 * vector and, shift, and, 2 maddubs, 2 add, and 4 of widening per 8: 7.5 operations on three ports are 1.25
 * cycles per 32 weights. */
#include "kernels/int4/format.h"
#include "kernels/row.h"
#include "kernels/x86/vec.h"

enum {
    VECTORS = 3,
    FIELDS = 2,
    SUMS = VECTORS * FIELDS,
    SLICES = 4,
    STEP_BYTES = VECTORS * ULB_VEC_BYTES,
    VISIT = 2, /* steps of a slice in turn */
    PREFETCH = 1024
};

/* words += products of one vector's two fields. One statement, so that words stay in registers. */
static inline void add_vector(const uint8_t *w, ulb_vec x, ulb_vec words[FIELDS])
{
    ulb_vec low, high;
    __asm__("vmovdqu %[w], %[low]\n\t"
            "vpsrlw $4, %[low], %[high]\n\t"
            "vpand %[nibble], %[low], %[low]\n\t"
            "vpand %[nibble], %[high], %[high]\n\t"
            "vpmaddubsw %[x], %[low], %[low]\n\t"
            "vpmaddubsw %[x], %[high], %[high]\n\t"
            "vpaddw %[low], %[w0], %[w0]\n\t"
            "vpaddw %[high], %[w1], %[w1]"
            : [w0] "+x"(words[0]), [w1] "+x"(words[1]), [low] "=&x"(low), [high] "=&x"(high)
            : [w] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])w), [x] "x"(x), [nibble] "x"(ulb_all8(0x0F)));
}

static inline __attribute__((always_inline)) void step(const uint8_t *w, const int8_t *x4,
                                                       ulb_vec words[SUMS])
{
    ulb_vec x = ulb_broadcast4(x4);
#pragma GCC unroll 4
    for (int i = 0; i < VECTORS; i++)
        add_vector(w + i * ULB_VEC_BYTES, x, words + FIELDS * i);
}

/* Adds steps [s, end) of every slice, at most VISIT of them. */
static inline __attribute__((always_inline)) void visit(const struct ulb_tiles *tiles, size_t s, size_t end,
                                                        ulb_vec sums[SUMS])
{
    ulb_vec words[SUMS];
#pragma GCC unroll 8
    for (int i = 0; i < SUMS; i++)
        words[i] = ulb_zero();
#pragma GCC unroll 4
    for (size_t i = 0; i < SLICES; i++) {
        const uint8_t *w = tiles->w + i * tiles->slice_bytes;
        const int8_t *x = tiles->x + i * tiles->steps * 4;
#pragma GCC unroll 2
        for (size_t at = s; at < end; at++)
            step(w + at * STEP_BYTES, x + at * 4, words);
#pragma GCC unroll 3
        for (size_t line = 0; line < VISIT * STEP_BYTES; line += 64)
            _mm_prefetch((const char *)w + s * STEP_BYTES + PREFETCH + line, _MM_HINT_T0);
    }
#pragma GCC unroll 8
    for (int i = 0; i < SUMS; i++)
        sums[i] = ulb_add32(sums[i], _mm256_madd_epi16(words[i], _mm256_set1_epi16(1)));
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[SUMS];
    size_t s = 0;
    for (int i = 0; i < SUMS; i++)
        sums[i] = ulb_zero();
    for (; s + VISIT <= tiles->steps; s += VISIT)
        visit(tiles, s, s + VISIT, sums);
    if (s < tiles->steps)
        visit(tiles, s, tiles->steps, sums);
    ulb_store_all(dots, sums, SUMS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &ulb_int4_vnni4i, SUMS * ULB_LANES, tile, ULB_INT4_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maddubs",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int4_vnni4i,
    .activation = ULB_ACT_A8,
    .mr = SUMS * ULB_LANES,
    .nr = 1,
    .kr = 4 * SLICES,
    .bytes_per_step = 16,
    .mix = {.loads = 0.5,
            .broadcasts = 0.5 / VECTORS,
            .prefetches = 0.25,
            .logic = 1,
            .shifts = 0.5,
            .maddubs = 1,
            .madds = 0.125,
            .adds = 1.125,
            .vector_bits = 256},
    .run = run,
};
