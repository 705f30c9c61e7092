#include "harness/compute/prefetch_tuning.h"

#include "common/stats.h"

static const double FASTER = 0.02;

const size_t ulb_prefetch_candidates[ULB_PREFETCH_CANDIDATES] = {
    0, 1024, 2048, 3072, 1024 + ULB_INTO_L1, 2048 + ULB_INTO_L1};
static const char *const names[ULB_PREFETCH_CANDIDATES] = {"L1",      "L2+1024", "L2+2048",
                                                           "L2+3072", "L1+1024", "L1+2048"};

bool ulb_prefetch_chosen(const struct ulb_kernel *kernel, size_t tokens)
{
    return kernel->prefetch_choice && (kernel->prefetch_tokens == 0 || tokens <= kernel->prefetch_tokens);
}

size_t ulb_prefetch_count(const struct ulb_kernel *kernel, size_t tokens)
{
    return !ulb_prefetch_chosen(kernel, tokens) ? 1 : kernel->prefetch_none ? 2 : ULB_PREFETCH_CANDIDATES;
}

struct ulb_prefetch_times ulb_prefetch_compare(size_t *prefetch, size_t candidates, size_t samples,
                                               double (*sample)(void *arg), void *arg)
{
    double times[ULB_PREFETCH_CANDIDATES][ULB_PREFETCH_SAMPLES], ratios[ULB_PREFETCH_SAMPLES];
    struct ulb_prefetch_times result;
    for (size_t i = 0; i < samples; i++) {
        for (size_t turn = 0; turn < candidates; turn++) {
            size_t candidate = i % 2 ? candidates - 1 - turn : turn;
            *prefetch = ulb_prefetch_candidates[candidate];
            times[candidate][i] = sample(arg);
        }
    }
    for (size_t candidate = 0; candidate < ULB_PREFETCH_CANDIDATES; candidate++) {
        size_t n = candidate < candidates ? samples : 0;
        for (size_t i = 0; i < n; i++)
            ratios[i] = times[candidate][i] / times[0][i];
        result.ratios[candidate] = ulb_median(ratios, n);
    }
    for (size_t candidate = 0; candidate < ULB_PREFETCH_CANDIDATES; candidate++)
        result.medians[candidate] = ulb_median(times[candidate], candidate < candidates ? samples : 0);
    return result;
}

size_t ulb_prefetch_best(const double ratios[ULB_PREFETCH_CANDIDATES])
{
    size_t best = 0;
    double least = 1;
    for (size_t candidate = 1; candidate < ULB_PREFETCH_CANDIDATES; candidate++) {
        if (ratios[candidate] <= 1 - FASTER && ratios[candidate] < least) {
            best = candidate;
            least = ratios[candidate];
        }
    }
    return best;
}

double ulb_prefetch_choose(size_t *prefetch, size_t candidates, size_t samples, double (*sample)(void *arg),
                           void *arg)
{
    struct ulb_prefetch_times times = ulb_prefetch_compare(prefetch, candidates, samples, sample, arg);
    size_t best = ulb_prefetch_best(times.ratios);
    *prefetch = ulb_prefetch_candidates[best];
    return times.medians[best];
}

const char *ulb_prefetch_name(const struct ulb_kernel *kernel, size_t tokens, size_t prefetch)
{
    size_t candidate = 0;
    if (!ulb_prefetch_chosen(kernel, tokens))
        return "";
    if (kernel->prefetch_none && prefetch > 0)
        return "none";
    while (ulb_prefetch_candidates[candidate] != prefetch)
        candidate++;
    return names[candidate];
}
