#include "kernels/reference/block_ref.h"
#include "kernels/formats/q3_k/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q3_k, ULB_Q3_K_COLUMNS, ULB_ACT_Q8_K)
