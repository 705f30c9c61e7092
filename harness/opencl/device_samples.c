#include "harness/opencl/device_samples.h"

#include "common/stats.h"
#include "harness/session/json_number.h"
#include "harness/timing/stopwatch.h"

#include <math.h>
#include <stdio.h>

static const double ANNOUNCE_S = 0.25; /* short samples are not disturbed one by one */

enum ulb_status ulb_device_sample(const struct ulb_device_queue *queue,
                                  const struct ulb_device_sampling *sampling,
                                  struct ulb_device_samples *samples, struct ulb_error *err)
{
    const size_t turns = sampling->turns > 0 ? sampling->turns : 1;
    enum ulb_status status = ULB_OK;
    double begin = 0, announced = 0;
    samples->n = 0;
    for (size_t i = 0; i <= sampling->most && status == ULB_OK; i++) {
        struct ulb_launch_time time;
        if (ulb_now() - announced > ANNOUNCE_S) {
            announced = ulb_now();
            ulb_device_doing(queue->link, queue->launch_limit_s,
                             "restart its driver, take another --device, or raise --call-timeout",
                             "while %s on %s", sampling->doing, queue->device->id);
        }
        status = ulb_launch_all(queue, sampling->launches + i % turns * sampling->n, sampling->n, &time, err);
        if (i == 0) { /* the driver may have compiled the kernel */
            begin = ulb_now();
            continue;
        }
        samples->event_s[samples->n] = time.event_s;
        samples->host_s[samples->n++] = time.host_s;
        if (samples->n >= sampling->least && ulb_now() - begin > sampling->seconds)
            break;
    }
    return status;
}

void ulb_device_set_times(json_t *row, const struct ulb_device_samples *samples, double parts)
{
    json_object_set_new(row, "us_event",
                        json_real(1e6 * ulb_median_of(samples->event_s, samples->n) / parts));
    json_object_set_new(row, "us_host", json_real(1e6 * ulb_median_of(samples->host_s, samples->n) / parts));
}

/* Rates of each sample; false: the clock of the events did not move. */
static bool rates_of(const struct ulb_device_samples *samples, double amount, double *rates, json_t *all)
{
    for (size_t i = 0; i < samples->n; i++) {
        if (!(samples->event_s[i] > 0))
            return false;
        rates[i] = amount / samples->event_s[i];
        json_array_append_new(all, json_real(rates[i]));
    }
    return true;
}

void ulb_device_set_rate(json_t *row, const char *key, double amount,
                         const struct ulb_device_samples *samples)
{
    static const char still[] = "the clock of the device's events stands still for so short a time";
    char name[32];
    double rates[ULB_DEVICE_SAMPLES_MOST];
    struct ulb_stats stats = {.median = NAN};
    json_t *all = json_array();
    if (rates_of(samples, amount, rates, all))
        stats = ulb_stats_of(rates, samples->n, 1);
    ulb_set_figure(row, key, stats.median, still);
    if (isfinite(stats.median)) {
        snprintf(name, sizeof name, "%s_mad", key);
        json_object_set_new(row, name, json_real(stats.mad));
        snprintf(name, sizeof name, "%s_samples", key);
        json_object_set(row, name, all);
    }
    json_decref(all);
    snprintf(name, sizeof name, "%s_host", key);
    json_object_set_new(row, name, json_real(amount / ulb_median_of(samples->host_s, samples->n)));
}
