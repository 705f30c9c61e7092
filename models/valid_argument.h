/* Domain checks shared by the models; both are false for NAN and infinities. */
#ifndef ULB_MODELS_VALID_ARGUMENT_H
#define ULB_MODELS_VALID_ARGUMENT_H

#include <math.h>
#include <stdbool.h>

static inline bool ulb_is_positive(double value)
{
    return isfinite(value) && value > 0;
}

static inline bool ulb_is_not_negative(double value)
{
    return isfinite(value) && value >= 0;
}

#endif
