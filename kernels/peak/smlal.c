/* Multiply-adds of bytes into words by lanes of 16 bits, where there are no dot products. */
#define PEAK_INSTRUCTION "smlal %0.8h, %1.8b, %1.8b"
#define PEAK_ACTIVATION  ULB_ACT_A8
#define PEAK_OPS         2 * 8

#include "kernels/arm/peak_loop.h"
