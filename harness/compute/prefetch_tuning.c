#include "harness/compute/prefetch_tuning.h"

#include "common/stats.h"

static const double FASTER = 0.02;

static const struct ulb_prefetch tunable[ULB_PREFETCH_CANDIDATES] = {
    {ULB_PREFETCH_OWN, 0},   {ULB_PREFETCH_L2, 1024}, {ULB_PREFETCH_L2, 2048},
    {ULB_PREFETCH_L2, 3072}, {ULB_PREFETCH_L1, 1024}, {ULB_PREFETCH_L1, 2048}};
static const char *const names[ULB_PREFETCH_CANDIDATES] = {"L1",      "L2+1024", "L2+2048",
                                                           "L2+3072", "L1+1024", "L1+2048"};
static const struct ulb_prefetch own_or_none[] = {{ULB_PREFETCH_OWN, 0}, {ULB_PREFETCH_NONE, 0}};

bool ulb_prefetch_chosen(const struct ulb_kernel *kernel, size_t tokens)
{
    const struct ulb_prefetch_policy *policy = &kernel->prefetch;
    return policy->kind != ULB_PREFETCH_FIXED && (policy->max_n == 0 || tokens <= policy->max_n);
}

struct ulb_prefetch_candidates ulb_prefetch_candidates(const struct ulb_kernel *kernel, size_t tokens)
{
    if (!ulb_prefetch_chosen(kernel, tokens))
        return (struct ulb_prefetch_candidates){own_or_none, 1};
    if (kernel->prefetch.kind == ULB_PREFETCH_OWN_OR_NONE)
        return (struct ulb_prefetch_candidates){own_or_none, 2};
    return (struct ulb_prefetch_candidates){tunable, ULB_PREFETCH_CANDIDATES};
}

struct ulb_prefetch_times ulb_prefetch_compare(struct ulb_prefetch *prefetch,
                                               struct ulb_prefetch_candidates candidates, size_t samples,
                                               double (*sample)(void *arg), void *arg)
{
    double times[ULB_PREFETCH_CANDIDATES][ULB_PREFETCH_SAMPLES], ratios[ULB_PREFETCH_SAMPLES];
    struct ulb_prefetch_times result;
    for (size_t i = 0; i < samples; i++) {
        for (size_t turn = 0; turn < candidates.n; turn++) {
            size_t candidate = i % 2 ? candidates.n - 1 - turn : turn;
            *prefetch = candidates.at[candidate];
            times[candidate][i] = sample(arg);
        }
    }
    for (size_t candidate = 0; candidate < ULB_PREFETCH_CANDIDATES; candidate++) {
        size_t n = candidate < candidates.n ? samples : 0;
        for (size_t i = 0; i < n; i++)
            ratios[i] = times[candidate][i] / times[0][i];
        result.ratios[candidate] = ulb_median(ratios, n);
    }
    for (size_t candidate = 0; candidate < ULB_PREFETCH_CANDIDATES; candidate++)
        result.medians[candidate] = ulb_median(times[candidate], candidate < candidates.n ? samples : 0);
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

double ulb_prefetch_choose(struct ulb_prefetch *prefetch, struct ulb_prefetch_candidates candidates,
                           size_t samples, double (*sample)(void *arg), void *arg)
{
    struct ulb_prefetch_times times = ulb_prefetch_compare(prefetch, candidates, samples, sample, arg);
    size_t best = ulb_prefetch_best(times.ratios);
    *prefetch = candidates.at[best];
    return times.medians[best];
}

const char *ulb_prefetch_name(const struct ulb_kernel *kernel, size_t tokens, struct ulb_prefetch prefetch)
{
    size_t candidate = 0;
    if (!ulb_prefetch_chosen(kernel, tokens))
        return "";
    if (prefetch.target == ULB_PREFETCH_NONE)
        return "none";
    while (tunable[candidate].target != prefetch.target || tunable[candidate].distance != prefetch.distance)
        candidate++;
    return names[candidate];
}
