/* A scale for each row, activations with a zero point: sum (c - z) (x - zx) = D - z X - zx R, with D the dot
 * product of codes, X the sum of the activations and R that of the row's weights, precomputed.
 *
 * |D| <= 255 * 127 * K < 2^31 up to K = 65,536; what is subtracted, in 64 bits, once per row.
 * Registers: 8 sums, at 256 bits 8 chains of latency 5 on two ports.
 * Ports per 32 weights at 256 bits: 8-bit codes a load and a dot product; 4-bit codes half a load, half an
 * and, a dot product. */
#include "kernels/row.h"
#include "kernels/woq/format.h"
#include "kernels/x86/planes.h"

#ifdef ULB_DP_512
#define LAYOUT(of) ulb_##of##_plane_128
#else
#define LAYOUT(of) ulb_##of##_plane_64
#endif

enum { SLICES = 2, NEAR = 2048, VISIT = 8 /* steps of a slice in turn */ };

/* Constants of a row. */
struct woq {
    const struct ulb_layout *layout;
    unsigned bits, zeros;
};

/* sums += so many steps of each slice, from step s on. */
static inline __attribute__((always_inline)) void
add_visit(const struct woq *a, const struct ulb_tiles *tiles, size_t s, size_t steps, ulb_vec *sums)
{
    ULB_UNROLL(2)
    for (size_t i = 0; i < SLICES; i++)
        ulb_sum_plane(a->bits, tiles->w + i * tiles->slice_bytes + s * ulb_plane_step(a->bits),
                      tiles->x + (i * tiles->steps + s) * 4, steps,
                      (struct ulb_ahead){NEAR, ulb_told(tiles->l2_ahead)}, sums);
}

/* Dot products of all of K, codes as they are. */
static inline __attribute__((always_inline)) void sum_tile(const struct woq *a, const struct ulb_tiles *tiles,
                                                           int32_t *dots)
{
    const size_t whole = tiles->steps / VISIT * VISIT;
    ulb_vec sums[ULB_PLANE_VECTORS];
    ulb_zero_all(sums, ULB_PLANE_VECTORS);
    for (size_t s = 0; s < whole; s += VISIT)
        add_visit(a, tiles, s, VISIT, sums);
    add_visit(a, tiles, whole, tiles->steps - whole, sums);
    ulb_split_plane(a->bits, sums);
    ulb_store_all(dots, sums, ULB_PLANE_VECTORS);
}

static inline __attribute__((always_inline)) void finish(const struct woq *a, const struct ulb_gemm *g,
                                                         size_t m, size_t rows, size_t n, const int32_t *dots)
{
    const float *scale = ulb_row_scales(g, a->layout) + m, *zeros = ulb_row_zeros(g, a->layout) + m;
    const float *row_sums = ulb_row_sums(g, a->layout) + m;
    int64_t x_sum = g->x_sum[n], x_zero = g->x_zero[n];
    int32_t offset = (a->zeros ? 0 : 1 << (a->bits - 1)) - (a->bits == 8 ? ULB_PLANE_BIAS_8 : 0);
    for (size_t i = 0; i < rows; i++) {
        int64_t zero = offset + (a->zeros ? (int32_t)zeros[i] : 0);
        int64_t sum = dots[i] - zero * x_sum - x_zero * (int32_t)row_sums[i];
        g->y[n * g->y_stride + m + i] = (float)sum * scale[i] * g->x_scale[n];
    }
}

static inline __attribute__((always_inline)) void run(const struct woq *a, const struct ulb_gemm *g)
{
    struct ulb_tiles tiles = {.slice_bytes = ulb_layout_slice_bytes(a->layout, g->m, g->k),
                              .steps = ulb_layout_steps(a->layout, g->k),
                              .l2_ahead = g->l2_ahead};
    size_t batch = ulb_batch(g, a->layout, ULB_PLANE_ROWS);
    for (size_t m = g->m0; m < g->m1; m += batch) {
        size_t rows = ulb_batch_end(g, m, batch) - m;
        for (size_t n = 0; n < g->n; n++) {
            int32_t dots[ULB_BATCH_ROWS];
            tiles.x = (const int8_t *)g->x + n * g->x_stride;
            for (size_t i = 0; i < rows; i += ULB_PLANE_ROWS) {
                tiles.w =
                    (const uint8_t *)g->w + (m + i) / ULB_PLANE_ROWS * tiles.steps * ulb_plane_step(a->bits);
                sum_tile(a, &tiles, dots + i);
            }
            finish(a, g, m, rows, n, dots);
        }
    }
}

#define ROW(of, bits_, zeros_)                                                                               \
    static void run_##of(const struct ulb_gemm *g)                                                           \
    {                                                                                                        \
        static const struct woq row = {&LAYOUT(of), bits_, zeros_};                                          \
        run(&row, g);                                                                                        \
    }                                                                                                        \
    ULB_VARIANT_ROW(of) = {                                                                                  \
        .abi = ULB_KERNEL_ABI,                                                                               \
        .variant = "plane",                                                                                  \
        .isa = ULB_ROW_ISA,                                                                                  \
        .needs = ULB_ROW_NEEDS,                                                                              \
        .layout = &LAYOUT(of),                                                                               \
        .activation = ULB_ACT_A8Z,                                                                           \
        .mr = ULB_PLANE_ROWS,                                                                                \
        .nr = 1,                                                                                             \
        .kr = SLICES * 4,                                                                                    \
        .bytes_per_step = 4 * (bits_),                                                                       \
        .mix = {ULB_CODES_MIX(bits_, 0), .loads = (bits_) / 8.0 * ULB_VECTORS_PER_STEP,                      \
                .vector_bits = ULB_VEC_BITS, .chains = ULB_PLANE_VECTORS},                                   \
        .prefetch_choice = true,                                                                             \
        .run = run_##of,                                                                                     \
    };

ULB_WOQ(ROW)
