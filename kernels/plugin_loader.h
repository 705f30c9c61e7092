/* Loads plug-ins: shared objects with kernels of a third party (kernels/plugin.h). */
#ifndef ULB_KERNELS_PLUGIN_LOADER_H
#define ULB_KERNELS_PLUGIN_LOADER_H

#include "common/status.h"
#include "kernels/kernel.h"

/* Adds the kernels of each file of a comma-separated list to ulb_kernels. A file that is named twice is
 * loaded once. Call it before any thread is started. ULB_BAD_INPUT names the file and the error: no plug-in,
 * another interface version, an incomplete kernel, a name that exists already, no scalar kernel as a
 * reference. */
enum ulb_status ulb_kernels_load(const char *files, struct ulb_error *err);

/* Whether any plug-in is loaded; whether the kernel is of one. */
bool ulb_kernels_have_foreign(void);
bool ulb_kernel_is_foreign(const struct ulb_kernel *kernel);

/* Takes all of them out again; plug-ins stay in memory until the process ends. */
void ulb_kernels_unload(void);

#endif
