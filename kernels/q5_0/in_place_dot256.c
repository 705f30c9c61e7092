/* Q5_0 in place: the fifth bits are spread to bytes. */
#include "kernels/q5_0/format.h"
#include "kernels/x86/in_place_paired.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_fives(a, b, offsetof(struct ulb_q5_0, qh), low, high);
}

static const struct ulb_paired format = {
    .bytes = sizeof(struct ulb_q5_0), .zero_point = ULB_Q5_0_ZERO_POINT, .many = true, .codes = codes};

static void run(const struct ulb_gemm *g)
{
    ulb_run_paired(g, &format);
}

const struct ulb_kernel ULB_ROW =
    ULB_IN_PLACE_ROW(ulb_q5_0_in_place, ULB_ACT_Q8_0, ULB_PAIRED_ROWS, ULB_Q5_0_COLUMNS,
                     sizeof(struct ulb_q5_0), ULB_PAIRED_MIX(2, ULB_BY_ENCODING(4, 3), 0.5, 1, 1, 0, 0, 0));
