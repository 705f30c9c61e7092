#include "kernels/opencl/device_layouts.h"

#include "kernels/formats/bf16/format.h"
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int8/format.h"
#include "kernels/formats/tern2/format.h"

enum { ROWS = 16, WORD_BITS = 32 };

/* First bit of a column's code, of which a word holds `columns`. */
static unsigned place(unsigned row, unsigned col, unsigned columns)
{
    return (col / columns * ROWS + row) * WORD_BITS + col % columns * (WORD_BITS / columns);
}

static unsigned vnni16(unsigned row, unsigned col)
{
    return place(row, col, 16);
}

static unsigned vnni4(unsigned row, unsigned col)
{
    return place(row, col, 4);
}

static unsigned vnni2(unsigned row, unsigned col)
{
    return place(row, col, 2);
}

static unsigned encode_2(int value)
{
    return (unsigned)value & 3;
}

static int decode_2(unsigned code)
{
    return (int)(code ^ 2) - 2;
}

static unsigned encode_8(int value)
{
    return (unsigned)value & 0xFF;
}

static int decode_8(unsigned code)
{
    return (int)(code ^ 0x80) - 0x80;
}

#define LAYOUT(symbol, layout_name, of, columns, offset, encoder, decoder)                                   \
    const struct ulb_layout symbol = {                                                                       \
        .name = (layout_name),                                                                               \
        .format = &(of),                                                                                     \
        .tile_m = ROWS,                                                                                      \
        .tile_k = (columns),                                                                                 \
        .kind = ULB_LAYOUT_FIELDS,                                                                           \
        .fields = {.bit_offset = (offset), .encode = (encoder), .decode = (decoder)}}

LAYOUT(ulb_int2_vnni16, "vnni16", ulb_int2, 32, vnni16, encode_2, decode_2);
LAYOUT(ulb_tern2_vnni16, "vnni16", ulb_tern2, 32, vnni16, encode_2, decode_2);
LAYOUT(ulb_int8_vnni4_16, "vnni4-16", ulb_int8, 32, vnni4, encode_8, decode_8);
LAYOUT(ulb_bf16_vnni2_16, "vnni2-16", ulb_bf16, 16, vnni2, NULL, NULL);
