#include "kernels/formats/affine/format.h"

#include "kernels/quantise/fit_scales.h"
#include "kernels/pack/planes.h"
#include "kernels/codes/three_bit.h"

#include <string.h>

enum {
    TILE_CODES_MAX = 128 * 256, /* bytes: rows, columns of a group, one each */
    AT_ONCE = 8                 /* codes, which are whole bytes, as many as a code has bits */
};

/* What a format is made of. */
struct affine {
    unsigned bits, zero, columns;
};

/* The offset of codes: code = value + offset. */
static int offset_of(const struct affine *a)
{
    return a->zero ? 0 : 1 << (a->bits - 1);
}

static void encode(const struct affine *a, const struct ulb_block_values *values, uint8_t *block)
{
    memcpy(block, &values->d, sizeof values->d);
    block += sizeof values->d;
    if (a->zero)
        *block++ = (uint8_t)values->min[0];
    for (unsigned k = 0; k < a->columns; k += AT_ONCE, block += a->bits) {
        uint64_t codes = 0;
        for (unsigned i = 0; i < AT_ONCE; i++)
            codes |= (uint64_t)(unsigned)(values->q[k + i] + offset_of(a)) << i * a->bits;
        memcpy(block, &codes, a->bits);
    }
}

static void decode(const struct affine *a, const uint8_t *block, struct ulb_block_values *values)
{
    memcpy(&values->d, block, sizeof values->d);
    block += sizeof values->d;
    values->scale[0] = 1;
    values->min[0] = a->zero ? *block++ : 0;
    values->dmin = a->zero ? values->d : 0;
    unsigned most = (1u << a->bits) - 1;
    int offset = offset_of(a);
    for (unsigned k = 0; k < a->columns; k += AT_ONCE, block += a->bits) {
        uint64_t codes = 0;
        memcpy(&codes, block, a->bits);
        for (unsigned i = 0; i < AT_ONCE; i++, codes >>= a->bits)
            values->q[k + i] = (int16_t)((int)(codes & most) - offset);
    }
}

/* With a zero point the range is from the smallest to the largest weight, and includes 0. Without a zero
 * point the largest magnitude becomes the lowest code, as long as the other sign fits. */
static void quantise(const struct affine *a, const float *weights, struct ulb_block_values *values)
{
    int most = (1 << a->bits) - 1, offset = offset_of(a);
    float scale, min;
    *values = (struct ulb_block_values){.scale = {1}};
    if (a->zero) {
        ulb_fit_affine(weights, a->columns, most, &scale, &min);
        values->min[0] = (int16_t)(scale > 0 ? ulb_round_within(min / scale, 0, most) : 0);
        values->dmin = scale;
    } else {
        scale = ulb_signed_largest(weights, a->columns) / (float)-offset;
    }
    values->d = scale;
    for (unsigned k = 0; k < a->columns; k++) {
        float code = scale != 0 ? weights[k] / scale : 0;
        values->q[k] = (int16_t)ulb_round_within(code + (float)values->min[0], -offset, most - offset);
    }
}

/* Scales of some rows, then zero points as bytes. */
static void pack_scales(const struct affine *a, unsigned rows, const struct ulb_block_values *values,
                        uint8_t *scales)
{
    for (unsigned i = 0; i < rows; i++)
        memcpy(scales + i * sizeof(float), &values[i].d, sizeof(float));
    for (unsigned i = 0; i < rows && a->zero; i++)
        scales[rows * sizeof(float) + i] = (uint8_t)values[i].min[0];
}

static void unpack_scales(const struct affine *a, unsigned rows, const uint8_t *scales,
                          struct ulb_block_values *values)
{
    for (unsigned i = 0; i < rows; i++) {
        memcpy(&values[i].d, scales + i * sizeof(float), sizeof(float));
        values[i].scale[0] = 1;
        values[i].min[0] = a->zero ? scales[rows * sizeof(float) + i] : 0;
        values[i].dmin = a->zero ? values[i].d : 0;
    }
}

