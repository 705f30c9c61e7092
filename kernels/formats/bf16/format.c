#include "kernels/formats/bf16/format.h"

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

static unsigned pairs(unsigned row, unsigned col)
{
    return (row * ULB_BF16_PAIRS_COLUMNS + col) * 16;
}

const struct ulb_layout ulb_bf16_rows = {.name = "rows",
                                         .format = &ulb_bf16,
                                         .tile_m = 1,
                                         .tile_k = 1,
                                         .kind = ULB_LAYOUT_FIELDS,
                                         .fields = {.bit_offset = row_major}};
const struct ulb_layout ulb_bf16_vnni2 = {.name = "vnni2",
                                          .format = &ulb_bf16,
                                          .tile_m = 32,
                                          .tile_k = 2,
                                          .kind = ULB_LAYOUT_FIELDS,
                                          .fields = {.bit_offset = vnni2}};
const struct ulb_layout ulb_bf16_vnni2_128 = {.name = "vnni2-128",
                                              .format = &ulb_bf16,
                                              .tile_m = 128,
                                              .tile_k = 2,
                                              .kind = ULB_LAYOUT_FIELDS,
                                              .fields = {.bit_offset = vnni2}};

#define PAIRS(rows)                                                                                          \
    const struct ulb_layout ulb_bf16_pairs_##rows = {.name = "pairs-" #rows,                                 \
                                                     .format = &ulb_bf16,                                    \
                                                     .tile_m = rows,                                         \
                                                     .tile_k = ULB_BF16_PAIRS_COLUMNS,                       \
                                                     .slice_tiles = ULB_BF16_PAIRS_STEPS,                    \
                                                     .kind = ULB_LAYOUT_FIELDS,                              \
                                                     .fields = {.bit_offset = pairs}}
PAIRS(8);
PAIRS(32);
