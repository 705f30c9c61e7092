/* Loads plug-ins: shared objects with kernels of a third party (kernels/plugin.h). */
#ifndef ULB_KERNELS_PLUGIN_LOADER_H
#define ULB_KERNELS_PLUGIN_LOADER_H

#include "common/status.h"
#include "kernels/kernel.h"

/* Adds the kernels of each file of a comma list to ulb_kernels, once however often it is named. Before any
 * thread is started. ULB_BAD_INPUT names the file and what is wrong: no plug-in, another version of the
 * interface, a kernel that is not complete, a name that there is already, no scalar kernel to be checked
 * against. */
enum ulb_status ulb_kernels_load(const char *files, struct ulb_error *err);

/* Whether any plug-in is loaded; whether the kernel is of one. */
bool ulb_kernels_have_foreign(void);
bool ulb_kernel_is_foreign(const struct ulb_kernel *kernel);

/* Takes all of them out again; plug-ins stay in memory until the process ends. */
void ulb_kernels_unload(void);

#endif
