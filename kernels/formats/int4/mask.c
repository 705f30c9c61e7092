/* int4 without unpacking (see kernels/formats/int2/mask.h).
 *
 * `D0 = x.(w & 0F)`, `raw = x.w`, `S1 = (raw - D0) / 16`.
 * `|raw| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: three vectors of two fields in two sets are 12 chains, which hide the latency on two ports. With
 * groups the 32 registers of EVEX hold six for each of four tokens. Each group of 8 or 16 rows takes a
 * subtraction, a conversion and an FMA more. */
#include "kernels/formats/int4/format.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/simd/dot.h"

#ifdef ULB_DP_512
#define LAYOUT ULB_GROUPED(ulb_int4_vnni4i_96)
#else
#define LAYOUT ULB_GROUPED(ulb_int4_vnni4i)
#endif

#ifdef ULB_GROUP
#include "kernels/x86/gemm/grouped.h"
enum { SLICES = ULB_GROUP_SLICES, TOKENS = ULB_GROUP_TOKENS };
#else
enum { SLICES = 4, TOKENS = 1 };
#endif

enum { VECTORS = 3, FIELDS = 2, SETS = 2 };

static const struct ulb_k_loop k_loop = {.step_bytes = VECTORS * ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = VECTORS * FIELDS,
                                         .slices = SLICES,
                                         .sets = SETS,
                                         .chunk_bytes = 3 * ULB_LINE,
                                         .l1_distance = 1024,
                                         .l2_distance = 2048,
                                         .prefetch_stride = ULB_LINE};

static const ulb_vec low = ULB_BYTES(0x0F);

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *sums)
{
    ulb_vec x = ulb_broadcast4(x4);
    ULB_UNROLL(4)
    for (size_t i = 0; i < VECTORS; i++) {
        ulb_vec packed, field;
        __asm__(ULB_MOVE " %[w], %[packed]\n\t" ULB_ASM_FIELD("low", "s0") ULB_ASM_DP("packed", "s1")
                : [s0] ULB_SUM(sums[2 * i]), [s1] ULB_SUM(sums[2 * i + 1]), [packed] ULB_SCRATCH(packed),
                  [field] ULB_SCRATCH(field)
                : [w] ULB_WEIGHTS(w + i * ULB_VEC_BYTES), [x] ULB_REGISTER(x), [low] ULB_KEPT(low));
        ulb_prefetch_line_at(hint, w, i * ULB_VEC_BYTES, &sums[2 * i]);
    }
}

static inline __attribute__((always_inline)) void separate(ulb_vec *sums)
{
    ULB_UNROLL(4)
    for (int i = 0; i < VECTORS; i++)
        ulb_separate_fields(sums + FIELDS * i, FIELDS, 4);
}

#ifdef ULB_GROUP

ULB_GROUP_RUN(LAYOUT, k_loop, step, separate, ULB_INT4_ZERO_POINT, VECTORS, FIELDS, 4)

#else

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    separate(sums);
    ulb_store_all(dots, sums, VECTORS * FIELDS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, VECTORS * FIELDS * ULB_LANES, tile, ULB_INT4_ZERO_POINT);
}

#endif

/* Instructions for some tokens. */
#define MIX(tokens)                                                                                          \
    {                                                                                                        \
        .loads = 128.0 / ULB_VEC_BITS, .broadcasts = (tokens)*128.0 / ULB_VEC_BITS / VECTORS,                \
        .prefetches = 0.5, .logic = 128.0 / ULB_VEC_BITS, .dot_products = (tokens)*256.0 / ULB_VEC_BITS,     \
        .vector_bits = ULB_VEC_BITS, .chains = VECTORS * FIELDS * ((tokens) > 1 ? (tokens) : SETS)           \
    }

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = ULB_K_GRAIN(SLICES),
    .bytes_per_step = 16 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = MIX(1),
    .tile_mix = MIX(TOKENS),
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = TOKENS > 1 ? 1 : 0},
    .run = run,
};
