/* Exact sums over bits by table look-up. It needs no multiplication and no instruction that some cores lack.
 *
 * A table of 16 entries for four columns holds v = 512 + (sum of x over the set bits), which is 4 to 1020. It
 * is stored as v & 31 and v >> 5, so that one byte shuffle each looks up a row of 4 bits in every byte. A
 * weight byte holds two such nibbles. The low nibbles of 32 bytes are sums 0-31 of a tile, the high nibbles
 * sums 32-63. Bytes hold eight look-ups. low + 32 high then goes to 16 bits, which hold 64 look-ups, then to
 * 32 bits.
 * `8 * 31 = 248 < 2^8`; `64 * 1020 = 65,280 < 2^16`.
 * A tile's columns are read as four address streams, quarters of a K-block, which alternate after eight
 * look-ups. Tables take 8 bytes per column. A K-block has up to 4096 columns (kernels/lut.h), whose tables
 * stay in L1. */
#ifndef ULB_KERNELS_CODES_LUT4_H
#define ULB_KERNELS_CODES_LUT4_H

#include "kernels/lut.h"

enum {
    ULB_NIBBLE_PREFETCH = 1280, /* bytes ahead in each slice, into L1 */
    ULB_NIBBLE_SUMS = 64,       /* of a tile */
    ULB_NIBBLE_STEP =
        32, /* bytes of four columns of a tile, and of their table: 16 low parts, 16 high parts */
    ULB_NIBBLE_ORIGIN = 512
};

/* Bytes hold 8 look-ups, words 8 such bursts. */
enum { ULB_NIBBLE_BURST = 8 };

#if defined(__x86_64__)
#include "kernels/x86/gemv/lut4.h"
#else
#include "kernels/arm/gemv/lut4.h"
#endif

/* Entry n: the sum over the set bits of n. */
static inline int32_t ulb_nibble_build_bits(const int8_t *x, size_t steps, uint8_t *tables)
{
    static const uint8_t bits[64] = {0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 1,
                                     1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0,
                                     1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    return ulb_nibble_build(bits, 4, x, steps, tables);
}

/* The kernel of a file: rows of a tile, columns of a step, bits of a weight, build() of struct ulb_lut_cfg
 * and dots_of_sums() of the sums of v. */
#define ULB_NIBBLE_KERNEL(layout_, rows_, columns_, bits, zero_point_, build_, dots_of_sums_)                \
    static const struct ulb_lut_cfg cfg = {                                                                  \
        .layout = &(layout_),                                                                                \
        .rows = (rows_),                                                                                     \
        .sums = ULB_NIBBLE_SUMS,                                                                             \
        .columns = (columns_),                                                                               \
        .slices = ULB_TABLE_SLICES,                                                                          \
        .step_bytes = ULB_NIBBLE_STEP,                                                                       \
        .table_bytes = ULB_NIBBLE_STEP,                                                                      \
        .zero_point = (zero_point_),                                                                         \
        .build = (build_),                                                                                   \
        .sum = ulb_nibble_sum,                                                                               \
        .dots_of_sums = (dots_of_sums_),                                                                     \
    };                                                                                                       \
    static void run(const struct ulb_gemm *g)                                                                \
    {                                                                                                        \
        ulb_run_tables(g, &cfg);                                                                             \
    }                                                                                                        \
    const struct ulb_kernel ULB_KERNEL = {                                                                   \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "table",                                                                                  \
        .isa = ULB_KERNEL_ISA,                                                                               \
        .needs = ULB_KERNEL_NEEDS,                                                                           \
        .layout = &(layout_),                                                                                \
        .activation = ULB_ACT_A8,                                                                            \
        .mr = (rows_),                                                                                       \
        .nr = 1,                                                                                             \
        .kr = (columns_)*ULB_TABLE_SLICES,                                                                   \
        .bytes_per_step = 4 * (bits),                                                                        \
        .mix = ULB_NIBBLE_MIX(bits),                                                                         \
        .uses_lut = true,                                                                                    \
        .prefetch = {.kind = ULB_NIBBLE_PREFETCH_KIND},                                                      \
        .run = run,                                                                                          \
    };

#endif
