#include "kernels/reference/block_ref.h"
#include "kernels/formats/q6_k/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q6_k, ULB_Q6_K_COLUMNS, ULB_ACT_Q8_K)
