#include "kernels/kernel.h"

#include <math.h>
#include <string.h>

/* int8 in [-127, 127]: -128 is left out so that |x| fits seven bits (vpsignb cannot negate -128). */
static void quantise_token(const float *x, size_t k, int8_t *q, float *scale, int32_t *sum)
{
    float largest = 0.0f;
    for (size_t i = 0; i < k; i++)
        largest = fmaxf(largest, fabsf(x[i]));
    *scale = largest / 127.0f;
    float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
    int32_t total = 0;
    for (size_t i = 0; i < k; i++) {
        q[i] = (int8_t)lrintf(x[i] * inverse);
        total += q[i];
    }
    *sum = total;
}

void ulb_quantise_a8(const float *x, size_t n, size_t k, size_t stride, int8_t *q, float *scale, int32_t *sum)
{
    for (size_t token = 0; token < n; token++) {
        quantise_token(x + token * k, k, q + token * stride, scale + token, sum + token);
        memset(q + token * stride + k, 0, stride - k);
    }
}
