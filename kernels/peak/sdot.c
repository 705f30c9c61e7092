/* Dot products of 4 bytes in 4 lanes. */
#define PEAK_INSTRUCTION "sdot %0.4s, %1.16b, %1.16b"
#define PEAK_ACTIVATION  ULB_ACT_A8
#define PEAK_OPS         2 * 16

#include "kernels/arm/peak_loop.h"
