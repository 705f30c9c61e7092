/* Records and histories of earlier versions, whose names are other ones (renamed_names.c). */
#include "results/compare/compare.h"
#include "results/history/history.h"
#include "results/record/renamed.h"
#include "tests/results/sample_record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ulb_error err;

static const char kernel[] = "int2a8-pshufb-avx2-32x1x4", old_kernel[] = "int2a8-shuffle-avx2-32x1x4";

static void expect_name(enum ulb_name_kind kind, const char *name, const char *current)
{
    char out[ULB_NAME_BYTES];
    assert_string_equal(ulb_current_name(kind, name, out), current);
}

static void test_names(void **state)
{
    (void)state;
    expect_name(ULB_NAME_KERNEL, old_kernel, kernel);
    expect_name(ULB_NAME_KERNEL, kernel, kernel);
    expect_name(ULB_NAME_LAYOUT, "mixed", "vnni4-interleaved");
    /* Of another kind, longer, shorter, a comment, the header, nothing. */
    static const char *const others[] = {
        "mixed", "int2a8-shuffle-avx2-32x1x4x", "int2a8-shuffle", "# Made up.", "old", ""};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        expect_name(ULB_NAME_KERNEL, others[i], others[i]);
}

static void test_keys(void **state)
{
    (void)state;
    static const struct {
        const char *stored, *current;
    } cases[] = {
        {"int2a8-shuffle-avx2-32x1x4 mixed llama3-8b/down 4096x14336 n1 all:2 static cold chain",
         "int2a8-pshufb-avx2-32x1x4 vnni4-interleaved llama3-8b/down 4096x14336 n1 all:2 static cold chain"},
        {"int2a8-pshufb-avx2-32x1x4 mixed mixed/down 4096x14336 n1 all:2 static cold chain",
         "int2a8-pshufb-avx2-32x1x4 vnni4-interleaved mixed/down 4096x14336 n1 all:2 static cold chain"},
        {"int2a8-shuffle-avx2-32x1x4 E papi", "int2a8-pshufb-avx2-32x1x4 E papi"},
        {"int2a8-shuffle-avx2-32x1x4", "int2a8-pshufb-avx2-32x1x4"},
        {"another mixed papi", "another mixed papi"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[ULB_CELL_KEY_MAX];
        assert_string_equal(ulb_current_key(cases[i].stored, out, sizeof out), cases[i].current);
    }
}

static void old_name(json_t *object, const char *key, const char *name, const char *old)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (text && strcmp(text, name) == 0)
        json_object_set_new(object, key, json_string(old));
}

static void old_key(json_t *object, const char *key, const char *old)
{
    json_object_set(object, old, json_object_get(object, key));
    json_object_del(object, key);
}

/* The names of kernels and layouts that an earlier version wrote. */
static void use_old_names(json_t *root)
{
    json_t *rows[] = {json_object_get(root, "cells"), json_object_get(root, "best"),
                      json_object_get(root, "counts"),
                      json_object_get(json_object_get(root, "gamma"), "cells"),
                      json_object_get(json_object_get(root, "overlap"), "cells")};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *row;
        size_t at;
        json_array_foreach(rows[i], at, row)
        {
            old_name(row, "kernel", kernel, old_kernel);
            old_name(row, "layout", "vnni4-interleaved", "mixed");
        }
    }
}

static void use_old_keys(json_t *root)
{
    json_t *row, *gamma = json_object_get(root, "gamma");
    size_t at;
    json_array_foreach(json_object_get(root, "cells"), at, row)
    {
        old_key(row, "gbps", "rate");
    }
    json_array_foreach(json_object_get(json_object_get(root, "beta"), "yardstick"), at, row)
    {
        old_key(row, "variant", "reader");
    }
    json_object_set_new(gamma, "source", json_null());
    json_object_set_new(gamma, "source_reason", json_string("not measured"));
    json_object_del(gamma, "cycles_source");
    json_object_del(gamma, "cycles_source_reason");
}

static struct ulb_record make(unsigned day)
{
    struct ulb_record record;
    char created[32];
    if (sample_record(&record, SAMPLE_SERVER, &err) != ULB_OK)
        fail_msg("%s", err.message);
    snprintf(created, sizeof created, "2026-01-%02uT00:00:00Z", day);
    json_object_set_new(record.root, "created", json_string(created));
    json_object_set_new(json_object_get(record.root, "gamma"), "cycles_source", json_null());
    json_object_set_new(json_object_get(record.root, "gamma"), "cycles_source_reason",
                        json_string("not measured"));
    return record;
}

