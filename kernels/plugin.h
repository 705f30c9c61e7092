/* Kernels of a third party: a shared object that names them, built against this version's headers. */
#ifndef ULB_KERNELS_PLUGIN_H
#define ULB_KERNELS_PLUGIN_H

#include "common/status.h"
#include "kernels/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the shared object exports, under the name ulb_kernel_library. Its kernels may use formats and layouts
 * of the suite, which its references then find in the program, or bring their own with a scalar kernel each
 * (isa "ref"). They are what any other kernel is: listed, verified against the scalar reference, timed. */
struct ulb_kernel_library {
    uint32_t abi; /* ULB_KERNEL_ABI, before all else that may differ */
    const struct ulb_kernel *const *rows;
    size_t n;
};

/* Adds the kernels of each file of a comma list to ulb_kernels, once however often it is named. Before any
 * thread is started. ULB_BAD_INPUT names the file and what is wrong: no library, another version of struct
 * ulb_kernel, a kernel that is not complete, a name that there is already, no scalar kernel to be checked
 * against. */
enum ulb_status ulb_kernels_load(const char *files, struct ulb_error *err);

/* Whether any library is loaded; whether the kernel is of one. */
bool ulb_kernels_have_foreign(void);
bool ulb_kernel_is_foreign(const struct ulb_kernel *kernel);

/* Takes all of them out again; the libraries stay in memory until the process ends. */
void ulb_kernels_unload(void);

#ifdef __cplusplus
}
#endif

#endif
