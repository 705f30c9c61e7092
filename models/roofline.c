#include "models/models.h"

#include "models/valid_argument.h"

#include <math.h>
#include <string.h>

const char *ulb_bound_name(enum ulb_bound bound)
{
    static const char *const names[] = {
        [ULB_BOUND_MEMORY] = "memory", [ULB_BOUND_COMPUTE] = "compute", [ULB_BOUND_OVERHEAD] = "overhead"};
    return names[bound];
}

double ulb_compute_ceiling(double bytes_per_step, double gamma)
{
    if (!ulb_is_positive(bytes_per_step) || !ulb_is_positive(gamma))
        return NAN;
    return bytes_per_step / gamma;
}

double ulb_effective_bandwidth(double beta, double bytes_per_step, double gamma)
{
    double ceiling = ulb_compute_ceiling(bytes_per_step, gamma);
    if (!ulb_is_positive(beta) || isnan(ceiling))
        return NAN;
    return beta < ceiling ? beta : ceiling;
}

enum ulb_bound ulb_roofline_bound(double beta, double bytes_per_step, double gamma)
{
    return beta > ulb_compute_ceiling(bytes_per_step, gamma) ? ULB_BOUND_COMPUTE : ULB_BOUND_MEMORY;
}

double ulb_platform_beta(const struct ulb_platform *platform, size_t c)
{
    unsigned cores = 0;
    for (size_t i = 0; i < platform->n_classes; i++)
        cores += platform->classes[i].cores;
    if (c >= platform->n_classes || cores == 0 || !ulb_is_positive(platform->classes[c].hz) ||
        !ulb_is_positive(platform->bandwidth))
        return NAN;
    return platform->bandwidth / cores / platform->classes[c].hz;
}

double ulb_platform_core_bandwidth(const struct ulb_platform *platform,
                                   const struct ulb_platform_gamma *gamma, size_t c)
{
    double beta = ulb_platform_beta(platform, c);
    if (isnan(beta))
        return NAN;
    return ulb_effective_bandwidth(beta, gamma->bytes_per_step, gamma->cycles[c]) * platform->classes[c].hz;
}

double ulb_platform_bandwidth(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma)
{
    if (platform->n_classes == 0)
        return NAN;
    double sum = 0;
    for (size_t c = 0; c < platform->n_classes; c++)
        sum += platform->classes[c].cores * ulb_platform_core_bandwidth(platform, gamma, c);
    return sum;
}

const struct ulb_platform_gamma *ulb_platform_gamma_find(const struct ulb_platform *platform,
                                                         const char *format, const char *sequence)
{
    for (size_t i = 0; i < platform->n_gammas; i++) {
        const struct ulb_platform_gamma *row = &platform->gammas[i];
        if (strcmp(row->format, format) == 0 && (!sequence || strcmp(row->sequence, sequence) == 0))
            return row;
    }
    return NULL;
}
