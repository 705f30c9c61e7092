/* Two builds whose cells were measured in turn, in several sessions. A session starts both programs anew:
 * where code and buffers come to lie is a session's luck, which its rounds share and its median does not
 * show. */
#ifndef ULB_RESULTS_COMPARE_IN_TURN_H
#define ULB_RESULTS_COMPARE_IN_TURN_H

#include "results/compare/compare.h"

#define ULB_MUST_SEE_IN_TURN 0.1 /* must_see of builds measured in turn */

enum { ULB_TURN_SESSIONS = 3 /* least, from which their scatter is taken */ };

struct ulb_turn_cell {
    char kernel[64];
    size_t m, k;
    bool in_base, in_fresh;
    double base_us, fresh_us; /* medians of the last session; NAN */
    double *effects;          /* [n_sessions], ln of new over base time, each the median over a session */
    double session_error; /* of one session's effect by the scatter of its rounds, mean over sessions; ln */
    size_t n_sessions, rounds; /* rounds: of all sessions */
};

/* The error of a session's effect, the median of its rounds (1024 at most, of more the first), by how they
 * scatter; ln. */
double ulb_session_error(const double *effects, size_t rounds);

/* Judges cells, which lie in the order of their kernels; those of one kernel have the same sessions.
 * *comparison is to be freed whatever the status. */
enum ulb_status ulb_compare_in_turn(const struct ulb_turn_cell *cells, size_t n,
                                    const struct ulb_compare_settings *settings,
                                    struct ulb_comparison *comparison, struct ulb_error *err);

/* Whether more sessions of this kernel are wanted. */
bool ulb_kernel_is_open(const struct ulb_comparison *comparison, const char *kernel);

#endif
