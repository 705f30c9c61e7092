#include "kernels/formats/fp16/format.h"

const struct ulb_format ulb_fp16 = {.name = "fp16",
                                    .summary = "IEEE half precision",
                                    .bits = 16,
                                    .floating = true,
                                    .kind = ULB_FP16,
                                    .on_request = true};

/* One column after the other. */
static unsigned by_columns(unsigned row, unsigned col)
{
    (void)col;
    return row * 16;
}

const struct ulb_layout ulb_fp16_rows = {.name = "rows",
                                         .format = &ulb_fp16,
                                         .tile_m = 1,
                                         .tile_k = 1,
                                         .kind = ULB_LAYOUT_FIELDS,
                                         .fields = {.bit_offset = by_columns}};
const struct ulb_layout ulb_fp16_columns_64 = {.name = "columns-64",
                                               .format = &ulb_fp16,
                                               .tile_m = 64,
                                               .tile_k = 1,
                                               .slices = 4,
                                               .kind = ULB_LAYOUT_FIELDS,
                                               .fields = {.bit_offset = by_columns}};
const struct ulb_layout ulb_fp16_columns_128 = {.name = "columns-128",
                                                .format = &ulb_fp16,
                                                .tile_m = 128,
                                                .tile_k = 1,
                                                .slices = 2,
                                                .kind = ULB_LAYOUT_FIELDS,
                                                .fields = {.bit_offset = by_columns}};
