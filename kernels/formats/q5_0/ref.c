#include "kernels/reference/block_ref.h"
#include "kernels/formats/q5_0/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q5_0, ULB_Q5_0_COLUMNS, ULB_ACT_Q8_0)
