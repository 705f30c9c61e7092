/* Every kernel that runs here, or can be emulated here, against its scalar reference; and the checker against
 * planted bugs.
 *
 *     test_kernels [--few] [--part I/N] [REGEX]
 *
 * REGEX: only the kernels whose names it matches; exit code 77 when none of them can run here. --few: fewer
 * and smaller shapes, for a CPU that is itself emulated (scripts/test-emulated). --part: the kernels of each
 * N-th reference alone, from the I-th on, so that processes can share the table. */
#include "kernels/gguf_block.h"
#include "kernels/formats/int2/format.h"
#include "tests/kernels/check_kernel.h"
#include "tests/kernels/emulate.h"

#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY_ROWS = 2100 }; /* more than are finished together (ULB_BATCH_ROWS) */

static const size_t shapes[][2] = {{1, 1},     {5, 4},     {31, 7},     {32, 32},       {33, 65},
                                   {64, 128},  {65, 131},  {97, 516},   {160, 896},     {200, 1600},
                                   {66, 5460}, {40, 8640}, {72, 14336}, {MANY_ROWS, 65}};

/* Shapes for --few, for kernels whose every dot product traps, and for scalar ones, which have no tiles and
 * nothing to be compared with but themselves: edges of every tile and slice remain. */
static const size_t few_shapes[][2] = {{1, 1}, {31, 7}, {33, 65}, {65, 131}, {97, 516}, {40, 1600}};

enum { CHECKS_MAX = 72, NO_KERNEL_RUNS = 77 };

/* Shapes for block formats, whose reference takes longer; K rounded up to whole blocks. */
static const size_t block_shapes[][2] = {{1, 32},    {97, 256},  {33, 512},  {97, 896},
                                         {34, 5460}, {20, 8640}, {3, 14336}, {MANY_ROWS, 32}};

static size_t whole_blocks(const struct ulb_kernel *kernel, size_t k)
{
    const struct ulb_block *block = kernel->layout->format->block;
    return block ? ulb_round_up(k, block->columns) : k;
}

static bool few;
static regex_t wanted;
static unsigned part = 1, parts = 1;
static size_t kernels_checked, kernels_skipped;
/* The kernels of this part whose names match the expression of the command line, if there was one; those with
 * the same reference one after the other. */
static const struct ulb_kernel **kernels;
static size_t kernel_count;

static bool have_one_reference(const struct ulb_kernel *a, const struct ulb_kernel *b)
{
    return a->layout->format == b->layout->format && a->activation == b->activation;
}

static bool begins_reference(size_t i)
{
    size_t j = 0;
    while (!have_one_reference(ulb_kernels[j], ulb_kernels[i]))
        j++;
    return j == i;
}

static void choose_kernels(void)
{
    size_t references = 0;
    kernels = malloc(ulb_kernel_count * sizeof *kernels);
    if (!kernels)
        abort();
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (!begins_reference(i) || references++ % parts != part - 1)
            continue;
        for (size_t j = i; j < ulb_kernel_count; j++) {
            char name[ULB_KERNEL_NAME_MAX];
            if (have_one_reference(ulb_kernels[i], ulb_kernels[j]) &&
                regexec(&wanted, ulb_kernel_name(ulb_kernels[j], name), 0, NULL, 0) == 0)
                kernels[kernel_count++] = ulb_kernels[j];
        }
    }
}

/* Every shape with every fill. */
static size_t all_fills(const struct ulb_kernel *kernel, bool few_of_them, struct check *checks)
{
    const size_t(*of)[2] = few_of_them ? few_shapes : shapes;
    size_t n_shapes = few_of_them ? sizeof few_shapes / sizeof *few_shapes : sizeof shapes / sizeof *shapes;
    size_t n = 0;
    if (kernel->layout->format->block) {
        of = block_shapes;
        n_shapes = few_of_them ? 2 : sizeof block_shapes / sizeof *block_shapes;
    }
    for (size_t s = 0; s < n_shapes; s++) {
        for (int fill = ULB_FILL_RANDOM; fill <= ULB_FILL_ALTERNATING; fill++)
            checks[n++] = (struct check){of[s][0], whole_blocks(kernel, of[s][1]), (enum ulb_fill)fill, 0};
    }
    return n;
}

static void expect_clean(const struct ulb_kernel *kernel, const struct check *checks, size_t n)
{
    char name[ULB_KERNEL_NAME_MAX];
    const char *fault = check_kernel(kernel, checks, n);
    if (*fault)
        fail_msg("%s at %s", ulb_kernel_name(kernel, name), fault);
}

/* Integer sums over all of K; those of groups and blocks end with them. */
static bool sums_grow(const struct ulb_kernel *kernel)
{
    const struct ulb_format *format = kernel->layout->format;
    return !format->floating && !format->group && !format->block;
}

