/* Samples of launches: how many are taken, and what is recorded of them. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_SAMPLES_H
#define ULB_HARNESS_OPENCL_DEVICE_SAMPLES_H

#include "harness/opencl/device_queue.h"

enum { ULB_DEVICE_SAMPLES_MOST = 1000 };

struct ulb_device_samples {
    double event_s[ULB_DEVICE_SAMPLES_MOST], host_s[ULB_DEVICE_SAMPLES_MOST];
    size_t n;
};

/* What is launched for a sample, and how many are taken: at least `least`, and as many as there is time for
 * up to `most`. doing: what a sample is, behind "while". */
struct ulb_device_sampling {
    const struct ulb_launch *launches; /* [turns][n]: those of one sample after the other; turns 0: 1 */
    size_t n, turns;
    size_t least, most;
    double seconds;
    const char *doing;
};

/* Launches once to warm up, then takes the samples. Each may take as long as the queue allows a launch. */
enum ulb_status ulb_device_sample(const struct ulb_device_queue *queue,
                                  const struct ulb_device_sampling *sampling,
                                  struct ulb_device_samples *samples, struct ulb_error *err);

/* Medians in us as "us_event" and "us_host", divided by `parts` (launches that a sample has). */
void ulb_device_set_times(json_t *row, const struct ulb_device_samples *samples, double parts);

/* amount a second by the events' clock as KEY, KEY_mad, KEY_samples, and by the host's as KEY_host. KEY is
 * null with a reason where the events' clock stands still. */
void ulb_device_set_rate(json_t *row, const char *key, double amount,
                         const struct ulb_device_samples *samples);

#endif
