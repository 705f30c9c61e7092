/* Which of the two measurements of memory bandwidth counts, and which of two states of memory. */
#include "tests/results/sample_record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static struct ulb_error err;

/* A record whose beta stage read so much, and whose yardstick is 24.6 GB/s. */
static struct ulb_record record_of(double stage_gbps)
{
    struct ulb_record record;
    json_t *cell;
    size_t i;
    if (sample_record(&record, SAMPLE_SERVER, &err) != ULB_OK)
        fail_msg("%s", err.message);
    json_array_foreach(json_object_get(json_object_get(record.root, "beta"), "cells"), i, cell)
    {
        if (strcmp(json_string_value(json_object_get(cell, "set")), "all") == 0)
            json_object_set_new(cell, "gbps", json_real(stage_gbps));
    }
    return record;
}

static void test_agreement(void **state)
{
    (void)state;
    struct ulb_record record = record_of(23);
    size_t warnings = json_array_size(json_object_get(record.root, "warnings"));
    struct ulb_resolved_beta beta = ulb_record_resolved_beta(&record, "all");
    assert_false(beta.disagree);
    assert_false(beta.from_yardstick);
    assert_true(beta.gbps == 23 && beta.stage_gbps == 23 && beta.yardstick_gbps == 24.6);
    assert_int_equal(ulb_record_check_beta(&record, "all", &err), ULB_OK);
    assert_int_equal(json_array_size(json_object_get(record.root, "warnings")), warnings);
    ulb_record_free(&record);
}

static void test_disturbance_only_slows_down(void **state)
{
    (void)state;
    static const struct {
        double stage;
        bool from_yardstick;
        const char *warning;
    } cases[] = {
        {13.2, true,
         "noisy: set all read 13.2 GB/s in the beta stage and 24.6 GB/s as the yardstick; the yardstick is "
         "taken as "
         "its beta, since disturbance only slows reading down"},
        {33, false,
         "noisy: set all read 33.0 GB/s in the beta stage and 24.6 GB/s as the yardstick; the beta stage is "
         "taken as "
         "its beta, since disturbance only slows reading down"},
    };
    for (size_t i = 0; i < 2; i++) {
        struct ulb_record record = record_of(cases[i].stage);
        const json_t *warnings = json_object_get(record.root, "warnings");
        struct ulb_resolved_beta beta = ulb_record_resolved_beta(&record, "all");
        assert_true(beta.disagree);
        assert_int_equal(beta.from_yardstick, cases[i].from_yardstick);
        assert_true(beta.gbps == fmax(cases[i].stage, 24.6));
        assert_true(beta.other_gbps == fmin(cases[i].stage, 24.6) && !beta.other_created);
        assert_int_equal(ulb_record_check_beta(&record, "all", &err), ULB_OK);
        assert_string_equal(json_string_value(json_array_get(warnings, json_array_size(warnings) - 1)),
                            cases[i].warning);
        ulb_record_free(&record);
    }
}

static void test_one_alone(void **state)
{
    (void)state;
    struct ulb_record record = record_of(20);
    json_array_clear(json_object_get(json_object_get(record.root, "beta"), "yardstick"));
    struct ulb_resolved_beta beta = ulb_record_resolved_beta(&record, "all");
    assert_true(beta.gbps == 20 && !beta.disagree && !beta.from_yardstick && isnan(beta.yardstick_gbps));
    ulb_record_free(&record);
    record = record_of(20);
    json_array_clear(json_object_get(json_object_get(record.root, "beta"), "cells"));
    beta = ulb_record_resolved_beta(&record, "all");
    assert_true(beta.gbps == 24.6 && !beta.disagree && beta.from_yardstick);
    assert_true(isnan(ulb_record_resolved_beta(&record, "E").gbps));
    ulb_record_free(&record);
}

/* n samples around value, evenly spread over so much of it on both sides. */
static size_t spread(double *samples, size_t n, double value, double share)
{
    for (size_t i = 0; i < n; i++)
        samples[i] = value * (1 + share * (2 * (double)i / (double)(n - 1) - 1));
    return n;
}

