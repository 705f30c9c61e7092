/* gamma: core cycles per step of 32 weights with weights and activations in L1. */
#ifndef ULB_HARNESS_COMPUTE_GAMMA_H
#define ULB_HARNESS_COMPUTE_GAMMA_H

#include "harness/session/session.h"

/* Measures the n kernels on one core of every class that the session's set touches, that core alone at work.
 * Gamma is `(cycles(K2) - cycles(K1)) / steps between`, so that the loop's entry, the scales and the call
 * cancel. Appends to the record. A kernel is checked against its scalar reference first; one that differs is
 * ULB_FINDING.
 *
 * look_ups: the embedding look-ups of the kernels' block formats are measured and checked in the same way.
 * Each operator that the CPU runs has an entry in "embedding" of the record's gamma. */
enum ulb_status ulb_gamma_measure(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                  size_t n, bool look_ups, struct ulb_error *err);

/* Sets the cells' e_bw again, once the record holds the yardstick that resolves beta. */
enum ulb_status ulb_gamma_resolve(struct ulb_record *record, struct ulb_error *err);

/* gamma of a kernel on a core class, cycles, by the record's cells; NAN where it has none. */
double ulb_measured_gamma(const struct ulb_record *record, const struct ulb_kernel *kernel,
                          const char *class_name);

#endif
