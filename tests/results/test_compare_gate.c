/* compare as a gate: what fails it, what it lets pass, and when it cannot tell. */
#include "results/compare/compare.h"
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

/* Compares, answers, and frees all. */
static enum ulb_status answer(struct ulb_record *base, struct ulb_record *fresh,
                              struct ulb_compare_settings settings)
{
    struct ulb_comparison comparison;
    settings.metric = ULB_METRIC_EFFICIENCY;
    settings.threshold = NAN;
    settings.must_see = settings.must_see > 0 ? settings.must_see : ULB_MUST_SEE;
    enum ulb_status status = ulb_compare(base, fresh, &settings, &comparison, &err);
    if (status == ULB_OK)
        status = ulb_comparison_status(&comparison, &err);
    ulb_comparison_free(&comparison);
    ulb_record_free(base);
    ulb_record_free(fresh);
    return status;
}

/* Three rounds, all of them disturbed. */
static void cut(struct ulb_record *record)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        json_t *samples = json_object_get(cell, "us_samples"), *places = json_array();
        while (json_array_size(samples) > 9)
            json_array_remove(samples, 9);
        for (int s = 0; s < 9; s++)
            json_array_append_new(places, json_integer(s));
        json_object_set_new(cell, "disturbed_samples", places);
    }
}

/* Scales every kernel by a factor of its own, as two runs of one build differ: up to share, either way. */
static void differ(struct ulb_record *record, double share)
{
    size_t i;
    json_t *cell;
    json_array_foreach(json_object_get(record->root, "cells"), i, cell)
    {
        unsigned hash = 0;
        for (const char *at = json_string_value(json_object_get(cell, "kernel")); *at; at++)
            hash = hash * 131 + (unsigned char)*at;
        scale(json_object_get(cell, "us_samples"), 1 + share * ((double)(hash % 101) / 50 - 1), 0);
    }
}

static void test_gate_finds(void **state)
{
    (void)state;
    static const double factors[] = {1.5, 2, 100};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        for (int few = 0; few < 2; few++) {
            struct ulb_record base = make(1), fresh = make(2);
            differ(&fresh, 0.03);
            slow_down(&fresh, COMPUTE_BOUND, factors[f], 0);
            if (few) {
                cut(&base);
                cut(&fresh);
            }
            assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){.allow_blind = INFINITY}),
                             ULB_FINDING);
        }
    }
    struct ulb_record base = make(1), fresh = make(2);
    slow_down(&fresh, NULL, 1.5, 0);
    assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){0}), ULB_FINDING);
}

/* Kernels of one build that lie apart accuse none of them, and make a gate blind. */
static void test_gate_blind(void **state)
{
    (void)state;
    for (int allowed = 0; allowed < 2; allowed++) {
        struct ulb_record base = make(1), fresh = make(2);
        differ(&fresh, 0.2);
        const struct ulb_compare_settings settings = {.allow_blind = allowed ? INFINITY : 0};
        assert_int_equal(answer(&base, &fresh, settings), allowed ? ULB_OK : ULB_UNDECIDED);
    }
    struct ulb_record base = make(1), fresh = make(2);
    assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){.must_see = 0.01}), ULB_UNDECIDED);
    assert_non_null(strstr(err.message, "--allow-blind"));
    base = make(1);
    fresh = make(2);
    assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){0}), ULB_OK);
}

static void leave_out(struct ulb_record *record, const char *kernel)
{
    json_t *cells = json_object_get(record->root, "cells");
    for (size_t c = json_array_size(cells); c-- > 0;) {
        if (strcmp(json_string_value(json_object_get(json_array_get(cells, c), "kernel")), kernel) == 0)
            json_array_remove(cells, c);
    }
}

/* What the record says of the kernel's gamma, and whether it was chosen. */
static void choose(struct ulb_record *record, bool chosen, double gamma, double fastest)
{
    json_object_set_new(
        record->root, "choices",
        json_pack("[{s:s, s:b, s:f}]", "kernel", COMPUTE_BOUND, "chosen", chosen, "gamma_cycles", gamma));
    json_object_set_new(
        record->root, "gamma",
        json_pack("{s:[{s:s, s:f}]}", "cells", "kernel", COMPUTE_BOUND, "gamma_min_cycles", fastest));
}

static void test_gate_missing(void **state)
{
    (void)state;
    static const struct {
        const char *allowed;
        enum ulb_status status;
    } cases[] = {{NULL, ULB_FINDING}, {"", ULB_OK}, {"^int1a8-blend", ULB_OK}, {"^bf16", ULB_FINDING}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ulb_record base = make(1), fresh = make(2);
        leave_out(&fresh, COMPUTE_BOUND);
        const struct ulb_compare_settings settings = {.allow_missing = cases[i].allowed};
        assert_int_equal(answer(&base, &fresh, settings), cases[i].status);
        assert_true(cases[i].status == ULB_OK || strstr(err.message, "run --like"));
    }
    /* A run may choose among kernels that are alike; one that became slow is not alike, one whose gamma a
     * neighbour disturbed is. */
    static const struct {
        double gamma, fastest;
        int chosen;
        enum ulb_status status;
    } choices[] = {
        {1.2, 1.2, 0, ULB_OK},      {1.9, 1.8, 0, ULB_UNDECIDED}, {1.9, 1.1, 0, ULB_OK},
        {1.2, 1.2, 1, ULB_FINDING}, {1.9, 1.8, 1, ULB_FINDING},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        struct ulb_record base = make(1), fresh = make(2);
        leave_out(&fresh, COMPUTE_BOUND);
        choose(&base, true, 1.1, 1);
        choose(&fresh, choices[i].chosen, choices[i].gamma, choices[i].fastest);
        assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){0}), choices[i].status);
    }
}

static void test_gate_wrong(void **state)
{
    (void)state;
    struct ulb_record base = make(1), fresh = make(2);
    json_object_set_new(json_array_get(json_object_get(fresh.root, "cells"), 3), "verified", json_false());
    assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){.allow_blind = INFINITY}),
                     ULB_FINDING);
    assert_non_null(strstr(err.message, "wrong results"));
    /* What is one measurement has not changed, however little it could have shown. */
    base = make(1);
    fresh = make(1);
    cut(&base);
    cut(&fresh);
    assert_int_equal(answer(&base, &fresh, (struct ulb_compare_settings){.must_see = 0.01}), ULB_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gate_finds),
        cmocka_unit_test(test_gate_blind),
        cmocka_unit_test(test_gate_missing),
        cmocka_unit_test(test_gate_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
