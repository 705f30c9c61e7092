#include "kernels/reference/block_ref.h"
#include "kernels/formats/q5_k/format.h"

ULB_BLOCK_REF_KERNEL(ulb_q5_k, ULB_Q5_K_COLUMNS, ULB_ACT_Q8_K)
