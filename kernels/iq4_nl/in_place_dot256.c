/* IQ4_NL in place. */
#include "kernels/iq4_nl/format.h"
#include "kernels/iq4_nl/table.h"
#include "kernels/x86/in_place_paired.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_entries(a + offsetof(struct ulb_iq4_nl, qs), b + offsetof(struct ulb_iq4_nl, qs), table, low,
                     high);
}

static const struct ulb_paired format = {
    .bytes = sizeof(struct ulb_iq4_nl), .is_signed = true, .zero_point = ENTRY_ORIGIN, .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_paired(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_iq4_nl_in_place, ULB_ACT_Q8_0, ULB_PAIRED_ROWS, ULB_IQ4_NL_COLUMNS,
                     sizeof(struct ulb_iq4_nl), ULB_PAIRED_MIX(1, 1, 0.5, 1, 0, 0, 1, 0));
