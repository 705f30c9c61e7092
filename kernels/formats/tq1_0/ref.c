#include "kernels/reference/block_ref.h"
#include "kernels/formats/tq1_0/format.h"

ULB_BLOCK_REF_KERNEL(ulb_tq1_0, ULB_TQ1_0_COLUMNS, ULB_ACT_Q8_K)
