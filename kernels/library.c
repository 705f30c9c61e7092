#include "kernels/library.h"

#include "common/words.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The suite's own rows alone, to which ulb_kernels_unload() goes back. */
static const struct ulb_kernel *const *own;
static size_t own_count;
static const struct ulb_kernel **all; /* with those of libraries; NULL: none was loaded */

/* Names are one lower-case word each, so that regular expressions and records can tell them apart. */
static bool is_word(const char *text)
{
    return text && *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789")] == '\0';
}

static bool is_complete(const struct ulb_kernel *row)
{
    const struct ulb_layout *layout = row->layout;
    return is_word(row->variant) && is_word(row->isa) && layout && layout->name && layout->format &&
           layout->format->name && row->run && row->activation < ULB_ACTIVATIONS && row->mr > 0 &&
           row->nr > 0 && row->kr > 0 && layout->tile_m > 0 && layout->tile_k > 0 &&
           row->mr % layout->tile_m == 0 && row->kr % layout->tile_k == 0 && row->bytes_per_step > 0 &&
           row->tolerance >= 0;
}

static enum ulb_status check_row(const char *path, const struct ulb_kernel *row, size_t i,
                                 struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], other[ULB_KERNEL_NAME_MAX];
    if (!row || row->abi != ULB_KERNEL_ABI || !is_complete(row))
        return ulb_fail(err, ULB_BAD_INPUT, "%.300s: row %zu is not complete; see kernels/kernel.h", path, i);
    ulb_kernel_name(row, name);
    for (size_t at = 0; at < ulb_kernel_count; at++) {
        if (strcmp(ulb_kernel_name(ulb_kernels[at], other), name) == 0)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "%.300s: there is a kernel %s already; give its variant another name", path,
                            name);
    }
    return ULB_OK;
}

/* Appends the rows, so that a name that comes twice in one library is found too. */
static enum ulb_status add_rows(const char *path, const struct ulb_kernel_library *library,
                                struct ulb_error *err)
{
    const struct ulb_kernel **more = realloc(all, (ulb_kernel_count + library->n) * sizeof *more);
    if (!more)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the kernels of %.300s", path);
    if (!all) {
        own = ulb_kernels;
        own_count = ulb_kernel_count;
        memcpy(more, own, own_count * sizeof *more);
    }
    ulb_kernels = all = more;
    size_t before = ulb_kernel_count;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < library->n && status == ULB_OK; i++) {
        status = check_row(path, library->rows[i], i, err);
        if (status == ULB_OK)
            all[ulb_kernel_count++] = library->rows[i];
    }
    for (size_t i = before; i < ulb_kernel_count && status == ULB_OK; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        if (!ulb_kernel_reference(all[i]))
            status =
                ulb_fail(err, ULB_BAD_INPUT,
                         "%.300s: %s has no scalar row (isa \"ref\") of its format and activations to be "
                         "checked against; add one",
                         path, ulb_kernel_name(all[i], name));
    }
    if (status != ULB_OK)
        ulb_kernel_count = before;
    return status;
}

static bool is_loaded(const struct ulb_kernel_library *library)
{
    for (size_t i = own_count; all && i < ulb_kernel_count; i++) {
        if (all[i] == library->rows[0])
            return true;
    }
    return false;
}

static enum ulb_status load(const char *path, struct ulb_error *err)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return ulb_fail(err, ULB_BAD_INPUT, "no library of kernels: %.400s", dlerror());
    const struct ulb_kernel_library *library = dlsym(object, "ulb_kernel_library");
    enum ulb_status status = ULB_OK;
    if (!library)
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "%.300s exports no ulb_kernel_library; see docs/ADDING_A_KERNEL.md", path);
    else if (library->abi != ULB_KERNEL_ABI)
        status =
            ulb_fail(err, ULB_BAD_INPUT,
                     "%.300s was built for version %u of a kernel's row, this is version %d; build it anew "
                     "with this version's headers",
                     path, (unsigned)library->abi, ULB_KERNEL_ABI);
    else if (library->n == 0 || !library->rows)
        status = ulb_fail(err, ULB_BAD_INPUT, "%.300s has no kernels", path);
    else if (!is_loaded(library))
        status = add_rows(path, library, err);
    if (status != ULB_OK)
        dlclose(object);
    return status;
}

enum ulb_status ulb_kernels_load(const char *files, struct ulb_error *err)
{
    if (files[strspn(files, ",")] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "no library of kernels is named");
    enum ulb_status status = ulb_words_differ("library of kernels", files, err);
    while (*files && status == ULB_OK) {
        char path[PATH_MAX];
        size_t length = strcspn(files, ",");
        /* A name without a slash is a file here, not one of the system's libraries. */
        int used =
            snprintf(path, sizeof path, "%s%.*s", memchr(files, '/', length) ? "" : "./", (int)length, files);
        if (used < 0 || (size_t)used >= sizeof path)
            status = ulb_fail(err, ULB_BAD_INPUT, "the name is too long: %.200s...", files);
        else if (length > 0)
            status = load(path, err);
        files += length + (files[length] == ',');
    }
    return status;
}

void ulb_kernels_unload(void)
{
    if (!all)
        return;
    ulb_kernels = own;
    ulb_kernel_count = own_count;
    free(all);
    all = NULL;
}
