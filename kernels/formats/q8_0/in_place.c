/* Q8_0 in place. Bytes are values; dot products take them + 128. */
#include "kernels/formats/q8_0/format.h"
#include "kernels/x86/gguf_inplace_32.h"

#include <stddef.h>

static inline void codes(const uint8_t *a, const uint8_t *b, __m256i *low, __m256i *high)
{
    const __m256i flip = _mm256_set1_epi8((char)ULB_BY_SUMS(0, 0x80));
    a += offsetof(struct ulb_q8_0, qs);
    b += offsetof(struct ulb_q8_0, qs);
    *low = _mm256_xor_si256(ulb_load_pair(a, b), flip);
    *high = _mm256_xor_si256(ulb_load_pair(a + 16, b + 16), flip);
}

#define LAYOUT      ulb_q8_0_in_place
#define ACTIVATION  ULB_ACT_Q8_0
#define BLOCK_BYTES sizeof(struct ulb_q8_0)
#define ZERO_POINT  ULB_BY_SUMS(0, ULB_Q8_0_ZERO_POINT)
#define MINIMA      ULB_NO_MINIMA
#define POWERS      0
#define LARGEST     255
#define IS_SIGNED
#define MIX ULB_PAIRED_MIX(2, ULB_BY_SUMS(0, 1), 0, 0, 0, 0, 1, 0)

static const struct ulb_paired format = {
    .bytes = BLOCK_BYTES, .is_signed = true, .zero_point = ZERO_POINT, .codes = codes};

#include "kernels/x86/gguf_inplace_kernel.h"
