/* int8 by dot products.
 *
 * Four columns of a tile of six vectors take one broadcast, six loads, six dot products. Registers: six
 * accumulators for each of two tiles side by side. A single tile, as for gamma, has two sets. Either way 12
 * chains hide the latency on two ports. With groups the 32 registers of EVEX hold six for each of four
 * tokens. Two tiles are four streams, which are faster than the two streams of one tile. */
#include "kernels/formats/int8/format.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/simd/dot.h"

#if defined(ULB_DP_SIGNED)
#define LAYOUT ULB_GROUPED(ulb_int8_vnni4_signed)
#elif defined(ULB_DP_512)
#define LAYOUT ULB_GROUPED(ulb_int8_vnni4_96)
#else
#define LAYOUT ULB_GROUPED(ulb_int8_vnni4)
#endif

#ifdef ULB_GROUP
#include "kernels/x86/gemm/grouped.h"
enum { SLICES = ULB_GROUP_SLICES, TOKENS = ULB_GROUP_TOKENS };
#elif defined(ULB_DP_SIGNED)
enum { SLICES = 4 /* as the layout has for int8/sign.c */, TOKENS = 1 };
#else
enum { SLICES = 2, TOKENS = 1 };
#endif

enum { VECTORS = 6, SETS = 2 };

#define K_LOOP(sets_)                                                                                        \
    {                                                                                                        \
        .step_bytes = VECTORS * ULB_VEC_BYTES, .columns = 4, .vectors = VECTORS, .slices = SLICES,           \
        .sets = (sets_), .chunk_bytes = ULB_LINE, .l1_distance = ULB_VEC_BYTES == 64 ? 512 : 1024,           \
        .l2_distance = 0, .prefetch_stride = 2 * ULB_LINE                                                    \
    }
static const struct ulb_k_loop k_loop = K_LOOP(SETS);

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x,
                        ulb_vec *sums)
{
    ulb_vec four = ulb_broadcast4(x);
    ULB_UNROLL(8)
    for (size_t i = 0; i < VECTORS; i++) {
        ulb_dp_at(&sums[i], w + i * ULB_VEC_BYTES, four);
        ulb_prefetch_line_at(hint, w, i * ULB_VEC_BYTES, &sums[i]);
    }
}

#ifdef ULB_GROUP

ULB_GROUP_RUN(LAYOUT, k_loop, step, ulb_no_fields, ULB_DP_ZERO(ULB_INT8_ZERO_POINT), VECTORS, 1, 8)

#else

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    ulb_store_all(dots, sums, VECTORS);
}

static inline void tile_pair(const struct ulb_tiles *tiles, int32_t *dots, int32_t *second)
{
    static const struct ulb_k_loop tile_pair_k_loop = K_LOOP(1);
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tile_pair(&tile_pair_k_loop, step, tiles, sums);
    ulb_store_all(dots, sums, VECTORS);
    ulb_store_all(second, sums + VECTORS, VECTORS);
}

/* Four slices are streams enough. */
static void run(const struct ulb_gemm *g)
{
    ulb_run_tile_pairs(g, &LAYOUT, VECTORS * ULB_LANES, tile, SLICES < 4 ? tile_pair : NULL,
                       ULB_DP_ZERO(ULB_INT8_ZERO_POINT));
}

#endif

/* Instructions for some tokens. */
#define MIX(tokens)                                                                                          \
    {                                                                                                        \
        .loads = 256.0 / ULB_VEC_BITS, .broadcasts = (tokens)*256.0 / ULB_VEC_BITS / VECTORS,                \
        .prefetches = 0.25, .dot_products = (tokens)*256.0 / ULB_VEC_BITS, .vector_bits = ULB_VEC_BITS,      \
        .chains = VECTORS * ((tokens) > 1 ? (tokens) : SETS)                                                 \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dp",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * ULB_LANES,
    .nr = TOKENS,
    .kr = ULB_K_GRAIN(SLICES),
    .bytes_per_step = 32 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = MIX(1),
    .tile_mix = MIX(TOKENS),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = TOKENS > 1 ? 1 : 0},
    .run = run,
};
