/* Described devices: platform files (JSON) of accelerators, read into the models' terms.
 *
 * Such a file is one object:
 *   kind                      "device"
 *   name, title, source       strings
 *   cores                     null when unknown, with cores_reason
 *   memory_gb                 1e9 bytes; null when unknown, with memory_gb_reason
 *   bandwidth_gibps           read bandwidth in 2^30 bytes/s; or bandwidth_gbps, in 1e9 bytes/s
 *   launch_us                 of a kernel that does nothing; null when unknown, with launch_us_reason
 *   peaks                     [{"format", "tops"}], 1e12 operations/s of the instructions that a product with
 *                             weights in the format uses; may be empty
 */
#ifndef ULB_MODELS_PLATFORM_DEVICE_PLATFORM_H
#define ULB_MODELS_PLATFORM_DEVICE_PLATFORM_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { ULB_MAX_DEVICE_PEAKS = 16, ULB_DEVICE_REASON_BYTES = 96 };

struct ulb_device_peak {
    char format[16];
    double rate; /* operations/s; a multiplication and an addition are two */
};

/* NAN where the source does not say. */
struct ulb_device_platform {
    char name[32], title[96], source[160];
    double cores, memory_bytes;
    double bandwidth; /* bytes/s */
    double launch_s;
    char cores_reason[ULB_DEVICE_REASON_BYTES], memory_reason[ULB_DEVICE_REASON_BYTES],
        launch_reason[ULB_DEVICE_REASON_BYTES];
    struct ulb_device_peak peaks[ULB_MAX_DEVICE_PEAKS];
    size_t n_peaks;
};

/* Name of built-in device platform 0, 1, ...; NULL behind the last. */
const char *ulb_device_platform_builtin(size_t index);

/* Loads a built-in device platform by name, else a file by path. *is_device is false, and nothing is read,
 * for a platform of another kind. ULB_BAD_INPUT: as ulb_platform_load. */
enum ulb_status ulb_device_platform_load(const char *name_or_file, struct ulb_device_platform *platform,
                                         bool *is_device, struct ulb_error *err);

/* The same from the text of a platform file; origin is what messages call it. */
enum ulb_status ulb_device_platform_parse(const char *text, size_t bytes, const char *origin,
                                          struct ulb_device_platform *platform, bool *is_device,
                                          struct ulb_error *err);

/* Operations/s for weights in the format; NAN where there is none. */
double ulb_device_platform_peak(const struct ulb_device_platform *platform, const char *format);

/* The platform in the form of a platform file; NULL when out of memory. */
json_t *ulb_device_platform_json(const struct ulb_device_platform *platform);

#endif