static void native_kernels_equal_their_reference(void **state)
{
    (void)state;
    ulb_isa_set isa = ulb_isa_detect();
    for (size_t i = 0; i < kernel_count; i++) {
        char name[ULB_KERNEL_NAME_MAX], missing[128];
        const struct ulb_kernel *kernel = kernels[i];
        ulb_kernel_name(kernel, name);
        if (kernel->needs & ~isa) {
            print_message("skipped: %s: this CPU lacks %s\n", name,
                          ulb_isa_names(kernel->needs & ~isa, missing, sizeof missing));
            kernels_skipped++;
            continue;
        }
        kernels_checked++;
        struct check checks[CHECKS_MAX];
        bool few_shapes_do = few || strcmp(kernel->isa, "ref") == 0;
        size_t n = all_fills(kernel, few_shapes_do, checks);
        /* The bound up to which the overflow arguments in the kernels' comments are stated. */
        if (!few_shapes_do || sums_grow(kernel)) {
            checks[n++] = (struct check){3, 65536, ULB_FILL_MIN, 0};
            checks[n++] = (struct check){3, 65536, ULB_FILL_MAX, 0};
        }
        /* What the tolerance of a single chain of sums is for. */
        if (!few_shapes_do && ulb_activation_is_floating(kernel->activation))
            checks[n++] = (struct check){3, 65536, ULB_FILL_LOST, 0};
        expect_clean(kernel, checks, n);
        if (few)
            print_message("checked: %s\n", name);
    }
}

/* Numbers of tokens around every register tile, and beyond the tokens that the reference computes one by one;
 * a kernel that multiplies many tokens at once may cut them into blocks, too. */
static void expect_clean_tokens(const struct ulb_kernel *kernel)
{
    static const size_t tokens[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33, 70, 300};
    static const size_t token_shapes[][2] = {{1, 1}, {33, 65}, {97, 516}, {130, 1600}};
    struct check checks[CHECKS_MAX];
    size_t n = 0;
    size_t most_tokens = kernel->nr == 1 ? 17 : few ? 70 : 300;
    size_t n_shapes = sizeof token_shapes / sizeof *token_shapes - (few ? 1 : 0);
    /* A kernel that takes token after token has no tile of them to go wrong. */
    for (size_t t = 0; t < sizeof tokens / sizeof *tokens && tokens[t] <= most_tokens;
         t += kernel->nr > 1 ? 1 : 3) {
        for (size_t s = 0; s < n_shapes; s++) {
            enum ulb_fill fill = (s + t) % 4 == 3 ? ULB_FILL_MIN : ULB_FILL_RANDOM;
            checks[n++] =
                (struct check){token_shapes[s][0], whole_blocks(kernel, token_shapes[s][1]), fill, tokens[t]};
        }
    }
    /* More columns than chunks have over which several tiles of tokens pass. */
    if (kernel->nr > 1)
        checks[n++] = (struct check){70, whole_blocks(kernel, 3400), ULB_FILL_RANDOM, 9};
    /* More than activations of several tokens are packed for. */
    if (kernel->nr > 1)
        checks[n++] = (struct check){3, whole_blocks(kernel, 70000), ULB_FILL_RANDOM, kernel->nr};
    /* Several batches of rows, and more tokens than tables are kept of. */
    if (kernel->uses_lut && !few)
        checks[n++] = (struct check){530, whole_blocks(kernel, 1600), ULB_FILL_RANDOM, 70};
    /* And where few tokens take many rows at once. */
    if (kernel->uses_lut && kernel->nr > 1)
        checks[n++] = (struct check){4200, whole_blocks(kernel, 100), ULB_FILL_RANDOM, 16};
    expect_clean(kernel, checks, n);
}

static void many_tokens_equal_their_reference(void **state)
{
    (void)state;
    ulb_isa_set isa = ulb_isa_detect();
    for (size_t i = 0; i < kernel_count; i++) {
        if (!(kernels[i]->needs & ~isa))
            expect_clean_tokens(kernels[i]);
    }
}

