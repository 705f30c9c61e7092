/* tern2 for several tokens at once: see int2/mask_gemm.h. */
#include "kernels/formats/tern2/format.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_tern2_fields_64
#else
#define LAYOUT ulb_tern2_fields
#endif
#define ZERO_POINT ULB_TERN2_ZERO_POINT

#include "kernels/formats/int2/mask_gemm.h"
