#include "common/mix.h"

const char *ulb_op_name(enum ulb_op op)
{
    static const char *const names[] = {
#define ULB_MIX_NAME(op) #op,
        ULB_MIX_OPS(ULB_MIX_NAME)
#undef ULB_MIX_NAME
    };
    return names[op];
}

double ulb_mix_count(const struct ulb_mix *mix, enum ulb_op op)
{
    const double counts[] = {
#define ULB_MIX_VALUE(op) mix->op,
        ULB_MIX_OPS(ULB_MIX_VALUE)
#undef ULB_MIX_VALUE
    };
    return counts[op];
}
