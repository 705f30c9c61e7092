#include "harness/verify/test_case.h"

#include "common/doing.h"
#include "common/fp16.h"
#include "common/rng.h"
#include "harness/timing/stopwatch.h"
#include "kernels/gguf_block.h"
#include "kernels/float_words.h"
#include "kernels/plugin_loader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between -1 and 1, with as many random bits as the format holds. */
static void random_floats(const struct ulb_format *format, struct ulb_rng *rng, size_t k, int16_t *row)
{
    for (size_t col = 0; col < k; col++)
        ulb_float_set(format->kind, ulb_rng_float(rng), row + col * ulb_words(format));
}

/* Random weights, four from one draw: 16 bits each, scaled to the number of values, so that no division is
 * needed. */
static void random_row(const struct ulb_format *format, struct ulb_rng *rng, size_t k, int16_t *row)
{
    unsigned values = (unsigned)((format->max - format->min) / format->step) + 1;
    for (size_t col = 0; col < k; col += 4) {
        uint64_t draw = ulb_rng_next(rng);
        for (size_t i = col; i < col + 4 && i < k; i++, draw >>= 16) {
            unsigned bits = (unsigned)(draw & 0xFFFF);
            row[i] = (int16_t)(format->min + format->step * (int)(bits * values >> 16));
        }
    }
}

/* The smallest or largest weight everywhere, or both in turn, with signs alternating from row to row and
 * column to column. */
static void extreme_row(const struct ulb_format *format, enum ulb_fill fill, size_t m, size_t k, int16_t *row)
{
    for (size_t col = 0; col < k; col++) {
        int low = fill == ULB_FILL_MIN || (fill == ULB_FILL_ALTERNATING && (m + col) % 2);
        if (format->floating)
            ulb_float_set(format->kind, low ? -1.0f : 1.0f, row + col * ulb_words(format));
        else
            row[col] = (int16_t)(low ? format->min : format->max);
    }
}

static void fill_row(const struct ulb_format *format, enum ulb_fill fill, struct ulb_rng *rng, size_t m,
                     size_t k, int16_t *row)
{
    if (fill != ULB_FILL_RANDOM)
        extreme_row(format, fill, m, k, row);
    else if (format->floating)
        random_floats(format, rng, k, row);
    else
        random_row(format, rng, k, row);
}

/* The code whose value is the least (sign -1) or the largest. */
static int extreme_code(const struct ulb_format *format, int sign)
{
    const struct ulb_block *block = format->block;
    int best = sign < 0 ? format->min : format->max;
    for (int q = format->min; (block->table || block->levels) && q <= format->max; q++) {
        struct ulb_block_values two = {.q = {(int16_t)q, (int16_t)best}};
        best = sign * ulb_block_level(block, &two, 0) > sign * ulb_block_level(block, &two, 1) ? q : best;
    }
    return best;
}

/* Between 0.5 and 0.75, or one of 2^-2 to 2^2: a value that the format can hold. */
static float random_scale(enum ulb_block_scale kind, struct ulb_rng *rng)
{
    float scale = 0.5f + 0.25f * fabsf(ulb_rng_float(rng));
    if (kind == ULB_SCALE_POWER)
        return ldexpf(1.0f, (int)ulb_rng_below(rng, 5) - 2);
    return kind == ULB_SCALE_HALF ? ulb_fp16_to_float(ulb_fp16_from_float(scale)) : scale;
}

static int between(struct ulb_rng *rng, int least, int most)
{
    return least + (int)ulb_rng_below(rng, (unsigned)(most - least) + 1);
}

/* Scales and minima of groups at random, or the largest there are; the scale of the block itself is random in
 * any case. */
static void fill_scales(const struct ulb_block *block, enum ulb_fill fill, struct ulb_rng *rng,
                        struct ulb_block_values *values)
{
    bool random = fill == ULB_FILL_RANDOM;
    values->d = random_scale(block->d, rng);
    values->dmin = block->zero_point ? values->d : block->min_max > 0 ? random_scale(block->d, rng) : 0;
    for (unsigned g = 0; g < block->columns / block->group; g++) {
        values->scale[g] =
            (int16_t)(random ? between(rng, block->scale_min, block->scale_max) : block->scale_max);
        values->min[g] = (int16_t)(random ? between(rng, block->min_min, block->min_max) : block->min_max);
    }
}

