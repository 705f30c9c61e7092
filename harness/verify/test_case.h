/* One test case with its known answer: logical weights, activations of one or more tokens, and the scalar
 * reference's result. */
#ifndef ULB_HARNESS_VERIFY_TEST_CASE_H
#define ULB_HARNESS_VERIFY_TEST_CASE_H

#include "common/mem.h"
#include "common/status.h"
#include "harness/threads/team.h"
#include "kernels/activations.h"

#include <stdbool.h>
#include <stdint.h>

/* What the weights and activations are filled with. Random data never shows a 16-bit overflow: the extremes
 * do. */
enum ulb_fill {
    ULB_FILL_RANDOM,
    ULB_FILL_MIN,
    ULB_FILL_MAX,
    ULB_FILL_ALTERNATING,
    /* The largest weights, an activation of 1, all others 2^-24. With weights of 1 each product is lost to a
       single-precision sum that begins with the first. For floating activations. */
    ULB_FILL_LOST
};

enum { ULB_X_GRAIN = 1536 /* columns of activations: every kernel's kr divides it */ };

/* Prime, so that no tile of tokens holds two alike at the same place. */
enum { ULB_TEST_CASE_BASES = 7, ULB_TOKENS_MAX = 4096 };

struct ulb_test_case {
    const struct ulb_format *format;
    struct ulb_matrix weights;
    size_t n;                 /* tokens */
    float *xf;                /* [n][x.columns]; for int8 activations what they were quantised from */
    struct ulb_activations x; /* K rounded up so that any kernel's kr divides it */
    /* The scalar kernel computes the first ULB_TEST_CASE_BASES tokens. The others are these with another sign
     * and a power of two for a factor, so that their answers follow exactly. The reference of 512 tokens
     * would take longer than all else. */
    float *expected;    /* [bases][M] */
    float *magnitude;   /* [bases][M], sum |w||x| for kernels with a tolerance; NULL for exact formats. |w| is
                           `(|value| + |zero| + offset) * scale`. In a block format it is `|d scale| (|value| +
                           offset) + |dmin min|`. offset is that of the codes if activations are floating, else
                           0. |x| has the zero point's added, times the scale */
    double reference_s; /* that the scalar kernel took for the bases */
    struct ulb_pages storage;
};

/* Makes an M x K test case of one token with the weight and activation formats of kernel. Computes its answer
 * with the team (NULL: alone). ULB_BAD_INPUT: K is no multiple of a block format's columns. ULB_ENVIRONMENT:
 * memory is short. */
enum ulb_status ulb_test_case_open(struct ulb_test_case *test_case, const struct ulb_kernel *kernel, size_t m,
                                   size_t k, enum ulb_fill fill, uint64_t seed, struct ulb_team *team,
                                   struct ulb_error *err);
/* The same for n tokens, 1 to ULB_TOKENS_MAX; with an extreme fill the tokens differ by sign and factor
 * alone. */
enum ulb_status ulb_test_case_open_tokens(struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                          size_t m, size_t k, size_t n, enum ulb_fill fill, uint64_t seed,
                                          struct ulb_team *team, struct ulb_error *err);
void ulb_test_case_close(struct ulb_test_case *test_case);

/* Packs the weights into packed (ulb_layout_bytes() of it, 64-byte aligned) with the team (NULL: alone). */
void ulb_test_case_pack(const struct ulb_test_case *test_case, const struct ulb_layout *layout, void *packed,
                        struct ulb_team *team);

/* The arguments of one call over all rows and tokens; w and y[n][M] are the caller's. */
struct ulb_gemm ulb_test_case_gemm(const struct ulb_test_case *test_case, const void *w, float *y);

/* Whether K columns are whole blocks of the format. ULB_BAD_INPUT with the format, its block and K. */
enum ulb_status ulb_test_case_fits(const struct ulb_format *format, size_t k, struct ulb_error *err);

/* The first row and token of a result that is not the answer within a bound as of struct ulb_kernel. */
struct ulb_difference {
    size_t row, token;
    double is, should_be;
};
bool ulb_test_case_differs(const struct ulb_test_case *test_case, double tolerance, const float *y,
                           struct ulb_difference *first);

/* Compares a result with the answer of every token: bit-equal for exact kernels, else within the kernel's
 * bound. On a difference the message names kernel, row, token, both values; ULB_FINDING. */
enum ulb_status ulb_test_case_check(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                    const float *y, struct ulb_error *err);

/* Packs, runs every row on the calling thread and checks: the whole verification of one kernel on one
 * test case. */
enum ulb_status ulb_test_case_verify(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                     struct ulb_error *err);

/* Says that a kernel of others is about to be called at that shape (common/doing.h), with the seconds that a
 * call may take. These are the settings', or 1000 times what the longest reference so far took, at least ten.
 * It costs nothing for the suite's own kernels, or if the last call said the same. ulb_doing_end() ends it.
 */
void ulb_kernel_doing(const struct ulb_kernel *kernel, size_t m, size_t k, size_t n);
void ulb_kernel_timeout(double seconds);

#endif
