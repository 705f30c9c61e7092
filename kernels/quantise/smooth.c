#include "kernels/quantise/smooth.h"

#include <math.h>

static float largest_of_column(const float *rows, size_t n, size_t k, size_t column)
{
    float largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(rows[i * k + column]));
    return largest;
}

void ulb_smooth_factors(const float *x, size_t n, const float *w, size_t m, size_t k, float alpha,
                        float *factors)
{
    for (size_t j = 0; j < k; j++) {
        float of_x = largest_of_column(x, n, k, j), of_w = largest_of_column(w, m, k, j);
        factors[j] = of_x > 0 && of_w > 0 ? powf(of_x, alpha) / powf(of_w, 1 - alpha) : 1;
    }
}

void ulb_smooth_activations(const float *factors, size_t n, size_t k, float *x)
{
    for (size_t i = 0; i < n * k; i++)
        x[i] /= factors[i % k];
}

void ulb_smooth_weights(const float *factors, size_t m, size_t k, float *w)
{
    for (size_t i = 0; i < m * k; i++)
        w[i] *= factors[i % k];
}
