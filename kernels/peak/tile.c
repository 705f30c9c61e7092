/* Tiles of bytes. */
#define TILE_INSTRUCTION "tdpbusd"
#define TILE_ACTIVATION  ULB_ACT_A8
#define TILE_PRODUCTS    16 * 64 * 16

#include "kernels/peak/tile.h"
