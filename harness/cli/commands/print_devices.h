/* What was measured of devices, as `ulb-bench beta --device` and `show` print it. */
#ifndef ULB_HARNESS_CLI_COMMANDS_PRINT_DEVICES_H
#define ULB_HARNESS_CLI_COMMANDS_PRINT_DEVICES_H

#include "results/record/record.h"

#include <stdio.h>

/* Tables of every device in the record: launches, peaks, bandwidth by size and reader. Nothing where there is
 * none. */
void ulb_report_devices(const struct ulb_record *record, FILE *out);

/* What others publish of products on these devices, beside the record's; nothing where nobody does. */
enum ulb_status ulb_report_published_times(const struct ulb_record *record, FILE *out, struct ulb_error *err);

/* The products that were measured on a device, by shape: host's and device's time, bandwidth, prediction. */
void ulb_report_device_cells(const struct ulb_record *record, FILE *out);

#endif
