#include "harness/opencl/device_check.h"

#include "common/bf16.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DIVISION_ULP = 2.5; /* that OpenCL allows a division to be off */

const struct ulb_kernel *ulb_device_reference(const struct ulb_device_kernel *kernel)
{
    const enum ulb_activation activation = kernel->quantise == ULB_QUANTISE_NONE ? kernel->given : ULB_ACT_A8;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *other = ulb_kernels[i];
        if (strcmp(other->isa, "ref") == 0 && other->layout->format == kernel->layout->format &&
            other->activation == activation)
            return other;
    }
    return NULL;
}

struct check {
    const struct ulb_device_kernel *kernel;
    const char *name;
    const struct ulb_test_case *test_case;
    const struct ulb_device_output *output;
    float *x;      /* [k], a token as the device was given it */
    int8_t *codes; /* [1 + bases][k]: of the token, and of the first tokens */
    int32_t *sums; /* [1 + bases][m] */
};

/* "kernel NAME at 33x65, token 3 of 17: " and what is wrong with it. */
static enum ulb_status differ(const struct check *check, size_t token, struct ulb_error *err)
{
    const struct ulb_test_case *test_case = check->test_case;
    return ulb_fail_prefix(err, ULB_FINDING, "kernel %s differs at %zux%zu, token %zu of %zu", check->name,
                           test_case->weights.m, test_case->weights.k, token, test_case->n);
}

/* ---- quantised activations ---- */

/* Within so many units in the last place of the real quotient. */
static bool is_quotient(float value, double quotient)
{
    int exponent;
    frexp(quotient, &exponent);
    const double ulp = ldexp(1, exponent - 24);
    return fabs((double)value - quotient) <= DIVISION_ULP * ulp;
}

static enum ulb_status check_scale(const struct check *check, size_t token, struct ulb_error *err)
{
    const float inverse = check->output->inverse[token], scale = check->output->scale[token];
    float largest = 0;
    for (size_t i = 0; i < check->test_case->weights.k; i++)
        largest = fmaxf(largest, fabsf(check->x[i]));
    const bool none = largest < ULB_LEAST_SPAN;
    const double wanted_inverse = none ? 0 : 127 / (double)largest, wanted = (double)largest / 127;
    if (none ? inverse != 0 : !is_quotient(inverse, wanted_inverse))
        ulb_fail(err, ULB_FINDING, "the inverse of its scale is %.9g, not %.9g", (double)inverse,
                 wanted_inverse);
    else if (none ? scale != 0 : !is_quotient(scale, wanted))
        ulb_fail(err, ULB_FINDING, "its scale is %.9g, not %.9g", (double)scale, none ? 0 : wanted);
    else
        return ULB_OK;
    return differ(check, token, err);
}

static void take_token(const struct check *check, size_t token)
{
    const struct ulb_test_case *test_case = check->test_case;
    const float *x = test_case->xf + token * test_case->x.columns;
    for (size_t i = 0; i < test_case->weights.k; i++)
        check->x[i] =
            check->kernel->given == ULB_ACT_BF16 ? ulb_bf16_to_float(ulb_bf16_from_float(x[i])) : x[i];
    for (size_t i = 0; i < test_case->weights.k; i++)
        check->codes[i] = (int8_t)lrintf(check->x[i] * check->output->inverse[token]);
}

/* With codes in memory: they are those of the inverse. */
static enum ulb_status check_codes(const struct check *check, size_t token, struct ulb_error *err)
{
    const size_t k = check->test_case->weights.k;
    if (!check->output->codes)
        return ULB_OK;
    const int8_t *codes = check->output->codes + token * ulb_device_columns(check->kernel, k);
    for (size_t i = 0; i < k; i++) {
        if (codes[i] == check->codes[i])
            continue;
        ulb_fail(err, ULB_FINDING, "activation %zu is the code %d, not %d", i, codes[i], check->codes[i]);
        return differ(check, token, err);
    }
    return ULB_OK;
}

/* ---- integer sums ---- */

static void add_up(const struct check *check, int32_t *sums)
{
    const struct ulb_matrix *w = &check->test_case->weights;
    for (size_t m = 0; m < w->m; m++) {
        const int16_t *row = w->values + m * w->k;
        int32_t sum = 0;
        for (size_t i = 0; i < w->k; i++)
            sum += row[i] * check->codes[i];
        sums[m] = sum;
    }
}

/* Whether a token's codes are those of its base, all with this sign. */
static bool is_base(const struct check *check, const int8_t *base, int sign)
{
    for (size_t i = 0; i < check->test_case->weights.k; i++) {
        if (check->codes[i] != sign * base[i])
            return false;
    }
    return true;
}

