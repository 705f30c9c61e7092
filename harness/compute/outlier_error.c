#include "harness/compute/outlier_error.h"

#include "common/mem.h"
#include "common/rng.h"
#include "kernels/activations.h"
#include "kernels/quantise/quantise.h"
#include "kernels/quantise/smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = ULB_OUTLIER_ROWS, TOKENS = ULB_OUTLIER_TOKENS, K = ULB_OUTLIER_COLUMNS };
enum { APART = K / ULB_OUTLIER_CHANNELS };

static const float ALPHA = 0.5f;

/* Both sides of the products as they are and as their formats keep them. */
struct operands {
    float w[ROWS * K], x[TOKENS * K], kept_w[ROWS * K], kept_x[TOKENS * K];
    float factors[K], scales[K];
    int16_t values[2 * K], zeros[K]; /* values: words of weights */
    double exact[ROWS * TOKENS];
};

static void fill_normal(struct ulb_rng *rng, float *out, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        ulb_rng_normal(rng, out + i);
}

static void fill(struct operands *o, uint64_t seed)
{
    struct ulb_rng rng = {seed};
    fill_normal(&rng, o->w, ROWS * K);
    fill_normal(&rng, o->x, TOKENS * K);
    for (size_t i = APART / 2; i < TOKENS * K; i += APART)
        o->x[i] *= ULB_OUTLIER_TIMES;
}

static void multiply(const float *w, const float *x, double *y)
{
    for (size_t i = 0; i < ROWS * TOKENS; i++) {
        const float *row = w + i % ROWS * K, *token = x + i / ROWS * K;
        y[i] = 0;
        for (size_t k = 0; k < K; k++)
            y[i] += (double)row[k] * (double)token[k];
    }
}

static void keep_weights(const struct ulb_format *format, struct operands *o)
{
    for (size_t m = 0; m < ROWS; m++)
        ulb_round_trip(format, o->w + m * K, K, o->values, o->scales, o->zeros, o->kept_w + m * K);
}

static void keep_activations(struct ulb_activations *a, struct operands *o)
{
    for (size_t n = 0; n < TOKENS; n++) {
        ulb_activations_set(a, n, o->x + n * K, K);
        for (size_t k = 0; k < K; k++)
            o->kept_x[n * K + k] = (float)ulb_activations_at(a, n, k);
    }
}

static double relative_error(const struct ulb_format *format, struct ulb_activations *a, struct operands *o)
{
    double y[ROWS * TOKENS], error = 0, all = 0;
    keep_weights(format, o);
    keep_activations(a, o);
    multiply(o->kept_w, o->kept_x, y);
    for (size_t i = 0; i < ROWS * TOKENS; i++) {
        error += (y[i] - o->exact[i]) * (y[i] - o->exact[i]);
        all += o->exact[i] * o->exact[i];
    }
    return sqrt(error / all);
}

enum ulb_status ulb_outlier_error(const struct ulb_format *format, enum ulb_activation activation,
                                  uint64_t seed, struct ulb_outlier_error *error, struct ulb_error *err)
{
    struct ulb_activations a;
    struct operands *o = calloc(1, sizeof *o);
    size_t bytes = ulb_round_up(ulb_activations_bytes(activation, TOKENS, K), ULB_CACHE_LINE);
    void *memory = aligned_alloc(ULB_CACHE_LINE, bytes);
    enum ulb_status status = ULB_OK;
    if (!o || !memory) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for products of %d columns", K);
        goto free_memory;
    }
    ulb_activations_place(&a, activation, TOKENS, K, memory);
    fill(o, seed);
    multiply(o->w, o->x, o->exact);
    error->plain = relative_error(format, &a, o);
    ulb_smooth_factors(o->x, TOKENS, o->w, ROWS, K, ALPHA, o->factors);
    ulb_smooth_activations(o->factors, TOKENS, K, o->x);
    ulb_smooth_weights(o->factors, ROWS, K, o->w);
    error->smoothed = relative_error(format, &a, o);
free_memory:
    free(o);
    free(memory);
    return status;
}

json_t *ulb_outlier_rule(void)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:f}", "tokens", TOKENS, "columns", K, "channels",
                     ULB_OUTLIER_CHANNELS, "times", ULB_OUTLIER_TIMES, "alpha", (double)ALPHA);
}
