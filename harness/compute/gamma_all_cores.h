/* gamma with the whole team at work: what the prediction of a team's GEMV needs.
 *
 * The gamma of one core alone is the kernel's own. When all cores of a set run the same loop, shared parts of
 * the machine make it larger, just as beta is smaller when all read. Such parts are SMT siblings that a
 * hypervisor shows as cores. A lower clock is none: cycles see it already. A sample is taken right before
 * each cell's, with the same retry budget for neighbours. What they leave of the cores is in both. */
#ifndef ULB_HARNESS_COMPUTE_GAMMA_ALL_CORES_H
#define ULB_HARNESS_COMPUTE_GAMMA_ALL_CORES_H

#include "harness/session/machine.h"
#include "harness/threads/team.h"
#include "kernels/kernel.h"

#include <jansson.h>
#include <stdint.h>

struct ulb_team_gamma;

/* One class's core under one kernel with the whole team at work. */
struct ulb_core_rate {
    double gamma, hz; /* NAN for a class without a thread, and before anything was sampled */
    double loop_s;    /* seconds that the loops of a sample of gamma take together */
};

/* ULB_FINDING when a kernel differs from its scalar reference. samples: the most that will be taken of each
 * kernel. */
enum ulb_status ulb_team_gamma_open(struct ulb_team_gamma **out, const struct ulb_machine *machine,
                                    uint64_t seed, const struct ulb_kernel *const *kernels, size_t n,
                                    size_t samples, struct ulb_error *err);

/* Takes one sample of kernel i, cycles per 32 weights by class, mean over the class's threads; retry may have
 * it taken again. */
void ulb_team_gamma_sample(struct ulb_team_gamma *gamma, size_t i, struct ulb_noise_retry *retry);

/* Medians over the samples of kernel i; NAN for a class without a thread, and before any sample. */
struct ulb_core_rate ulb_team_gamma_rate(const struct ulb_team_gamma *gamma, size_t i, size_t cls);

/* How long the loops took in the last sample of kernel i: there must be one. Over the rate's loop_s it tells
 * what neighbours left of the cores then, and far better than the sample's own gamma, a difference. */
double ulb_team_gamma_loop_s(const struct ulb_team_gamma *gamma, size_t i, size_t cls);

/* The last sample of kernel i for the journal (harness/session/checkpoint.h), and back in the place of a
 * sample; false when it does not fit. */
json_t *ulb_team_gamma_to_json(const struct ulb_team_gamma *gamma, size_t i);
bool ulb_team_gamma_from_json(struct ulb_team_gamma *gamma, size_t i, const json_t *saved);

/* NULL is allowed. */
void ulb_team_gamma_close(struct ulb_team_gamma *gamma);

#endif
