/* Tiles of bfloat16. */
#define TILE_INSTRUCTION "tdpbf16ps"
#define TILE_ACTIVATION  ULB_ACT_BF16
#define TILE_PRODUCTS    16 * 32 * 16

#include "kernels/peak/tile.h"
