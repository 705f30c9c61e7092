/* Multiply-adds in single precision, 256 bits. */
#include <immintrin.h>

#define FMA_VECTOR   __m256
#define FMA_BYTES    32
#define FMA_REGISTER "x"

#include "kernels/peak/fma.h"
