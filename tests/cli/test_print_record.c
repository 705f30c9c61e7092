/* The terminal report: every line within the screen, plain ASCII, and the record's figures in it. */
#include "harness/cli/commands/print_record.h"
#include "tests/results/sample_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static struct ulb_error err;

static char *report_of(const struct ulb_record *record)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    ulb_report_print(record, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *report_of_kind(enum sample_kind kind)
{
    struct ulb_record record;
    if (sample_record(&record, kind, &err) != ULB_OK)
        fail_msg("%s", err.message);
    char *text = report_of(&record);
    ulb_record_free(&record);
    return text;
}

static void set_width(const char *columns)
{
    assert_int_equal(setenv("COLUMNS", columns, 1), 0);
}

static void check_lines(const char *text, size_t width)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        const char *blank = memrchr(text, ' ', length);
        if (length > width && blank && blank - text > 12) /* a word is not broken */
            fail_msg("%zu columns: %.*s", length, (int)length, text);
        for (size_t i = 0; i < length; i++)
            assert_in_range(text[i], ' ', '~');
        text += length + (text[length] == '\n');
    }
}

/* Columns are as wide as what stands in them: blanks count once. */
static void assert_has(const char *text, const char *const *words)
{
    char *squeezed = malloc(strlen(text) + 1), *out = squeezed;
    assert_non_null(squeezed);
    for (; *text; text++) {
        if (text[0] != ' ' || text[1] != ' ')
            *out++ = *text;
    }
    *out = '\0';
    for (; *words; words++) {
        if (!strstr(squeezed, *words))
            fail_msg("'%s' is not in the report:\n%s", *words, squeezed);
    }
    free(squeezed);
}

static void test_every_line_fits(void **state)
{
    (void)state;
    static const char *const widths[] = {"60", "80", "100", "200"};
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        set_width(widths[w]);
        for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
            char *text = report_of_kind((enum sample_kind)kind);
            check_lines(text, strtoul(widths[w], NULL, 10));
            assert_true(strlen(text) > 4000);
            free(text);
        }
    }
    set_width("200");
}

/* Columns leave from the right, and it is said which. */
static void test_narrow_screen(void **state)
{
    (void)state;
    static const char *const words[] = {"(too narrow for: read, model, resid, plain, what bounds it)\n",
                                        "kernel us GB/s share\n", NULL};
    set_width("60");
    char *text = report_of_kind(SAMPLE_SERVER);
    set_width("200");
    assert_has(text, words);
    free(text);
}

static void test_what_it_says(void **state)
{
    (void)state;
    static const char *const words[] = {
        "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 2 cores, 8.0 GiB, guest of kvm, Linux "
        "6.1.0-18-amd64\n",
        "cycles by chain, core 2.60 GHz; fork/join 1.40 us, OpenMP's own 2.20 us",
        "core:1 1 L1 156.0 0.6 60.00 avx2-2s-t1-512+huge\n",
        " yardstick of all, 2 threads: 24.6 GB/s, +- 0.1, drift 1.2 %, avx2-2s-t1-512+huge\n",
        "int2a8-pshufb-avx512vnni256-32x1x4 core 1.260 1.247 0.004 8 6.35 4.73",
        "int2a8-pshufb-avx512vnni-64x1x4 0.18 0.02 0.125 0.60",
        "prediction: |residual| 1.0 % median, 1.3 % at the 95th percentile of 108 cells\n",
        " of the roofline alone: 3.3 % and 5.4 %\n",
        " +1% +3% memory-bound\n", /* residual with the overlap and without */
        "GEMV, cold weights, 2 threads of all, static split; share: of the yardstick beside",
        " -- llama3-8b down, 4096 x 14336 --\n",
        " 97%", /* of the yardstick, in its column; the verdict does not say it again */
        " memory-bound\n",
        "! yardstick drifted by 1.2 % during the run: noisy\n",
        NULL,
    };
    char *text = report_of_kind(SAMPLE_SERVER);
    assert_has(text, words);
    /* Every cell is there once: 9 kernels with their 12 shapes, one gamma, one overlap. */
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, "int2a8-pshufb-avx512vnni256-32x1x4 ")); at++)
        n++;
    assert_int_equal(n, 14);
    free(text);
}

static void test_absent_figures_are_dashes(void **state)
{
    (void)state;
    static const char *const words[] = {"cycles by unknown", "- - the core's frequency never stood still",
                                        "not predicted", NULL};
    char *text = report_of_kind(SAMPLE_ABSENT);
    assert_has(text, words);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "(null)"));
    free(text);
}

