#include "common/rng.h"

#include <math.h>

void ulb_rng_normal(struct ulb_rng *rng, float out[2])
{
    static const double PI = 3.14159265358979323846;
    double u = ((double)(ulb_rng_next(rng) >> 11) + 0.5) * 0x1p-53,
           v = (double)(ulb_rng_next(rng) >> 11) * 0x1p-53;
    double radius = sqrt(-2 * log(u));
    out[0] = (float)(radius * cos(2 * PI * v));
    out[1] = (float)(radius * sin(2 * PI * v));
}

void ulb_rng_shuffle(struct ulb_rng *rng, size_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)ulb_rng_below(rng, i);
        size_t swap = items[i - 1];
        items[i - 1] = items[j];
        items[j] = swap;
    }
}
