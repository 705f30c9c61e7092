#include "kernels/reference/block_ref.h"
#include "kernels/formats/mxfp4/format.h"

ULB_BLOCK_REF_KERNEL(ulb_mxfp4, ULB_MXFP4_COLUMNS, ULB_ACT_Q8_0)
