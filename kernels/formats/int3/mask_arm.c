/* int3 without unpacking. The three bytes of kernels/formats/int3/mask.c are stored ^ 0x80 (see
 * kernels/arm/gemv/fields.h), so that the sum of a whole byte is 128 * sum(x) too small.
 *
 * Registers: 10 accumulators for each of two slices, three masks, three vectors of bytes. */
#include "kernels/formats/int3/format.h"

#define PLANES      10
#define BYTE_PLANES 3
#define VECTORS(X)  X(0)
#define SUMS(X)     X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)

#define MASKS ULB_KEEP(0x07) ULB_KEEP(0x38) ULB_KEEP(0x40)
/* Two codes and the byte itself. */
#define PAIR(set, n0, n1, n2, w, q)                                                                          \
    {                                                                                                        \
        const ulb_bytes packed = ULB_VECTOR_AT(0, w);                                                        \
        ULB_FIELD(set, n0, 0x07, q)                                                                          \
        ULB_FIELD(set, n1, 0x38, q)                                                                          \
        ULB_DOT(set, n2, packed, q);                                                                         \
    }
#define STEP(set, w, q)                                                                                      \
    PAIR(set, 0, 1, 2, w, q)                                                                                 \
    PAIR(set, 3, 4, 5, (w) + plane, q)                                                                       \
    {                                                                                                        \
        const ulb_bytes packed = ULB_VECTOR_AT(0, (w) + 2 * plane);                                          \
        ULB_FIELD(set, 6, 0x07, q)                                                                           \
        ULB_FIELD(set, 7, 0x38, q)                                                                           \
        ULB_FIELD(set, 8, 0x40, q)                                                                           \
        ULB_DOT(set, 9, packed, q);                                                                          \
    }

#include "kernels/arm/gemv/k_slices.h"

enum {
    FIELDS = ULB_INT3_FIELDS,
    ROWS = ULB_BY_ISA(ULB_SDOT_ROWS_SHORT, ULB_SDOT_ROWS_LONG),
    LANES = ROWS / FIELDS
};

#define LAYOUT ULB_SDOT_OF(ulb_int3)

/* What a whole byte's sum has above its two codes, 64 times too large. */
static inline int32_t above(int32_t whole, int32_t x_sum, int32_t low, int32_t high)
{
    return (int32_t)((uint32_t)whole + 128 * (uint32_t)x_sum - (uint32_t)low - (uint32_t)high);
}

static inline __attribute__((always_inline)) void dots_of(const int32_t *sums, int32_t x_sum, int32_t *dots)
{
    for (size_t lane = 0; lane < LANES; lane++) {
        int32_t d[PLANES];
        for (size_t i = 0; i < PLANES; i++)
            d[i] = sums[i * LANES + lane];
        for (size_t i = 0; i < 3; i++) {
            dots[2 * i * LANES + lane] = d[3 * i];
            dots[(2 * i + 1) * LANES + lane] = d[3 * i + 1] >> 3;
        }
        int32_t high7 = above(d[9], x_sum, d[6], d[7]) - d[8];
        dots[6 * LANES + lane] = (above(d[2], x_sum, d[0], d[1]) >> 6) + (d[8] >> 6) * 4;
        dots[7 * LANES + lane] = (above(d[5], x_sum, d[3], d[4]) >> 6) + (high7 >> 7) * 4;
    }
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_sdot_tiles(g, &LAYOUT, ROWS, LANES, dots_of, ULB_INT3_ZERO_POINT);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = ROWS,
    .nr = 1,
    .kr = ULB_SDOT_GRAIN,
    .bytes_per_step = 12,
    .mix = {ULB_SDOT_LOADS(3, 32), .logic = 1.75, .dot_products = 2.5, .vector_bits = 128,
            .chains = PLANES * ULB_SDOT_SLICES},
    .run = run,
};
