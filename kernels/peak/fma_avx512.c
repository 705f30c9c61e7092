/* Multiply-adds in single precision, 512 bits. */
#include <immintrin.h>

#define FMA_VECTOR   __m512
#define FMA_BYTES    64
#define FMA_REGISTER "v"

#include "kernels/peak/fma.h"
