/* Bounds of a whole token. */
#include "models/models.h"

#include "models/valid_argument.h"

#include <math.h>

double ulb_decode_roofline(double bandwidth, double bytes_per_token)
{
    if (!ulb_is_positive(bandwidth) || !ulb_is_positive(bytes_per_token))
        return NAN;
    return bandwidth / bytes_per_token;
}

double ulb_decode_extrapolate(double token_s, double once_s, double layers_run, double layers)
{
    if (!ulb_is_not_negative(token_s) || !ulb_is_not_negative(once_s) || once_s > token_s ||
        !ulb_is_positive(layers_run) || !(layers >= layers_run) || isinf(layers))
        return NAN;
    return once_s + (token_s - once_s) * layers / layers_run;
}
