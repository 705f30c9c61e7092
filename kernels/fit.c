#include "kernels/fit.h"

#include "common/fp16.h"

#include <math.h>

float ulb_signed_largest(const float *values, unsigned n)
{
    float largest = 0;
    for (unsigned i = 0; i < n; i++)
        largest = fabsf(values[i]) > fabsf(largest) ? values[i] : largest;
    return largest;
}

int ulb_round_within(float value, int least, int most)
{
    long rounded = lrintf(value);
    return rounded < least ? least : rounded > most ? most : (int)rounded;
}

float ulb_half(float value)
{
    return ulb_fp16_to_float(ulb_fp16_from_float(value));
}

void ulb_fit_affine(const float *weights, unsigned n, int most, float *scale, float *min)
{
    float least = 0, largest = 0;
    for (unsigned i = 0; i < n; i++) {
        least = fminf(least, weights[i]);
        largest = fmaxf(largest, weights[i]);
    }
    *scale = (largest - least) / (float)most;
    *min = -least;
}
