/* int2 for several tokens at once: see int2/mask_gemm.h. */
#include "kernels/formats/int2/format.h"
#include "kernels/formats/int2/mask_gemm.h"

#ifdef ULB_DP_512
ULB_FIELDS2_TOKENS_CFG(ulb_int2_fields_64, ULB_INT2_ZERO_POINT)
#else
ULB_FIELDS2_TOKENS_CFG(ulb_int2_fields, ULB_INT2_ZERO_POINT)
#endif
