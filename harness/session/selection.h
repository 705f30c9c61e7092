/* Which kernels a run takes: by format, by name and by what the CPU can execute. */
#ifndef ULB_HARNESS_SESSION_SELECTION_H
#define ULB_HARNESS_SESSION_SELECTION_H

#include "kernels/kernel.h"

#include <stdbool.h>
#include <stddef.h>

struct ulb_selection {
    const char *formats; /* comma list, NULL: all */
    const char *kernels; /* regular expression on the kernel's name, NULL: all but the scalar reference */
    ulb_isa_set isa;     /* detected and not masked */
    bool *matched;       /* [ulb_kernel_count]: whose names the expression matches; NULL without it */
};

/* ULB_BAD_INPUT for an unknown format and for what is no regular expression. To be closed whatever the
 * status.
 */
enum ulb_status ulb_selection_open(struct ulb_selection *selection, const char *formats, const char *kernels,
                                   ulb_isa_set isa, struct ulb_error *err);
void ulb_selection_close(struct ulb_selection *selection);

/* Whether the CPU and the mask allow the kernel, and whether the filters choose it. */
bool ulb_selection_can_run(const struct ulb_selection *selection, ulb_isa_set needs);
bool ulb_selection_wants(const struct ulb_selection *selection, const struct ulb_kernel *kernel);

/* The kernels that are wanted and can run, in table order; *n of them. The array has room for
 * ulb_kernel_count. ULB_BAD_INPUT: the filters match nothing. ULB_ENVIRONMENT: what they match cannot run
 * here, and the message names the missing bits. A fast kernel never silently gives way to another. */
enum ulb_status ulb_selection_kernels(const struct ulb_selection *selection,
                                      const struct ulb_kernel **kernels, size_t *n, struct ulb_error *err);

/* ULB_BAD_INPUT for a word of that length that is no format, with the one it may mean: "q4_k" of "q4_k_m". */
enum ulb_status ulb_refuse_format(const char *word, size_t length, struct ulb_error *err);

/* ULB_BAD_INPUT for a filter that no kernel of the formats matches (NULL: of all), with the name it may mean:
 * "int2a8-mask" of "int2a8-msk". */
enum ulb_status ulb_refuse_kernel_filter(const char *filter, const char *formats, struct ulb_error *err);

#endif