/* The blocks of row m, extremes as in extreme_row(). */
static void fill_blocks(const struct ulb_format *format, enum ulb_fill fill, struct ulb_rng *rng, size_t m,
                        size_t k, uint8_t *row)
{
    const struct ulb_block *block = format->block;
    int least = extreme_code(format, -1), most = extreme_code(format, 1);
    for (size_t begin = 0; begin < k; begin += block->columns, row += block->bytes) {
        struct ulb_block_values values = {0};
        fill_scales(block, fill, rng, &values);
        for (unsigned i = 0; i < block->columns; i++) {
            bool low = fill == ULB_FILL_MIN || (fill == ULB_FILL_ALTERNATING && (m + i) % 2);
            values.q[i] = (int16_t)(fill == ULB_FILL_RANDOM ? between(rng, format->min, format->max)
                                    : low                   ? least
                                                            : most);
        }
        block->encode(&values, row);
    }
}

/* Scale g of a plain format, and its zero: at random or at the end that makes the differences largest. */
static void fill_scale(const struct ulb_format *format, enum ulb_fill fill, struct ulb_rng *rng,
                       struct ulb_matrix *w, size_t g)
{
    w->scales[g] = 0.5f + 0.25f * ulb_rng_float(rng);
    if (format->zeros)
        w->zeros[g] = (int16_t)(fill == ULB_FILL_RANDOM ? between(rng, format->min, format->max)
                                : fill == ULB_FILL_MIN  ? format->max
                                                        : format->min);
}

struct work {
    struct ulb_test_case *test_case;
    enum ulb_fill fill;
    uint64_t seed;
    size_t threads;
    const struct ulb_kernel *reference;
    const struct ulb_layout *layout;
    void *packed;
    double *x_magnitudes; /* [bases][K] */
    float *y;
    const struct ulb_kernel *kernel;
};

/* Rows of a thread: multiples of grain, the last takes what is left. */
static void part(size_t m, size_t threads, size_t thread, size_t grain, size_t *begin, size_t *end)
{
    size_t tiles = (m + grain - 1) / grain;
    *begin = tiles * thread / threads * grain;
    *end = tiles * (thread + 1) / threads * grain;
    if (*end > m)
        *end = m;
}

/* Each row has a generator of its own, so that the test case does not depend on the number of threads. Its
 * state is itself drawn, because neighbouring states of this generator give the same numbers one draw apart.
 */
static void fill_part(void *arg, size_t thread)
{
    struct work *work = arg;
    struct ulb_matrix *w = &work->test_case->weights;
    size_t begin, end;
    part(w->m, work->threads, thread, 1, &begin, &end);
    for (size_t m = begin; m < end; m++) {
        struct ulb_rng seeds = {work->seed ^ m << 20};
        struct ulb_rng rng = {ulb_rng_next(&seeds)};
        if (work->test_case->format->block) {
            fill_blocks(work->test_case->format, work->fill, &rng, m, w->k,
                        w->blocks + m * ulb_block_row_bytes(work->test_case->format, w->k));
            continue;
        }
        fill_row(work->test_case->format, work->fill, &rng, m, w->k,
                 w->values + m * w->k * ulb_words(work->test_case->format));
        size_t groups = ulb_groups(work->test_case->format, w->k);
        for (size_t g = m * groups; g < (m + 1) * groups; g++)
            fill_scale(work->test_case->format, work->fill, &rng, w, g);
    }
}

static void pack_part(void *arg, size_t thread)
{
    struct work *work = arg;
    const struct ulb_matrix *w = &work->test_case->weights;
    size_t begin, end;
    part(w->m, work->threads, thread, work->layout->tile_m, &begin, &end);
    if (begin < end)
        ulb_layout_pack(work->layout, w, begin, end, work->packed);
}

static size_t bases_of(const struct ulb_test_case *test_case)
{
    return test_case->n < ULB_TEST_CASE_BASES ? test_case->n : ULB_TEST_CASE_BASES;
}

/* The scalar reference of the bases. */
static void run_part(void *arg, size_t thread)
{
    struct work *work = arg;
    struct ulb_gemm g = ulb_test_case_gemm(work->test_case, work->packed, work->y);
    g.n = bases_of(work->test_case);
    part(g.m, work->threads, thread, work->kernel->mr, &g.m0, &g.m1);
    if (g.m0 < g.m1)
        work->kernel->run(&g);
}

static void on_team(struct ulb_team *team, void (*job)(void *, size_t), struct work *work)
{
    work->threads = team ? ulb_team_size(team) : 1;
    if (team)
        ulb_team_run(team, job, work);
    else
        job(work, 0);
}

