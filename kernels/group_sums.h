/* Sums of the activations of groups of columns, which zero points need. */
#ifndef ULB_KERNELS_GROUP_SUMS_H
#define ULB_KERNELS_GROUP_SUMS_H

#include "kernels/activations.h"
#include "kernels/microkernel.h"

/* The sum of so many activations, a constant multiple of ULB_SUM_COLUMNS up to 256, of which sums of that
 * many each are known. */
static inline __attribute__((always_inline)) int32_t ulb_sum_of_x(const int16_t *x_sums, size_t columns)
{
    int32_t sum = 0;
    ULB_UNROLL(16)
    for (size_t i = 0; i < columns / ULB_SUM_COLUMNS; i++) {
        sum += x_sums[i];
        /* Keeps Clang from adding them up in a vector, which has a longer latency. */
        __asm__("" : "+r"(sum));
    }
    return sum;
}

#endif
