/* A library of one kernel: int8 weights as the suite's layout `rows` has them, by whatever the compiler makes
 * of a plain loop. The definitions are faults for the tests. */
#include "kernels/plugin.h"

#ifndef LIBRARY_ABI
#define LIBRARY_ABI ULB_KERNEL_ABI
#endif
#ifndef VARIANT
#define VARIANT "mine"
#endif
#ifndef EXPORTED
#define EXPORTED ulb_kernel_library
#endif
#ifndef TOO_MUCH
#define TOO_MUCH 0
#endif

/* Fields of the kernel. */
#ifndef ISA
#define ISA "any"
#endif
#ifndef MR
#define MR 1
#endif
#ifndef NR
#define NR 1
#endif
#ifndef KR
#define KR 1
#endif
#ifndef BYTES
#define BYTES 32
#endif
#ifndef TOLERANCE
#define TOLERANCE 0
#endif
#ifdef LAYOUT_KIND
static const struct ulb_layout own = {.name = "own",
                                      .format = &ulb_int8,
                                      .tile_m = 1,
                                      .tile_k = 1,
                                      .tile_bytes = 1,
                                      .kind = (enum ulb_layout_kind)LAYOUT_KIND};
#define LAYOUT &own
#endif
#ifndef LAYOUT
#define LAYOUT &ulb_int8_rows
#endif
#ifndef PREFETCH
#define PREFETCH ULB_PREFETCH_FIXED
#endif
#ifndef ROW_ABI
#define ROW_ABI ULB_KERNEL_ABI
#endif
#ifndef RUN
#define RUN run
#endif

static void __attribute__((unused)) run(const struct ulb_gemm *g)
{
    const float *scales = ulb_row_scales(g, &ulb_int8_rows);
    for (size_t n = 0; n < g->n; n++) {
        const int8_t *x = (const int8_t *)g->x + n * g->x_stride;
        for (size_t m = g->m0; m < g->m1; m++) {
            const int8_t *w = (const int8_t *)g->w + m * g->k;
            int32_t dot = TOO_MUCH;
            for (size_t k = 0; k < g->k; k++)
                dot += w[k] * x[k];
            ulb_epilogue_rows(g->y + n * g->y_stride + m, &dot, scales + m, 1, 0, g->x_scale[n]);
        }
    }
}

static const struct ulb_kernel mine = {
    .abi = ROW_ABI,
    .variant = VARIANT,
    .isa = ISA,
    .layout = LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = MR,
    .nr = NR,
    .kr = KR,
    .bytes_per_step = BYTES,
    .tolerance = TOLERANCE,
    .prefetch = {.kind = PREFETCH},
    .run = RUN,
};

extern const struct ulb_kernel_library EXPORTED;
const struct ulb_kernel_library EXPORTED = {LIBRARY_ABI, (const struct ulb_kernel *const[]){&mine}, 1};