static void fill_base(float *x, size_t k, enum ulb_fill fill, struct ulb_rng *rng)
{
    for (size_t i = 0; i < k; i++) {
        float value = fill == ULB_FILL_RANDOM          ? ulb_rng_float(rng)
                      : fill == ULB_FILL_LOST && i > 0 ? 0x1p-24f
                                                       : 1.0f;
        /* Alternating weights meet alternating signs: every product has the same one. */
        if (fill == ULB_FILL_MIN || (fill == ULB_FILL_ALTERNATING && i % 2))
            value = -value;
        x[i] = value;
    }
}

/* What token n is of its base: sign and power of two. It is so small that no product leaves the normal
 * numbers and no scale those of half precision. Multiplying by it is exact everywhere: int8 activations only
 * change their sign, and scale and result change by the factor. */
static float factor_of(size_t n)
{
    enum { LARGEST = 6, POWERS = 2 * LARGEST + 1 };
    size_t turn = n / ULB_TEST_CASE_BASES;
    int power = (int)(turn / 2 % POWERS); /* 0, 1 .. 6, -1 .. -6 */
    float factor = ldexpf(1.0f, power <= LARGEST ? power : LARGEST - power);
    return turn % 2 ? -factor : factor;
}

static void fill_activations(struct ulb_test_case *test_case, enum ulb_fill fill, uint64_t seed)
{
    struct ulb_rng rng = {seed ^ 0xA5A5A5A5u};
    size_t k = test_case->weights.k, columns = test_case->x.columns;
    for (size_t n = 0; n < test_case->n; n++) {
        float *x = test_case->xf + n * columns;
        const float *base = test_case->xf + n % ULB_TEST_CASE_BASES * columns;
        if (n < ULB_TEST_CASE_BASES)
            fill_base(x, k, fill, &rng);
        for (size_t i = 0; i < k && n >= ULB_TEST_CASE_BASES; i++)
            x[i] = base[i] * factor_of(n);
        memset(x + k, 0, (columns - k) * sizeof *x);
        ulb_activations_set(&test_case->x, n, x, k);
    }
}

/* What floating arithmetic adds to a value before it takes it off again: codes count from the least. */
static int code_offset(const struct ulb_test_case *test_case)
{
    return ulb_activation_is_floating(test_case->x.kind) ? -test_case->format->min : 0;
}

/* Sum of (|value| + |zero|) scale |x| of one row of a plain format. */
static double magnitude_of_row(const struct ulb_test_case *test_case, size_t m, const double *x)
{
    const struct ulb_matrix *w = &test_case->weights;
    size_t groups = ulb_groups(test_case->format, w->k),
           group = test_case->format->group ? test_case->format->group : w->k;
    const int16_t *values = w->values + m * w->k;
    double sum = 0;
    for (size_t g = 0; g < groups; g++) {
        int more = (w->zeros ? abs(w->zeros[m * groups + g]) : 0) + code_offset(test_case);
        double of_group = 0;
        for (size_t k = g * group; k < (g + 1) * group && k < w->k; k++)
            of_group += (abs(values[k]) + more) * x[k];
        sum += (double)w->scales[m * groups + g] * of_group;
    }
    return sum;
}

/* The same of a group of a block, scales not yet in it: of weights, and of what their minimum multiplies. */
static void magnitudes_of_group(const struct ulb_block *block, const struct ulb_block_values *values,
                                unsigned first, int offset, const double *x, double *weights, double *minima)
{
    *weights = *minima = 0;
    for (unsigned i = first; i < first + block->group; i++) {
        *weights += (fabs(ulb_block_level(block, values, i)) + offset) * x[i];
        *minima += x[i];
    }
}

/* The same of a row of a block format. */
static double magnitude_of_blocks(const struct ulb_test_case *test_case, size_t m, const double *x)
{
    const struct ulb_block *block = test_case->format->block;
    size_t k = test_case->weights.k;
    const uint8_t *row = test_case->weights.blocks + m * ulb_block_row_bytes(test_case->format, k);
    double sum = 0;
    for (size_t begin = 0; begin < k; begin += block->columns, row += block->bytes, x += block->columns) {
        struct ulb_block_values values;
        block->decode(row, &values);
        for (unsigned g = 0; g < block->columns / block->group; g++) {
            double weights, minima;
            magnitudes_of_group(block, &values, g * block->group, code_offset(test_case), x, &weights,
                                &minima);
            sum += fabs((double)values.d * values.scale[g]) * weights +
                   fabs((double)values.dmin * values.min[g]) * minima;
        }
    }
    return sum;
}

