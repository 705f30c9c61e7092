/* Multiply-adds in single precision, 512 bits. */
#include <immintrin.h>

#define FMA_INSTRUCTION "vfmadd231ps"
#define FMA_ACTIVATION  ULB_ACT_F32
#define FMA_PRODUCTS    1
#define FMA_VECTOR      __m512
#define FMA_BYTES       64
#define FMA_REGISTER    "v"

#include "kernels/peak/fma.h"
