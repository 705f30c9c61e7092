/* The record's API: what goes in comes out. */
#include "tests/results/sample_record.h"

#include <math.h>
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

static void make(struct ulb_record *record, enum sample_kind kind)
{
    if (sample_record(record, kind, &err) != ULB_OK)
        fail_msg("%s", err.message);
}

static void test_new(void **state)
{
    (void)state;
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(json_integer_value(json_object_get(record.root, "schema_version")), ULB_SCHEMA_VERSION);
    const char *created = ulb_record_text(&record, "created");
    assert_int_equal(strlen(created), strlen("2025-01-31T12:00:00Z"));
    assert_int_equal(created[10], 'T');
    assert_int_equal(created[19], 'Z');
    static const char *const keys[] = {"machine", "build", "topology", "clock",   "beta",
                                       "gamma",   "cells", "decode",   "warnings"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(json_object_get(record.root, keys[i]));
    assert_string_equal(ulb_record_text(&record, "decode_reason"), "not measured");
    ulb_record_free(&record);
}

static void test_cell_round_trip(void **state)
{
    (void)state;
    double samples[] = {10.5, 11.25, 12}, disturbed[] = {2};
    struct ulb_cell in = {.kernel = "int1a8-blend-avxvnni-32x1x4",
                          .layout = "fields-128",
                          .format = "int1",
                          .model = "llama3-8b",
                          .layer = "down",
                          .set = "0-3,8",
                          .split = "static",
                          .mode = "warm",
                          .prefetch = "L2+3072",
                          .bound = "compute",
                          .m = 4096,
                          .k = 14336,
                          .n = 1,
                          .threads = 5,
                          .us = 11.25,
                          .us_mad = 0.75,
                          .us_min = 10.5,
                          .us_ci_lo = 10.5,
                          .us_ci_hi = 12,
                          .gbps = 652.5,
                          .gops = 10440.5,
                          .yardstick_gbps = 700,
                          .efficiency = 0.932142857,
                          .read_share = 0.96875,
                          .peak_gops = 41762,
                          .peak_share = 0.25,
                          .gamma_cycles = 2.4,
                          .predicted_us = 11,
                          .residual = 0.0227272727,
                          .predicted_plain_us = 9,
                          .residual_plain = 0.25,
                          .noise = 0.0625,
                          .verdict = "compute-bound: gamma 2.40 allows 1.67 B/cycle",
                          .weight_bytes = 7356416,
                          .ring_bytes = (size_t)5 << 32,
                          .verified = true,
                          .samples_per_round = 3,
                          .noise_floor = 0.0125,
                          .n_samples = 3,
                          .us_samples = samples,
                          .n_disturbed = 1,
                          .disturbed_samples = disturbed};
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_record_add_cell(&record, &in, &err), ULB_OK);
    samples[0] = 0; /* was copied */
    struct ulb_cell *out;
    size_t n;
    assert_int_equal(ulb_record_cells(&record, &out, &n, &err), ULB_OK);
    assert_int_equal(n, 1);
    assert_string_equal(out->kernel, in.kernel);
    assert_string_equal(out->layout, "fields-128");
    assert_string_equal(out->set, "0-3,8");
    assert_string_equal(out->mode, "warm");
    assert_string_equal(out->prefetch, "L2+3072");
    assert_string_equal(out->bound, "compute");
    assert_string_equal(out->verdict, in.verdict);
    assert_int_equal(out->m, 4096);
    assert_int_equal(out->k, 14336);
    assert_int_equal(out->threads, 5);
    assert_int_equal(out->ring_bytes, (size_t)5 << 32);
    assert_true(out->us == 11.25 && out->us_mad == 0.75 && out->us_ci_lo == 10.5 && out->us_ci_hi == 12);
    assert_true(out->gbps == 652.5 && out->gops == 10440.5 && out->efficiency == in.efficiency);
    assert_true(out->gamma_cycles == 2.4 && out->predicted_us == 11 && out->residual == in.residual &&
                out->verified);
    assert_true(out->peak_gops == 41762 && out->peak_share == 0.25 && out->read_share == 0.96875);
    assert_true(out->predicted_plain_us == 9 && out->residual_plain == 0.25 && out->noise == 0.0625);
    assert_true(out->samples_per_round == 3 && out->noise_floor == 0.0125);
    assert_true(out->n_disturbed == 1 && out->disturbed_samples[0] == 2);
    assert_int_equal(out->n_samples, 3);
    assert_true(out->us_samples[0] == 10.5 && out->us_samples[2] == 12);
    ulb_cells_free(out, n);
    ulb_record_free(&record);
}

