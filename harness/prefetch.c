#include "harness/prefetch.h"

#include "common/stats.h"

static const double FASTER = 0.02;

struct ulb_prefetch_times ulb_prefetch_compare(bool *l2, size_t samples, double (*sample)(void *arg),
                                               void *arg)
{
    double times[2][ULB_PREFETCH_SAMPLES], ratios[ULB_PREFETCH_SAMPLES];
    for (size_t i = 0; i < 2 * samples; i++) {
        *l2 = (i + i / 2) % 2;
        times[*l2][i / 2] = sample(arg);
    }
    for (size_t i = 0; i < samples; i++)
        ratios[i] = times[true][i] / times[false][i];
    return (struct ulb_prefetch_times){.l1 = ulb_median(times[false], samples),
                                       .l2 = ulb_median(times[true], samples),
                                       .ratio = ulb_median(ratios, samples)};
}

bool ulb_prefetch_takes_l2(double ratio)
{
    return ratio <= 1 - FASTER;
}

double ulb_prefetch_choose(bool *l2, size_t samples, double (*sample)(void *arg), void *arg)
{
    struct ulb_prefetch_times times = ulb_prefetch_compare(l2, samples, sample, arg);
    *l2 = ulb_prefetch_takes_l2(times.ratio);
    return *l2 ? times.l2 : times.l1;
}

const char *ulb_prefetch_name(const struct ulb_kernel *kernel, bool l2)
{
    const char *other = kernel->prefetch_none ? "none" : "L2";
    return !kernel->prefetch_choice ? "" : l2 ? other : "L1";
}
