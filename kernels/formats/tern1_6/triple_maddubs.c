/* tern1.6 without digits and without VNNI (see triple.c).
 *
 * The unsigned operand of vpmaddubsw is |x|. The signed operand is the byte minus 128, times the sign of x.
 * Tripling modulo 256 keeps the 128 (3 * 128 = 256 + 128) and the sign. Both are therefore applied to the
 * first byte only. No byte is -128, because no x(i) is 0, so that the sign never overflows. Every pair is
 * widened at once.
 * A pair is at most `2 * 127 * 127 = 32,258`: 16 bits never saturate.
 * `D'(i) = D(i) - 128 sum(x)`, `(3 D'(i) - D'(i+1)) / 256 = S(i) - sum(x)`, the sum of the values.
 * `|D'| <= 127 * 127 * K < 2^31` up to `K = 65,536`.
 * Registers: six accumulators, shared by the streams. Several tokens: kernels/x86/gemm/avx2_unpacked.h. */
#include "kernels/formats/tern1_6/digits.h"
#include "kernels/formats/tern1_6/format.h"
#include "kernels/x86/gemm/avx2_unpacked.h"
#include "kernels/x86/gemv/k_slices.h"
#include "kernels/x86/codes/ternary_base3.h"

enum { DIGITS = ULB_TERN1_6_DIGITS, SUMS = DIGITS + 1, SLICES = ULB_TERN1_6_SLICES };

static const struct ulb_k_loop k_loop = {.step_bytes = ULB_VEC_BYTES,
                                         .columns = 4,
                                         .vectors = SUMS,
                                         .slices = SLICES,
                                         .sets = 1,
                                         .chunk_bytes = ULB_LINE,
                                         .l1_distance = 1024,
                                         .l2_distance = 1536,
                                         .prefetch_stride = ULB_LINE};

/* to = 3 from mod 256 */
#define ASM_TRIPLE(from, to)                                                                                 \
    "vpaddb %[" from "], %[" from "], %[" to "]\n\tvpaddb %[" from "], %[" to "], %[" to "]\n\t"
/* sum += |x| . bytes, which are lost */
#define ASM_PRODUCTS(bytes, sum)                                                                             \
    "vpmaddubsw %[" bytes "], %[magnitude], %[" bytes "]\n\t"                                                \
    "vpmaddwd %[ones], %[" bytes "], %[" bytes "]\n\t"                                                       \
    "vpaddd %[" bytes "], %[" sum "], %[" sum "]\n\t"
#define SUM(i) "+x"(sums[i])

static inline void step(const struct ulb_step_prefetch *hint, const uint8_t *w, const int8_t *x4,
                        ulb_vec *sums)
{
    ulb_vec a, b, magnitude;
    const ulb_vec ones = _mm256_set1_epi16(1);
    __asm__(
        "vmovdqu %[w], %[a]\n\t" /* clang-format off */
            "vpbroadcastd %[x4], %[b]\n\t"
            "vpabsb %[b], %[magnitude]\n\t"
            "vpsignb %[b], %[a], %[a]\n\t"
            ASM_TRIPLE("a", "b") ASM_PRODUCTS("a", "s0")
            ASM_TRIPLE("b", "a") ASM_PRODUCTS("b", "s1")
            ASM_TRIPLE("a", "b") ASM_PRODUCTS("a", "s2")
            ASM_TRIPLE("b", "a") ASM_PRODUCTS("b", "s3")
            ASM_TRIPLE("a", "b") ASM_PRODUCTS("a", "s4")
            ASM_PRODUCTS("b", "s5") /* clang-format on */
        : [s0] SUM(0), [s1] SUM(1), [s2] SUM(2), [s3] SUM(3), [s4] SUM(4), [s5] SUM(5), [a] "=&x"(a),
          [b] "=&x"(b), [magnitude] "=&x"(magnitude)
        : [w] "m"(*(const uint8_t(*)[ULB_VEC_BYTES])w), [x4] "m"(*(const int8_t(*)[4])x4), [ones] "x"(ones));
    ulb_prefetch_line_at(hint, w, 0, &sums[0]);
}

static inline void tile(const struct ulb_tiles *tiles, int32_t *dots)
{
    ulb_vec sums[ULB_ACCUMULATORS_MAX];
    ulb_k_loop_tiles(&k_loop, step, tiles, sums);
    ulb_digit_sums(sums);
    ulb_store_all(dots, sums, DIGITS);
}

/* Several tokens: with digits, taken out once. */
static inline void unpack(const uint8_t *w, uint8_t *bytes)
{
    ULB_UNROLL(5)
    for (size_t i = 0; i < DIGITS; i++)
        ulb_store(bytes + i * ULB_VEC_BYTES, ulb_signed_digit(ulb_load(w), i));
}

static inline void epilogue(const struct ulb_gemm_block *block, size_t t, const ulb_vec *results)
{
    ulb_epilogue_sums(block, t, DIGITS * ULB_LANES, results, ULB_TERN1_6_ZERO_POINT);
}

static const struct ulb_k_block_cfg k_blocks = {.layout = &ulb_tern1_6_signed,
                                                .slices = SLICES,
                                                .vectors = DIGITS,
                                                .steps = ULB_K_BLOCK_STEPS_MAX,
                                                .step_bytes = ULB_VEC_BYTES,
                                                .full = ULB_S16_STEPS(2),
                                                .unpack = unpack,
                                                .take = ulb_take_sums,
                                                .epilogue = epilogue};
ULB_K_BLOCK_RUN(k_blocks)

static void run(const struct ulb_gemm *g)
{
    if (g->n > 2)
        run_tokens(g);
    else
        ulb_run_tiles(g, &ulb_tern1_6_signed, DIGITS * ULB_LANES, tile, 0);
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "triple",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &ulb_tern1_6_signed,
    .activation = ULB_ACT_A8,
    .mr = DIGITS * ULB_LANES,
    .nr = ULB_K_BLOCK_TOKENS,
    .kr = 4 * SLICES,
    .bytes_per_step = 6.4,
    .mix = {.loads = 0.2,
            .broadcasts = 0.2,
            .prefetches = 0.2,
            .adds = 3.6,
            .maddubs = 1.2,
            .madds = 1.2,
            .vector_bits = 256},
    .tile_mix = {ULB_BYTE_TILE_MIX(ULB_S16_STEPS(2))},
    .prefetch = {.kind = ULB_PREFETCH_TUNABLE, .max_n = 2},
    .run = run,
};