/* Sum of |w||x| of each row, for formats whose scales change along it. */
static void sum_magnitudes(void *arg, size_t thread)
{
    struct work *work = arg;
    struct ulb_test_case *test_case = work->test_case;
    size_t begin, end, rows = test_case->weights.m;
    part(rows, work->threads, thread, 1, &begin, &end);
    for (size_t n = 0; n < bases_of(test_case); n++) {
        const double *x = work->x_magnitudes + n * test_case->weights.k;
        for (size_t m = begin; m < end; m++)
            test_case->magnitude[n * rows + m] =
                (float)(test_case->format->block ? magnitude_of_blocks(test_case, m, x)
                                                 : magnitude_of_row(test_case, m, x));
    }
}

static void drop_signs(struct ulb_test_case *test_case)
{
    struct ulb_matrix *w = &test_case->weights;
    size_t words = ulb_words(test_case->format);
    for (size_t i = words - 1; i < w->m * w->k * words; i += words) /* signs are in the upper words */
        w->values[i] = (int16_t)(w->values[i] & 0x7FFF);
    float *singles = test_case->x.x;
    uint16_t *halves = test_case->x.x;
    for (size_t i = 0; i < bases_of(test_case) * test_case->x.stride; i++) {
        if (test_case->x.kind == ULB_ACT_BF16)
            halves[i] &= 0x7FFF;
        else
            singles[i] = fabsf(singles[i]);
    }
}

static double longest_reference_s, call_timeout_s;

void ulb_kernel_timeout(double seconds)
{
    call_timeout_s = seconds;
}

void ulb_kernel_doing(const struct ulb_kernel *kernel, size_t m, size_t k, size_t n)
{
    static const double least_s = 10, times_the_reference = 1000;
    static size_t last[3];
    const size_t now[3] = {m, k, n};
    char name[ULB_KERNEL_NAME_MAX], what[ULB_KERNEL_NAME_MAX + 8], tokens[32] = "";
    if (!ulb_kernels_have_foreign())
        return;
    if (!ulb_kernel_is_foreign(kernel)) {
        ulb_doing_end();
        return;
    }
    if (ulb_doing.about == kernel && memcmp(last, now, sizeof now) == 0) {
        ulb_doing.active = true;
        return;
    }
    memcpy(last, now, sizeof now);
    snprintf(what, sizeof what, "kernel %s", ulb_kernel_name(kernel, name));
    if (n > 1)
        snprintf(tokens, sizeof tokens, ", %zu tokens", n);
    ulb_doing_set(kernel, what, "mend it, or leave it out by --kernels",
                  call_timeout_s > 0 ? call_timeout_s
                                     : fmax(least_s, times_the_reference * longest_reference_s),
                  "at %zux%zu%s", m, k, tokens);
}

/* The scalar kernel's result, and for floating formats that of |w| and |x| (the error bound), from scratch
 * memory. */
static enum ulb_status answer(struct work *work, uint64_t seed, struct ulb_team *team, struct ulb_error *err)
{
    struct ulb_test_case *test_case = work->test_case;
    struct ulb_pages scratch;
    const struct ulb_kernel *reference = work->reference;
    size_t k = test_case->weights.k;
    size_t packed =
        ulb_round_up(ulb_layout_bytes(reference->layout, test_case->weights.m, k), ULB_CACHE_LINE);
    size_t bytes = packed + bases_of(test_case) * k * sizeof *work->x_magnitudes;
    enum ulb_status status = ulb_pages_map(&scratch, bytes, ulb_page_kind_for(bytes), err);
    if (status != ULB_OK)
        return status;
    ulb_pages_back(scratch.data, bytes);
    work->kernel = reference;
    work->layout = reference->layout;
    work->packed = scratch.data;
    if (test_case->format->floating) {
        drop_signs(test_case);
        on_team(team, pack_part, work);
        work->y = test_case->magnitude;
        on_team(team, run_part, work);
        on_team(team, fill_part, work);
        fill_activations(test_case, work->fill, seed);
    }
    on_team(team, pack_part, work);
    work->y = test_case->expected;
    const double begin = ulb_now();
    on_team(team, run_part, work);
    test_case->reference_s = ulb_now() - begin;
    longest_reference_s = fmax(longest_reference_s, test_case->reference_s);
    if (test_case->magnitude && !test_case->format->floating) {
        work->x_magnitudes = (double *)(void *)((char *)scratch.data + packed);
        for (size_t n = 0; n < bases_of(test_case); n++)
            ulb_activations_magnitudes(&test_case->x, n, k, work->x_magnitudes + n * k);
        on_team(team, sum_magnitudes, work);
    }
    ulb_pages_unmap(&scratch);
    return ULB_OK;
}

