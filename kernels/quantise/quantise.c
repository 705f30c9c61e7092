#include "kernels/quantise/quantise.h"

#include "kernels/gguf_block.h"
#include "kernels/quantise/fit_scales.h"
#include "kernels/float_words.h"

#include <math.h>

static float mean_magnitude(const float *weights, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)fabsf(weights[i]);
    return (float)(sum / (double)n);
}

/* The value of least error with this scale. */
static int nearest(const struct ulb_format *format, float weight, float scale)
{
    if (format->step > 1)
        return weight < 0 ? format->min : format->max;
    return scale > 0 ? ulb_round_within(weight / scale, format->min, format->max) : 0;
}

static double squared_error(const struct ulb_format *format, const float *weights, size_t n, float scale)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double error = (double)weights[i] - (double)scale * nearest(format, weights[i], scale);
        sum += error * error;
    }
    return sum;
}

/* Clipping the largest weights makes the steps of all others finer: with few bits that is worth it. */
static float best_scale(const struct ulb_format *format, const float *weights, size_t n)
{
    enum { FRACTIONS = 24 };
    float whole = fabsf(ulb_signed_largest(weights, (unsigned)n)) / (float)format->max, best = whole;
    double least = squared_error(format, weights, n, whole);
    for (int i = 1; i < FRACTIONS; i++) {
        float scale = whole * (float)(FRACTIONS - i) / FRACTIONS;
        double error = squared_error(format, weights, n, scale);
        if (error < least) {
            least = error;
            best = scale;
        }
    }
    return best;
}

static float scale_of(const struct ulb_format *format, const float *weights, size_t n)
{
    return format->max - format->min <= 2 ? mean_magnitude(weights, n) : best_scale(format, weights, n);
}

/* Codes of one group with a zero point. */
static void quantise_affine(const struct ulb_format *format, const float *weights, size_t n, int16_t *values,
                            float *scale, int16_t *zero)
{
    float min;
    ulb_fit_affine(weights, (unsigned)n, format->max, scale, &min);
    *zero = (int16_t)(*scale > 0 ? ulb_round_within(min / *scale, 0, format->max) : 0);
    for (size_t i = 0; i < n; i++)
        values[i] = (int16_t)(*scale > 0 ? ulb_round_within(weights[i] / *scale + *zero, 0, format->max) : 0);
}

void ulb_quantise_row(const struct ulb_format *format, const float *weights, size_t k, int16_t *values,
                      float *scales, int16_t *zeros)
{
    size_t group = format->group ? format->group : k;
    for (size_t i = 0; i < k && format->floating; i++)
        ulb_float_set(format->kind, weights[i], values + i * ulb_words(format));
    for (size_t begin = 0; begin < k && !format->floating; begin += group, scales++) {
        size_t end = k - begin < group ? k : begin + group;
        if (format->zeros) {
            quantise_affine(format, weights + begin, end - begin, values + begin, scales, zeros++);
            continue;
        }
        *scales = scale_of(format, weights + begin, end - begin);
        for (size_t i = begin; i < end; i++)
            values[i] = (int16_t)nearest(format, weights[i], *scales);
    }
}

void ulb_dequantise_row(const struct ulb_format *format, const int16_t *values, const float *scales,
                        const int16_t *zeros, size_t k, float *weights)
{
    size_t group = format->group ? format->group : k;
    for (size_t i = 0; i < k; i++) {
        int zero = format->zeros ? zeros[i / group] : 0;
        weights[i] = format->floating ? ulb_float_of(format->kind, values + i * ulb_words(format))
                                      : (float)(values[i] - zero) * scales[i / group];
    }
}

/* The codes as a file holds them: what encoding does not keep is lost here too. */
static void round_trip_blocks(const struct ulb_block *block, const float *weights, size_t k, float *kept)
{
    for (size_t begin = 0; begin < k; begin += block->columns) {
        struct ulb_block_values values;
        double back[ULB_BLOCK_COLUMNS_MAX];
        uint8_t bytes[4 * ULB_BLOCK_COLUMNS_MAX];
        block->quantise(weights + begin, &values);
        block->encode(&values, bytes);
        block->decode(bytes, &values);
        ulb_block_dequantise(block, &values, back);
        for (size_t i = 0; i < block->columns; i++)
            kept[begin + i] = (float)back[i];
    }
}

void ulb_round_trip(const struct ulb_format *format, const float *weights, size_t k, int16_t *values,
                    float *scales, int16_t *zeros, float *kept)
{
    if (format->block) {
        round_trip_blocks(format->block, weights, k, kept);
        return;
    }
    ulb_quantise_row(format, weights, k, values, scales, zeros);
    ulb_dequantise_row(format, values, scales, zeros, k, kept);
}
