#include "kernels/reference/block_ref.h"
#include "kernels/formats/q8_0/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q8_0, ULB_Q8_0_COLUMNS, ULB_ACT_Q8_0)
