/* gamma with the whole team at work: what the prediction of a team's GEMV needs.
 *
 * The gamma of one core alone is the kernel's own. When all cores of a set run the same loop, shared parts of
 * the machine (SMT siblings that a hypervisor shows as cores; a lower clock is seen by cycles already) make
 * it larger, just as beta is smaller when all read. Samples are taken in the same rounds as the cells, and
 * with the same patience with neighbours. */
#ifndef ULB_HARNESS_TEAM_GAMMA_H
#define ULB_HARNESS_TEAM_GAMMA_H

#include "harness/session.h"
#include "harness/undisturbed.h"

struct ulb_team_gamma;

/* ULB_FINDING when a kernel differs from its scalar truth. samples: the most that will be taken of each
 * kernel. */
enum ulb_status ulb_team_gamma_open(struct ulb_team_gamma **out, struct ulb_session *session,
                                    const struct ulb_kernel *const *kernels, size_t n, size_t samples,
                                    struct ulb_error *err);

/* Takes one sample of kernel i, cycles per 32 weights by class, mean over the class's threads; watch may have
 * it taken again. */
void ulb_team_gamma_sample(struct ulb_team_gamma *gamma, size_t i, struct ulb_undisturbed *watch);

/* The last so many samples of every kernel for the journal (harness/keep.h), and back in the place of as many
 * samples; false when they do not fit. */
json_t *ulb_team_gamma_kept(const struct ulb_team_gamma *gamma, size_t per_kernel);
bool ulb_team_gamma_replay(struct ulb_team_gamma *gamma, const json_t *kept, size_t per_kernel);

/* Median over the samples; NAN for a class without a thread, or before any sample. */
double ulb_team_gamma_cycles(const struct ulb_team_gamma *gamma, size_t i, size_t cls);

/* Core frequency of a class under these loops, Hz, in the same way. */
double ulb_team_gamma_hz(const struct ulb_team_gamma *gamma, size_t cls);

/* NULL is allowed. */
void ulb_team_gamma_close(struct ulb_team_gamma *gamma);

#endif
