/* Q5_1 in place: as Q5_0, with a minimum. */
#include "kernels/formats/q5_1/format.h"
#include "kernels/x86/gguf_inplace_32.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_five_bit(a, b, offsetof(struct ulb_q5_1, qh), low, high);
}

#define LAYOUT      ulb_q5_1_in_place
#define ACTIVATION  ULB_ACT_Q8_0
#define BLOCK_BYTES sizeof(struct ulb_q5_1)
#define ZERO_POINT  0
#define MINIMA      ULB_ONE_MINIMUM
#define POWERS      0
#define LARGEST     31
#define MIX         ULB_PAIRED_MIX(2, ULB_BY_ENCODING(4, 3), 0.5, 1, 1, 1, 0, 0)

static const struct ulb_paired format = {.bytes = BLOCK_BYTES, .minimum = true, .many = true, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
