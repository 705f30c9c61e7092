/* Times of products on devices that others publish (results/reference/published-device-times.csv, part of the
 * binary). */
#ifndef ULB_RESULTS_REFERENCE_PUBLISHED_TIMES_H
#define ULB_RESULTS_REFERENCE_PUBLISHED_TIMES_H

#include "common/status.h"

#include <stddef.h>

enum { ULB_PUBLISHED_TIMES = 128 };

struct ulb_published_time {
    char device[16], format[16], runtime[16], source[48];
    double m, k, us; /* one token */
};

/* Those of the device whose name holds the row's word. rows has room for ULB_PUBLISHED_TIMES. */
enum ulb_status ulb_published_times(const char *device, struct ulb_published_time *rows, size_t *n,
                                    struct ulb_error *err);

#endif