static void emulated_kernels_equal_their_reference(void **state)
{
    (void)state;
    ulb_isa_set isa = ulb_isa_detect(), emulated = emulation_start() & ~isa;
    if (!emulated) {
        print_message("nothing to emulate: no AVX2, or the CPU has AVX-VNNI and AVX-VNNI-INT8 itself\n");
        skip();
    }
    for (size_t i = 0; i < kernel_count; i++) {
        const struct ulb_kernel *kernel = kernels[i];
        if (!(kernel->needs & emulated) || kernel->needs & ~(isa | emulated))
            continue;
        kernels_checked++;
        struct check checks[CHECKS_MAX];
        size_t n = all_fills(kernel, true, checks);
        checks[n++] = (struct check){MANY_ROWS, whole_blocks(kernel, 65), ULB_FILL_RANDOM, 0};
        expect_clean(kernel, checks, n);
        if (kernel->nr > 1)
            expect_clean_tokens(kernel);
    }
    /* The checker works in child processes; here once in this one, to see that instructions did trap, at the
     * bound up to which the overflow arguments are stated. */
    for (size_t i = 0; i < kernel_count; i++) {
        const struct ulb_kernel *kernel = kernels[i];
        if (!(kernel->needs & emulated) || kernel->needs & ~(isa | emulated))
            continue;
        struct ulb_test_case test_case;
        struct ulb_error err;
        unsigned long before = emulation_count();
        size_t k = kernel->layout->format->block ? 512 : 65536; /* sums of blocks end with the block */
        assert_int_equal(ulb_test_case_open(&test_case, kernel, 1, k, ULB_FILL_MIN, 1, NULL, &err), ULB_OK);
        assert_int_equal(ulb_test_case_verify(&test_case, kernel, &err), ULB_OK);
        ulb_test_case_close(&test_case);
        assert_true(emulation_count() > before);
    }
    emulation_stop();
}

static void some_kernels_were_checked(void **state)
{
    (void)state;
    if (!kernels_checked && kernels_skipped)
        skip();
    if (!kernels_checked)
        fail_msg("no kernel has such a name");
}

/* ---- planted bugs: a checker that misses one of these is not to be trusted ---- */

enum bug {
    BUG_NONE,
    BUG_OVER_READ,
    BUG_TRUNCATION,
    BUG_SWAPPED_FIELDS,
    BUG_NARROW_SUM,
    BUG_LAST_TOKENS,    /* what does not fill a tile of 4 tokens is left out */
    BUG_SWAPPED_TOKENS, /* of each pair */
    BUG_TOKEN_STRIDE,   /* x_stride taken for K */
    BUG_SCALE_OF_FIRST  /* one scale for all tokens */
};

static void planted(const struct ulb_gemm *g, enum bug bug)
{
    const struct ulb_layout *layout = &ulb_int2_vnni4i;
    size_t steps = (g->k + 3) / 4;
    const float *scale =
        (const float *)(const void *)((const char *)g->w + ulb_layout_scales_offset(layout, g->m, g->k));
    size_t tokens = bug == BUG_LAST_TOKENS ? g->n / 4 * 4 : g->n;
    for (size_t n = 0; n < tokens; n++) {
        size_t from = bug == BUG_SWAPPED_TOKENS && (n ^ 1) < g->n ? n ^ 1 : n;
        const int8_t *x = (const int8_t *)g->x + from * (bug == BUG_TOKEN_STRIDE ? g->k : g->x_stride);
        float x_scale = g->x_scale[bug == BUG_SCALE_OF_FIRST ? 0 : from];
        for (size_t m = g->m0; m < g->m1; m++) {
            const uint8_t *tile = (const uint8_t *)g->w + m / 32 * steps * 32;
            size_t columns = bug == BUG_TRUNCATION ? g->k / 4 * 4 : g->k;
            int32_t sum = 0;
            for (size_t k = 0; k < columns; k++) {
                unsigned field = (unsigned)(m % 32 / 8);
                if (bug == BUG_SWAPPED_FIELDS && (field == 1 || field == 2))
                    field = 3 - field;
                unsigned code = (unsigned)tile[k / 4 * 32 + m % 8 * 4 + k % 4] >> 2 * field & 3u;
                sum += ((int)code - ULB_INT2_ZERO_POINT) * x[k];
                if (bug == BUG_NARROW_SUM)
                    sum = (int16_t)sum;
            }
            g->y[n * g->y_stride + m] = (float)sum * scale[m] * x_scale;
        }
    }
    if (bug == BUG_OVER_READ) {
        const volatile uint8_t *end = (const uint8_t *)g->w + ulb_layout_bytes(layout, g->m, g->k);
        (void)*end;
    }
}

#define PLANTED(name, bug)                                                                                   \
    static void name(const struct ulb_gemm *g)                                                               \
    {                                                                                                        \
        planted(g, bug);                                                                                     \
    }
PLANTED(run_clean, BUG_NONE)
PLANTED(run_over_read, BUG_OVER_READ)
PLANTED(run_truncated, BUG_TRUNCATION)
PLANTED(run_swapped, BUG_SWAPPED_FIELDS)
PLANTED(run_narrow, BUG_NARROW_SUM)
PLANTED(run_last_tokens, BUG_LAST_TOKENS)
PLANTED(run_swapped_tokens, BUG_SWAPPED_TOKENS)
PLANTED(run_token_stride, BUG_TOKEN_STRIDE)
PLANTED(run_scale_of_first, BUG_SCALE_OF_FIRST)

