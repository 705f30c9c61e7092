/* int1 on tiles without expansion (see int1/mask_vnniu.c for the sums, kernels/x86/amx/amx.h for the loop).
 *
 * |raw| <= 255 * 127 * K < 2^31 up to K = 65,536. Per 64 columns of 128 rows 112 and + store of a line, once
 * for all tokens. */
#include "kernels/formats/int1/format.h"
#include "kernels/x86/amx/amx.h"

enum { VECTORS = 1, FIELDS = 8, BITS = 1 };

static inline void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, FIELDS, BITS);
    /* -2 T: the correction adds sum(x). */
#pragma GCC unroll 8
    for (int j = 0; j < FIELDS; j++)
        sums[j] = ulb_sub32(ulb_zero(), ulb_add32(sums[j], sums[j]));
}

static const struct ulb_amx_cfg cfg = {.layout = &ulb_int1_tiles,
                                       .vectors = VECTORS,
                                       .fields = FIELDS,
                                       .bits = BITS,
                                       .zero_point = -1,
                                       .separate = separate};

static void run(const struct ulb_gemm *g)
{
    _Alignas(64) uint8_t masked[ULB_AMX_MASKED];
    ulb_run_amx(&cfg, g, masked);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "tile",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &ulb_int1_tiles,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_TILE_ROWS,
    .nr = ULB_AMX_GROUP,
    .kr = ULB_AMX_SLICES * ULB_TILE_COLUMNS,
    .bytes_per_step = 4 * BITS,
    .run = run,
};
