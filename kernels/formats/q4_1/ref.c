#include "kernels/reference/block_ref.h"
#include "kernels/formats/q4_1/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q4_1, ULB_Q4_1_COLUMNS, ULB_ACT_Q8_0)
