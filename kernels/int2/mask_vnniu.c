/* int2 without unpacking: a field stays where it is in its byte, and the dot product of the masked byte is
 * that of the field times a power of four, because vpdpbusd takes the weights as unsigned bytes.
 *
 * D0 = x.(w & 03), D1 = x.(w & 0C) = 4 S1, D2 = x.(w & 30) = 16 S2, raw = x.w, so that at the end of the tile
 * S3 = (raw - D0 - D1 - D2) / 64. |raw| <= 255 * 127 * K < 2^31 up to K = 65,536.
 * Registers: 4 accumulators in 3 sets (256 bits) or 4 (512 bits): 12 or 16 chains of latency 5 on two ports;
 * at 256 bits the three masks are memory operands.
 * Ports: per vector of 128 or 256 weights 3 and, 4 dp, 1 load, 1 broadcast: 7 operations on three ports are
 * 0.58 cycle per 32 weights at 256 bits (the paper's unpacking: 11 operations), on two 0.44 at 512 bits. */
#include "kernels/int2/format.h"
#include "kernels/x86/streams.h"
#include "kernels/x86/vnni.h"

#ifdef ULB_DP_512
#define LAYOUT ulb_int2_fields_64
enum { SLICES = 4 };
#else
#define LAYOUT ulb_int2_fields
enum { SLICES = 3 };
#endif

enum { FIELDS = 4 };

static const struct ulb_walk walk = {.step_bytes = ULB_VEC_BYTES,
                                     .columns = 4,
                                     .vectors = FIELDS,
                                     .slices = SLICES,
                                     .sets = SLICES,
                                     .visit = 2 * ULB_LINE,
                                     .near = 1024,
                                     .far = 6144,
                                     .gap = ULB_LINE};

static const ulb_vec mask0 = ULB_BYTES(0x03), mask1 = ULB_BYTES(0x0C), mask2 = ULB_BYTES(0x30);

static inline void step(const uint8_t *w, const int8_t *x4, ulb_vec *sums)
{
    ulb_vec packed, x, field;
    __asm__(ULB_ASM_LOAD /* clang-format off */
            ULB_ASM_FIELD("m0", "s0")
            ULB_ASM_FIELD("m1", "s1")
            ULB_ASM_FIELD("m2", "s2")
            ULB_ASM_DP("packed", "s3") /* clang-format on */
            : [s0] ULB_SUM(sums[0]), [s1] ULB_SUM(sums[1]), [s2] ULB_SUM(sums[2]), [s3] ULB_SUM(sums[3]),
              [packed] ULB_SCRATCH(packed), [x] ULB_SCRATCH(x), [field] ULB_SCRATCH(field)
            : [w] ULB_WEIGHTS(w), [x4] ULB_ACTIVATIONS(x4), [m0] ULB_KEPT(mask0), [m1] ULB_MASK(mask1),
              [m2] ULB_MASK(mask2));
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_walk_tiles(&walk, step, tiles, sums);
    ulb_split_fields(sums, FIELDS, 2);
    ulb_store_all(dots, sums, FIELDS);
}

static void run(const struct ulb_gemm *g)
{
    ulb_run_tiles(g, &LAYOUT, FIELDS * ULB_LANES, tile, ULB_INT2_ZERO_POINT);
}

const struct ulb_kernel ULB_ROW = {
    .abi = ULB_KERNEL_ABI,
    .variant = "mask",
    .isa = ULB_ROW_ISA,
    .needs = ULB_ROW_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_A8,
    .mr = FIELDS * ULB_LANES,
    .nr = 1,
    .kr = 4 * SLICES,
    .bytes_per_step = 8,
    .mix = {.loads = 64.0 / ULB_VEC_BITS,
            .broadcasts = 64.0 / ULB_VEC_BITS,
            .prefetches = 0.25,
            .logic = 192.0 / ULB_VEC_BITS,
            .dot_products = 256.0 / ULB_VEC_BITS,
            .vector_bits = ULB_VEC_BITS,
            .chains = FIELDS * SLICES},
    .run = run,
};
