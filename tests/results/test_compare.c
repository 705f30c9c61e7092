/* Comparing records: what was changed in a copy is found, nothing else is. */
#include "results/compare/compare.h"
#include "results/compare/compare_write.h"
#include "results/compare/noise_floor.h"
#include "tests/results/compare_records.h"

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

static struct ulb_comparison compare_by(struct ulb_record *base, struct ulb_record *fresh,
                                        enum ulb_metric metric, bool force)
{
    const struct ulb_compare_settings settings = {
        .metric = metric, .threshold = NAN, .force = force, .must_see = ULB_MUST_SEE};
    struct ulb_comparison comparison;
    if (ulb_compare(base, fresh, &settings, &comparison, &err) != ULB_OK)
        fail_msg("%s", err.message);
    return comparison;
}

static struct ulb_comparison compare(struct ulb_record *base, struct ulb_record *fresh)
{
    return compare_by(base, fresh, ULB_METRIC_EFFICIENCY, false);
}

static size_t all_cells(const struct ulb_record *record)
{
    return json_array_size(json_object_get(record->root, "cells"));
}

static void test_same(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    struct ulb_comparison comparison = compare(&base, &fresh);
    assert_int_equal(comparison.n, all_cells(&base));
    assert_int_equal(comparison.count[ULB_SAME], comparison.n);
    assert_true(fabs(comparison.base_gbps - 24.6) < 0.01);
    for (size_t i = 0; i < comparison.n; i++) {
        const struct ulb_compared *cell = &comparison.cells[i];
        assert_true(fabs(cell->ratio - 1) < 0.01 && cell->ci_lo <= cell->ratio && cell->ratio <= cell->ci_hi);
        assert_true(cell->threshold == ULB_THRESHOLD && cell->rounds == ROUNDS && cell->machine == 1);
    }
    ulb_comparison_free(&comparison);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

/* 3 % are nothing, 10 % may be the runs' luck and end unsure, 20 % and 30 % are found, with their size and in
 * the right direction. */
static void test_planted(void **state)
{
    (void)state;
    static const double factors[] = {1.03, 1.1, 1.2, 1.3};
    for (int f = 0; f < 4; f++) {
        struct ulb_record base = make(1), fresh = make(2);
        slow_down(&fresh, COMPUTE_BOUND, factors[f], 0);
        struct ulb_comparison worse = compare(&base, &fresh), better = compare(&fresh, &base);
        size_t found = f > 1 ? SHAPES : 0;
        assert_int_equal(ulb_comparison_status(&worse, &err), f == 0   ? ULB_OK
                                                              : f == 1 ? ULB_UNDECIDED
                                                                       : ULB_FINDING);
        assert_true(f != 1 || strstr(err.message, COMPUTE_BOUND " looks 10 % slower"));
        assert_int_equal(ulb_comparison_status(&better, &err), ULB_OK);
        assert_int_equal(worse.count[ULB_REGRESSED], found);
        assert_int_equal(better.count[ULB_IMPROVED], found);
        assert_int_equal(worse.count[ULB_IMPROVED] + better.count[ULB_REGRESSED], 0);
        for (size_t i = 0; i < found; i++) {
            assert_string_equal(worse.cells[i].kernel, COMPUTE_BOUND);
            assert_true(fabs(worse.cells[i].ratio * factors[f] - 1) < 0.01);
            assert_true(worse.cells[i].p_adjusted < 0.05);
        }
        ulb_comparison_free(&worse);
        ulb_comparison_free(&better);
        ulb_record_free(&base);
        ulb_record_free(&fresh);
    }
}

/* With faster memory what memory bounds is faster, and that is no improvement of the kernel. */
static void test_machine_taken_out(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    slow_down(&fresh, MEMORY_BOUND, 1 / 1.2, 0);
    scale(json_object_get(yardstick_of(&fresh), "gbps_samples"), 1.2, 0);
    struct ulb_comparison efficiency = compare(&base, &fresh);
    struct ulb_comparison us = compare_by(&base, &fresh, ULB_METRIC_US, false);
    for (size_t i = 0; i < us.n; i++)
        assert_int_equal(us.cells[i].verdict,
                         strcmp(us.cells[i].kernel, MEMORY_BOUND) == 0 ? ULB_IMPROVED : ULB_SAME);
    for (size_t i = 0; i < efficiency.n; i++) {
        const struct ulb_compared *cell = &efficiency.cells[i];
        if (strcmp(cell->kernel, MEMORY_BOUND) == 0) {
            assert_true(cell->verdict != ULB_IMPROVED && cell->verdict != ULB_REGRESSED);
            assert_true(cell->machine > 1.05 && fabs(cell->ratio - 1) < 0.06);
        }
    }
    ulb_comparison_free(&efficiency);
    ulb_comparison_free(&us);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

/* Gives every cell of a kernel a kernel of its own. */
static void tell_apart(struct ulb_record *record, const char *kernel)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        char name[64];
        if (strcmp(json_string_value(json_object_get(cell, "kernel")), kernel) != 0)
            continue;
        snprintf(name, sizeof name, "%s-%zu", kernel, i);
        json_object_set_new(cell, "kernel", json_string(name));
    }
}

