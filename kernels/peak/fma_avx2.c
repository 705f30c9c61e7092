/* Multiply-adds in single precision, 256 bits. */
#include <immintrin.h>

#define FMA_INSTRUCTION "vfmadd231ps"
#define FMA_ACTIVATION  ULB_ACT_F32
#define FMA_PRODUCTS    1
#define FMA_VECTOR      __m256
#define FMA_BYTES       32
#define FMA_REGISTER    "x"

#include "kernels/peak/fma.h"