/* What a sanitizer does that finds something. */
static void run_ending(const struct ulb_gemm *g)
{
    (void)g;
    _exit(1);
}

static const char *check_one(const struct ulb_kernel *kernel, size_t m, size_t k, enum ulb_fill fill,
                             size_t tokens)
{
    return check_kernel(kernel, &(struct check){m, k, fill, tokens}, 1);
}

static void checker_catches_planted_bugs(void **state)
{
    (void)state;
    struct ulb_kernel kernel = {
        .abi = ULB_KERNEL_ABI,
        .variant = "planted",
        .isa = "test",
        .layout = &ulb_int2_vnni4i,
        .activation = ULB_ACT_A8,
        .mr = 32,
        .nr = 1,
        .kr = 4,
        .bytes_per_step = 8,
    };
    if (!ulb_kernel_reference(&kernel))
        skip(); /* a build of some formats alone (ULB_ONLY) */
    kernel.run = run_clean;
    assert_string_equal(check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 0), "");
    assert_string_equal(check_one(&kernel, 65, 1600, ULB_FILL_MIN, 0), "");
    kernel.run = run_over_read;
    assert_non_null(strstr(check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 0), "killed by signal"));
    kernel.run = run_ending;
    assert_non_null(strstr(check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 0), "ended with status 1"));
    kernel.run = run_truncated;
    assert_non_null(
        strstr(check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 0), "differs from its scalar reference"));
    kernel.run = run_swapped;
    assert_non_null(
        strstr(check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 0), "differs from its scalar reference"));
    /* Random data does not show it; the extremes do. */
    kernel.run = run_narrow;
    assert_string_equal(check_one(&kernel, 32, 131, ULB_FILL_RANDOM, 0), "");
    assert_non_null(
        strstr(check_one(&kernel, 32, 131, ULB_FILL_MIN, 0), "differs from its scalar reference"));
    /* Bugs that one token does not show. */
    static void (*const token_bugs[])(const struct ulb_gemm *) = {run_last_tokens, run_swapped_tokens,
                                                                  run_token_stride, run_scale_of_first};
    kernel.run = run_clean;
    assert_string_equal(check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 30), "");
    for (size_t i = 0; i < sizeof token_bugs / sizeof *token_bugs; i++) {
        kernel.run = token_bugs[i];
        const char *fault = check_one(&kernel, 65, 131, ULB_FILL_RANDOM, 30);
        if (!strstr(fault, "differs from its scalar reference") || !strstr(fault, ", token "))
            fail_msg("token bug %zu is not seen: '%s'", i, fault);
    }
}

static void a_kernel_without_its_reference_is_refused(void **state)
{
    (void)state;
    struct ulb_format format = *ulb_int2_vnni4i.format;
    struct ulb_layout layout = ulb_int2_vnni4i;
    layout.format = &format;
    const struct ulb_kernel kernel = {.layout = &layout, .activation = ULB_ACT_A8};
    struct ulb_test_case test_case;
    struct ulb_error err;
    assert_int_equal(ulb_test_case_open(&test_case, &kernel, 8, 64, ULB_FILL_RANDOM, 1, NULL, &err),
                     ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "no scalar kernel of int2"));
}

/* Reads the command line; false: it is wrong, and what is right was said. */
static bool parse(int argc, char **argv)
{
    int next = 1;
    if (next < argc && strcmp(argv[next], "--few") == 0) {
        few = true;
        next++;
    }
    if (next + 1 < argc && strcmp(argv[next], "--part") == 0) {
        char rest;
        if (sscanf(argv[next + 1], "%u/%u%c", &part, &parts, &rest) != 2 || part < 1 || part > parts)
            part = parts = 0;
        next += 2;
    }
    const char *expression = next < argc ? argv[next++] : "";
    if (parts > 0 && next == argc && regcomp(&wanted, expression, REG_EXTENDED | REG_NOSUB) == 0)
        return true;
    fprintf(stderr, "usage: test_kernels [--few] [--part I/N] [REGEX]\n");
    return false;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checker_catches_planted_bugs),
        cmocka_unit_test(native_kernels_equal_their_reference),
        cmocka_unit_test(many_tokens_equal_their_reference),
        cmocka_unit_test(emulated_kernels_equal_their_reference),
        cmocka_unit_test(a_kernel_without_its_reference_is_refused),
        cmocka_unit_test(some_kernels_were_checked),
    };
    if (!parse(argc, argv))
        return 2;
    choose_kernels();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(kernels);
    regfree(&wanted);
    return failed == 0 && kernels_checked == 0 ? NO_KERNEL_RUNS : failed;
}
