#include "harness/analysis/platform_gammas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char paper_format[] = "int1", paper_sequence[] = "blend";

/* --- the measured ratio --- */

static bool is_int1_of_256_bits(const struct ulb_kernel *kernel)
{
    return strcmp(kernel->layout->format->name, paper_format) == 0 && kernel->mix.vector_bits == 256;
}

/* The paper's sequence with a dot product, in any of its encodings. */
static bool is_paper_kernel(const struct ulb_kernel *kernel)
{
    return is_int1_of_256_bits(kernel) && strcmp(kernel->variant, paper_sequence) == 0 &&
           kernel->mix.dot_products > 0;
}

static bool is_candidate(const struct ulb_kernel *kernel)
{
    const ulb_isa_set allowed =
        ULB_ISA_AVX2 | ULB_ISA_FMA | ULB_ISA_F16C | ULB_ISA_AVXVNNI | ULB_ISA_AVXVNNIINT8 | ULB_ISA_GFNI;
    return is_int1_of_256_bits(kernel) && (kernel->needs & ~allowed) == 0;
}

bool ulb_gamma_ratio_needs(const struct ulb_kernel *kernel)
{
    return is_paper_kernel(kernel) || is_candidate(kernel);
}

/* The kernel that a record names; records of other versions may have other tiles, the words before them
 * count.
 */
static const struct ulb_kernel *kernel_named(const char *wanted)
{
    const char *tile = strrchr(wanted, '-');
    for (size_t i = 0; i < ulb_kernel_count && tile; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        ulb_kernel_name(ulb_kernels[i], name);
        *strrchr(name, '-') = '\0';
        if (strlen(name) == (size_t)(tile - wanted) && strncmp(name, wanted, strlen(name)) == 0)
            return ulb_kernels[i];
    }
    return NULL;
}

/* The first or the lowest gamma of a class among kernels of one kind; NAN if there is none. The encodings of
 * one sequence cost the same. If only names a kernel, of that one alone. */
static double find_gamma(const struct ulb_gamma_cell *cells, size_t n, const char *class_name, bool paper,
                         const struct ulb_kernel *only, const struct ulb_kernel **found)
{
    double gamma = NAN;
    for (size_t i = 0; i < n; i++) {
        const struct ulb_kernel *kernel = kernel_named(cells[i].kernel);
        if (!kernel || (only && kernel != only) ||
            !(paper ? is_paper_kernel(kernel) : is_candidate(kernel)) ||
            strcmp(cells[i].cls, class_name) != 0 || !(cells[i].gamma_cycles > 0))
            continue;
        if (isnan(gamma) || (!paper && cells[i].gamma_cycles < gamma)) {
            gamma = cells[i].gamma_cycles;
            *found = kernel;
        }
    }
    return gamma;
}

/* Adds a class in which both kernels were measured; the first chooses the kernels. */
static void add_class(struct ulb_gamma_ratio *ratio, const struct ulb_gamma_cell *cells, size_t n,
                      const char *class_name)
{
    const struct ulb_kernel *paper = NULL, *fastest = NULL;
    for (size_t i = 0; i < ratio->n_classes; i++) {
        if (strcmp(ratio->classes[i].name, class_name) == 0)
            return;
    }
    double paper_gamma = find_gamma(cells, n, class_name, true, ratio->paper, &paper);
    double gamma = find_gamma(cells, n, class_name, false, ratio->kernel, &fastest);
    if (isnan(paper_gamma) || isnan(gamma) || ratio->n_classes == ULB_MAX_CLASSES)
        return;
    ratio->paper = paper;
    ratio->kernel = fastest;
    snprintf(ratio->classes[ratio->n_classes].name, sizeof ratio->classes[0].name, "%s", class_name);
    ratio->classes[ratio->n_classes].gamma = gamma;
    ratio->classes[ratio->n_classes++].paper_gamma = paper_gamma;
}

enum ulb_status ulb_gamma_ratio_of(const struct ulb_record *record, struct ulb_gamma_ratio *ratio,
                                   struct ulb_error *err)
{
    struct ulb_gamma_cell *cells;
    size_t n;
    *ratio = (struct ulb_gamma_ratio){0};
    enum ulb_status status = ulb_record_gamma_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        add_class(ratio, cells, n, cells[i].cls);
    ulb_gamma_cells_free(cells, n);
    if (ratio->n_classes == 0)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "no gamma of the paper's 1-bit sequence (int1 blend of 256 bits with dot products) beside "
            "that of another 256-bit kernel; 'ulb-bench gamma --formats int1' measures both");
    return ULB_OK;
}

size_t ulb_gamma_ratio_class(const struct ulb_gamma_ratio *ratio, const char *class_name)
{
    for (size_t i = 0; i < ratio->n_classes; i++) {
        if (strcmp(ratio->classes[i].name, class_name) == 0)
            return i;
    }
    return 0;
}

/* --- port bounds --- */

static bool is_kernel_of(const struct ulb_kernel *kernel, const struct ulb_platform_gamma *gamma)
{
    return strcmp(kernel->layout->format->name, gamma->format) == 0 &&
           strcmp(kernel->variant, gamma->sequence) == 0 && kernel->mix.vector_bits == 256;
}

