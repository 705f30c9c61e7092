/* Groups of kernels/formats/affine in their row-major order. Eight codes of b bits are in b whole bytes, and
 * one pdep spreads them to a byte each. Eight weights then take a widening, a subtraction of the zero point,
 * a conversion and a multiplication.
 *
 * The limits are one store of eight floats a cycle and one pdep a cycle, on every core with a fast pdep (Zen
 * 2 and earlier have it in microcode). scale * (code - zero) is rounded once, as in the reference. */
#include "kernels/formats/affine/format.h"
#include "kernels/embedding.h"

#include <immintrin.h>
#include <string.h>

/* What a format's groups look like. */
struct affine {
    unsigned bits;
    int32_t offset; /* of codes from values, without a zero point */
    size_t header;  /* bytes in front of the codes */
};

static bool reads(const struct ulb_format *format)
{
#define IS_AFFINE(of, bits, zero, columns) || format == &ulb_##of
    return false ULB_AFFINE_UNIVERSAL(IS_AFFINE) ULB_AFFINE_WOQ(IS_AFFINE);
}

static struct affine shape_of(const struct ulb_format *format)
{
    struct affine a = {.offset = -format->min, .header = sizeof(float) + format->block->zero_point};
    for (unsigned codes = (unsigned)(format->max - format->min) + 1; codes > 1; codes /= 2)
        a.bits++;
    return a;
}

/* Eight codes, the last bytes of the group included and none after it. */
static inline uint64_t load_codes(const uint8_t *codes, unsigned bits)
{
    uint64_t packed = 0;
    memcpy(&packed, codes, bits);
    return packed;
}

static inline __attribute__((always_inline)) void
expand_group(unsigned bits, const struct affine *a, const uint8_t *group, size_t columns, float *out)
{
    float scale;
    memcpy(&scale, group, sizeof scale);
    const __m256 scales = _mm256_set1_ps(scale);
    const __m256i zero = _mm256_set1_epi32(a->header > sizeof scale ? group[sizeof scale] : a->offset);
    const uint64_t mask = ((1u << bits) - 1) * 0x0101010101010101u;
    const uint8_t *codes = group + a->header;
    for (size_t k = 0; k < columns; k += 8, codes += bits) {
        uint64_t bytes = _pdep_u64(load_codes(codes, bits), mask);
        __m256i eight = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)bytes));
        _mm256_storeu_ps(out + k, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(eight, zero)), scales));
    }
}

/* The number of bits is a constant here. */
static inline void expand(const struct affine *a, const uint8_t *group, size_t columns, float *out)
{
    switch (a->bits) {
#define CASE(bits)                                                                                           \
    case bits:                                                                                               \
        expand_group(bits, a, group, columns, out);                                                          \
        break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) default : break;
    }
}

static void run(const struct ulb_embedding_call *call)
{
    const struct ulb_block *block = call->format->block;
    const struct affine a = shape_of(call->format);
    for (size_t n = 0; n < call->n; n++) {
        const uint8_t *row = call->rows + call->tokens[n] * ulb_block_row_bytes(call->format, call->k);
        for (size_t k = 0; k < call->k; k += block->columns, row += block->bytes)
            expand(&a, row, block->columns, call->out + n * call->k + k);
    }
}

const struct ulb_embedding ULB_KERNEL = {
    .isa = ULB_KERNEL_ISA, .needs = ULB_KERNEL_NEEDS, .reads = reads, .run = run};
