#include "models/models.h"

#include "models/valid_argument.h"

#include <math.h>

double ulb_amdahl(double alpha, double x)
{
    if (!(alpha >= 0 && alpha <= 1) || !ulb_is_positive(x))
        return NAN;
    return 1 / (1 - alpha + alpha / x);
}

double ulb_amdahl_alpha(double s, double x)
{
    if (!ulb_is_positive(s) || !ulb_is_positive(x) || x == 1)
        return NAN;
    double alpha = (1 - 1 / s) / (1 - 1 / x);
    return alpha >= 0 && alpha <= 1 ? alpha : NAN;
}