enum ulb_status ulb_test_case_open(struct ulb_test_case *test_case, const struct ulb_kernel *kernel, size_t m,
                                   size_t k, enum ulb_fill fill, uint64_t seed, struct ulb_team *team,
                                   struct ulb_error *err)
{
    return ulb_test_case_open_tokens(test_case, kernel, m, k, 1, fill, seed, team, err);
}

/* Hands out parts of one mapping. */
static enum ulb_status map_storage(struct ulb_test_case *test_case, enum ulb_activation kind,
                                   struct ulb_error *err)
{
    const struct ulb_format *format = test_case->format;
    size_t m = test_case->weights.m, k = test_case->weights.k, n = test_case->n;
    size_t columns = ulb_round_up(k, ULB_X_GRAIN);
    size_t weight_bytes =
        format->block ? m * ulb_block_row_bytes(format, k) : m * k * ulb_words(format) * sizeof(int16_t);
    size_t scale_bytes = format->block ? 0 : m * ulb_groups(format, k) * sizeof(float);
    size_t zero_bytes = format->zeros ? m * ulb_groups(format, k) * sizeof(int16_t) : 0;
    size_t answer_bytes = bases_of(test_case) * m * sizeof(float);
    size_t part_bytes[] = {weight_bytes,
                           scale_bytes,
                           answer_bytes,
                           answer_bytes,
                           n * columns * sizeof(float),
                           ulb_activations_bytes(kind, n, columns),
                           zero_bytes};
    char *parts[sizeof part_bytes / sizeof *part_bytes];
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bytes += ulb_round_up(part_bytes[i], ULB_CACHE_LINE);
    enum ulb_status status = ulb_pages_map(&test_case->storage, bytes, ulb_page_kind_for(bytes), err);
    if (status != ULB_OK)
        return status;
    ulb_pages_back(test_case->storage.data, bytes);
    parts[0] = test_case->storage.data;
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        parts[i] = parts[i - 1] + ulb_round_up(part_bytes[i - 1], ULB_CACHE_LINE);
    if (format->block)
        test_case->weights.blocks = (uint8_t *)parts[0];
    else
        test_case->weights.values = (int16_t *)(void *)parts[0];
    test_case->weights.scales = (float *)(void *)parts[1];
    test_case->expected = (float *)(void *)parts[2];
    test_case->weights.zeros = format->zeros ? (int16_t *)(void *)parts[6] : NULL;
    bool tolerance = format->floating || format->group || format->block || ulb_activation_is_floating(kind);
    test_case->magnitude = tolerance ? (float *)(void *)parts[3] : NULL;
    test_case->xf = (float *)(void *)parts[4];
    ulb_activations_place(&test_case->x, kind, n, columns, parts[5]);
    return ULB_OK;
}

enum ulb_status ulb_test_case_fits(const struct ulb_format *format, size_t k, struct ulb_error *err)
{
    if (format->block && k % format->block->columns != 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%s cannot hold rows of %zu weights: its blocks are %u each",
                        format->name, k, format->block->columns);
    return ULB_OK;
}

enum ulb_status ulb_test_case_open_tokens(struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                          size_t m, size_t k, size_t n, enum ulb_fill fill, uint64_t seed,
                                          struct ulb_team *team, struct ulb_error *err)
{
    *test_case =
        (struct ulb_test_case){.format = kernel->layout->format, .weights = {.m = m, .k = k}, .n = n};
    if (m == 0 || k == 0 || m > (size_t)1 << 24 || k > (size_t)1 << 24)
        return ulb_fail(err, ULB_BAD_INPUT, "impossible shape %zu x %zu: M and K must be 1 to 16777216", m,
                        k);
    if (n == 0 || n > ULB_TOKENS_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "impossible number of tokens %zu: N must be 1 to %d", n,
                        ULB_TOKENS_MAX);
    const struct ulb_kernel *reference = ulb_kernel_reference(kernel);
    if (!reference)
        return ulb_fail(
            err, ULB_ENVIRONMENT,
            "this build has no scalar kernel of %s to hold others against; let ULB_ONLY leave it in",
            test_case->format->name);
    enum ulb_status status = ulb_test_case_fits(test_case->format, k, err);
    if (status == ULB_OK)
        status = map_storage(test_case, kernel->activation, err);
    if (status != ULB_OK)
        return status;
    struct work work = {.test_case = test_case, .fill = fill, .seed = seed, .reference = reference};
    on_team(team, fill_part, &work);
    fill_activations(test_case, fill, seed);
    status = answer(&work, seed, team, err);
    if (status != ULB_OK)
        ulb_test_case_close(test_case);
    return status;
}