static void test_states(void **state)
{
    (void)state;
    enum { MOST = 200 };
    static const struct {
        size_t n_low, n_high, states;
        double low, high, width; /* width: of each state, relative */
    } cases[] = {
        {60, 100, 2, 34, 58, 0.05}, {100, 60, 2, 34, 58, 0.05}, /* two, whichever is the more frequent */
        {30, 29, 1, 34, 58, 0.05},                              /* too few samples */
        {5, 150, 1, 34, 58, 0.05},                              /* too short a spell */
        {80, 80, 1, 50, 56, 0.02},                              /* too close */
        {80, 80, 1, 40, 60, 0.20},                              /* one wide hill: nothing is between */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double samples[MOST];
        size_t n = spread(samples, cases[i].n_low, cases[i].low, cases[i].width);
        n += spread(samples + n, cases[i].n_high, cases[i].high, cases[i].width);
        struct ulb_memory_states states = ulb_memory_states_of(samples, n);
        bool low_first = cases[i].n_low > cases[i].n_high;
        if (states.n != cases[i].states)
            fail_msg("case %zu: %zu states", i, states.n);
        if (states.n < 2)
            continue;
        assert_true(fabs(states.gbps[0] - (low_first ? cases[i].low : cases[i].high)) < 0.5);
        assert_true(fabs(states.gbps[1] - (low_first ? cases[i].high : cases[i].low)) < 0.5);
        assert_true(states.share[0] > 0.5 && fabs(states.share[0] + states.share[1] - 1) < 1e-9);
    }
    assert_int_equal(ulb_memory_states_of(NULL, 0).n, 0);
}

/* Where there are two, the more frequent one is the beta, and nothing is a surprise. */
static void test_states_resolve(void **state)
{
    (void)state;
    double samples[160];
    struct ulb_record record = record_of(33);
    size_t warnings = json_array_size(json_object_get(record.root, "warnings"));
    spread(samples, 60, 34, 0.05);
    spread(samples + 60, 100, 58, 0.05);
    assert_int_equal(ulb_record_set_memory_states(&record, "all", samples, 160, &err), ULB_OK);
    assert_true(fabs(ulb_record_resolved_beta(&record, "all").gbps - 58) < 0.5);
    assert_int_equal(ulb_record_memory_states(&record, "all").n, 2);
    assert_int_equal(ulb_record_memory_states(&record, "P").n, 0);
    assert_int_equal(ulb_record_check_beta(&record, "all", &err), ULB_OK);
    assert_int_equal(json_array_size(json_object_get(record.root, "warnings")), warnings);
    ulb_record_free(&record);
}

/* What an earlier run read is told where it is another speed, and this run met one alone. */
static void test_earlier_run(void **state)
{
    (void)state;
    static const char then[] = "2026-11-29T08:54:50Z";
    double samples[100];
    struct ulb_record record = record_of(24.6);
    assert_int_equal(ulb_record_set_earlier_memory(&record, "all", 40, then, &err), ULB_OK);
    assert_true(isnan(ulb_record_resolved_beta(&record, "all").other_gbps)); /* its own are not known */
    spread(samples, 100, 24.6, 0.02);
    assert_int_equal(ulb_record_set_memory_states(&record, "all", samples, 100, &err), ULB_OK);
    assert_int_equal(ulb_record_set_earlier_memory(&record, "all", 27, then, &err), ULB_OK);
    assert_true(isnan(ulb_record_resolved_beta(&record, "all").other_gbps)); /* the same speed */
    assert_int_equal(ulb_record_set_earlier_memory(&record, "all", 40, then, &err), ULB_OK);
    struct ulb_resolved_beta beta = ulb_record_resolved_beta(&record, "all");
    assert_true(beta.gbps == 24.6 && beta.other_gbps == 40);
    assert_string_equal(beta.other_created, then);
    assert_true(isnan(ulb_record_resolved_beta(&record, "P").other_gbps));
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),      cmocka_unit_test(test_disturbance_only_slows_down),
        cmocka_unit_test(test_one_alone),      cmocka_unit_test(test_states),
        cmocka_unit_test(test_states_resolve), cmocka_unit_test(test_earlier_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
