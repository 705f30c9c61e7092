/* IQ4_NL in place. */
#include "kernels/formats/iq4_nl/format.h"
#include "kernels/formats/iq4_nl/table.h"
#include "kernels/x86/gguf_inplace_32.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    ulb_pair_entries(a + offsetof(struct ulb_iq4_nl, qs), b + offsetof(struct ulb_iq4_nl, qs), table, low,
                     high);
}

#define LAYOUT      ulb_iq4_nl_in_place
#define ACTIVATION  ULB_ACT_Q8_0
#define BLOCK_BYTES sizeof(struct ulb_iq4_nl)
#define ZERO_POINT  ENTRY_ORIGIN
#define MINIMA      ULB_NO_MINIMA
#define POWERS      0
#define LARGEST     255
#define IS_SIGNED
#define MIX ULB_PAIRED_MIX(1, 1, 0.5, 1, 0, 0, 1, 0)

static const struct ulb_paired format = {
    .bytes = BLOCK_BYTES, .is_signed = true, .zero_point = ZERO_POINT, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
