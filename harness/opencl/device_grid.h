/* GEMV and GEMM on a device, over the shapes of models, into the record. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_GRID_H
#define ULB_HARNESS_OPENCL_DEVICE_GRID_H

#include "harness/grid/grid.h"

/* Measures the device that the settings name (section "devices"), then every wanted kernel of devices at
 * every shape ("cells"): verified, with cold weights, beside the yardstick and the prediction of
 * models/device.c. ULB_FINDING when a kernel differs. Whatever the status, what was measured until then is in
 * the record. */
enum ulb_status ulb_device_grid(const struct ulb_settings *settings, enum ulb_product product,
                                struct ulb_record *record, struct ulb_error *err);

#endif
