/* int8 without VNNI: vpmaddubsw needs one unsigned side, so the sign of each weight is moved to its
 * activation.
 *
 * |w| <= 128 and |x| <= 127, so a pair sums to at most 2 * 128 * 127 = 32,512 and 16 bits never saturate;
 * every pair is widened at once.
 * Registers: 6 accumulators, shared by the streams; with groups 6 for each.
 * Ports: per 32 weights abs, sign, maddubs, madd and add; the first four have two ports on Golden Cove: 2.0
 * cycles. Several tokens: kernels/int8/word_tokens.h. */
#include "kernels/int8/format.h"
#include "kernels/int8/word_tokens.h"
#include "kernels/x86/streams.h"

#define LAYOUT ULB_GROUPED(ulb_int8_vnni4_signed)

#ifdef ULB_GROUP
enum { SETS = ULB_GROUP_SLICES, SLICES = ULB_GROUP_SLICES, NEAR = 256 };
#else
enum { SETS = 1, SLICES = 4, NEAR = 512 };
#endif

enum { VECTORS = 6 };

static const struct ulb_walk walk = {.step_bytes = VECTORS * ULB_VEC_BYTES,
                                     .columns = 4,
                                     .vectors = VECTORS,
                                     .slices = SLICES,
                                     .sets = SETS,
                                     .visit = ULB_LINE,
                                     .near = NEAR,
                                     .far = 0,
                                     .gap = ULB_LINE};

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

static inline void step(const struct ulb_asking *asking, const uint8_t *w, const int8_t *x, ulb_vec *sums)
{
    ulb_vec x4 = ulb_broadcast4(x);
    ULB_UNROLL(8)
    for (size_t i = 0; i < VECTORS; i++) {
        add_products(&sums[i], w + i * ULB_VEC_BYTES, x4);
        ulb_ask_ahead(asking, w, i * ULB_VEC_BYTES, &sums[i]);
    }
}

#ifdef ULB_GROUP

static void run(const struct ulb_gemm *g)
{
    if (g->n > 1)
        ulb_run_word_tokens(g, &LAYOUT, SLICES);
    else
        ulb_run_groups(g, &LAYOUT, &walk, step, ulb_no_split, 0);
}

#else

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_walk_tiles(&walk, step, tiles, sums);
    ulb_store_all(dots, sums, VECTORS);
}

static void run(const struct ulb_gemm *g)
{
    if (g->n > 1)
        ulb_run_word_tokens(g, &LAYOUT, SLICES);
    else
        ulb_run_tiles(g, &LAYOUT, VECTORS * ULB_LANES, tile, 0);
}

#endif

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "sign",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = VECTORS * ULB_LANES,
    .nr = ULB_WORD_TOKENS,
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
    .tile_mix = {.loads = 1,
                 .broadcasts = 2.0 * ULB_WORD_TOKENS / ULB_WORD_VECTORS,
                 .prefetches = 0.5,
                 .shifts = 3,
                 .madds = 2 * ULB_WORD_TOKENS,
                 .adds = 2 * ULB_WORD_TOKENS,
                 .vector_bits = 256},
    .prefetch_choice = true,
    .prefetch_tokens = 1,
    .run = run,
};
