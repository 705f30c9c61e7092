/* Which of the two measurements of memory bandwidth counts. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_disturbance_only_slows_down),
        cmocka_unit_test(test_one_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