/* The sums of a token: of the first tokens they are kept, and those of most others follow. */
static const int32_t *sums_of(const struct check *check, size_t token)
{
    const size_t m = check->test_case->weights.m, k = check->test_case->weights.k;
    const size_t base = 1 + token % ULB_TEST_CASE_BASES;
    int8_t *codes = check->codes + base * k;
    int32_t *sums = check->sums + base * m;
    if (token < ULB_TEST_CASE_BASES) {
        memcpy(codes, check->codes, k);
        add_up(check, sums);
        return sums;
    }
    const int sign = is_base(check, codes, 1) ? 1 : is_base(check, codes, -1) ? -1 : 0;
    for (size_t i = 0; i < m && sign != 0; i++)
        check->sums[i] = sign * sums[i];
    if (sign == 0)
        add_up(check, check->sums);
    return check->sums;
}

static enum ulb_status check_sums(const struct check *check, size_t token, struct ulb_error *err)
{
    const size_t m = check->test_case->weights.m;
    const float *scales = check->test_case->weights.scales, scale = check->output->scale[token];
    const int32_t *sums = sums_of(check, token), *theirs = check->output->sums + token * m;
    const float *y = check->output->y + token * m;
    for (size_t i = 0; i < m; i++) {
        const float wanted = (float)sums[i] * scales[i] * scale;
        if (theirs[i] != sums[i])
            ulb_fail(err, ULB_FINDING, "the integer sum of row %zu is %d, not %d", i, theirs[i], sums[i]);
        else if (memcmp(&y[i], &wanted, sizeof wanted) != 0)
            ulb_fail(err, ULB_FINDING, "row %zu is %.9g, not %.9g", i, (double)y[i], (double)wanted);
        else
            continue;
        return differ(check, token, err);
    }
    return ULB_OK;
}

/* The scalar reference of the CPU on the same codes and scale of the first token: the same bits. */
static enum ulb_status check_reference(const struct check *check, struct ulb_error *err)
{
    const struct ulb_test_case *test_case = check->test_case;
    const struct ulb_kernel *reference = ulb_device_reference(check->kernel);
    const size_t m = test_case->weights.m, k = test_case->weights.k;
    const size_t bytes = ulb_layout_bytes(reference->layout, m, k);
    char *packed = aligned_alloc(ULB_CACHE_LINE, ulb_round_up(bytes, ULB_CACHE_LINE));
    float *y = calloc(m, sizeof *y);
    enum ulb_status status =
        packed && y ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check %s", check->name);
    if (status == ULB_OK) {
        const struct ulb_gemm gemm = {.w = packed,
                                      .m = m,
                                      .k = k,
                                      .n = 1,
                                      .m1 = m,
                                      .x = check->codes + k,
                                      .x_stride = k,
                                      .x_scale = check->output->scale,
                                      .x_scale_stride = 1,
                                      .y = y,
                                      .y_stride = m};
        ulb_test_case_pack(test_case, reference->layout, packed, NULL);
        reference->run(&gemm);
    }
    for (size_t i = 0; i < m && status == ULB_OK; i++) {
        if (memcmp(&y[i], &check->output->y[i], sizeof *y) == 0)
            continue;
        ulb_fail(err, ULB_FINDING, "row %zu is %.9g, of the scalar reference %.9g", i,
                 (double)check->output->y[i], (double)y[i]);
        status = differ(check, 0, err);
    }
    free(packed);
    free(y);
    return status;
}

static enum ulb_status check_integers(struct check *check, struct ulb_error *err)
{
    const struct ulb_test_case *test_case = check->test_case;
    const size_t m = test_case->weights.m, k = test_case->weights.k;
    enum ulb_status status = ULB_OK;
    check->x = calloc(k, sizeof *check->x);
    check->codes = calloc((1 + ULB_TEST_CASE_BASES) * k, sizeof *check->codes);
    check->sums = calloc((1 + ULB_TEST_CASE_BASES) * m, sizeof *check->sums);
    if (!check->x || !check->codes || !check->sums)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check %s", check->name);
    for (size_t token = 0; token < test_case->n && status == ULB_OK; token++) {
        take_token(check, token);
        status = check_scale(check, token, err);
        if (status == ULB_OK)
            status = check_codes(check, token, err);
        if (status == ULB_OK)
            status = check_sums(check, token, err);
    }
    if (status == ULB_OK)
        status = check_reference(check, err);
    free(check->x);
    free(check->codes);
    free(check->sums);
    return status;
}

enum ulb_status ulb_device_check(const struct ulb_device_kernel *kernel, const char *name,
                                 const struct ulb_test_case *test_case,
                                 const struct ulb_device_output *output, struct ulb_error *err)
{
    struct check check = {.kernel = kernel, .name = name, .test_case = test_case, .output = output};
    struct ulb_difference first;
    if (kernel->quantise != ULB_QUANTISE_NONE)
        return check_integers(&check, err);
    if (!ulb_test_case_differs(test_case, kernel->tolerance, output->y, &first))
        return ULB_OK;
    ulb_fail(err, ULB_FINDING, "row %zu is %.9g, not %.9g", first.row, first.is, first.should_be);
    return differ(&check, first.token, err);
}
