/* The compute limit: what the register-only loops of kernels/peak reach with the whole team at work. */
#ifndef ULB_HARNESS_COMPUTE_PEAK_H
#define ULB_HARNESS_COMPUTE_PEAK_H

#include "harness/session/settings.h"
#include "harness/threads/team.h"
#include "kernels/kernel.h"
#include "results/record/record.h"

struct ulb_peak_meter;

/* The loops that can run here, each with room for so many samples. */
enum ulb_status ulb_peak_open(struct ulb_peak_meter **out, struct ulb_team *team, ulb_isa_set isa,
                              size_t samples, struct ulb_error *err);

/* One sample of each loop. */
void ulb_peak_sample(struct ulb_peak_meter *meter, struct ulb_noise_retry *retry);

/* The last sample of each loop for the journal (harness/session/checkpoint.h), and back in the place of a
 * sample. false: it is of none of these loops. */
json_t *ulb_peak_to_json(const struct ulb_peak_meter *meter);
bool ulb_peak_from_json(struct ulb_peak_meter *meter, const json_t *saved);

/* 1e9 operations per second that the loop which ulb_peak_gops() takes for the best reaches just now; NAN when
 * there is none. */
double ulb_peak_sample_best(struct ulb_peak_meter *meter, enum ulb_activation activation,
                            struct ulb_noise_retry *retry);

/* 1e9 operations per second of the best loop for kernels with these activations, median over the samples; NAN
 * when there is none. */
double ulb_peak_gops(const struct ulb_peak_meter *meter, enum ulb_activation activation);

/* Appends what was sampled to the record. */
enum ulb_status ulb_peak_record(const struct ulb_peak_meter *meter, const struct ulb_settings *settings,
                                struct ulb_record *record, struct ulb_error *err);

/* NULL is allowed. */
void ulb_peak_close(struct ulb_peak_meter *meter);

#endif