/* Planes of the codes, every byte ^ xor_mask; scales; zero points. */
static void pack(const struct affine *a, unsigned lanes, uint8_t xor_mask,
                 const struct ulb_block_values *values, uint8_t *tile)
{
    uint8_t *scales = ulb_planes_pack(a->bits, offset_of(a), lanes, a->columns, values, tile);
    for (; tile < scales; tile++)
        *tile ^= xor_mask;
    pack_scales(a, 8 * lanes, values, scales);
}

static void unpack(const struct affine *a, unsigned lanes, uint8_t xor_mask, const uint8_t *tile,
                   struct ulb_block_values *values)
{
    uint8_t codes[TILE_CODES_MAX];
    unsigned bytes = lanes * a->columns * a->bits;
    for (unsigned i = 0; i < bytes; i++)
        codes[i] = tile[i] ^ xor_mask;
    ulb_planes_unpack(a->bits, offset_of(a), lanes, a->columns, codes, values);
    unpack_scales(a, 8 * lanes, tile + bytes, values);
}

#define LAYOUT(of, codes, name_, width, lanes_, mask_, bits_, zero_, columns_)                               \
    static void of##_pack_##codes##_##width(const struct ulb_block_values *values, uint8_t *tile)            \
    {                                                                                                        \
        pack(&of##_affine, lanes_, mask_, values, tile);                                                     \
    }                                                                                                        \
    static void of##_unpack_##codes##_##width(const uint8_t *tile, struct ulb_block_values *values)          \
    {                                                                                                        \
        unpack(&of##_affine, lanes_, mask_, tile, values);                                                   \
    }                                                                                                        \
    const struct ulb_layout ulb_##of##_##codes##_##width = {                                                 \
        .name = name_ "-" #width,                                                                            \
        .format = &ulb_##of,                                                                                 \
        .tile_m = width,                                                                                     \
        .tile_k = columns_,                                                                                  \
        .slices = 2,                                                                                         \
        .row_sums = true,                                                                                    \
        .tile_bytes = width * ULB_AFFINE_BYTES(bits_, zero_, columns_),                                      \
        .kind = ULB_LAYOUT_BLOCKS,                                                                           \
        .blocks = {.pack = of##_pack_##codes##_##width, .unpack = of##_unpack_##codes##_##width}};

#define FORMAT(of, bits_, zero_, columns_)                                                                   \
    static const struct affine of##_affine = {bits_, zero_, columns_};                                       \
    static void of##_encode(const struct ulb_block_values *values, void *block)                              \
    {                                                                                                        \
        encode(&of##_affine, values, block);                                                                 \
    }                                                                                                        \
    static void of##_decode(const void *block, struct ulb_block_values *values)                              \
    {                                                                                                        \
        decode(&of##_affine, block, values);                                                                 \
    }                                                                                                        \
    static void of##_quantise(const float *weights, struct ulb_block_values *values)                         \
    {                                                                                                        \
        quantise(&of##_affine, weights, values);                                                             \
    }                                                                                                        \
    static const struct ulb_block of##_block = {.columns = columns_,                                         \
                                                .bytes = ULB_AFFINE_BYTES(bits_, zero_, columns_),           \
                                                .group = columns_,                                           \
                                                .scale_min = 1,                                              \
                                                .scale_max = 1,                                              \
                                                .min_max = zero_ ? (1 << bits_) - 1 : 0,                     \
                                                .zero_point = zero_,                                         \
                                                .d = ULB_SCALE_SINGLE,                                       \
                                                .encode = of##_encode,                                       \
                                                .decode = of##_decode,                                       \
                                                .quantise = of##_quantise};                                  \
    const struct ulb_format ulb_##of = {.name = #of,                                                         \
                                        .summary = SUMMARY(bits_, zero_, columns_),                          \
                                        .bits = 8.0 * ULB_AFFINE_BYTES(bits_, zero_, columns_) / columns_,   \
                                        .min = zero_ ? 0 : -(1 << (bits_ - 1)),                              \
                                        .max = zero_ ? (1 << bits_) - 1 : (1 << (bits_ - 1)) - 1,            \
                                        .step = 1,                                                           \
                                        .block = &of##_block};                                               \
    const struct ulb_layout ulb_##of##_rows =                                                                \
        ULB_IN_PLACE(ulb_##of, columns_, ULB_AFFINE_BYTES(bits_, zero_, columns_));                          \
    LAYOUT(of, planes, "planes", 64, 8, 0, bits_, zero_, columns_)                                           \
    LAYOUT(of, planes, "planes", 128, 16, 0, bits_, zero_, columns_)                                         \
    LAYOUT(of, sdot, "quads", 32, 4, 0x80, bits_, zero_, columns_)                                           \
    LAYOUT(of, sdot, "quads", 128, 16, 0x80, bits_, zero_, columns_)

#define WITH_0                       ""
#define WITH_1                       " and zero"
#define SUMMARY(bits, zero, columns) SYSTEM #bits " bits, scale" WITH_##zero " per " #columns

#define SYSTEM "torchao: "
ULB_AFFINE_UNIVERSAL(FORMAT)
#undef SYSTEM
#define SYSTEM "IPEX: "
ULB_AFFINE_WOQ(FORMAT)

/* Packs eight 3-bit codes as bytes A, B, C (kernels/codes/three_bit.h). Rows are `lanes` apart. Scales and
 * zero points follow as they follow planes. */
static void pack_three_bit(const struct affine *a, unsigned lanes, const struct ulb_block_values *values,
                           uint8_t *tile)
{
    unsigned plane = lanes * 4;
    for (unsigned at = 0; at < a->columns / 4 * plane; at++) {
        unsigned k = at / plane * 4 + at % 4, row = at % plane / 4, code[8];
        for (unsigned i = 0; i < 8; i++)
            code[i] = (unsigned)(values[row + i * lanes].q[k] + offset_of(a));
        ulb_three_bit_pack(code, plane, tile + at / plane * 3 * plane + at % plane);
    }
    pack_scales(a, 8 * lanes, values, tile + a->columns * lanes * 3);
}

static void unpack_three_bit(const struct affine *a, unsigned lanes, const uint8_t *tile,
                             struct ulb_block_values *values)
{
    unsigned plane = lanes * 4;
    memset(values, 0, 8 * lanes * sizeof *values);
    for (unsigned at = 0; at < a->columns / 4 * plane; at++) {
        unsigned code[8];
        ulb_three_bit_unpack(tile + at / plane * 3 * plane + at % plane, plane, code);
        for (unsigned i = 0; i < 8; i++)
            values[at % plane / 4 + i * lanes].q[at / plane * 4 + at % 4] =
                (int16_t)((int)code[i] - offset_of(a));
    }
    unpack_scales(a, 8 * lanes, tile + a->columns * lanes * 3, values);
}

#define THREE_BIT(of, width)                                                                                 \
    static void of##_pack_three_bit_##width(const struct ulb_block_values *values, uint8_t *tile)            \
    {                                                                                                        \
        pack_three_bit(&of##_affine, width / 8, values, tile);                                               \
    }                                                                                                        \
    static void of##_unpack_three_bit_##width(const uint8_t *tile, struct ulb_block_values *values)          \
    {                                                                                                        \
        unpack_three_bit(&of##_affine, width / 8, tile, values);                                             \
    }                                                                                                        \
    const struct ulb_layout ulb_##of##_three_bit_##width = {                                                 \
        .name = "three-bit-" #width,                                                                         \
        .format = &ulb_##of,                                                                                 \
        .tile_m = width,                                                                                     \
        .tile_k = 128,                                                                                       \
        .slices = 2,                                                                                         \
        .row_sums = true,                                                                                    \
        .tile_bytes = width * of##_BYTES,                                                                    \
        .kind = ULB_LAYOUT_BLOCKS,                                                                           \
        .blocks = {.pack = of##_pack_three_bit_##width, .unpack = of##_unpack_three_bit_##width}};

enum { u3_BYTES = ULB_AFFINE_BYTES(3, 0, 128), u3z_BYTES = ULB_AFFINE_BYTES(3, 1, 128) };
THREE_BIT(u3, 64)
THREE_BIT(u3, 128)
THREE_BIT(u3z, 64)
THREE_BIT(u3z, 128)
