/* Multiply-adds in single precision. */
#define PEAK_INSTRUCTION "fmla %0.4s, %1.4s, %1.4s"
#define PEAK_ACTIVATION  ULB_ACT_F32
#define PEAK_OPS         2 * 4

#include "kernels/arm/peak_loop.h"
