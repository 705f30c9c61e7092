/* What a device's compiler makes of a kernel, without the device: Intel's offline compiler, ocloc, compiles
 * and disassembles it, and the loop over K is counted. */
#ifndef ULB_HARNESS_OPENCL_DEVICE_OFFLINE_H
#define ULB_HARNESS_OPENCL_DEVICE_OFFLINE_H

#include "harness/opencl/device_selection.h"
#include "models/models.h"

/* Lanes of a sub-group on a target by its name, "pvc", "dg2-g10", "bmg-g21", "lnl-m". */
unsigned ulb_offline_lanes(const char *target);

/* Counts a round of the loop over K of a kernel with matrix instructions. ocloc is what ULB_OCLOC names, else
 * found by PATH. ULB_BAD_INPUT: the kernel has no matrix instructions. ULB_ENVIRONMENT: ocloc is missing,
 * does not know the target, or cannot build or disassemble the kernel; the message holds what it says. */
enum ulb_status ulb_offline_count(const struct ulb_device_choice *choice, const char *target,
                                  struct ulb_device_loop *loop, struct ulb_error *err);

/* The same of the text of a disassembly. ULB_ENVIRONMENT: no loop has all matrix instructions. */
enum ulb_status ulb_offline_parse(const char *assembly, size_t bytes, struct ulb_device_loop *loop,
                                  struct ulb_error *err);

#endif
