/* Devices beside the CPU: which there are, and what they can do. Everything that touches a driver runs in a
 * process of its own (device_process.h). */
#ifndef ULB_HARNESS_OPENCL_DEVICES_H
#define ULB_HARNESS_OPENCL_DEVICES_H

#include "harness/opencl/device_process.h"
#include "harness/session/settings.h"
#include "results/record/record.h"

/* Appends to rows what each device is, and to notes the drivers that do not come up, as texts.
 * ULB_ENVIRONMENT where there is no device: the message says why and what to do. */
enum ulb_status ulb_devices_list(json_t *rows, json_t *notes, struct ulb_error *err);

/* A job that tells more than the limits: each "product" goes to take, with the device's entry of the record.
 */
struct ulb_device_more {
    ulb_device_job *job;
    const void *arg;
    enum ulb_status (*take)(void *context, const json_t *device, const json_t *product,
                            struct ulb_error *err);
    void *context;
};

/* Measures the device that the settings name: its launches, peaks and read bandwidth go into the record's
 * section "devices". more NULL: nothing else. Whatever the status, what was measured until then is there. */
enum ulb_status ulb_device_limits(const struct ulb_settings *settings, const struct ulb_device_more *more,
                                  struct ulb_record *record, struct ulb_error *err);

/* Verifies the device kernels that the settings name, or all. Hands each row to take when it is known, and
 * notes of drivers. ULB_FINDING when one differs. */
typedef enum ulb_status ulb_device_row_fn(void *context, const char *key, json_t *value,
                                          struct ulb_error *err);
enum ulb_status ulb_device_verify(const struct ulb_settings *settings, ulb_device_row_fn *take, void *context,
                                  struct ulb_error *err);

#endif
