/* Multiply-adds in single precision, 256 or 512 bits. */
#include <immintrin.h>

#define FMA_INSTRUCTION "vfmadd231ps"
#define FMA_ACTIVATION  ULB_ACT_F32
#define FMA_PRODUCTS    1
#ifdef ULB_DP_512
#define FMA_VECTOR   __m512
#define FMA_BYTES    64
#define FMA_REGISTER "v"
#else
#define FMA_VECTOR   __m256
#define FMA_BYTES    32
#define FMA_REGISTER "x"
#endif

#include "kernels/peak/fma.h"
