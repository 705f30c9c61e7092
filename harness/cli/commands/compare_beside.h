/* compare --beside: two builds measured in turn, on this machine. */
#ifndef ULB_HARNESS_CLI_COMMANDS_COMPARE_BESIDE_H
#define ULB_HARNESS_CLI_COMMANDS_COMPARE_BESIDE_H

#include "results/compare/compare.h"

struct ulb_beside_request {
    const char *programs[2];  /* base, new */
    const char *libraries[2]; /* of further kernels; NULL: none */
    char *const *options;     /* of gemv, n_options of them: what is measured */
    size_t n_options;
    double max_minutes;
    struct ulb_compare_settings settings;
};

/* Measures until every kernel is judged or the time is spent; notes on standard error tell how far it is. On
 * ULB_INTERRUPTED the comparison holds the sessions that were whole. ULB_FINDING for a build that gives wrong
 * results. *comparison is to be freed whatever the status. */
enum ulb_status ulb_compare_beside(const struct ulb_beside_request *request,
                                   struct ulb_comparison *comparison, struct ulb_error *err);

#endif
