/* Block formats in place, as a memory-mapped file has them: 256 bits, row after row. Blocks of 32 columns are
 * in kernels/x86/gguf_inplace_32.h, blocks of 256 columns in kernels/x86/gguf_inplace_256.h. This file has
 * the common parts.
 *
 * Zero points and minima multiply the sums of 16 activations: one vpmaddwd a block. Address streams
 * (kernels/x86/gemv/k_slices.h) continue from row to row. */
#ifndef ULB_KERNELS_X86_GEMV_GGUF_INPLACE_H
#define ULB_KERNELS_X86_GEMV_GGUF_INPLACE_H

#include "kernels/activations.h"
#include "kernels/gguf_block.h"
#include "kernels/microkernel.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/simd/vec_float.h"
#include "kernels/x86/gemv/k_slices.h"

/* One token. */
struct ulb_in_place_x {
    const int8_t *x;
    const float *scale;  /* of blocks */
    const int16_t *sums; /* of 16 columns */
};

static inline struct ulb_in_place_x ulb_in_place_token(const struct ulb_gemm *g, size_t n)
{
    return (struct ulb_in_place_x){(const int8_t *)g->x + n * g->x_stride, g->x_scale + n * g->x_scale_stride,
                                   g->x_sums + n * g->x_sums_stride};
}

/* Fields of this many bits at bit shift of each byte, moved to bit at. Constants. */
static inline __attribute__((always_inline)) __m256i ulb_field(__m256i bytes, unsigned shift, unsigned at,
                                                               int mask)
{
    __m256i moved = shift > at   ? _mm256_srli_epi16(bytes, (int)(shift - at))
                    : shift < at ? _mm256_slli_epi16(bytes, (int)(at - shift))
                                 : bytes;
    return _mm256_and_si256(moved, _mm256_set1_epi8((char)(mask << at)));
}

#endif
