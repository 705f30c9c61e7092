/* The order of weights for AMX instructions: 16 rows of weights by 64 columns are 16 lines of 64 bytes. A
 * line holds four neighbouring columns of each row. Several fields of a byte are rows 16 apart. Vectors of 16
 * * fields rows are side by side, 64 columns of each. */
#ifndef ULB_KERNELS_PACK_AMX_TILE_H
#define ULB_KERNELS_PACK_AMX_TILE_H

enum { ULB_TILE_ROWS = 16, ULB_TILE_COLUMNS = 64, ULB_TILE_BYTES = ULB_TILE_ROWS * ULB_TILE_COLUMNS };

/* First bit of the code of (row, col). */
static inline unsigned ulb_tile_bit(unsigned fields, unsigned bits, unsigned row, unsigned col)
{
    unsigned vector = row / (ULB_TILE_ROWS * fields), field = row / ULB_TILE_ROWS % fields;
    unsigned byte = vector * ULB_TILE_BYTES + col / 4 * ULB_TILE_COLUMNS + row % ULB_TILE_ROWS * 4 + col % 4;
    return byte * 8 + field * bits;
}

#endif
