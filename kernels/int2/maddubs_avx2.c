/* int2 without VNNI, without tables: vpmaddubsw into 16-bit sums.
 *
 * Fields 1 and 3 stay where they are in a nibble, 4 times too large: a pair adds at most 2 * 12 * 127 =
 * 3,048, so 8 steps (24,384) fit 16 bits: a visit; then vpmaddwd by ones widens them. Registers: 4 word sums;
 * 32-bit sums wait in memory. Ports: per vector 4 and, shift, 4 maddubs, 4 add, and 8 of widening per 8: 14
 * operations on three ports are 1.17 cycles per 32 weights: more than tables take (table_nibble.c), but
 * tables know no groups. */
#include "kernels/int2/format.h"
#include "kernels/x86/dot.h"
#include "kernels/x86/streams.h"

#define LAYOUT ULB_GROUPED(ulb_int2_fields)

#ifdef ULB_GROUP
#include "kernels/x86/groups.h"
enum { SLICES = ULB_GROUP_SLICES, SETS = SLICES };
#else
enum { SLICES = 3, SETS = 1 };
#endif

enum { FIELDS = 4 };

static const struct ulb_walk walk = {.step_bytes = ULB_VEC_BYTES,
                                     .columns = 4,
                                     .vectors = FIELDS,
                                     .slices = SLICES,
                                     .sets = SETS,
                                     .visit = 8 * ULB_VEC_BYTES,
                                     .widen = ulb_add_words,
                                     .near = 1024,
                                     .gap = ULB_LINE};

static inline void step(const uint8_t *w, const int8_t *x4, ulb_vec *words)
{
    ulb_dot_crumbs(words, w, ulb_broadcast4(x4));
}

static inline void split(ulb_vec *sums)
{
    sums[1] = ulb_asr32(sums[1], 2);
    sums[3] = ulb_asr32(sums[3], 2);
}

#ifdef ULB_GROUP

static void run(const struct ulb_gemm *g)
{
    ulb_run_groups(g, &LAYOUT, &walk, step, split, ULB_INT2_ZERO_POINT);
}

#else

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_walk_tiles(&walk, step, tiles, sums);
    split(sums);
    ulb_store_all(dots, sums, FIELDS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, FIELDS * ULB_LANES, tile, ULB_INT2_ZERO_POINT);
}

#endif

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "maddubs",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = FIELDS * ULB_LANES,
    .nr = 1,
    .kr = ULB_K_GRAIN(SLICES),
    .bytes_per_step = 8 + ULB_GROUP_SCALE_BYTES,
    .tolerance = ULB_GROUP_TOLERANCE,
    .mix = {.loads = 0.25,
            .broadcasts = 0.25,
            .prefetches = 0.125,
            .logic = 1,
            .shifts = 0.25,
            .maddubs = 1,
            .madds = 0.125,
            .adds = 1.125,
            .vector_bits = 256},
    .run = run,
};
