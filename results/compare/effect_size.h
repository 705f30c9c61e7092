/* How far two series of one figure are apart, with what the machine itself did in between taken out. */
#ifndef ULB_RESULTS_COMPARE_EFFECT_SIZE_H
#define ULB_RESULTS_COMPARE_EFFECT_SIZE_H

#include "results/compare/rank_tests.h"
#include "results/compare/series.h"

/* All differences are natural logarithms of cost, new over base: above 0 is worse. */
struct ulb_effect_size {
    struct ulb_shift shift; /* both moved to the state half-way between the two */
    double p;               /* of the Mann-Whitney test */
    double machine;         /* what the machine's change of state alone makes of it: already taken out */
    double tolerance;       /* how far off the shift may be because the states differ */
    struct ulb_machine_state base_state, new_state;
};

/* Series that are counted rather than measured (one value each) have no scatter: exact. ULB_ENVIRONMENT
 * without memory. */
enum ulb_status ulb_effect_size_of(const struct ulb_series *base, const struct ulb_series *new_series,
                                   bool exact, struct ulb_effect_size *effect, struct ulb_error *err);

#endif
