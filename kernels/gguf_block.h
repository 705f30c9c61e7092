/* Block formats: a row is cut into blocks of equally many columns. Each block holds its codes and its scales,
 * byte by byte as files hold them. A matrix of such a format is its blocks; everything else is derived from a
 * decoded block.
 *
 * Weight k of a block, in its group g = k / group:
 *   d * scale[g] * q[k] - dmin * min[g]
 * With a codebook, table[q[k]] or levels[q[k]] replaces q[k]. */
#ifndef ULB_KERNELS_GGUF_BLOCK_H
#define ULB_KERNELS_GGUF_BLOCK_H

#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ULB_BLOCK_COLUMNS_MAX = 256, ULB_BLOCK_GROUPS_MAX = 16 };

struct ulb_block_values {
    int16_t q[ULB_BLOCK_COLUMNS_MAX]; /* min..max of the format */
    int16_t scale[ULB_BLOCK_GROUPS_MAX], min[ULB_BLOCK_GROUPS_MAX];
    float d, dmin;
};

/* What values the scale d of a block can have. */
enum ulb_block_scale { ULB_SCALE_HALF, ULB_SCALE_SINGLE, ULB_SCALE_POWER /* of two */ };

struct ulb_block {
    unsigned columns;         /* of a block; divides K */
    size_t bytes;             /* of a block in a file */
    unsigned group;           /* columns of a group; columns where a block is one group */
    int scale_min, scale_max; /* integer scales of groups; 1 and 1 where there are none */
    int min_min, min_max;     /* integer minima of groups; 0 and 0 without minima, 1 and 1 for a minimum per
                                 block: dmin alone, of any sign */
    bool zero_point;          /* dmin is d, so that weights are d * (q[k] - min[g]) */
    enum ulb_block_scale d;
    const int8_t *table; /* of max + 1 values; NULL: codes are values */
    const float *levels; /* the same for tables of real numbers */
    /* Integer sums take level q for level_integers[q] / level_one. */
    const int16_t *level_integers;
    int level_one;
    /* Exact both ways for values in the ranges above. */
    void (*encode)(const struct ulb_block_values *values, void *block);
    void (*decode)(const void *block, struct ulb_block_values *values);
    /* From `columns` weights. It agrees with the format's own tools, but may choose differently among equal
     * errors. */
    void (*quantise)(const float *weights, struct ulb_block_values *values);
};

/* The integer that the code of column k stands for, and what one of it is. */
static inline int ulb_block_value(const struct ulb_block *block, const struct ulb_block_values *values,
                                  size_t k)
{
    int q = values->q[k];
    return block->table ? block->table[q] : block->levels ? block->level_integers[q] : q;
}

static inline double ulb_block_unit(const struct ulb_block *block)
{
    return block->levels ? 1.0 / block->level_one : 1.0;
}

/* The fields of a block that is one group, all but d; of a file that has these three functions. */
#define ULB_ONE_GROUP(block_columns, block_bytes)                                                            \
    .columns = (block_columns), .bytes = (block_bytes), .group = (block_columns), .scale_min = 1,            \
    .scale_max = 1, .encode = encode, .decode = decode, .quantise = quantise

/* Scales of a block with no integer ones and no minimum. */
static inline void ulb_one_scale(struct ulb_block_values *values, float d)
{
    values->d = d;
    values->dmin = 0;
    values->scale[0] = 1;
    values->min[0] = 0;
}

/* The real number that it stands for. */
static inline double ulb_block_level(const struct ulb_block *block, const struct ulb_block_values *values,
                                     size_t k)
{
    return block->levels ? (double)block->levels[values->q[k]] : ulb_block_value(block, values, k);
}

/* A layout in place: one row and one block are a tile. */
#define ULB_IN_PLACE(of, block_columns, block_bytes)                                                         \
    {                                                                                                        \
        .name = "in-place", .format = &(of), .tile_m = 1, .tile_k = (block_columns),                         \
        .tile_bytes = (block_bytes), .kind = ULB_LAYOUT_IN_PLACE                                             \
    }

/* The byte of d in a format of powers of two: d = 2^(byte - 128). That is half of the E8M0 value (OCP
 * Microscaling Formats 1.0, 5.4.1), because the table holds doubled values. 255 is a number too, as in ggml.
 * 0 if the scale is 0. */
float ulb_exponent_scale(uint8_t byte);
uint8_t ulb_exponent_byte(float scale);

/* The weights of a block. */
void ulb_block_dequantise(const struct ulb_block *block, const struct ulb_block_values *values,
                          double *weights);

#ifdef __cplusplus
}
#endif

#endif
