/* Gammas of a described platform from other sources than its file. One source is the port bounds of its real
 * cores. For a 1-bit kernel that nobody measured there it is the paper's gamma times a ratio that was
 * measured here. */
#ifndef ULB_HARNESS_ANALYSIS_PLATFORM_GAMMAS_H
#define ULB_HARNESS_ANALYSIS_PLATFORM_GAMMAS_H

#include "models/platform/cores.h"
#include "kernels/kernel.h"
#include "models/models.h"
#include "results/record/record.h"

/* gamma of the fastest 1-bit kernel over that of the paper's 1-bit sequence, both measured on one machine.
 * Kernels that count are those of 256 bits that need nothing beyond AVX2, AVX-VNNI, AVX-VNNI-INT8 and GFNI:
 * what the paper's platforms have. */
struct ulb_gamma_ratio {
    const struct ulb_kernel *kernel, *paper;
    size_t n_classes;
    struct {
        char name[8]; /* of the measured machine */
        double gamma, paper_gamma;
    } classes[ULB_MAX_CLASSES];
};

/* Whether a kernel is one of those two kinds: what to measure for the ratio. */
bool ulb_gamma_ratio_needs(const struct ulb_kernel *kernel);

/* From the gammas of a record. The fastest kernel is that of the first class. ULB_BAD_INPUT when the record
 * has no gamma of the paper's sequence or of no other kernel. */
enum ulb_status ulb_gamma_ratio_of(const struct ulb_record *record, struct ulb_gamma_ratio *ratio,
                                   struct ulb_error *err);

/* Index of the measured class that stands for a platform's class: the one of its name, else the first. */
size_t ulb_gamma_ratio_class(const struct ulb_gamma_ratio *ratio, const char *class_name);

/* Where a platform's gamma comes from. */
struct ulb_gamma_origin {
    const struct ulb_core *core;        /* port bounds: of the class; NULL when unknown */
    const struct ulb_kernel *kernel;    /* whose mix, or measured ratio, was taken; NULL without gamma */
    enum ulb_limit decides;             /* port bounds: which limit */
    size_t like;                        /* ratio: index of its class */
    char reason[ULB_CORE_REASON_BYTES]; /* why there is no gamma */
};

/* A platform with such gammas, NAN where there is none. Classes that the platform's source leaves idle stand
 * behind the others in origins, with their cycles in idle_cycles. */
struct ulb_platform_gammas {
    struct ulb_platform platform;
    struct ulb_gamma_origin origins[ULB_MAX_GAMMAS][2 * ULB_MAX_CLASSES];
    double idle_cycles[ULB_MAX_GAMMAS][ULB_MAX_CLASSES];
};

/* The platform's own sequences with the port bounds of its cores; beside them that of ratio's kernel, which
 * may be NULL. */
void ulb_platform_gammas_from_ports(const struct ulb_platform *platform, const struct ulb_core_list *cores,
                                    const struct ulb_gamma_ratio *ratio, struct ulb_platform_gammas *out);

/* The ratio's kernel alone: the platform's gamma of the paper's 1-bit sequence times the ratio. ULB_BAD_INPUT
 * when the platform has no such gamma. */
enum ulb_status ulb_platform_gammas_scaled(const struct ulb_platform *platform,
                                           const struct ulb_gamma_ratio *ratio,
                                           struct ulb_platform_gammas *out, struct ulb_error *err);

/* Rows of a tile of the kernel with this format and sequence; fallback when there is none of 256 bits. */
size_t ulb_tile_rows_of(const struct ulb_platform_gamma *gamma, size_t fallback);

#endif
