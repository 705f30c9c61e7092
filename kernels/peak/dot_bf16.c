/* Dot products of pairs of bfloat16, 512 bits. */
#include <immintrin.h>

#define FMA_INSTRUCTION "vdpbf16ps"
#define FMA_ACTIVATION  ULB_ACT_BF16
#define FMA_PRODUCTS    2 /* in a lane */
#define FMA_VECTOR      __m512
#define FMA_BYTES       64
#define FMA_REGISTER    "v"

#include "kernels/peak/fma.h"
