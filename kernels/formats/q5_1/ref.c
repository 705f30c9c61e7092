#include "kernels/reference/block_ref.h"
#include "kernels/formats/q5_1/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q5_1, ULB_Q5_1_COLUMNS, ULB_ACT_Q8_0)
