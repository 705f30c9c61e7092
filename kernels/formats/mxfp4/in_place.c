/* MXFP4 in place: entries + 12. */
#include "kernels/formats/mxfp4/format.h"
#include "kernels/formats/mxfp4/table.h"
#include "kernels/x86/gguf_inplace_32.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_entries(a + offsetof(struct ulb_mxfp4, qs), b + offsetof(struct ulb_mxfp4, qs),
                     ulb_mxfp4_entries, low, high);
}

#define LAYOUT      ulb_mxfp4_in_place
#define ACTIVATION  ULB_ACT_Q8_0
#define BLOCK_BYTES sizeof(struct ulb_mxfp4)
#define ZERO_POINT  ULB_MXFP4_ORIGIN
#define MINIMA      ULB_NO_MINIMA
#define POWERS      1
#define LARGEST     24
#define MIX         ULB_PAIRED_MIX(1, 1, 0.5, 1, 0, 0, 0, 1)

static const struct ulb_paired format = {
    .bytes = BLOCK_BYTES, .powers = true, .zero_point = ZERO_POINT, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
