/* Small reproducible generator (SplitMix64, Steele, Lea and Flood, OOPSLA 2014): same seed, same run. */
#ifndef ULB_COMMON_RNG_H
#define ULB_COMMON_RNG_H

#include <stddef.h>
#include <stdint.h>

struct ulb_rng {
    uint64_t state;
};

static inline uint64_t ulb_rng_next(struct ulb_rng *rng)
{
    uint64_t z = (rng->state += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

/* Uniform in [0, bound), bound > 0; the bias is below 2^-32 for every bound used here. */
static inline uint64_t ulb_rng_below(struct ulb_rng *rng, uint64_t bound)
{
    return (ulb_rng_next(rng) >> 11) % bound;
}

/* Uniform in [-1, 1). */
static inline float ulb_rng_float(struct ulb_rng *rng)
{
    return (float)(ulb_rng_next(rng) >> 40) * (2.0f / 16777216.0f) - 1.0f;
}

/* Two numbers of a standard normal distribution (Box and Muller 1958). */
void ulb_rng_normal(struct ulb_rng *rng, float out[2]);

/* Fisher-Yates shuffle of n indices. */
void ulb_rng_shuffle(struct ulb_rng *rng, size_t *items, size_t n);

#endif
