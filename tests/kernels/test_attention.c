/* Attention's loops over a piece of the cache, by every table that runs here, beside double precision. */
#include "kernels/vector/attention.h"

#include "common/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 13, DIMS = 256 };

/* What a type loses on uniform random numbers, as docs/method/decode.md has it. */
static const double stated[ULB_KV_TYPES] = {3e-3, 5e-3, 8e-2, 1e-6};

struct piece {
    size_t dims, padded;
    float queries[ROWS][DIMS], made[ROWS][DIMS], weights[ROWS][ULB_KV_PIECE];
    float keys[ULB_KV_PIECE][DIMS], values[ULB_KV_PIECE][DIMS];
    float scores[ROWS][ULB_KV_PIECE], sums[ROWS][DIMS];
    char *halves[2];
};

static void fill(float *x, size_t n, struct ulb_rng *rng)
{
    for (size_t i = 0; i < n; i++)
        x[i] = ulb_rng_float(rng);
}

/* Positions are stored from the last to the first: none may touch another. */
static void open_piece(struct piece *piece, const struct ulb_attention_ops *ops, enum ulb_kv_type type,
                       size_t dims)
{
    struct ulb_rng rng = {5};
    memset(piece, 0, sizeof *piece);
    piece->dims = dims;
    piece->padded = ulb_kv_padded(dims);
    for (size_t i = 0; i < 2; i++) {
        piece->halves[i] = aligned_alloc(64, ulb_kv_half_bytes(type, dims));
        memset(piece->halves[i], 0xA5, ulb_kv_half_bytes(type, dims));
    }
    for (size_t r = 0; r < ROWS; r++) {
        fill(piece->queries[r], dims, &rng);
        ops->query(type, piece->queries[r], 1, dims, piece->made[r]);
        fill(piece->weights[r], ULB_KV_PIECE, &rng);
    }
    for (size_t p = ULB_KV_PIECE; p-- > 0;) {
        float zeros[DIMS] = {0};
        fill(piece->keys[p], dims, &rng);
        fill(piece->values[p], dims, &rng);
        for (size_t value = 0; value < 2; value++) {
            ops->store(type, value == 1, zeros, piece->padded, p, piece->halves[value]);
            ops->store(type, value == 1, value ? piece->values[p] : piece->keys[p], dims, p,
                       piece->halves[value]);
        }
    }
}

static void close_piece(struct piece *piece)
{
    free(piece->halves[0]);
    free(piece->halves[1]);
}

/* Rows first to first + n over all blocks, one call. */
static void run(struct piece *piece, const struct ulb_attention_ops *ops, enum ulb_kv_type type, size_t first,
                size_t n)
{
    const float *in[ROWS];
    float *out[ROWS];
    struct ulb_kv_rows call = {.type = type,
                               .dims = piece->padded,
                               .rows = n,
                               .end = ULB_KV_BLOCKS,
                               .seen = ULB_KV_PIECE,
                               .in = in,
                               .out = out,
                               .half = piece->halves[0]};
    for (size_t r = 0; r < n; r++) {
        in[r] = piece->made[first + r];
        out[r] = piece->scores[first + r];
    }
    ops->scores(&call);
    for (size_t r = 0; r < n; r++) {
        in[r] = piece->weights[first + r];
        out[r] = piece->sums[first + r];
    }
    call.half = piece->halves[1];
    ops->sums(&call);
}

/* Root of sum (a - b)^2 / sum b^2 over scores and sums. */
static double distance(const struct piece *piece)
{
    double difference = 0, size = 0;
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t i = 0; i < ULB_KV_PIECE + piece->dims; i++) {
            bool score = i < ULB_KV_PIECE;
            size_t n = score ? piece->dims : ULB_KV_PIECE, d = i - ULB_KV_PIECE;
            double exact = 0, got = (double)(score ? piece->scores[r][i] : piece->sums[r][d]);
            for (size_t k = 0; k < n; k++)
                exact += score ? (double)piece->queries[r][k] * (double)piece->keys[i][k]
                               : (double)piece->weights[r][k] * (double)piece->values[k][d];
            difference += (exact - got) * (exact - got);
            size += exact * exact;
        }
    }
    return sqrt(difference / size);
}

static void for_each_table(void (*test)(const struct ulb_attention_ops *, enum ulb_kv_type, size_t))
{
    static const size_t dims[] = {40, 64, DIMS};
    ulb_isa_set isa = ulb_isa_detect();
    const ulb_isa_set avx2 = ULB_ISA_AVX2 | ULB_ISA_FMA | ULB_ISA_F16C, vnni = ULB_ISA_AVX512VNNI,
                      bf16 = ULB_ISA_AVX512BF16;
    const ulb_isa_set sets[] = {0, isa & avx2, isa & (avx2 | ULB_ISA_AVXVNNI), isa & ~vnni, isa & ~bf16, isa};
    for (size_t i = 0; i < sizeof sets / sizeof *sets * ULB_KV_TYPES; i++) {
        for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
            test(ulb_attention_ops(sets[i / ULB_KV_TYPES]), (enum ulb_kv_type)(i % ULB_KV_TYPES), dims[d]);
    }
}

