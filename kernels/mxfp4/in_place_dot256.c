/* MXFP4 in place: entries + 12. */
#include "kernels/mxfp4/format.h"
#include "kernels/mxfp4/table.h"
#include "kernels/x86/in_place_paired.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_entries(a + offsetof(struct ulb_mxfp4, qs), b + offsetof(struct ulb_mxfp4, qs),
                     ulb_mxfp4_entries, low, high);
}

static const struct ulb_paired format = {
    .bytes = sizeof(struct ulb_mxfp4), .powers = true, .zero_point = ULB_MXFP4_ORIGIN, .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_paired(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_mxfp4_in_place, ULB_ACT_Q8_0, ULB_PAIRED_ROWS, ULB_MXFP4_COLUMNS,
                     sizeof(struct ulb_mxfp4), ULB_PAIRED_MIX(1, 1, 0.5, 1, 0, 0, 0, 1));
