/* What quantised products lose to outliers of the activations, and what smoothing gives back.
 *
 * Outliers of large models lie in a few channels, the same ones for every token. They are about 100 times as
 * large as other activations (SmoothQuant, Xiao et al., arXiv 2211.10438). The ones here are made up: weights
 * and activations are standard normal. Then ULB_OUTLIER_CHANNELS columns of the activations, equally far
 * apart, are multiplied by ULB_OUTLIER_TIMES. */
#ifndef ULB_HARNESS_COMPUTE_OUTLIER_ERROR_H
#define ULB_HARNESS_COMPUTE_OUTLIER_ERROR_H

#include "common/status.h"
#include "kernels/kernel.h"

#include <jansson.h>
#include <stdint.h>

enum {
    ULB_OUTLIER_ROWS = 16,
    ULB_OUTLIER_TOKENS = 16,
    ULB_OUTLIER_COLUMNS = 4096,
    ULB_OUTLIER_CHANNELS = 8,
    ULB_OUTLIER_TIMES = 100
};

/* Root mean square of the error of W x over that of the exact W x. W is in the format, x is int8. smoothed:
 * by SmoothQuant with alpha 0.5 before both are quantised. */
struct ulb_outlier_error {
    double plain, smoothed;
};

/* activation: one of the int8 ones. ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_outlier_error(const struct ulb_format *format, enum ulb_activation activation,
                                  uint64_t seed, struct ulb_outlier_error *error, struct ulb_error *err);

/* The numbers above for a record: tokens, columns, channels, times, alpha. NULL: no memory. */
json_t *ulb_outlier_rule(void);

#endif
