#include "kernels/activations.h"
#include "kernels/embedding.h"
#include "kernels/kernel.h"
#include "kernels/microkernel.h"

#include <stdio.h>
#include <string.h>

extern const struct ulb_reader_set *const ulb_reader_sets[];
extern const size_t ulb_reader_set_count;
extern const struct ulb_peak *const ulb_peaks[]; /* NULL-terminated */
extern const struct ulb_embedding *const ulb_embeddings[];

char *ulb_kernel_name(const struct ulb_kernel *kernel, char out[ULB_KERNEL_NAME_MAX])
{
    snprintf(out, ULB_KERNEL_NAME_MAX, "%s%s-%s-%s-%ux%ux%u", kernel->layout->format->name,
             ulb_activation_name(kernel->activation), kernel->variant, kernel->isa, kernel->mr, kernel->nr,
             kernel->kr);
    return out;
}

const char *ulb_left_out_hint(void)
{
    return ulb_left_out_count == 0
               ? ""
               : "; this build leaves some kernels out, 'scripts/bench --kernels REGEX' builds all";
}

const struct ulb_kernel *ulb_kernel_reference(const struct ulb_kernel *kernel)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *candidate = ulb_kernels[i];
        if (candidate->layout->format == kernel->layout->format &&
            candidate->activation == kernel->activation && strcmp(candidate->isa, "ref") == 0)
            return candidate;
    }
    return NULL;
}

bool ulb_kernel_begins_format(size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (ulb_kernels[before]->layout->format == ulb_kernels[i]->layout->format)
            return false;
    }
    return true;
}

const struct ulb_reader *ulb_reader_at(size_t index)
{
    for (size_t i = 0; i < ulb_reader_set_count; i++) {
        if (index < ulb_reader_sets[i]->n)
            return &ulb_reader_sets[i]->readers[index];
        index -= ulb_reader_sets[i]->n;
    }
    return NULL;
}

const struct ulb_peak *ulb_peak_at(size_t index)
{
    for (size_t i = 0; ulb_peaks[i]; i++) {
        if (i == index)
            return ulb_peaks[i];
    }
    return NULL;
}

const struct ulb_embedding *ulb_embedding_at(size_t index)
{
    for (size_t i = 0; ulb_embeddings[i]; i++) {
        if (i == index)
            return ulb_embeddings[i];
    }
    return NULL;
}
