/* Q4_1 in place. */
#include "kernels/q4_1/format.h"
#include "kernels/x86/in_place_paired.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_nibbles(a + offsetof(struct ulb_q4_1, qs), b + offsetof(struct ulb_q4_1, qs), low, high);
}

static const struct ulb_paired format = {.bytes = sizeof(struct ulb_q4_1), .minimum = true, .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_paired(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q4_1_in_place, ULB_ACT_Q8_0, ULB_PAIRED_ROWS, ULB_Q4_1_COLUMNS,
                     sizeof(struct ulb_q4_1), ULB_PAIRED_MIX(1, 1, 0.5, 0, 0, 1, 0, 0));