/* The record of that day as a file of an earlier version holds it, read. */
static struct ulb_record read_old(unsigned day)
{
    struct ulb_record written = make(day), record;
    use_old_names(written.root);
    use_old_keys(written.root);
    char *text = json_dumps(written.root, 0);
    assert_non_null(strstr(text, old_kernel));
    if (ulb_record_parse(&record, text, strlen(text), "old.json", &err) != ULB_OK)
        fail_msg("%s", err.message);
    free(text);
    ulb_record_free(&written);
    return record;
}

static void test_record(void **state)
{
    (void)state;
    struct ulb_record record = read_old(1), present = make(1);
    assert_true(json_equal(record.root, present.root));
    ulb_record_free(&record);
    ulb_record_free(&present);
}

static void test_comparison(void **state)
{
    (void)state;
    static const enum ulb_metric metrics[] = {ULB_METRIC_EFFICIENCY, ULB_METRIC_GAMMA,
                                              ULB_METRIC_INSTRUCTIONS};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const struct ulb_compare_settings settings = {.metric = metrics[i], .threshold = NAN};
        struct ulb_record base = read_old(1), fresh = make(2);
        struct ulb_comparison comparison;
        if (ulb_compare(&base, &fresh, &settings, &comparison, &err) != ULB_OK)
            fail_msg("%s", err.message);
        assert_true(comparison.n > 0);
        assert_int_equal(comparison.count[ULB_SAME], comparison.n);
        ulb_comparison_free(&comparison);
        ulb_record_free(&base);
        ulb_record_free(&fresh);
    }
}

/* --- a history --- */

static bool add(struct ulb_history *history, struct ulb_record record)
{
    bool added;
    if (ulb_history_add(history, &record, NULL, &added, &err) != ULB_OK)
        fail_msg("%s", err.message);
    ulb_record_free(&record);
    return added;
}

/* Series of the metric that match, all of one kernel under its present name, with so many points each. */
static size_t expect_points(struct ulb_history *history, enum ulb_metric metric, const char *regex,
                            size_t points)
{
    struct ulb_trend *series;
    size_t n;
    if (ulb_history_trends(history, metric, regex, 0, &series, &n, &err) != ULB_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(strncmp(series[i].key, kernel, strlen(kernel)), 0);
        assert_int_equal(series[i].n_points, points);
        for (size_t p = 1; p < points; p++)
            assert_true(strcmp(series[i].points[p - 1].created, series[i].points[p].created) < 0);
    }
    ulb_trends_free(series, n);
    return n;
}

static void test_history(void **state)
{
    (void)state;
    char folder[64], path[128], command[128];
    struct ulb_history *history;
    sample_folder(folder);
    snprintf(path, sizeof path, "%s/history.db", folder);
    if (ulb_history_open(&history, path, true, &err) != ULB_OK) {
        assert_non_null(strstr(err.message, "no SQLite"));
        skip();
    }
    /* As an earlier version, which knew no other names, left it. */
    for (unsigned day = 1; day <= 2; day++) {
        struct ulb_record record = make(day);
        use_old_names(record.root);
        assert_true(add(history, record));
    }
    assert_true(add(history, make(3)));
    static const enum ulb_metric metrics[] = {ULB_METRIC_EFFICIENCY, ULB_METRIC_GAMMA,
                                              ULB_METRIC_INSTRUCTIONS};
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        char present[80], old[80];
        snprintf(present, sizeof present, "^%s ", kernel);
        snprintf(old, sizeof old, "^%s ", old_kernel);
        size_t n = expect_points(history, metrics[i], present, 3);
        assert_true(n > 0);
        assert_int_equal(expect_points(history, metrics[i], old, 3), n);
    }
    /* The same records, read: measured once. */
    assert_false(add(history, read_old(1)));
    assert_false(add(history, read_old(2)));
    assert_false(add(history, make(3)));
    ulb_history_close(history);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),      cmocka_unit_test(test_keys),    cmocka_unit_test(test_record),
        cmocka_unit_test(test_comparison), cmocka_unit_test(test_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
