/* TQ2_0 in place. 16-bit sums: 8 units of 2 * 3 * 128. */
#include "kernels/tq2_0/format.h"
#include "kernels/x86/in_place_long.h"

#include <stddef.h>

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_crumbs(block + offsetof(struct ulb_tq2_0, qs), unit, 0);
}

static const struct ulb_long format = {.bytes = sizeof(struct ulb_tq2_0),
                                       .d_at = offsetof(struct ulb_tq2_0, d),
                                       .zero_shift = 0,
                                       .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_long(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_tq2_0_in_place, ULB_ACT_Q8_K, 1, ULB_TQ2_0_COLUMNS, sizeof(struct ulb_tq2_0),
                     ULB_LONG_MIX(0.25, 1, 0.75, 0, 0, 0, 0));
