/* What one core of each class gets done while the whole team works: what rows are shared out by in the
 * weighted split. */
#ifndef ULB_HARNESS_COMPUTE_CORE_CLASS_RATES_H
#define ULB_HARNESS_COMPUTE_CORE_CLASS_RATES_H

#include "harness/memory/cold_ring.h"
#include "harness/session/machine.h"
#include "harness/session/settings.h"
#include "kernels/kernel.h"

/* beta of each class in bytes/s: what one of its cores reads from the cold ring while all of the team read.
 * It is the mean over its cores, and the median over some samples. A sample ends when the first thread is
 * done with its part, so that nobody reads alone. NAN for a class without a thread. reader: the yardstick's.
 * ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_class_beta(const struct ulb_machine *machine, const struct ulb_reader *reader,
                               struct ulb_arena *arena, bool quick, double beta[ULB_MAX_CLASSES],
                               struct ulb_error *err);

/* gamma of one kernel by class with the whole team at work. Cycles are NAN if noise left none above zero;
 * rates are then beta. */
struct ulb_class_gamma {
    double cycles[ULB_MAX_CLASSES], hz[ULB_MAX_CLASSES];
};

/* The same for each of the kernels. */
enum ulb_status ulb_class_gammas(const struct ulb_machine *machine, const struct ulb_settings *settings,
                                 const struct ulb_kernel *const *kernels, size_t n,
                                 struct ulb_class_gamma *gammas, struct ulb_error *err);

/* e_bw of one core of a class in bytes/s for a product with so many tokens: min(beta, B * hz / (gamma *
 * tokens)). */
double ulb_class_rate(const struct ulb_kernel *kernel, const struct ulb_class_gamma *gamma,
                      const double beta[ULB_MAX_CLASSES], size_t cls, size_t tokens);

/* The same for each of the machine's threads; without gamma by beta alone. */
void ulb_class_thread_rates(const struct ulb_machine *machine, const struct ulb_kernel *kernel,
                            const struct ulb_class_gamma *gamma, const double beta[ULB_MAX_CLASSES],
                            size_t tokens, double *rates);

#endif
