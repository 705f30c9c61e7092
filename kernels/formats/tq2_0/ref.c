#include "kernels/reference/block_ref.h"
#include "kernels/formats/tq2_0/format.h"

ULB_BLOCK_REF_KERNEL(ulb_tq2_0, ULB_TQ2_0_COLUMNS, ULB_ACT_Q8_K)