static void test_absent_is_null_with_reason(void **state)
{
    (void)state;
    struct ulb_cell in = {.kernel = "k",
                          .mode = "cold",
                          .us = 1,
                          .us_mad = NAN,
                          .us_min = NAN,
                          .us_ci_lo = NAN,
                          .us_ci_hi = NAN,
                          .gbps = 1,
                          .gops = 1,
                          .yardstick_gbps = NAN,
                          .efficiency = NAN,
                          .read_share = NAN,
                          .peak_gops = NAN,
                          .peak_share = NAN,
                          .gamma_cycles = NAN,
                          .predicted_us = NAN,
                          .residual = NAN,
                          .predicted_plain_us = NAN,
                          .residual_plain = NAN,
                          .noise = NAN,
                          .predicted_reason = "gamma was not measured"};
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_record_add_cell(&record, &in, &err), ULB_OK);
    const json_t *cell = json_array_get(json_object_get(record.root, "cells"), 0);
    static const char *const absent[][2] = {
        {"predicted_us", "gamma was not measured"},
        {"residual", "gamma was not measured"},
        {"predicted_plain_us", "gamma was not measured"},
        {"residual_plain", "gamma was not measured"},
        {"noise", "too few samples"},
        {"gamma_cycles", "gamma was not measured"},
        {"bound", "gamma was not measured"},
        {"prefetch", "the kernel's prefetches have one place for so many tokens"},
        {"efficiency", "not measured"},
        {"read_share", "the weights stay in cache, or were not set beside a plain read"},
        {"peak_share", "not measured"},
        {"yardstick_gbps", "not measured"},
        {"us_ci_lo", "too few samples"}};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        char key[64];
        snprintf(key, sizeof key, "%s_reason", absent[i][0]);
        assert_true(json_is_null(json_object_get(cell, absent[i][0])));
        assert_string_equal(json_string_value(json_object_get(cell, key)), absent[i][1]);
    }
    assert_null(json_object_get(cell, "us_reason"));
    struct ulb_cell *out;
    size_t n;
    assert_int_equal(ulb_record_cells(&record, &out, &n, &err), ULB_OK);
    assert_true(isnan(out->predicted_us) && isnan(out->residual) && isnan(out->efficiency) &&
                isnan(out->us_ci_hi));
    assert_string_equal(out->bound, "");
    assert_string_equal(out->prefetch, "");
    assert_string_equal(out->predicted_reason, "gamma was not measured");
    assert_string_equal(out->yardstick_reason, "not measured");
    ulb_cells_free(out, n);
    ulb_record_free(&record);
}

