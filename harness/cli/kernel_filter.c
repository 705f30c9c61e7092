#include "harness/cli/kernel_filter.h"

#include "kernels/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *ulb_kernel_filter(const bool *chosen, ulb_isa_set isa)
{
    char *filter = calloc(ulb_kernel_count + 1, ULB_KERNEL_NAME_MAX + 1), name[ULB_KERNEL_NAME_MAX];
    size_t used = 0, bytes = (ulb_kernel_count + 1) * (ULB_KERNEL_NAME_MAX + 1);
    for (size_t i = 0; filter && i < ulb_kernel_count; i++) {
        if (chosen[i] && (ulb_kernels[i]->needs & ~isa) == 0)
            used += (size_t)snprintf(filter + used, bytes - used, "%s%s", used ? "|" : "^(",
                                     ulb_kernel_name(ulb_kernels[i], name));
    }
    if (used > 0)
        snprintf(filter + used, bytes - used, ")$");
    return filter;
}

/* Marks the kernel of that name; false where there is none. */
static bool mark(bool *chosen, const char *wanted)
{
    char name[ULB_KERNEL_NAME_MAX];
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (strcmp(ulb_kernel_name(ulb_kernels[i], name), wanted) == 0) {
            chosen[i] = true;
            return true;
        }
    }
    return false;
}

static enum ulb_status mark_all(const struct ulb_record *record, const char *path, bool *chosen,
                                struct ulb_error *err)
{
    struct ulb_cell *cells;
    size_t n, marked = 0;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        if (cells[i].n != 1)
            continue;
        marked++;
        if (!mark(chosen, cells[i].kernel))
            status = ulb_fail(err, ULB_BAD_INPUT,
                              "%s: this program has no kernel %s; see 'ulb-bench list kernels'%s", path,
                              cells[i].kernel, ulb_left_out_hint());
    }
    ulb_cells_free(cells, n);
    if (status == ULB_OK && marked == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: the record has no cells of one token", path);
    return status;
}

enum ulb_status ulb_record_kernel_filter(const struct ulb_record *record, const char *name, char **filter,
                                         struct ulb_error *err)
{
    bool *chosen = calloc(ulb_kernel_count, sizeof *chosen);
    enum ulb_status status =
        chosen ? mark_all(record, name, chosen, err)
               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the kernels of %s", name);
    if (status == ULB_OK && !(*filter = ulb_kernel_filter(chosen, ~(ulb_isa_set)0)))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the kernels of %s", name);
    free(chosen);
    return status;
}
