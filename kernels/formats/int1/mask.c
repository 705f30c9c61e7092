/* int1 without expansion: each bit stays in its place in the byte (see kernels/formats/int2/mask.h).
 *
 * T_j is the sum of x over the set bits of field j. A set bit is -1: the sum of the row is sum(x) - 2 T.
 * `D_j = x.(w & 1 << j) = 2^j T_j` for j < 7, `raw = x.w`, `T_7 = (raw - D_0 - ... - D_6) / 128`.
 * `|raw| <= 255 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: eight accumulators, at 512 bits in two sets, are 8 or 16 chains. 16 registers also hold three
 * for the step and four masks; the other three masks are memory operands. */
#include "kernels/formats/int1/format.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/simd/dot.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int1_fields_128
enum { SETS = 2 };
#else
#define LAYOUT ulb_int1_fields
enum { SETS = 1 };
#endif

enum { FIELDS = 8 };

static const struct ulb_k_loop k_loop = {.step_bytes = ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = FIELDS,
                                         .slices = 4,
                                         .sets = SETS,
                                         .chunk_bytes = 2 * ULB_LINE,
                                         .l1_distance = 1536,
                                         .l2_distance = 2048,
                                         .prefetch_stride = ULB_LINE};

static const ulb_vec mask[FIELDS - 1] = {ULB_BYTES(0x01), ULB_BYTES(0x02), ULB_BYTES(0x04), ULB_BYTES(0x08),
                                         ULB_BYTES(0x10), ULB_BYTES(0x20), ULB_BYTES(0x40)};

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *sums)
{
    ulb_vec packed, x, field;
    __asm__(ULB_ASM_LOAD /* clang-format off */
            ULB_ASM_FIELD("m0", "s0")
            ULB_ASM_FIELD("m1", "s1")
            ULB_ASM_FIELD("m2", "s2")
            ULB_ASM_FIELD("m3", "s3")
            ULB_ASM_FIELD("m4", "s4")
            ULB_ASM_FIELD("m5", "s5")
            ULB_ASM_FIELD("m6", "s6")
            ULB_ASM_DP("packed", "s7") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [s4] ULB_SUM(sums[4]), [s5] ULB_SUM(sums[5]), [s6] ULB_SUM(sums[6]), [s7] ULB_SUM(sums[7]),
              [packed] ULB_SCRATCH(packed), [x] ULB_SCRATCH(x), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x4] ULB_ACTIVATIONS(x4), [m0] ULB_KEPT(mask[0]), [m1] ULB_KEPT(mask[1]),
              [m2] ULB_KEPT(mask[2]), [m3] ULB_KEPT(mask[3]), [m4] ULB_MASK(mask[4]), [m5] ULB_MASK(mask[5]),
              [m6] ULB_MASK(mask[6]));
    ulb_prefetch_line_at(hint, w, 0, &sums[0]);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    ulb_separate_fields(sums, FIELDS, 1);
    /* -2 T: ulb_run_tiles adds sum(x). */
#pragma GCC unroll 8
    for (int j = 0; j < FIELDS; j++)
        sums[j] = ulb_sub32(ulb_zero(), ulb_add32(sums[j], sums[j]));
    ulb_store_all(dots, sums, FIELDS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, FIELDS * ULB_LANES, tile, -1);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = FIELDS * ULB_LANES,
    .nr = 1,
    .kr = 16,
    .bytes_per_step = 4,
    .mix = {.loads = (1 + ULB_MASK_LOADS(3)) * 32.0 / ULB_VEC_BITS,
            .broadcasts = 32.0 / ULB_VEC_BITS,
            .prefetches = 0.125,
            .logic = 224.0 / ULB_VEC_BITS,
            .dot_products = 256.0 / ULB_VEC_BITS,
            .vector_bits = ULB_VEC_BITS,
            .chains = FIELDS * SETS},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE},
    .run = run,
};
