/* tern2 for several tokens at once: see int2/mask_gemm.h. */
#include "kernels/formats/tern2/format.h"
#include "kernels/formats/int2/mask_gemm.h"

#ifdef ULB_DP_512
ULB_FIELDS2_TOKENS_CFG(ulb_tern2_fields_64, ULB_TERN2_ZERO_POINT)
#else
ULB_FIELDS2_TOKENS_CFG(ulb_tern2_fields, ULB_TERN2_ZERO_POINT)
#endif
