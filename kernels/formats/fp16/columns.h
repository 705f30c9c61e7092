/* The layouts of floating weights without scales, which fp16 and fp32 share. */
#ifndef ULB_KERNELS_FORMATS_FP16_COLUMNS_H
#define ULB_KERNELS_FORMATS_FP16_COLUMNS_H

#include "kernels/kernel.h"

/* rows: row-major. columns_64: `[M/64][K][m64]` in four slices of K. columns_128: the same for 512-bit
 * vectors, with 128 rows, in two slices. */
#define ULB_COLUMNS_DECLARE(of)                                                                              \
    extern const struct ulb_layout ulb_##of##_rows, ulb_##of##_columns_64, ulb_##of##_columns_128

#define ULB_COLUMNS_LAYOUT(of, suffix, layout_name, rows, n_slices)                                          \
    const struct ulb_layout ulb_##of##_##suffix = {.name = (layout_name),                                    \
                                                   .format = &ulb_##of,                                      \
                                                   .tile_m = (rows),                                         \
                                                   .tile_k = 1,                                              \
                                                   .slices = (n_slices),                                     \
                                                   .kind = ULB_LAYOUT_FIELDS,                                \
                                                   .fields = {.bit_offset = one_column}}

/* All of them, of numbers of this many bits; defines one_column() of its file. */
#define ULB_COLUMNS_LAYOUTS(of, bits)                                                                        \
    static unsigned one_column(unsigned row, unsigned col)                                                   \
    {                                                                                                        \
        (void)col;                                                                                           \
        return row * (bits);                                                                                 \
    }                                                                                                        \
    ULB_COLUMNS_LAYOUT(of, rows, "rows", 1, 1);                                                              \
    ULB_COLUMNS_LAYOUT(of, columns_64, "columns-64", 64, 4);                                                 \
    ULB_COLUMNS_LAYOUT(of, columns_128, "columns-128", 128, 2)

#endif
