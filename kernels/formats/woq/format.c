#include "kernels/formats/woq/format.h"

/* 8-bit codes are bytes in the order of rows. 4-bit codes share a byte with the next vector of rows. */
static unsigned plane(unsigned bits, unsigned lanes, unsigned row, unsigned col)
{
    unsigned fields = 8 / bits, vector = row / (lanes * fields), field = row / lanes % fields;
    return ((vector * lanes + row % lanes) * 4 + col) * 8 + field * bits;
}

static unsigned row_8(unsigned row, unsigned col)
{
    return (row + col) * 8;
}

static unsigned row_4(unsigned row, unsigned col)
{
    return row * 8 + col * 4;
}

static unsigned plane_8_64(unsigned row, unsigned col)
{
    return plane(8, 8, row, col);
}

static unsigned plane_4_64(unsigned row, unsigned col)
{
    return plane(4, 8, row, col);
}

static unsigned plane_8_128(unsigned row, unsigned col)
{
    return plane(8, 16, row, col);
}

static unsigned plane_4_128(unsigned row, unsigned col)
{
    return plane(4, 16, row, col);
}

#define LAYOUT(of, which, words, rows, columns, count, bits, sums)                                           \
    const struct ulb_layout ulb_##of##_##which = {                                                           \
        .name = words,                                                                                       \
        .format = &ulb_##of,                                                                                 \
        .tile_m = rows,                                                                                      \
        .tile_k = columns,                                                                                   \
        .slices = count,                                                                                     \
        .row_sums = sums,                                                                                    \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = BIT_OFFSET_##which(bits), .encode = of##_encode, .decode = of##_decode}};
#define BIT_OFFSET_rows(bits)      row_##bits
#define BIT_OFFSET_plane_64(bits)  plane_##bits##_64
#define BIT_OFFSET_plane_128(bits) plane_##bits##_128

#define WITH_0 ""
#define WITH_1 " and zero point"
#define FORMAT(of, bits_, zeros_)                                                                            \
    static unsigned of##_encode(int value)                                                                   \
    {                                                                                                        \
        return (unsigned)(value - ulb_##of.min);                                                             \
    }                                                                                                        \
    static int of##_decode(unsigned code)                                                                    \
    {                                                                                                        \
        return (int)code + ulb_##of.min;                                                                     \
    }                                                                                                        \
    const struct ulb_format ulb_##of = {.name = #of,                                                         \
                                        .summary = "IPEX: " #bits_ " bits, scale" WITH_##zeros_ " per row",  \
                                        .bits = bits_,                                                       \
                                        .min = zeros_ ? 0 : -(1 << (bits_ - 1)),                             \
                                        .max = zeros_ ? (1 << bits_) - 1 : (1 << (bits_ - 1)) - 1,           \
                                        .step = 1,                                                           \
                                        .on_request = true,                                                  \
                                        .zeros = zeros_};                                                    \
    LAYOUT(of, rows, "rows", 1, 8 / bits_, 1, bits_, false)                                                  \
    LAYOUT(of, plane_64, "plane-64", 64, 4, 2, bits_, true)                                                  \
    LAYOUT(of, plane_128, "plane-128", 128, 4, 2, bits_, true)

ULB_WOQ(FORMAT)