/* The kernel of the shortest cell whose kernel's name begins so. */
static const char *shortest_kernel(const struct ulb_record *record, const char *begin)
{
    size_t i;
    json_t *cell;
    const char *shortest = NULL;
    double least = INFINITY;
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        const char *name = json_string_value(json_object_get(cell, "kernel"));
        double us = json_number_value(json_object_get(cell, "us"));
        if (strncmp(name, begin, strlen(begin)) == 0 && us < least) {
            shortest = name;
            least = us;
        }
    }
    return shortest;
}

/* Drops the cells of kernels whose names begin otherwise. */
static void keep_cells(struct ulb_record *record, const char *begin)
{
    json_t *cells = json_object_get(record->root, "cells");
    for (size_t i = json_array_size(cells); i-- > 0;) {
        const char *name = json_string_value(json_object_get(json_array_get(cells, i), "kernel"));
        if (strncmp(name, begin, strlen(begin)) != 0)
            json_array_remove(cells, i);
    }
}

/* Memory became faster by a half. How exactly that is taken out is not known, unless enough other kernels
 * show it: then 20 % are found. */
static void test_state_learnt(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        struct ulb_record base = make(1), fresh = make(2);
        tell_apart(&base, COMPUTE_BOUND);
        tell_apart(&fresh, COMPUTE_BOUND);
        const char *slow = shortest_kernel(&fresh, COMPUTE_BOUND);
        slow_down(&fresh, slow, 1.2, 0);
        scale(json_object_get(yardstick_of(&fresh), "gbps_samples"), 1.5, 0);
        keep_cells(&base, known ? COMPUTE_BOUND : slow);
        keep_cells(&fresh, known ? COMPUTE_BOUND : slow);
        struct ulb_comparison comparison = compare(&base, &fresh);
        assert_int_equal(comparison.count[ULB_REGRESSED], known);
        assert_int_equal(comparison.count[ULB_IMPROVED], 0);
        assert_string_equal(comparison.cells[0].kernel, slow);
        assert_int_equal(comparison.cells[0].verdict, known ? ULB_REGRESSED : ULB_INCONCLUSIVE);
        ulb_comparison_free(&comparison);
        ulb_record_free(&base);
        ulb_record_free(&fresh);
    }
}

/* Cells that all differ from themselves by 6 % raise their thresholds; the answer is how many rounds would
 * tell. */
