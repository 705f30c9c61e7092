/* bf16 by bfdot, which multiplies pairs of bfloat16 into single precision. Written once for NEON and for SVE
 * of any length. Activations are in single precision. Each is split into three bfloat16 that add up to it
 * (kernels/formats/bf16/parts.h), once per call and K-block.
 *
 * bfdot rounds the sum of a pair to odd, then the sum with the accumulator, and flushes results below 2^-126.
 * Two columns thus have two errors of 2^-23; FMA has two of 2^-24. The tolerance is therefore four times that
 * of FMA. Registers: eight accumulators for each of the three parts, three activations. The 24 chains hide a
 * latency of 5. A tile of SVE takes as many passes as its vectors need (kernels/arm/gemv/k_slices.h). */
#include "kernels/arm/simd/vec.h"
#include "kernels/formats/bf16/format.h"
#include "kernels/formats/bf16/parts.h"
#include "kernels/microkernel.h"

#define LAYOUT ULB_BY_ISA(ulb_bf16_vnni2, ulb_bf16_vnni2_128)

enum {
    ROWS = ULB_BY_ISA(32, 128),
    STEP_BYTES = 4 * ROWS, /* two columns */
    VECTORS = 8,
    BLOCK = 2048,
    QUAD = 8 /* columns of 128 bits of activations */,
    PREFETCH = 1024
};

/* The parts of a block of columns, zeros after its end. */
struct parts {
    uint16_t of[ULB_BF16_PARTS][BLOCK + QUAD];
};

static void cut(const float *x, size_t columns, struct parts *parts)
{
    for (size_t k = 0; k < columns + QUAD; k++) {
        float rest = k < columns ? x[k] : 0;
        for (size_t p = 0; p < ULB_BF16_PARTS; p++)
            parts->of[p][k] = ulb_bf16_part(&rest);
    }
}

#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

/* First row of vector i of a pass, and the rows that are there. */
#define ROW_AT(i) (at / 4 + (i)*ulb_lanes())
#define THERE(i)  ulb_lanes_left(ROW_AT(i), ROWS)

#define DECLARE(i)                                                                                           \
    const ulb_mask mask##i = ulb_bytes_left(at + (i)*ulb_vec_bytes(), STEP_BYTES);                           \
    ulb_floats a##i = ulb_load_floats(THERE(i), y + ROW_AT(i)), b##i = ulb_all_floats(0),                    \
               c##i = ulb_all_floats(0);
#define STORE(i)                                                                                             \
    if (ROW_AT(i) < ROWS)                                                                                    \
        ulb_store_floats(THERE(i), y + ROW_AT(i), ulb_add_floats(a##i, ulb_add_floats(b##i, c##i)));

#define LOAD_PARTS(s)                                                                                        \
    const ulb_bytes x0 = ulb_load16(parts->of[0] + 2 * (s)), x1 = ulb_load16(parts->of[1] + 2 * (s)),        \
                    x2 = ulb_load16(parts->of[2] + 2 * (s));

/* Two columns of a vector of rows; q: which pair of the activations, a constant. */
#define DOT(i, step, q)                                                                                      \
    {                                                                                                        \
        const ulb_bytes weights = ulb_load(mask##i, (step) + (i)*ulb_vec_bytes());                           \
        a##i = ulb_bfdot(a##i, weights, x0, q);                                                              \
        b##i = ulb_bfdot(b##i, weights, x1, q);                                                              \
        c##i = ulb_bfdot(c##i, weights, x2, q);                                                              \
    }
#define DOT_0(i) DOT(i, w, 0)
#define DOT_1(i) DOT(i, w + STEP_BYTES, 1)
#define DOT_2(i) DOT(i, w + 2 * STEP_BYTES, 2)
#define DOT_3(i) DOT(i, w + 3 * STEP_BYTES, 3)

/* y += some steps of two columns, for the rows from byte at of a step on. */
static inline __attribute__((always_inline)) void pass(const uint8_t *w, const struct parts *parts,
                                                       size_t steps, size_t at, float *y)
{
    size_t s = 0;
    EACH(DECLARE)
    w += at;
    for (; s + 4 <= steps; s += 4, w += 4 * STEP_BYTES) {
        LOAD_PARTS(s)
        EACH(DOT_0)
        EACH(DOT_1)
        EACH(DOT_2)
        EACH(DOT_3)
        for (size_t line = 0; at == 0 && line < 4 * STEP_BYTES; line += 64)
            __builtin_prefetch(w + line + PREFETCH, 0, 3);
    }
    for (; s < steps; s++, w += STEP_BYTES) {
        LOAD_PARTS(s)
        EACH(DOT_0)
    }
    EACH(STORE)
}

/* One row of tiles: y += block, or y = block for the first. rows: of the tile, at its lower edge fewer. */
static inline void add_tile(const uint8_t *w, const struct parts *parts, size_t steps, int first, size_t rows,
                            float *y)
{
    float sums[ROWS] = {0};
    if (!first)
        __builtin_memcpy(sums, y, rows * sizeof *y);
    for (size_t at = 0; at < STEP_BYTES; at += VECTORS * ulb_vec_bytes())
        pass(w, parts, steps, at, sums);
    __builtin_memcpy(y, sums, rows * sizeof *y);
}

static void run(const struct ulb_gemm *g)
{
    const size_t all = ulb_layout_steps(&LAYOUT, g->k);
    struct parts parts;
    for (size_t n = 0; n < g->n; n++) {
        const float *x = (const float *)g->x + n * g->x_stride;
        for (size_t s = 0; s < all; s += BLOCK / 2) {
            size_t steps = all - s < BLOCK / 2 ? all - s : BLOCK / 2;
            cut(x + 2 * s, 2 * steps, &parts);
            for (size_t row = g->m0; row < g->m1; row += ROWS)
                add_tile((const uint8_t *)g->w + (row / ROWS * all + s) * STEP_BYTES, &parts, steps, s == 0,
                         ulb_rows_left(g, row, ROWS), g->y + n * g->y_stride + row);
        }
    }
}

const struct ulb_kernel ULB_KERNEL = {
    .abi = ULB_KERNEL_ABI,
    .variant = "dot",
    .isa = ULB_KERNEL_ISA,
    .needs = ULB_KERNEL_NEEDS,
    .layout = &LAYOUT,
    .activation = ULB_ACT_F32,
    .mr = ROWS,
    .nr = 1,
    .kr = 2,
    .bytes_per_step = 64,
    .tolerance = 4 * ULB_FLOAT_TOLERANCE,
    .mix = {.loads = 4 + 3 / 8.0,
            .prefetches = 1,
            .dot_products = 12,
            .vector_bits = 128,
            .chains = ULB_BF16_PARTS * VECTORS},
    .run = run,
};
