/* Groups with a scale each (kernels/formats/affine/grouped_gemv.h), codes as planes
 * (kernels/x86/gemv/planes.h).
 *
 * Registers: eight sums of a plane and slice. Other sums and the results are kept in memory: the sums of the
 * other slice, and of the code. Ports: see ULB_CODES_MIX. Each group and vector of rows takes a conversion
 * and an FMA, with a zero point two. */
#include "kernels/formats/affine/format.h"
#include "kernels/formats/affine/grouped_gemm.h"

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_planes_128
#else
#define LAYOUT(of) ulb_##of##_planes_64
#endif

#define ROW(of, bits_, zero_, columns_)                                                                      \
    ULB_AFFINE_RUN(of, &LAYOUT(of), bits_, zero_, columns_, ulb_sum_codes,                                   \
                   (bits_) == 8 ? ULB_PLANE_BIAS_8 : 0, ULB_PLANES_NEAR, ULB_PLANE_UNPACK(bits_),            \
                   ULB_PLANE_PARTS(bits_), ULB_PLANE_PART_BITS(bits_))                                       \
    ULB_KERNEL_VARIANT(of) = {                                                                               \
        ULB_PLANE_FIELDS(LAYOUT(of), run_affine_##of),                                                       \
        .variant = "plane",                                                                                  \
        .nr = ULB_PLANE_TILE(bits_),                                                                         \
        .kr = ULB_PLANE_SLICES * (columns_),                                                                 \
        .bytes_per_step = 32.0 * ULB_AFFINE_BYTES(bits_, zero_, columns_) / (columns_),                      \
        .tolerance = ULB_BLOCK_TOLERANCE,                                                                    \
        .mix = {ULB_CODES_MIX(bits_, ULB_PER_GROUP(columns_)),                                               \
                .loads = ((bits_) / 8.0 + ULB_TURN_LOADS(bits_) + ULB_PLANE_MASK_LOADS(bits_)) *             \
                             ULB_VECTORS_PER_STEP +                                                          \
                         (1 + (zero_)) * ULB_GROUP_ENDS(columns_),                                           \
                .widenings = (zero_)*ULB_GROUP_ENDS(columns_),                                               \
                .conversions = (1 + (zero_)) * ULB_GROUP_ENDS(columns_),                                     \
                .fmas = (1 + (zero_)) * ULB_GROUP_ENDS(columns_), .vector_bits = ULB_VEC_BITS},              \
        .tile_mix = {ULB_PLANE_TILE_MIX(bits_)},                                                             \
        .prefetch = {.kind = ULB_PREFETCH_TUNABLE,                                                           \
                     .max_n = ULB_PLANE_TILE(bits_) > 1                                                      \
                                  ? ULB_AFFINE_LEAST(bits_, columns_, ULB_PLANE_UNPACKED(bits_)) - 1         \
                                  : 0},                                                                      \
    };

ULB_AFFINE_UNIVERSAL(ROW)
ULB_AFFINE_WOQ(ROW)