static void test_odd_characters(void **state)
{
    (void)state;
    struct ulb_record record;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    json_object_set_new(json_object_get(record.root, "machine"), "cpu_model",
                        json_string("CPU\x1b[31m \xc2\xae"));
    assert_int_equal(ulb_record_warn(&record, &err, "%0300d caf\xc3\xa9", 7), ULB_OK);
    char *text = report_of(&record);
    check_lines(text, 200);
    assert_memory_equal(text, "CPU?[31m ?, 2 cores", 19);
    assert_non_null(strstr(text, "caf?"));
    free(text);
    ulb_record_free(&record);
}

static void add_gemm_cell(struct ulb_record *record, const char *kernel, size_t n, double us)
{
    struct ulb_cell cell = {.model = "shapes",
                            .layer = "4096x4096",
                            .format = "int2",
                            .set = "all",
                            .split = "static",
                            .mode = "cold",
                            .bound = "compute",
                            .m = 4096,
                            .k = 4096,
                            .n = n,
                            .threads = 2,
                            .us = us,
                            .us_ci_lo = us,
                            .us_ci_hi = us,
                            .gbps = 4211 / us,
                            .gops = 33554.432 * (double)n / us,
                            .yardstick_gbps = 30,
                            .efficiency = 0.5,
                            .read_share = 0.625,
                            .peak_gops = 1400,
                            .peak_share = 0.25,
                            .verified = true};
    snprintf(cell.kernel, sizeof cell.kernel, "%s", kernel);
    assert_int_equal(ulb_record_add_cell(record, &cell, &err), ULB_OK);
}

static void test_gemm(void **state)
{
    (void)state;
    static const char *const words[] = {
        " compute limit of all, 2 threads: 1400.0 GOP/s, int8 dot products by avx512vnni\n",
        "GEMM, cold weights, 2 threads of all, static split; share: of the yardstick beside",
        " -- shapes 4096x4096, 4096 x 4096, N = 16 --\n",
        "int2a8-mask-avxvnni-32x1x4 1000.0 4.2 50% 62% 536.9 25% compute\n",
        "Fastest kernel by format and number of tokens\n",
        "shapes 4096x4096 int2 4 int2a8-pshufb-avxvnni-32x1x4 447.4\n",
        "shapes 4096x4096 int2 16 int2a8-mask-avxvnni-32x1x4 int2a8-pshufb-avxvnni-32x1x4\n",
        NULL,
    };
    struct ulb_record record;
    double samples[] = {1400};
    struct ulb_peak_cell peak = {.isa = "avx512vnni",
                                 .activation = "a8",
                                 .set = "all",
                                 .threads = 2,
                                 .gops = 1400,
                                 .n_samples = 1,
                                 .gops_samples = samples};
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_record_add_peak(&record, &peak, &err), ULB_OK);
    add_gemm_cell(&record, "int2a8-pshufb-avxvnni-32x1x4", 4, 300);
    add_gemm_cell(&record, "int2a8-pshufb-avxvnni-32x1x4", 16, 1200);
    add_gemm_cell(&record, "int2a8-mask-avxvnni-32x1x4", 4, 310);
    add_gemm_cell(&record, "int2a8-mask-avxvnni-32x1x4", 16, 1000);
    assert_int_equal(ulb_record_judge_tokens(&record, &err), ULB_OK);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    assert_non_null(out);
    ulb_report_gemm(&record, out);
    assert_int_equal(fclose(out), 0);
    check_lines(text, 200);
    assert_has(text, words);
    free(text);
    ulb_record_free(&record);
}

static void test_empty_record(void **state)
{
    (void)state;
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    char *text = report_of(&record);
    check_lines(text, 200);
    assert_null(strstr(text, "nan"));
    free(text);
    ulb_record_free(&record);
}

static void test_look_ups(void **state)
{
    (void)state;
    static const char *const words[] = {"Embedding look-up, core cycles per 32 weights",
                                        "u4 bmi2 core 4.500 4.250 0.125 17", "u4 ref core - - - 17", NULL};
    struct ulb_record record;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    assert_int_equal(sample_add_rest(&record, &err), ULB_OK);
    char *text = report_of(&record);
    check_lines(text, 200);
    assert_has(text, words);
    free(text);
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_line_fits), cmocka_unit_test(test_narrow_screen),
        cmocka_unit_test(test_what_it_says),    cmocka_unit_test(test_absent_figures_are_dashes),
        cmocka_unit_test(test_odd_characters),  cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_look_ups),        cmocka_unit_test(test_empty_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
