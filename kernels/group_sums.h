/* Sums of the activations of groups of ULB_GROUP columns, which zero points need: once per token and call. */
#ifndef ULB_KERNELS_GROUP_SUMS_H
#define ULB_KERNELS_GROUP_SUMS_H

#include <stddef.h>
#include <stdint.h>

enum { ULB_GROUP_SUMS = 4096 /* that are kept: K up to 131,072 with groups of 32 */ };

struct ulb_group_sums {
    const int8_t *x;
    int32_t sums[ULB_GROUP_SUMS];
};

static inline int32_t ulb_sum_group(const int8_t *x)
{
    int32_t sum = 0;
    for (size_t i = 0; i < ULB_GROUP; i++)
        sum += x[i];
    return sum;
}

static inline void ulb_sum_groups(struct ulb_group_sums *of, const int8_t *x, size_t groups)
{
    of->x = x;
    for (size_t i = 0; i < groups && i < ULB_GROUP_SUMS; i++)
        of->sums[i] = ulb_sum_group(x + i * ULB_GROUP);
}

static inline int32_t ulb_group_sum(const struct ulb_group_sums *of, size_t group)
{
    return group < ULB_GROUP_SUMS ? of->sums[group] : ulb_sum_group(of->x + group * ULB_GROUP);
}

#endif
