#include "kernels/reference/block_ref.h"
#include "kernels/formats/q2_k/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q2_k, ULB_Q2_K_COLUMNS, ULB_ACT_Q8_K)