static void within_bound(const struct ulb_attention_ops *ops, enum ulb_kv_type type, size_t dims)
{
    struct piece *piece = malloc(sizeof *piece);
    open_piece(piece, ops, type, dims);
    run(piece, ops, type, 0, ROWS);
    double is = distance(piece);
    if (!(is <= stated[type] && (type == ULB_KV_FP32 || is > stated[type] / 100)))
        fail_msg("%s, cache in %s, %zu dims: %g away, %g is stated", ops->isa, ulb_kv_type_name(type), dims,
                 is, stated[type]);
    close_piece(piece);
    free(piece);
}

static void types_lose_what_is_stated(void **state)
{
    (void)state;
    for_each_table(within_bound);
}

static void alone_as_together(const struct ulb_attention_ops *ops, enum ulb_kv_type type, size_t dims)
{
    struct piece *piece = malloc(sizeof *piece), *together = malloc(sizeof *together);
    open_piece(piece, ops, type, dims);
    run(piece, ops, type, 0, ROWS);
    memcpy(together, piece, sizeof *piece);
    for (size_t n = 1; n < ROWS; n++) {
        for (size_t first = 0; first < ROWS; first += n)
            run(piece, ops, type, first, n < ROWS - first ? n : ROWS - first);
        if (memcmp(piece->scores, together->scores, sizeof piece->scores) != 0 ||
            memcmp(piece->sums, together->sums, sizeof piece->sums) != 0)
            fail_msg("%s, cache in %s: %zu rows together give other bits", ops->isa, ulb_kv_type_name(type),
                     n);
    }
    close_piece(piece);
    free(piece);
    free(together);
}

/* To the last bit: how many rows share what is read does not matter. */
static void rows_do_not_matter(void **state)
{
    (void)state;
    for_each_table(alone_as_together);
}

/* Positions that weigh nothing change no bit, read or not. */
static void unseen_positions(const struct ulb_attention_ops *ops, enum ulb_kv_type type, size_t dims)
{
    static const size_t seen[] = {1, 37, ULB_KV_PIECE - 1};
    struct piece *piece = malloc(sizeof *piece);
    open_piece(piece, ops, type, dims);
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        float all[DIMS], some[DIMS], *out = all;
        const float *in = piece->weights[0];
        struct ulb_kv_rows call = {.type = type,
                                   .dims = piece->padded,
                                   .rows = 1,
                                   .end = ULB_KV_BLOCKS,
                                   .seen = ULB_KV_PIECE,
                                   .in = &in,
                                   .out = &out,
                                   .half = piece->halves[1]};
        fill(piece->weights[0], ULB_KV_PIECE, &(struct ulb_rng){i});
        memset(piece->weights[0] + seen[i], 0, (ULB_KV_PIECE - seen[i]) * sizeof(float));
        ops->sums(&call);
        out = some;
        call.seen = seen[i];
        call.end = (seen[i] - 1) / ULB_KV_LINES + 1;
        ops->sums(&call);
        assert_memory_equal(some, all, dims * sizeof *all);
    }
    close_piece(piece);
    free(piece);
}

static void unseen_positions_do_not_matter(void **state)
{
    (void)state;
    for_each_table(unseen_positions);
}

/* Beside double precision, and to the last bit as one by one. What lies behind the dims is left alone. */
static void merged_as_one_by_one(const struct ulb_attention_ops *ops, enum ulb_kv_type type, size_t dims)
{
    enum { PIECES = 70 };
    const size_t distance = ulb_kv_padded(dims) + ULB_KV_LINES;
    struct ulb_rng rng = {9};
    struct ulb_kv_shares shares[PIECES];
    float *sums = calloc(PIECES * distance, sizeof *sums), out[DIMS + 1], single[DIMS + 1], before[DIMS + 1];
    double exact[DIMS], most = 0, error = 0;
    (void)type;
    fill(sums, PIECES * distance, &rng);
    fill(out, DIMS + 1, &rng);
    memcpy(single, out, sizeof out);
    memcpy(before, out, sizeof out);
    for (size_t d = 0; d < dims; d++)
        exact[d] = out[d];
    for (size_t p = 0; p < PIECES; p++) {
        shares[p] = p % 2 ? (struct ulb_kv_shares){1, fabsf(ulb_rng_float(&rng))}
                          : (struct ulb_kv_shares){fabsf(ulb_rng_float(&rng)), 1};
        for (size_t d = 0; d < dims; d++)
            exact[d] =
                exact[d] * (double)shares[p].keep + (double)sums[p * distance + d] * (double)shares[p].take;
        ops->merge(&(struct ulb_kv_pieces){1, &shares[p], sums + p * distance, 0}, dims, single);
    }
    ops->merge(&(struct ulb_kv_pieces){PIECES, shares, sums, distance}, dims, out);
    assert_memory_equal(out, single, sizeof out);
    assert_memory_equal(out + dims, before + dims, (DIMS + 1 - dims) * sizeof *out);
    for (size_t d = 0; d < dims; d++) {
        most = fmax(most, fabs(exact[d]));
        error = fmax(error, fabs((double)out[d] - exact[d]));
    }
    if (!(error <= 1e-6 * most))
        fail_msg("%s, %zu dims: merged pieces are wrong by %g of %g", ops->isa, dims, error, most);
    free(sums);
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    for_each_table(merged_as_one_by_one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_lose_what_is_stated),
        cmocka_unit_test(rows_do_not_matter),
        cmocka_unit_test(unseen_positions_do_not_matter),
        cmocka_unit_test(pieces_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
