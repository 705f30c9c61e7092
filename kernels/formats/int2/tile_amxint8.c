/* int2 on tiles without unpacking (see int2/mask.h for the sums, kernels/x86/amx/amx.h for the loop).
 *
 * |raw| <= 255 * 127 * K < 2^31 up to K = 65,536. Per 64 columns of 64 rows 48 and + store of a line, once
 * for all tokens. */
#include "kernels/formats/int2/format.h"
#include "kernels/x86/amx/amx.h"

enum { VECTORS = 1, FIELDS = 4, BITS = 2 };

static inline void separate(ulb_vec *sums)
{
    ulb_separate_fields(sums, FIELDS, BITS);
}

static const struct ulb_amx_cfg cfg = {.layout = &ulb_int2_tiles,
                                       .vectors = VECTORS,
                                       .fields = FIELDS,
                                       .bits = BITS,
                                       .zero_point = ULB_INT2_ZERO_POINT,
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
    .layout = &ulb_int2_tiles,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_TILE_ROWS,
    .nr = ULB_AMX_GROUP,
    .kr = ULB_AMX_SLICES * ULB_TILE_COLUMNS,
    .bytes_per_step = 4 * BITS,
    .run = run,
};