static void test_overlap_round_trip(void **state)
{
    (void)state;
    double samples[] = {0.25, 0.5};
    struct ulb_overlap_cell in = {.kernel = "int2a8-mask-avxvnni-32x1x4",
                                  .format = "int2",
                                  .set = "P",
                                  .threads = 6,
                                  .overlap = 0.375,
                                  .overlap_mad = 0.125,
                                  .tile_us = 0.5,
                                  .call_us = 1.5,
                                  .column_ns = 0.75,
                                  .shapes = "4096x1792",
                                  .n_samples = 2,
                                  .overlap_samples = samples},
                            absent = {.overlap = NAN,
                                      .overlap_mad = NAN,
                                      .tile_us = NAN,
                                      .call_us = NAN,
                                      .column_ns = NAN,
                                      .reason = "interrupted"},
                            *out;
    struct ulb_record record;
    size_t n;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_record_add_overlap(&record, &in, &err), ULB_OK);
    assert_int_equal(ulb_record_add_overlap(&record, &absent, &err), ULB_OK);
    assert_int_equal(ulb_record_overlaps(&record, &out, &n, &err), ULB_OK);
    assert_int_equal(n, 2);
    assert_string_equal(out[0].kernel, in.kernel);
    assert_string_equal(out[0].set, "P");
    assert_string_equal(out[0].shapes, "4096x1792");
    assert_true(out[0].overlap == 0.375 && out[0].overlap_mad == 0.125 && out[0].tile_us == 0.5 &&
                out[0].call_us == 1.5 && out[0].column_ns == 0.75 && out[0].threads == 6);
    assert_int_equal(out[0].n_samples, 2);
    assert_true(out[0].overlap_samples[1] == 0.5);
    assert_true(isnan(out[1].overlap) && isnan(out[1].column_ns));
    assert_string_equal(out[1].reason, "interrupted");
    ulb_overlaps_free(out, n);
    ulb_record_free(&record);
}

/* residuals 1 % to 20 %, the plain ones ten times as large, one cell whose noise hides everything, one
 * without a prediction. */
static void test_predictions_are_judged(void **state)
{
    (void)state;
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_record_judge_predictions(&record, &err), ULB_OK);
    assert_true(ulb_record_number(&record, "prediction.cells") == 0);
    assert_true(isnan(ulb_record_number(&record, "prediction.p95_abs_residual")));
    assert_string_equal(ulb_record_text(&record, "prediction.median_abs_residual_reason"),
                        "no cell with a prediction");
    for (int i = 1; i <= 22; i++) {
        struct ulb_cell cell = {.mode = "cold",
                                .us = 1,
                                .residual = (i % 2 ? -0.01 : 0.01) * i,
                                .residual_plain = 0.1 * i,
                                .noise = i == 21 ? 0.16 : 0.15};
        snprintf(cell.bound, sizeof cell.bound, "memory");
        if (i == 22)
            cell.residual = cell.residual_plain = NAN;
        assert_int_equal(ulb_record_add_cell(&record, &cell, &err), ULB_OK);
    }
    assert_int_equal(ulb_record_judge_predictions(&record, &err), ULB_OK);
    assert_true(ulb_record_number(&record, "prediction.cells") == 20);
    assert_true(ulb_record_number(&record, "prediction.noisy_cells") == 1);
    assert_true(fabs(ulb_record_number(&record, "prediction.median_abs_residual") - 0.105) < 1e-12);
    assert_true(fabs(ulb_record_number(&record, "prediction.p95_abs_residual") - 0.19) < 1e-12);
    assert_true(fabs(ulb_record_number(&record, "prediction.median_abs_residual_plain") - 1.05) < 1e-12);
    assert_true(fabs(ulb_record_number(&record, "prediction.p95_abs_residual_plain") - 1.9) < 1e-12);
    ulb_record_free(&record);
}

