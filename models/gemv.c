#include "models/models.h"

#include "models/valid_argument.h"

#include <math.h>
#include <stdbool.h>

static bool is_predictable(const struct ulb_gemv_work *work)
{
    /* The share may miss 1/threads by the rounding of a division. */
    bool share_fits =
        work->threads > 0 && work->slowest_share <= 1 && work->slowest_share * work->threads >= 1 - 1e-9;
    return share_fits && ulb_is_not_negative(work->bytes) && ulb_is_not_negative(work->steps) &&
           ulb_is_positive(work->hz) && ulb_is_positive(work->beta) && ulb_is_positive(work->gamma) &&
           ulb_is_not_negative(work->fork_join_s);
}

struct ulb_gemv_prediction ulb_predict_gemv(const struct ulb_gemv_work *work)
{
    struct ulb_gemv_prediction prediction = {NAN, NAN, NAN, NAN, ULB_BOUND_MEMORY};
    if (!is_predictable(work))
        return prediction;
    double memory_s = work->bytes * work->slowest_share / (work->beta * work->hz);
    double compute_s = work->steps * work->slowest_share * work->gamma / work->hz;
    double longer_s = compute_s > memory_s ? compute_s : memory_s;

    prediction.memory_s = memory_s;
    prediction.compute_s = compute_s;
    prediction.shorter_s = compute_s > memory_s ? memory_s : compute_s;
    prediction.seconds = work->fork_join_s + longer_s;
    if (work->fork_join_s > longer_s)
        prediction.bound = ULB_BOUND_OVERHEAD;
    else if (compute_s > memory_s)
        prediction.bound = ULB_BOUND_COMPUTE;
    return prediction;
}

double ulb_platform_gemv_seconds(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma,
                                 double weights)
{
    double bandwidth = ulb_platform_bandwidth(platform, gamma);
    if (!ulb_is_not_negative(weights) || !ulb_is_positive(bandwidth))
        return NAN;
    return weights / ULB_STEP_WEIGHTS * gamma->bytes_per_step / bandwidth;
}
