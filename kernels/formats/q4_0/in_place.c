/* Q4_0 in place. Most operations gather scales and add across lanes at the end of a block. */
#include "kernels/formats/q4_0/format.h"
#include "kernels/x86/gguf_inplace_32.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_nibbles(a + offsetof(struct ulb_q4_0, qs), b + offsetof(struct ulb_q4_0, qs), low, high);
}

#define LAYOUT      ulb_q4_0_in_place
#define ACTIVATION  ULB_ACT_Q8_0
#define BLOCK_BYTES sizeof(struct ulb_q4_0)
#define ZERO_POINT  ULB_Q4_0_ZERO_POINT
#define MINIMA      ULB_NO_MINIMA
#define POWERS      0
#define LARGEST     15
#define MIX         ULB_PAIRED_MIX(1, 1, 0.5, 0, 0, 0, 0, 0)

static const struct ulb_paired format = {.bytes = BLOCK_BYTES, .zero_point = ZERO_POINT, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
