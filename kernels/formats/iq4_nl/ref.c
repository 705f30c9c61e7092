#include "kernels/reference/block_ref.h"
#include "kernels/formats/iq4_nl/format.h"

ULB_BLOCK_REF_KERNEL(ulb_iq4_nl, ULB_IQ4_NL_COLUMNS, ULB_ACT_Q8_0)
