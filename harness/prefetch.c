#include "harness/prefetch.h"

#include "common/stats.h"

static const double FASTER = 0.02;

bool ulb_prefetch_takes_l2(double l1, double l2)
{
    return l2 <= (1 - FASTER) * l1;
}

double ulb_prefetch_choose(bool *l2, size_t samples, double (*sample)(void *arg), void *arg)
{
    double times[2][ULB_PREFETCH_SAMPLES];
    for (size_t i = 0; i < 2 * samples; i++) {
        *l2 = (i + i / 2) % 2;
        times[*l2][i / 2] = sample(arg);
    }
    double near = ulb_median(times[0], samples), far = ulb_median(times[1], samples);
    *l2 = ulb_prefetch_takes_l2(near, far);
    return *l2 ? far : near;
}

const char *ulb_prefetch_name(const struct ulb_kernel *kernel, bool l2)
{
    return !kernel->prefetch_choice ? "" : l2 ? "L2" : "L1";
}
