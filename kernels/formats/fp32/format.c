#include "kernels/formats/fp32/format.h"

const struct ulb_format ulb_fp32 = {.name = "fp32",
                                    .summary = "IEEE single precision, the unquantised baseline",
                                    .bits = 32,
                                    .floating = true,
                                    .kind = ULB_FP32,
                                    .on_request = true};

/* One column after the other. */
static unsigned by_columns(unsigned row, unsigned col)
{
    (void)col;
    return row * 32;
}

const struct ulb_layout ulb_fp32_rows = {.name = "rows",
                                         .format = &ulb_fp32,
                                         .tile_m = 1,
                                         .tile_k = 1,
                                         .kind = ULB_LAYOUT_FIELDS,
                                         .fields = {.bit_offset = by_columns}};
const struct ulb_layout ulb_fp32_columns_64 = {.name = "columns-64",
                                               .format = &ulb_fp32,
                                               .tile_m = 64,
                                               .tile_k = 1,
                                               .slices = 4,
                                               .kind = ULB_LAYOUT_FIELDS,
                                               .fields = {.bit_offset = by_columns}};
const struct ulb_layout ulb_fp32_columns_128 = {.name = "columns-128",
                                                .format = &ulb_fp32,
                                                .tile_m = 128,
                                                .tile_k = 1,
                                                .slices = 2,
                                                .kind = ULB_LAYOUT_FIELDS,
                                                .fields = {.bit_offset = by_columns}};
