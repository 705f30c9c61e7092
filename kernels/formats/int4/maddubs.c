/* int4 without VNNI. vpmaddubsw adds to 16-bit sums; vpmaddwd by ones widens them after eight steps, a chunk.
 *
 * A pair adds at most `2 * 15 * 127 = 3,810`: 8 steps, 30,480, fit 16 bits.
 * Registers: three vectors of two fields are six word sums. 32-bit sums are kept in memory. Several tokens:
 * with groups kernels/x86/gemm/avx2_unpacked.h, with a scale per row mask_gemm.c. */
#include "kernels/formats/int4/format.h"
#include "kernels/x86/simd/dot.h"
#include "kernels/x86/gemv/k_slices.h"

#define LAYOUT ULB_GROUPED(ulb_int4_vnni4i)

#ifdef ULB_GROUP
#include "kernels/x86/gemv/grouped.h"
#include "kernels/x86/gemm/avx2_unpacked.h"
enum { SLICES = ULB_GROUP_SLICES, TOKENS = ULB_K_BLOCK_TOKENS };
#else
enum { SLICES = 4, TOKENS = 1 };
#endif

enum { VECTORS = 3, FIELDS = 2, STEP_BYTES = VECTORS * ULB_VEC_BYTES };

static const struct ulb_k_loop k_loop = {.step_bytes = STEP_BYTES,
                                         .columns = 4,
                                         .vectors = VECTORS * FIELDS,
                                         .slices = SLICES,
                                         .sets = 1,
                                         .chunk_bytes = 8 * STEP_BYTES,
                                         .widen_s16 = ulb_add_s16,
                                         .l1_distance = 1024,
                                         .prefetch_stride = ULB_LINE};

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *words)
{
    ulb_vec x = ulb_broadcast4(x4);
    ULB_UNROLL(4)
    for (size_t i = 0; i < VECTORS; i++) {
        ulb_dot_nibbles(words + FIELDS * i, w + i * ULB_VEC_BYTES, x);
        ulb_prefetch_line_at(hint, w, i * ULB_VEC_BYTES, &words[FIELDS * i]);
    }
}

#ifdef ULB_GROUP

enum { ROW_VECTORS = VECTORS * FIELDS };

static inline void unpack(const uint8_t *w, uint8_t *bytes)
{
    ulb_unpack_fields(VECTORS, FIELDS, w, bytes);
}

static inline void take(const struct ulb_k_block *k_block, size_t v, ulb_vec sums, ulb_vec *result)
{
    ulb_take_group(ROW_VECTORS, k_block, v, sums, result);
}

static inline void epilogue(const struct ulb_gemm_block *block, size_t t, const ulb_vec *results)
{
    ulb_epilogue_scaled(block, t, ROW_VECTORS * ULB_LANES, results);
}

static const struct ulb_k_block_cfg k_blocks = {.layout = &LAYOUT,
                                                .slices = SLICES,
                                                .vectors = ROW_VECTORS,
                                                .steps = ULB_GROUP_STEPS,
                                                .step_bytes = STEP_BYTES,
                                                .before = ROW_VECTORS * ULB_VEC_BYTES,
                                                .full = ULB_S16_STEPS(15),
                                                .zero_point = ULB_INT4_ZERO_POINT,
                                                .unpack = unpack,
                                                .take = take,
                                                .epilogue = epilogue};
ULB_K_BLOCK_RUN(k_blocks)

static void run(const struct ulb_gemm *g)
{
    if (g->n > 1)
        run_tokens(g);
    else
        ulb_run_groups(g, &LAYOUT, &k_loop, step, ulb_no_fields, ULB_INT4_ZERO_POINT);
}

#else

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    ulb_store_all(dots, sums, VECTORS * FIELDS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, VECTORS * FIELDS * ULB_LANES, tile, ULB_INT4_ZERO_POINT);
}

#endif

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maddubs",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * FIELDS * ULB_LANES,
    .nr = TOKENS,
    .kr = ULB_K_GRAIN(SLICES),
    .bytes_per_step = 16 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = {.loads = 0.5,
            .broadcasts = 0.5 / VECTORS,
            .prefetches = 0.25,
            .logic = 1,
            .shifts = 0.5,
            .maddubs = 1,
            .madds = 0.125,
            .adds = 1.125,
            .vector_bits = 256},
#ifdef ULB_GROUP
    .tile_mix = {ULB_BYTE_TILE_MIX(ULB_S16_STEPS(15))},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = 1},
#else
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
#endif
    .run = run,
};
