#include "kernels/reference/block_ref.h"
#include "kernels/formats/q4_k/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q4_k, ULB_Q4_K_COLUMNS, ULB_ACT_Q8_K)