static void test_noise_floor(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    slow_down(&base, COMPUTE_BOUND, 1.06, ROUNDS / 2 * 3);
    assert_int_equal(ulb_record_judge_noise(&base, &err), ULB_OK);
    assert_string_equal(ulb_record_text(&base, "noise_floor.method"), "halves");
    slow_down(&fresh, COMPUTE_BOUND, 1.2, 0);
    struct ulb_comparison comparison = compare(&base, &fresh);
    assert_int_equal(comparison.count[ULB_INCONCLUSIVE], SHAPES);
    assert_int_equal(comparison.count[ULB_REGRESSED], 0);
    for (size_t i = 0; i < SHAPES; i++) {
        const struct ulb_compared *cell = &comparison.cells[i];
        assert_string_equal(cell->kernel, COMPUTE_BOUND);
        assert_true(cell->noise_floor >= 0.07 && cell->threshold >= 2 * cell->noise_floor);
        assert_true(cell->rounds_needed > ROUNDS && strstr(cell->reason, "too noisy"));
    }
    ulb_comparison_free(&comparison);
    /* A threshold of the user's own counts as it is. */
    const struct ulb_compare_settings settings = {.metric = ULB_METRIC_EFFICIENCY, .threshold = 0.02};
    assert_int_equal(ulb_compare(&base, &fresh, &settings, &comparison, &err), ULB_OK);
    assert_true(comparison.count[ULB_REGRESSED] > 0 && comparison.cells[0].threshold == 0.02);
    ulb_comparison_free(&comparison);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

/* Two passes that differ raise the floor; the halves' own stays where it is larger. */
static void test_passes(void **state)
{
    (void)state;
    struct ulb_record record = make(1), second = make(2);
    double before = ulb_record_number(&record, "noise_floor.p95");
    slow_down(&second, COMPUTE_BOUND, 1.08, 0);
    assert_int_equal(ulb_record_judge_passes(&record, &second, &err), ULB_OK);
    assert_string_equal(ulb_record_text(&record, "noise_floor.method"), "passes");
    assert_true(before < 0.02 && ulb_record_number(&record, "noise_floor.p95") > 0.08);
    struct ulb_cell *cells;
    size_t n;
    assert_int_equal(ulb_record_cells(&record, &cells, &n, &err), ULB_OK);
    for (size_t i = 0; i < n; i++)
        assert_true((cells[i].noise_floor > 0.05) == (strcmp(cells[i].kernel, COMPUTE_BOUND) == 0));
    ulb_cells_free(cells, n);
    ulb_record_free(&record);
    ulb_record_free(&second);
}

static void test_disturbed(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    json_t *cell = json_array_get(json_object_get(fresh.root, "cells"), 0);
    json_t *places = json_array();
    for (int i = 0; i < 3 * ROUNDS; i++)
        json_array_append_new(places, json_integer(i));
    json_object_set_new(cell, "disturbed_samples", places);
    scale(json_object_get(cell, "us_samples"), 3, 0);
    struct ulb_comparison comparison = compare(&base, &fresh);
    assert_int_equal(comparison.count[ULB_INCONCLUSIVE], 1);
    assert_int_equal(comparison.count[ULB_SAME], comparison.n - 1);
    assert_string_equal(comparison.cells[0].reason, "0 rounds that nothing disturbed, 16 that something did");
    ulb_comparison_free(&comparison);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

static void test_missing_and_new(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    json_array_remove(json_object_get(fresh.root, "cells"), 0);
    json_array_remove(json_object_get(base.root, "cells"), 50);
    struct ulb_comparison comparison = compare(&base, &fresh);
    assert_int_equal(comparison.count[ULB_MISSING], 1);
    assert_int_equal(comparison.count[ULB_NEW], 1);
    assert_int_equal(comparison.n, all_cells(&base) + 1);
    ulb_comparison_free(&comparison);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

static void test_not_comparable(void **state)
{
    (void)state;
    const struct {
        const char *section, *key;
        json_t *value;
        const char *message;
    } cases[] = {
        {"machine", "cpu_model", json_string("Another"), "machine.cpu_model is \"Intel(R) Xeon(R)"},
        {"machine", "cores", json_integer(4), "machine.cores is 2 in the base and 4 in the new record"},
        {"build", "compiler", json_string("clang"),
         "build.compiler is \"gcc 12.2.0\" in the base and \"clang\""},
        {"clock", "cycles_source", json_string("tsc"), "clock.cycles_source is \"chain\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_record base = make(1), fresh = make(2);
        json_t *section = json_object_get(fresh.root, cases[i].section);
        json_object_set_new(section, cases[i].key, cases[i].value);
        const struct ulb_compare_settings settings = {
            .metric = ULB_METRIC_EFFICIENCY, .threshold = NAN, .must_see = ULB_MUST_SEE};
        struct ulb_comparison comparison;
        assert_int_equal(ulb_compare(&base, &fresh, &settings, &comparison, &err), ULB_ENVIRONMENT);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_non_null(strstr(err.message, "--force"));
        ulb_comparison_free(&comparison);
        comparison = compare_by(&base, &fresh, ULB_METRIC_EFFICIENCY, true);
        assert_int_equal(comparison.count[ULB_SAME], all_cells(&base));
        ulb_comparison_free(&comparison);
        ulb_record_free(&base);
        ulb_record_free(&fresh);
    }
}

static void test_confirm(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2), again = make(3);
    slow_down(&fresh, COMPUTE_BOUND, 1.2, 0);
    slow_down(&fresh, MEMORY_BOUND, 1.2, 0);
    slow_down(&again, COMPUTE_BOUND, 1.2, 0);
    struct ulb_comparison comparison = compare(&base, &fresh), second = compare(&base, &again);
    assert_int_equal(comparison.count[ULB_REGRESSED], 2 * SHAPES);
    ulb_comparison_confirm(&comparison, &second);
    assert_int_equal(comparison.count[ULB_REGRESSED], SHAPES);
    assert_int_equal(comparison.count[ULB_INCONCLUSIVE], SHAPES);
    for (size_t i = 0; i < 2 * SHAPES; i++)
        assert_string_equal(comparison.cells[i].kernel, i < SHAPES ? COMPUTE_BOUND : MEMORY_BOUND);
    assert_non_null(strstr(comparison.cells[SHAPES].reason, "not confirmed"));
    ulb_comparison_free(&comparison);
    ulb_comparison_free(&second);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
    ulb_record_free(&again);
}

/* The second run has the suspects alone, and too few kernels to show how far runs differ. */
static void test_confirm_alone(void **state)
{
    (void)state;
    for (int slow = 0; slow < 2; slow++) {
        struct ulb_record base = make(1), fresh = make(2), again = make(3);
        slow_down(&fresh, COMPUTE_BOUND, 1.2, 0);
        slow_down(&again, COMPUTE_BOUND, slow ? 1.2 : 1, 0);
        keep_cells(&again, COMPUTE_BOUND);
        struct ulb_comparison comparison = compare(&base, &fresh), second;
        const struct ulb_compare_settings first = {.metric = ULB_METRIC_EFFICIENCY, .threshold = NAN};
        const struct ulb_compare_settings confirming = ulb_confirm_settings(&first, &comparison);
        assert_int_equal(ulb_compare(&base, &again, &confirming, &second, &err), ULB_OK);
        ulb_comparison_confirm(&comparison, &second);
        assert_int_equal(comparison.count[ULB_REGRESSED], slow ? SHAPES : 0);
        for (size_t k = 0; k < comparison.n_kernels; k++) {
            if (strcmp(comparison.kernels[k].kernel, COMPUTE_BOUND) == 0)
                assert_int_equal(comparison.kernels[k].verdict, slow ? ULB_REGRESSED : ULB_INCONCLUSIVE);
        }
        ulb_comparison_free(&comparison);
        ulb_comparison_free(&second);
        ulb_record_free(&base);
        ulb_record_free(&fresh);
        ulb_record_free(&again);
    }
}

static void set_build(struct ulb_record *record, const char *commit, const char *id)
{
    json_t *build = json_object_get(record->root, "build");
    json_object_set_new(build, "commit", json_string(commit));
    json_object_set_new(build, "id", id ? json_string(id) : json_null());
}

/* One binary is one build whatever it is called; of two, one commit is, and none that nobody knows. */
static void test_same_build(void **state)
{
    (void)state;
    static const struct {
        const char *fresh, *fresh_id, *again, *again_id, *words;
    } cases[] = {
        {"1f20ad1a2b3c", NULL, "1f20ad1a2b3c", NULL, NULL},
        {"1f20ad1a2b3c", "0a", "1f20ad1a2b3c", "0b", NULL},
        {"1f20ad1a2b3c", "0a", "bb15c55a2b3c", "0b", "this build, commit bb15c55a2b3c"},
        {"1f20ad1a2b3c", "0a", "unknown", "0b", "and this program names no commit"},
        {"unknown", "0a", "1f20ad1a2b3c", "0b", "and the new record names no commit"},
        {"unknown", NULL, "unknown", NULL, "names no commit"},
        {"", NULL, "", NULL, "names no commit"},
        {"unknown", "0a", "unknown", "0b", "names no commit"},
        {"unknown", "0a", "unknown", "0a", NULL},
        {"1f20ad1a2b3c-dirty", "0a", "1f20ad1a2b3c-dirty", "0b",
         "names no commit to tell it by, or one with changes"},
        {"1f20ad1a2b3c-dirty", "0a", "1f20ad1a2b3c-dirty", "0a", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_record fresh = make(1), again = make(1);
        set_build(&fresh, cases[i].fresh, cases[i].fresh_id);
        set_build(&again, cases[i].again, cases[i].again_id);
        enum ulb_status status = ulb_check_same_build(&fresh, &again, &err);
        assert_int_equal(status, cases[i].words ? ULB_ENVIRONMENT : ULB_OK);
        if (cases[i].words)
            assert_non_null(strstr(err.message, cases[i].words));
        ulb_record_free(&fresh);
        ulb_record_free(&again);
    }
}

/* gamma by its samples, counts exactly, the token loop by its tokens; a record without them says so. */
static void test_other_metrics(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(json_object_get(fresh.root, "gamma"), "cells"), i, cell)
    {
        if (strcmp(json_string_value(json_object_get(cell, "kernel")), COMPUTE_BOUND) == 0)
            scale(json_object_get(cell, "gamma_samples"), 1.2, 0);
    }
    struct ulb_comparison comparison = compare_by(&base, &fresh, ULB_METRIC_GAMMA, false);
    assert_int_equal(comparison.count[ULB_REGRESSED], 1);
    assert_true(comparison.cells[0].ratio > 1.15);
    ulb_comparison_free(&comparison);

    json_t *counts = json_object_get(fresh.root, "counts"), *count = json_array_get(counts, 0);
    if (counts) {
        double before = json_number_value(json_object_get(count, "instructions_per_step"));
        json_object_set_new(count, "instructions_per_step", json_real(1.02 * before));
        comparison = compare_by(&base, &fresh, ULB_METRIC_INSTRUCTIONS, false);
        assert_int_equal(comparison.count[ULB_REGRESSED], 1);
        ulb_comparison_free(&comparison);
    }
    json_object_del(base.root, "decode");
    json_object_del(fresh.root, "decode");
    const struct ulb_compare_settings settings = {.metric = ULB_METRIC_TPS, .threshold = NAN};
    assert_int_equal(ulb_compare(&base, &fresh, &settings, &comparison, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "the base: no figures of the metric tps");
    for (int side = 0; side < 2; side++) {
        json_t *ms = json_array();
        for (size_t r = 0; r < ROUNDS; r++)
            json_array_append_new(ms, json_real((side ? 12 : 10) * noise(0, r, (unsigned)side)));
        json_object_set_new(side ? fresh.root : base.root, "decode",
                            json_pack("{s:[{s:s, s:s, s:s, s:i, s:s, s:i, s:f, s:o}]}", "runs", "model",
                                      "llama3-8b", "format", "int2", "set", "all", "threads", 2, "split",
                                      "static", "context", 128, "tokens_per_s", side ? 83.0 : 100.0,
                                      "ms_samples", ms));
    }
    comparison = compare_by(&base, &fresh, ULB_METRIC_TPS, false);
    assert_int_equal(comparison.count[ULB_REGRESSED], 1);
    assert_true(fabs(comparison.cells[0].ratio - 10.0 / 12) < 0.01);
    assert_string_equal(comparison.cells[0].key, "llama3-8b int2 c128 all:2 static");
    ulb_comparison_free(&comparison);
    /* Samples are of the layers that were run: all are not compared with some. */
    json_t *runs[] = {json_object_get(json_object_get(base.root, "decode"), "runs"),
                      json_object_get(json_object_get(fresh.root, "decode"), "runs")};
    for (int side = 0; side < 2; side++)
        assert_int_equal(
            json_object_update_new(json_array_get(runs[side], 0),
                                   json_pack("{s:i, s:i}", "layers_run", 16 + 16 * side, "layers", 32)),
            0);
    comparison = compare_by(&base, &fresh, ULB_METRIC_TPS, false);
    assert_int_equal(comparison.count[ULB_MISSING] + comparison.count[ULB_NEW], 2);
    assert_string_equal(comparison.cells[0].key, "llama3-8b int2 c128 all:2 static l16");
    assert_string_equal(comparison.cells[1].key, "llama3-8b int2 c128 all:2 static");
    ulb_comparison_free(&comparison);
    json_object_set_new(json_array_get(runs[0], 0), "layers_run", json_integer(32));
    /* Energy has samples, in older records one figure a run, or none. */
    const struct ulb_compare_settings energy = {.metric = ULB_METRIC_JOULE, .threshold = NAN};
    json_object_set_new(json_array_get(runs[1], 0), "joule_per_token", json_null());
    assert_int_equal(ulb_compare(&base, &base, &energy, &comparison, &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "the base: no figures of the metric joule");
    for (int side = 0; side < 2; side++)
        json_object_set_new(json_array_get(runs[side], 0), "joule_per_token", json_real(1 + 2 * side));
    comparison = compare_by(&base, &fresh, ULB_METRIC_JOULE, false);
    assert_int_equal(comparison.count[ULB_INCONCLUSIVE], 1);
    assert_non_null(strstr(comparison.cells[0].reason, "chance looks like a change"));
    ulb_comparison_free(&comparison);
    for (int side = 0; side < 2; side++) {
        json_t *joules = json_array();
        for (size_t r = 0; r < ROUNDS; r++)
            json_array_append_new(joules, json_real((1 + 2 * side) * noise(1, r, (unsigned)side)));
        json_object_set_new(json_array_get(runs[side], 0), "joule_samples", joules);
    }
    comparison = compare_by(&base, &fresh, ULB_METRIC_JOULE, false);
    assert_int_equal(comparison.count[ULB_REGRESSED], 1);
    assert_true(fabs(comparison.cells[0].ratio - 3) < 0.1);
    ulb_comparison_free(&comparison);
    json_array_set_new(json_object_get(json_array_get(runs[0], 0), "joule_samples"), 0, json_real(0));
    comparison = compare_by(&base, &fresh, ULB_METRIC_JOULE, false);
    assert_int_equal(comparison.count[ULB_INCONCLUSIVE], 1); /* too short for the counters */
    ulb_comparison_free(&comparison);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

/* What cannot be a key of XML, Markdown or a workflow command does not get out of its place. */
static void test_written_forms(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    slow_down(&fresh, COMPUTE_BOUND, 1.2, 0);
    for (int side = 0; side < 2; side++) {
        size_t i;
        json_t *cell;
        json_array_foreach(json_object_get(side ? fresh.root : base.root, "cells"), i, cell)
            json_object_set_new(cell, "model", json_string("a<b>&\"|%,:\n"));
    }
    struct ulb_comparison comparison = compare(&base, &fresh);
    struct ulb_compared_files files = {"base.json", "new.json", &comparison};
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    ulb_comparison_junit(&files, 1, out);
    ulb_comparison_markdown(&files, 1, out);
    ulb_comparison_github(&files, 1, out);
    fclose(out);
    assert_non_null(strstr(text, "failures=\"12\""));
    assert_non_null(strstr(text, "a&lt;b&gt;&amp;&quot;|%,:?"));
    assert_non_null(strstr(text, "a&lt;b&gt;&\"\\|%,: "));
    assert_non_null(strstr(text, "a<b>&\"|%25,:%0A"));
    assert_non_null(strstr(text, "### ulb-bench, efficiency: 12 regressed"));
    free(text);
    json_t *document = ulb_comparison_json(&files, 1);
    assert_int_equal(json_integer_value(json_object_get(document, "regressions")), SHAPES);
    assert_int_equal(json_array_size(json_object_get(document, "cells")), comparison.n);
    json_decref(document);
    ulb_comparison_free(&comparison);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_planted),
        cmocka_unit_test(test_machine_taken_out),
        cmocka_unit_test(test_state_learnt),
        cmocka_unit_test(test_noise_floor),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_disturbed),
        cmocka_unit_test(test_missing_and_new),
        cmocka_unit_test(test_not_comparable),
        cmocka_unit_test(test_confirm),
        cmocka_unit_test(test_confirm_alone),
        cmocka_unit_test(test_same_build),
        cmocka_unit_test(test_other_metrics),
        cmocka_unit_test(test_written_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
