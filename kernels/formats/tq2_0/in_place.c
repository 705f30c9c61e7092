/* TQ2_0 in place. 16-bit sums hold eight units of 2 * 3 * 128. */
#include "kernels/formats/tq2_0/format.h"
#include "kernels/x86/gguf_inplace_256.h"

#include <stddef.h>

static inline __m256i codes(const uint8_t *block, size_t unit)
{
    return ulb_unit_two_bit(block + offsetof(struct ulb_tq2_0, qs), unit, 0);
}

#define LAYOUT      ulb_tq2_0_in_place
#define ACTIVATION  ULB_ACT_Q8_K
#define BLOCK_BYTES sizeof(struct ulb_tq2_0)
#define GROUP       ULB_LONG_COLUMNS
#define ZERO_POINT  1
#define SCALES      ULB_NO_GROUPS
#define MINIMA      ULB_NO_MINIMA
#define LARGEST     2
#define MIX         ULB_LONG_MIX(0.25, 1, 0.75, 0, 0, 0, 0)

static const struct ulb_long format = {
    .bytes = BLOCK_BYTES, .d_at = offsetof(struct ulb_tq2_0, d), .zero_point = ZERO_POINT, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
