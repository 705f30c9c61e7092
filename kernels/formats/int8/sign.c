/* int8 without VNNI. vpmaddubsw needs one unsigned operand, so that the sign of each weight is moved to its
 * activation. Every pair of products is widened at once.
 *
 * `|w| <= 128`, `|x| <= 127`: a pair is at most `2 * 128 * 127 = 32,512`, so that 16 bits never saturate.
 * Registers: six accumulators, shared by the streams; with groups 6 for each stream. Several tokens:
 * kernels/x86/gemm/avx2_unpacked.h. */
#include "kernels/formats/int8/format.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/gemm/avx2_unpacked.h"

#define LAYOUT ULB_GROUPED(ulb_int8_vnni4_signed)

#ifdef ULB_GROUP
#include "kernels/x86/gemv/grouped.h"
enum { SETS = ULB_GROUP_SLICES, SLICES = ULB_GROUP_SLICES, NEAR = 256 };
#else
enum { SETS = 1, SLICES = 4, NEAR = 512 };
#endif

enum { VECTORS = 6 };

static const struct ulb_k_loop k_loop = {.step_bytes = VECTORS * ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = VECTORS,
                                         .slices = SLICES,
                                         .sets = SETS,
                                         .chunk_bytes = ULB_LINE,
                                         .l1_distance = NEAR,
                                         .l2_distance = 0,
                                         .prefetch_stride = ULB_LINE};

/* *sum += weights times x. One statement, so that the accumulators of groups stay in registers. */
static inline void add_products(ulb_vec *sum, const uint8_t *weights, ulb_vec x)
{
    ulb_vec size, signed_x;
    __asm__(
        "vpabsb %[w], %[size]\n\tvpsignb %[w], %[x], %[signed_x]\n\t"
        "vpmaddubsw %[signed_x], %[size], %[size]\n\tvpmaddwd %[ones], %[size], %[size]\n\t"
        "vpaddd %[size], %[sum], %[sum]"
        : [sum] "+x"(*sum), [size] "=&x"(size), [signed_x] "=&x"(signed_x)
        : [w] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])weights), [x] "x"(x), [ones] "x"(_mm256_set1_epi16(1)));
}

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x,
                        ulb_vec *sums)
{
    ulb_vec x4 = ulb_broadcast4(x);
    ULB_UNROLL(8)
    for (size_t i = 0; i < VECTORS; i++) {
        add_products(&sums[i], w + i * ULB_VEC_BYTES, x4);
        ulb_prefetch_line_at(hint, w, i * ULB_VEC_BYTES, &sums[i]);
    }
}

#ifdef ULB_GROUP

#define TAKE take
enum { K_BLOCK = ULB_GROUP_STEPS, SCALES_BYTES = VECTORS * ULB_VEC_BYTES };

static inline __attribute__((always_inline)) void take(const struct ulb_k_block *k_block, size_t v,
                                                       ulb_vec sums, ulb_vec *result)
{
    ulb_take_group(VECTORS, k_block, v, sums, result);
}

static inline void epilogue(const struct ulb_gemm_block *block, size_t t, const ulb_vec *results)
{
    ulb_epilogue_scaled(block, t, VECTORS * ULB_LANES, results);
}

static void run_one(const struct ulb_gemm *g)
{
    ulb_run_groups(g, &LAYOUT, &k_loop, step, ulb_no_fields, 0);
}

#else

#define TAKE ulb_take_sums
enum { K_BLOCK = ULB_K_BLOCK_STEPS_MAX, SCALES_BYTES = 0 };

static inline void epilogue(const struct ulb_gemm_block *block, size_t t, const ulb_vec *results)
{
    ulb_epilogue_sums(block, t, VECTORS * ULB_LANES, results, 0);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    ulb_store_all(dots, sums, VECTORS);
}

static void run_one(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, VECTORS * ULB_LANES, tile, 0);
}

#endif

static const struct ulb_k_block_cfg k_blocks = {.layout = &LAYOUT,
                                                .slices = SLICES,
                                                .vectors = VECTORS,
                                                .steps = K_BLOCK,
                                                .step_bytes = VECTORS * ULB_VEC_BYTES,
                                                .before = SCALES_BYTES,
                                                .take = TAKE,
                                                .epilogue = epilogue};
ULB_K_BLOCK_RUN(k_blocks)

static void run(const struct ulb_gemm *g)
{
    if (g->n > 1)
        run_tokens(g);
    else
        run_one(g);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "sign",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * ULB_LANES,
    .nr = ULB_K_BLOCK_TOKENS,
    .kr = ULB_K_GRAIN(SLICES),
    .bytes_per_step = 32 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = {.loads = 2,
            .broadcasts = 1.0 / VECTORS,
            .prefetches = 0.5,
            .adds = 3,
            .maddubs = 1,
            .madds = 1,
            .vector_bits = 256},
    .tile_mix = {ULB_S16_TILE_MIX},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = 1},
    .run = run,
};
