/* Work on a device, in a process of its own: drivers crash, exit and hang, and a launch that hangs cannot be
 * called off. The process tells over a pipe what it begins and what it has found; the program takes what
 * comes and ends the process when it is late. What was told stays told. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_PROCESS_H
#define ULB_HARNESS_OPENCL_DEVICE_PROCESS_H

#include "common/status.h"

#include <jansson.h>

/* ---- in the process ---- */

struct ulb_device_link; /* the way back to the program */

/* The work. Its status and message are those of ulb_device_run(). */
typedef enum ulb_status ulb_device_job(struct ulb_device_link *link, const void *arg, struct ulb_error *err);

/* What begins now ("while 4 MiB were read") and how many seconds it may take to the next call. When it takes
 * longer, or the process ends in it, remedy closes the message. */
void ulb_device_doing(struct ulb_device_link *link, double limit_s, const char *remedy, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

/* Gives the program a value under a key; takes the reference. */
void ulb_device_tell(struct ulb_device_link *link, const char *key, json_t *value);

/* ---- in the program ---- */

/* What becomes of a value; it may keep a reference. key "doing" is the text of ulb_device_doing(). */
typedef enum ulb_status ulb_device_take(void *context, const char *key, json_t *value, struct ulb_error *err);

/* Runs job(arg) in a new process until it returns. ULB_ENVIRONMENT with one sentence when it crashes, exits
 * or is late; ULB_INTERRUPTED after a signal. */
enum ulb_status ulb_device_run(ulb_device_job *job, const void *arg, ulb_device_take *take, void *context,
                               struct ulb_error *err);

#endif
