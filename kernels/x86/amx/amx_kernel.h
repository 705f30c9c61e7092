/* Defines the kernel of fields of bytes on AMX tiles: its run function and its struct ulb_kernel. A file
 * includes this header at its end. The file defines a function separate() and these constants: LAYOUT,
 * VECTORS, FIELDS, BITS and ZERO_POINT as in struct ulb_amx_cfg, and PANELS of a register tile. */
#ifndef ULB_KERNELS_X86_AMX_AMX_KERNEL_H
#define ULB_KERNELS_X86_AMX_AMX_KERNEL_H

#include "kernels/x86/amx/amx.h"

static const struct ulb_amx_cfg cfg = {.layout = &LAYOUT,
                                       .vectors = VECTORS,
                                       .fields = FIELDS,
                                       .bits = BITS,
                                       .zero_point = ZERO_POINT,
                                       .separate = separate};

static void run(const struct ulb_gemm *g)
{
    _Alignas(64) uint8_t masked[ULB_AMX_MASKED];
    ulb_run_amx(&cfg, g, FIELDS > 1 ? masked : NULL);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "tile",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = PANELS * VECTORS * FIELDS * ULB_TILE_ROWS,
    .nr = ULB_AMX_GROUP,
    .kr = ULB_AMX_SLICES * ULB_TILE_COLUMNS,
    .bytes_per_step = 4 * BITS,
    .run = run,
};

#endif