static void test_count_round_trip(void **state)
{
    (void)state;
    struct ulb_record record;
    struct ulb_count_cell in = {.kernel = "int2a8-pshufb-avx2-32x1x4",
                                .format = "int2",
                                .isa = "avx2",
                                .source = "callgrind",
                                .instructions_per_step = 7.125};
    struct ulb_count_cell *out;
    size_t n;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    /* A record of a run that counted nothing has no such section, and reads as none. */
    assert_null(json_object_get(record.root, "counts"));
    assert_int_equal(ulb_record_counts(&record, &out, &n, &err), ULB_OK);
    assert_int_equal(n, 0);
    ulb_counts_free(out, n);
    assert_int_equal(ulb_record_add_count(&record, &in, &err), ULB_OK);
    in = (struct ulb_count_cell){.instructions_per_step = NAN, .reason = "valgrind does not know avx512f"};
    assert_int_equal(ulb_record_add_count(&record, &in, &err), ULB_OK);
    snprintf(in.source, sizeof in.source, "guess");
    assert_int_equal(ulb_record_add_count(&record, &in, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "counts[2]: source: 'guess' is none of perf, callgrind");
    assert_int_equal(ulb_record_counts(&record, &out, &n, &err), ULB_OK);
    assert_int_equal(n, 2);
    assert_string_equal(out[0].kernel, "int2a8-pshufb-avx2-32x1x4");
    assert_string_equal(out[0].source, "callgrind");
    assert_true(out[0].instructions_per_step == 7.125);
    assert_string_equal(out[1].source, "");
    assert_true(isnan(out[1].instructions_per_step));
    ulb_counts_free(out, n);
    const json_t *absent = json_array_get(json_object_get(record.root, "counts"), 1);
    assert_string_equal(json_string_value(json_object_get(absent, "instructions_per_step_reason")),
                        "valgrind does not know avx512f");
    ulb_record_free(&record);
}

static void test_peak_round_trip(void **state)
{
    (void)state;
    double samples[] = {1400, 1500};
    struct ulb_peak_cell in = {.isa = "amxint8",
                               .activation = "a8",
                               .set = "P",
                               .threads = 6,
                               .gops = 1450,
                               .gops_mad = 50,
                               .n_samples = 2,
                               .gops_samples = samples},
                         *out;
    struct ulb_record record;
    size_t n;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_record_add_peak(&record, &in, &err), ULB_OK);
    snprintf(in.activation, sizeof in.activation, "a4");
    assert_int_equal(ulb_record_add_peak(&record, &in, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "peak[1]: activation: 'a4' is none of a8, f32, bf16");
    assert_int_equal(ulb_record_peaks(&record, &out, &n, &err), ULB_OK);
    assert_int_equal(n, 1);
    assert_string_equal(out->isa, "amxint8");
    assert_string_equal(out->activation, "a8");
    assert_true(out->threads == 6 && out->gops == 1450 && out->gops_mad == 50);
    assert_true(out->n_samples == 2 && out->gops_samples[1] == 1500);
    ulb_peaks_free(out, n);
    ulb_record_free(&record);
}

static void add_tokens(struct ulb_record *record, const char *kernel, const char *format, size_t m, size_t n,
                       double us, double noise)
{
    struct ulb_cell cell = {.mode = "cold", .m = m, .k = 64, .n = n, .us = us, .gops = 1 / us};
    snprintf(cell.kernel, sizeof cell.kernel, "%s", kernel);
    snprintf(cell.format, sizeof cell.format, "%s", format);
    snprintf(cell.bound, sizeof cell.bound, "compute");
    cell.us_ci_lo = us * (1 - noise);
    cell.us_ci_hi = us * (1 + noise);
    assert_int_equal(ulb_record_add_cell(record, &cell, &err), ULB_OK);
}

static const json_t *row_at(const struct ulb_record *record, const char *section, size_t i, size_t size)
{
    const json_t *array = json_object_get(record->root, section);
    assert_int_equal(json_array_size(array), size);
    return json_array_get(array, i);
}

static void assert_row(const json_t *row, const char *key, const char *text, const char *format, json_int_t m,
                       json_int_t n)
{
    assert_string_equal(json_string_value(json_object_get(row, key)), text);
    assert_string_equal(json_string_value(json_object_get(row, "format")), format);
    assert_int_equal(json_integer_value(json_object_get(row, "m")), m);
    assert_int_equal(json_integer_value(json_object_get(row, "n")), n);
}

/* a leads at 2 and, though not by a clear margin, loses at 4, and clearly from 8 on; b stays ahead at 16
 * within the noise. Other formats and shapes are competitions of their own. */
static void test_tokens_are_judged(void **state)
{
    (void)state;
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    static const struct {
        size_t n;
        double a, b;
    } times[] = {{16, 16, 16.2}, {8, 9, 8}, {2, 2, 3}, {4, 4.1, 4}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        add_tokens(&record, "a", "int2", 64, times[i].n, times[i].a, 0.02);
        add_tokens(&record, "b", "int2", 64, times[i].n, times[i].b, 0.02);
    }
    add_tokens(&record, "c", "int1", 64, 2, 1, 0.02);
    add_tokens(&record, "b", "int2", 128, 2, 1, 0.02);
    assert_int_equal(ulb_record_judge_tokens(&record, &err), ULB_OK);
    assert_row(row_at(&record, "best", 0, 6), "kernel", "a", "int2", 64, 2);
    assert_row(row_at(&record, "best", 1, 6), "kernel", "b", "int2", 64, 4);
    assert_row(row_at(&record, "best", 2, 6), "kernel", "b", "int2", 64, 8);
    assert_row(row_at(&record, "best", 3, 6), "kernel", "a", "int2", 64, 16);
    assert_row(row_at(&record, "best", 4, 6), "kernel", "c", "int1", 64, 2);
    assert_row(row_at(&record, "best", 5, 6), "kernel", "b", "int2", 128, 2);
    assert_true(json_number_value(json_object_get(row_at(&record, "best", 2, 6), "us")) == 8);
    assert_row(row_at(&record, "crossover", 0, 1), "from", "a", "int2", 64, 8);
    assert_row(row_at(&record, "crossover", 0, 1), "to", "b", "int2", 64, 8);
    ulb_record_free(&record);
}

static void test_refuses_what_is_no_figure(void **state)
{
    (void)state;
    double samples[] = {1, INFINITY};
    struct ulb_record record;
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    struct ulb_beta_cell beta = {.level = "mem", .gbps = NAN};
    assert_int_equal(ulb_record_add_beta(&record, &beta, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "beta.cells[0]: gbps is not finite");
    beta = (struct ulb_beta_cell){.level = "L4", .gbps = 1};
    assert_int_equal(ulb_record_add_beta(&record, &beta, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "beta.cells[0]: level: 'L4' is none of L1, L2, LLC, mem");
    beta = (struct ulb_beta_cell){.level = "L1", .gbps = 1, .n_samples = 2, .gbps_samples = samples};
    assert_int_equal(ulb_record_add_beta(&record, &beta, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "beta.cells[0]: gbps_samples[1] is not finite");
    assert_int_equal(ulb_record_set(&record, "x", json_real(NAN), &err), ULB_ENVIRONMENT);
    assert_int_equal(json_array_size(json_object_get(json_object_get(record.root, "beta"), "cells")), 0);
    ulb_record_free(&record);
}

static void test_places(void **state)
{
    (void)state;
    struct ulb_record record;
    make(&record, SAMPLE_HYBRID);
    assert_string_equal(ulb_record_text(&record, "machine.cpu_model"), "Intel(R) Core(TM) Ultra 7 255H");
    assert_true(ulb_record_number(&record, "clock.hz.E") == 3.6e9);
    assert_true(isnan(ulb_record_number(&record, "clock.hz.LP-E")));
    assert_true(isnan(ulb_record_number(&record, "machine.cpu_model")));
    assert_null(ulb_record_text(&record, "machine.cpu_model.more"));
    ulb_record_free(&record);
}

static void test_warnings_are_utf8(void **state)
{
    (void)state;
    struct ulb_record record;
    make(&record, SAMPLE_SERVER);
    assert_int_equal(ulb_record_warn(&record, &err, "file %s", "caf\xe9.json"), ULB_OK);
    const json_t *warnings = json_object_get(record.root, "warnings");
    assert_string_equal(json_string_value(json_array_get(warnings, 1)), "file caf?.json");
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_cell_round_trip),
        cmocka_unit_test(test_absent_is_null_with_reason),
        cmocka_unit_test(test_overlap_round_trip),
        cmocka_unit_test(test_predictions_are_judged),
        cmocka_unit_test(test_peak_round_trip),
        cmocka_unit_test(test_count_round_trip),
        cmocka_unit_test(test_tokens_are_judged),
        cmocka_unit_test(test_refuses_what_is_no_figure),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_warnings_are_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
