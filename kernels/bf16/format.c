#include "kernels/bf16/format.h"

const struct ulb_format ulb_bf16 = {.name = "bf16",
                                    .summary = "bfloat16, the 16-bit baseline",
                                    .bits = 16,
                                    .floating = true,
                                    .kind = ULB_BF16};

static unsigned row_major(unsigned row, unsigned col)
{
    return (row + col) * 16;
}

static unsigned vnni2(unsigned row, unsigned col)
{
    return (row * 2 + col) * 16;
}

const struct ulb_layout ulb_bf16_rows = {
    .name = "rows", .format = &ulb_bf16, .tile_m = 1, .tile_k = 1, .bit_offset = row_major};
const struct ulb_layout ulb_bf16_vnni2 = {
    .name = "vnni2", .format = &ulb_bf16, .tile_m = 32, .tile_k = 2, .bit_offset = vnni2};
