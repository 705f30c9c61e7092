#include "kernels/quantise/fit_scales.h"

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

static float inverse_of(float scale)
{
    return scale != 0 ? 1 / scale : 0;
}

void ulb_quantise_signed(const float *weights, unsigned columns, int least, int most,
                         struct ulb_block_values *values)
{
    float scale = ulb_signed_largest(weights, columns) / (float)least, inverse = inverse_of(scale);
    *values = (struct ulb_block_values){.d = ulb_half(scale), .scale = {1}};
    for (unsigned i = 0; i < columns; i++)
        values->q[i] = (int16_t)ulb_round_within(weights[i] * inverse, least, most);
}

void ulb_quantise_ternary(const float *weights, unsigned columns, struct ulb_block_values *values)
{
    float scale = fabsf(ulb_signed_largest(weights, columns)), inverse = inverse_of(scale);
    *values = (struct ulb_block_values){.d = ulb_half(scale), .scale = {1}};
    for (unsigned i = 0; i < columns; i++)
        values->q[i] = (int16_t)ulb_round_within(weights[i] * inverse, -1, 1);
}

void ulb_quantise_range(const float *weights, unsigned columns, int most, struct ulb_block_values *values)
{
    float least = weights[0], largest = weights[0];
    for (unsigned i = 1; i < columns; i++) {
        least = fminf(least, weights[i]);
        largest = fmaxf(largest, weights[i]);
    }
    float scale = (largest - least) / (float)most, inverse = inverse_of(scale);
    *values =
        (struct ulb_block_values){.d = ulb_half(scale), .dmin = ulb_half(-least), .scale = {1}, .min = {1}};
    for (unsigned i = 0; i < columns; i++)
        values->q[i] = (int16_t)ulb_round_within((weights[i] - least) * inverse, 0, most);
}

/* Integers for so many numbers with one scale, which is returned in half precision; the largest becomes
 * limit. */
static float quantise_scales(const float *scales, unsigned n, int limit, int least, int most, int16_t *out)
{
    float d = ulb_half(ulb_signed_largest(scales, n) / (float)limit), inverse = inverse_of(d);
    for (unsigned i = 0; i < n; i++)
        out[i] = (int16_t)ulb_round_within(scales[i] * inverse, least, most);
    return d;
}

void ulb_quantise_affine_groups(const float *weights, unsigned group, int most, int most_scale,
                                struct ulb_block_values *values)
{
    float scale[ULB_BLOCK_GROUPS_MAX], min[ULB_BLOCK_GROUPS_MAX];
    unsigned groups = ULB_BLOCK_COLUMNS_MAX / group;
    *values = (struct ulb_block_values){0};
    for (unsigned g = 0; g < groups; g++)
        ulb_fit_affine(weights + g * group, group, most, &scale[g], &min[g]);
    values->d = quantise_scales(scale, groups, most_scale, 0, most_scale, values->scale);
    values->dmin = quantise_scales(min, groups, most_scale, 0, most_scale, values->min);
    for (unsigned k = 0; k < ULB_BLOCK_COLUMNS_MAX; k++) {
        float inverse = inverse_of(values->d * (float)values->scale[k / group]);
        float least = values->dmin * (float)values->min[k / group];
        values->q[k] = (int16_t)ulb_round_within((weights[k] + least) * inverse, 0, most);
    }
}

void ulb_quantise_signed_groups(const float *weights, unsigned group, int least, int least_scale,
                                struct ulb_block_values *values)
{
    float scale[ULB_BLOCK_GROUPS_MAX];
    unsigned groups = ULB_BLOCK_COLUMNS_MAX / group;
    *values = (struct ulb_block_values){0};
    for (unsigned g = 0; g < groups; g++)
        scale[g] = ulb_signed_largest(weights + g * group, group) / (float)least;
    values->d = quantise_scales(scale, groups, least_scale, least_scale, -least_scale - 1, values->scale);
    for (unsigned k = 0; k < ULB_BLOCK_COLUMNS_MAX; k++) {
        float inverse = inverse_of(values->d * (float)values->scale[k / group]);
        values->q[k] = (int16_t)ulb_round_within(weights[k] * inverse, least, -least - 1);
    }
}

void ulb_quantise_by_table(const float *weights, unsigned columns, const int8_t *table, unsigned entries,
                           struct ulb_block_values *values)
{
    for (unsigned i = 0; i < columns; i++) {
        unsigned best = 0;
        for (unsigned q = 1; q < entries; q++) {
            if (fabsf(weights[i] - values->d * (float)table[q]) <
                fabsf(weights[i] - values->d * (float)table[best]))
                best = q;
        }
        values->q[i] = (int16_t)best;
    }
}
