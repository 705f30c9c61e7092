/* Matrix products of two rows of 8 bytes and two columns. */
#define PEAK_INSTRUCTION "smmla %0.4s, %1.16b, %1.16b"
#define PEAK_ACTIVATION  ULB_ACT_A8
#define PEAK_OPS         2 * 32

#include "kernels/arm/peak_loop.h"