/* The lowest bound that a core sets to a 256-bit kernel of a sequence (or to one kernel) that it can run.
 * Kernels with dot products come first, since the paper's sequences have them. Others stand in for them if
 * the core has no such instruction. NAN with the reason. */
static double sequence_bound(const struct ulb_core *core, const struct ulb_platform_gamma *gamma,
                             const struct ulb_kernel *only, struct ulb_gamma_origin *origin)
{
    double lowest = NAN;
    snprintf(origin->reason, sizeof origin->reason, "no 256-bit kernel of %s %s", gamma->format,
             gamma->sequence);
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        struct ulb_port_bound bound;
        char why[ULB_CORE_REASON_BYTES];
        if (only ? kernel != only : !is_kernel_of(kernel, gamma))
            continue;
        if (!ulb_core_bound(core, &kernel->mix, kernel->needs, &bound, why)) {
            if (isnan(lowest))
                snprintf(origin->reason, sizeof origin->reason, "%.23s: %.120s", core->name, why);
            continue;
        }
        bool has_dot = kernel->mix.dot_products > 0;
        bool had_dot = origin->kernel && origin->kernel->mix.dot_products > 0;
        if (!origin->kernel || has_dot > had_dot || (has_dot == had_dot && bound.cycles < lowest)) {
            lowest = bound.cycles;
            origin->kernel = kernel;
            origin->decides = bound.decides;
        }
    }
    return lowest;
}

static double class_bound(const struct ulb_platform_class *class, const struct ulb_core_list *cores,
                          const struct ulb_platform_gamma *gamma, const struct ulb_kernel *only,
                          struct ulb_gamma_origin *origin)
{
    *origin = (struct ulb_gamma_origin){.core = ulb_core_find(cores, class->core)};
    if (origin->core)
        return sequence_bound(origin->core, gamma, only, origin);
    snprintf(origin->reason, sizeof origin->reason, "the platform file names no core for class %s",
             class->name);
    return NAN;
}

static void append_kernel(struct ulb_platform *platform, const struct ulb_kernel *kernel)
{
    const char *format = kernel->layout->format->name;
    if (platform->n_gammas == ULB_MAX_GAMMAS || ulb_platform_gamma_find(platform, format, kernel->variant))
        return;
    struct ulb_platform_gamma *gamma = &platform->gammas[platform->n_gammas++];
    *gamma = (struct ulb_platform_gamma){.bytes_per_step = kernel->bytes_per_step};
    snprintf(gamma->format, sizeof gamma->format, "%s", format);
    snprintf(gamma->sequence, sizeof gamma->sequence, "%s", kernel->variant);
}

void ulb_platform_gammas_from_ports(const struct ulb_platform *platform, const struct ulb_core_list *cores,
                                    const struct ulb_gamma_ratio *ratio, struct ulb_platform_gammas *out)
{
    out->platform = *platform;
    if (ratio)
        append_kernel(&out->platform, ratio->kernel);
    for (size_t i = 0; i < out->platform.n_gammas; i++) {
        struct ulb_platform_gamma *gamma = &out->platform.gammas[i];
        const struct ulb_kernel *only = i < platform->n_gammas ? NULL : ratio->kernel;
        struct ulb_gamma_origin *origins = out->origins[i], *idle = origins + platform->n_classes;
        for (size_t c = 0; c < platform->n_classes; c++)
            gamma->cycles[c] = class_bound(&platform->classes[c], cores, gamma, only, &origins[c]);
        for (size_t c = 0; c < platform->n_unused; c++)
            out->idle_cycles[i][c] = class_bound(&platform->unused[c], cores, gamma, only, &idle[c]);
    }
}

/* --- the new kernel --- */

enum ulb_status ulb_platform_gammas_scaled(const struct ulb_platform *platform,
                                           const struct ulb_gamma_ratio *ratio,
                                           struct ulb_platform_gammas *out, struct ulb_error *err)
{
    const struct ulb_platform_gamma *paper = ulb_platform_gamma_find(platform, paper_format, paper_sequence);
    out->platform = *platform;
    out->platform.n_gammas = out->platform.n_unused = 0;
    if (!paper)
        return ulb_fail(err, ULB_BAD_INPUT, "platform %s has no gamma of %s %s to be multiplied",
                        platform->name, paper_format, paper_sequence);
    append_kernel(&out->platform, ratio->kernel);
    for (size_t c = 0; c < platform->n_classes; c++) {
        size_t like = ulb_gamma_ratio_class(ratio, platform->classes[c].name);
        out->origins[0][c] = (struct ulb_gamma_origin){.kernel = ratio->kernel, .like = like};
        out->platform.gammas[0].cycles[c] =
            paper->cycles[c] * (ratio->classes[like].gamma / ratio->classes[like].paper_gamma);
    }
    return ULB_OK;
}

size_t ulb_tile_rows_of(const struct ulb_platform_gamma *gamma, size_t fallback)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        if (strcmp(kernel->layout->format->name, gamma->format) == 0 &&
            strcmp(kernel->variant, gamma->sequence) == 0 && kernel->mix.vector_bits == 256)
            return kernel->mr;
    }
    return fallback;
}