void ulb_test_case_close(struct ulb_test_case *test_case)
{
    ulb_pages_unmap(&test_case->storage);
}

void ulb_test_case_pack(const struct ulb_test_case *test_case, const struct ulb_layout *layout, void *packed,
                        struct ulb_team *team)
{
    /* The test case is only read here; the work record is shared with the jobs that fill it. */
    struct work work = {
        .test_case = (struct ulb_test_case *)(uintptr_t)test_case, .layout = layout, .packed = packed};
    on_team(team, pack_part, &work);
}

struct ulb_gemm ulb_test_case_gemm(const struct ulb_test_case *test_case, const void *w, float *y)
{
    struct ulb_gemm g = {
        .w = w,
        .m = test_case->weights.m,
        .k = test_case->weights.k,
        .n = test_case->n,
        .m0 = 0,
        .m1 = test_case->weights.m,
        .y = y,
        .y_stride = test_case->weights.m,
    };
    ulb_activations_give(&test_case->x, &g);
    return g;
}

/* Whether row m of token n is right; *expected is what it should be. */
static bool is_right(const struct ulb_test_case *test_case, double tolerance, size_t n, size_t m, float y,
                     float *expected)
{
    size_t at = n % ULB_TEST_CASE_BASES * test_case->weights.m + m;
    float factor = factor_of(n);
    *expected = test_case->expected[at] * factor + 0.0f; /* 0, not -0: as the sum of integers gives it */
    if (tolerance > 0)
        return fabs((double)y - (double)*expected) <= tolerance * ((double)test_case->weights.k + 8) *
                                                          (double)(test_case->magnitude[at] * fabsf(factor));
    return memcmp(&y, expected, sizeof y) == 0;
}

bool ulb_test_case_differs(const struct ulb_test_case *test_case, double tolerance, const float *y,
                           struct ulb_difference *first)
{
    for (size_t n = 0; n < test_case->n; n++) {
        for (size_t m = 0; m < test_case->weights.m; m++, y++) {
            float expected;
            if (is_right(test_case, tolerance, n, m, *y, &expected))
                continue;
            *first = (struct ulb_difference){m, n, (double)*y, (double)expected};
            return true;
        }
    }
    return false;
}

enum ulb_status ulb_test_case_check(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                    const float *y, struct ulb_error *err)
{
    struct ulb_difference first;
    char name[ULB_KERNEL_NAME_MAX], token[64] = "";
    if (!ulb_test_case_differs(test_case, kernel->tolerance, y, &first))
        return ULB_OK;
    if (test_case->n > 1)
        snprintf(token, sizeof token, ", token %zu of %zu", first.token, test_case->n);
    return ulb_fail(err, ULB_FINDING,
                    "kernel %s differs from its scalar reference at %zux%zu, row %zu%s: %.9g, not %.9g",
                    ulb_kernel_name(kernel, name), test_case->weights.m, test_case->weights.k, first.row,
                    token, first.is, first.should_be);
}

enum ulb_status ulb_test_case_verify(const struct ulb_test_case *test_case, const struct ulb_kernel *kernel,
                                     struct ulb_error *err)
{
    size_t w_bytes = ulb_layout_bytes(kernel->layout, test_case->weights.m, test_case->weights.k);
    struct ulb_pages pages;
    size_t bytes = w_bytes + test_case->n * test_case->weights.m * sizeof(float);
    enum ulb_status status = ulb_pages_map(&pages, bytes, ulb_page_kind_for(bytes), err);
    if (status != ULB_OK)
        return status;
    float *y = (float *)(void *)((char *)pages.data + w_bytes);
    ulb_test_case_pack(test_case, kernel->layout, pages.data, NULL);
    struct ulb_gemm g = ulb_test_case_gemm(test_case, pages.data, y);
    kernel->run(&g);
    status = ulb_test_case_check(test_case, kernel, y, err);
    ulb_pages_unmap(&pages);
    return status;
}
