/* Reading survives garbage: named faults are found with their place, random damage never crashes. */
#include "common/rng.h"
#include "tests/results/sample_record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static struct ulb_error err;

/* A sample with few cells, so that damage has a chance to hit every kind of field. */
static json_t *small_sample(void)
{
    struct ulb_record record;
    if (sample_record(&record, SAMPLE_ABSENT, &err) != ULB_OK)
        fail_msg("%s", err.message);
    json_t *cells = json_object_get(record.root, "cells");
    while (json_array_size(cells) > 1)
        json_array_remove(cells, 1);
    json_t *gammas = json_object_get(json_object_get(record.root, "gamma"), "cells");
    while (json_array_size(gammas) > 1)
        json_array_remove(gammas, 1);
    return record.root;
}

/* Parses root's text, which it gives back; the message is in err. */
static enum ulb_status parse(json_t *root)
{
    struct ulb_record record;
    char *text = json_dumps(root, 0);
    assert_non_null(text);
    enum ulb_status status = ulb_record_parse(&record, text, strlen(text), "run.json", &err);
    if (status == ULB_OK)
        ulb_record_free(&record);
    else
        assert_null(record.root);
    free(text);
    json_decref(root);
    return status;
}

static json_t *first_cell(json_t *root)
{
    return json_array_get(json_object_get(root, "cells"), 0);
}

static void test_sample_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(parse(small_sample()), ULB_OK);
}

static void test_cell_faults_name_the_place(void **state)
{
    (void)state;
    const struct {
        const char *key;
        json_t *value; /* NULL: the key is removed */
        const char *message;
    } faults[] = {
        {"us", NULL, "run.json: cells[0]: us: a number is needed, nothing is there"},
        {"us", json_string("fast"), "run.json: cells[0]: us: a number is needed, a text is there"},
        {"us", json_null(), "run.json: cells[0]: us: a number is needed, null is there"},
        {"m", json_integer(-1), "run.json: cells[0]: m: -1 is out of range"},
        {"m", json_real(4096.5), "run.json: cells[0]: m: a whole number is needed, a number is there"},
        {"threads", json_integer(4294967296), "run.json: cells[0]: threads: 4294967296 is out of range"},
        {"mode", json_string("hot"), "run.json: cells[0]: mode: 'hot' is none of cold, warm"},
        {"prefetch", json_string("L3"),
         "run.json: cells[0]: prefetch: 'L3' is none of L1, L1+1024, L1+2048, L2+1024, L2+2048, L2+3072, L2, "
         "none"},
        {"prefetch_reason", NULL, "run.json: cells[0]: prefetch_reason: a text is needed, nothing is there"},
        {"split", json_string("a split with a long name"),
         "run.json: cells[0]: split: the text is longer than 15 bytes"},
        {"verified", json_integer(1),
         "run.json: cells[0]: verified: true or false is needed, a number is there"},
        {"predicted_us_reason", NULL,
         "run.json: cells[0]: predicted_us_reason: a text is needed, nothing is there"},
        {"us_samples", json_pack("[f, s]", 1.0, "x"),
         "run.json: cells[0]: us_samples: an array of numbers is needed, a text is there"},
        {"us_samples", json_null(),
         "run.json: cells[0]: us_samples: an array of numbers is needed, null is there"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        json_t *root = small_sample();
        if (faults[i].value)
            json_object_set_new(first_cell(root), faults[i].key, faults[i].value);
        else
            json_object_del(first_cell(root), faults[i].key);
        assert_int_equal(parse(root), ULB_BAD_INPUT);
        assert_string_equal(err.message, faults[i].message);
    }
}

static void test_top_faults_name_the_place(void **state)
{
    (void)state;
    const struct {
        const char *key;
        json_t *value;
        const char *message;
    } faults[] = {
        {"schema_version", json_integer(0), "run.json: schema_version: 0 is unknown, 1 to 3 are needed"},
        {"schema_version", NULL,
         "run.json: not a record of ulb-bench: schema_version, a whole number, is missing"},
        {"beta", json_array(), "run.json: beta: an object is needed"},
        {"gamma", json_object(), "run.json: gamma.cells: an array is needed"},
        {"overlap", json_array(), "run.json: overlap: an object is needed"},
        {"overlap", json_object(), "run.json: overlap.cells: an array is needed"},
        {"peak", json_object(), "run.json: peak: an array is needed"},
        {"counts", json_object(), "run.json: counts: an array is needed"},
        {"cells", json_pack("[i]", 3), "run.json: cells[0]: an object is needed, a number is there"},
        {"machine", NULL, "run.json: machine: an object is needed"},
        {"warnings", json_pack("[i]", 3), "run.json: warnings[0]: a text is needed"},
        {"created", json_null(), "run.json: created: a text is needed"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        json_t *root = small_sample();
        if (faults[i].value)
            json_object_set_new(root, faults[i].key, faults[i].value);
        else
            json_object_del(root, faults[i].key);
        assert_int_equal(parse(root), ULB_BAD_INPUT);
        assert_string_equal(err.message, faults[i].message);
    }
}

static void test_newer_version(void **state)
{
    (void)state;
    json_t *root = small_sample();
    json_object_set_new(root, "schema_version", json_integer(ULB_SCHEMA_VERSION + 1));
    assert_int_equal(parse(root), ULB_ENVIRONMENT);
    assert_string_equal(
        err.message,
        "run.json: schema_version: written by a newer version of ulb-bench (4; this one reads 3); "
        "update it");
}

/* What a later version of the schema brought is missing from records before it, and from them alone. */
static void test_older_version(void **state)
{
    (void)state;
    json_t *root = small_sample();
    json_object_set_new(root, "schema_version", json_integer(1));
    static const char *const later[] = {"layout", "samples_per_round", "noise_floor", "disturbed_samples"};
    for (size_t i = 0; i < 4; i++)
        json_object_del(first_cell(root), later[i]);
    json_object_del(first_cell(root), "verified");
    assert_int_equal(parse(json_incref(root)), ULB_BAD_INPUT);
    json_object_set_new(first_cell(root), "verified", json_true());
    struct ulb_record record = {root};
    struct ulb_cell *cells;
    size_t n;
    assert_int_equal(ulb_record_cells(&record, &cells, &n, &err), ULB_OK);
    assert_int_equal(n, 1);
    assert_string_equal(cells[0].layout, "");
    assert_true(isnan(cells[0].noise_floor) && cells[0].n_disturbed == 0 && cells[0].samples_per_round == 0);
    ulb_cells_free(cells, n);
    assert_int_equal(parse(root), ULB_OK);
    root = small_sample();
    json_object_del(first_cell(root), "layout");
    assert_int_equal(parse(root), ULB_BAD_INPUT);
    assert_string_equal(err.message, "run.json: cells[0]: layout: a text is needed, nothing is there");
}

/* Keys that were renamed are read by their older names. */
static void test_renamed_keys_are_read(void **state)
{
    (void)state;
    json_t *root = small_sample();
    json_object_set_new(root, "schema_version", json_integer(2));
    json_object_set_new(root, "weights", json_pack("[{s:f}]", "ebw_gbps", 7.0));
    char *text = json_dumps(root, 0);
    struct ulb_record record;
    assert_int_equal(ulb_record_parse(&record, text, strlen(text), "run.json", &err), ULB_OK);
    assert_int_equal(json_array_size(json_object_get(record.root, "class_shares")), 1);
    assert_null(json_object_get(record.root, "weights"));
    ulb_record_free(&record);
    json_decref(root);
    free(text);
}

/* What came without a new version may be missing from records of any. */
static void test_newer_keys_may_be_missing(void **state)
{
    (void)state;
    json_t *root = small_sample();
    json_t *run = json_array_get(json_object_get(json_object_get(root, "decode"), "runs"), 0);
    assert_int_equal(json_object_del(first_cell(root), "prefetch"), 0);
    assert_int_equal(json_object_del(first_cell(root), "prefetch_reason"), 0);
    assert_int_equal(json_object_del(first_cell(root), "read_share"), 0);
    assert_int_equal(json_object_del(run, "prefetch"), 0);
    assert_int_equal(json_object_del(json_object_get(run, "prefill"), "ubatch"), 0);
    assert_int_equal(json_object_del(json_object_get(run, "prefill"), "choice_o"), 0);
    assert_int_equal(json_object_del(json_object_get(run, "prefill"), "split_ms"), 0);
    assert_int_equal(json_object_del(run, "kv_type"), 0);
    assert_int_equal(json_object_del(run, "batch"), 0);
    assert_int_equal(json_object_del(run, "sequence_tokens_per_s"), 0);
    assert_int_equal(json_object_del(run, "bytes_per_step"), 0);
    assert_int_equal(json_object_del(run, "kv_bytes"), 0);
    assert_int_equal(json_object_del(run, "kv_gbps"), 0);
    assert_int_equal(json_object_del(run, "kv_share"), 0);
    assert_int_equal(json_object_del(json_object_get(run, "prefill"), "prefetch_o"), 0);
    assert_int_equal(parse(json_incref(root)), ULB_OK);
    struct ulb_record record = {root};
    struct ulb_cell *cells;
    size_t n;
    assert_int_equal(ulb_record_cells(&record, &cells, &n, &err), ULB_OK);
    assert_string_equal(cells[0].prefetch, "");
    assert_true(isnan(cells[0].read_share));
    ulb_cells_free(cells, n);
    json_decref(root);
}

/* A fault inside a list of a run is named by its place; a record without the list is read. */
static void test_points_of_prompts(void **state)
{
    (void)state;
    json_t *root = small_sample();
    json_t *run = json_array_get(json_object_get(json_object_get(root, "decode"), "runs"), 0);
    json_object_set_new(json_array_get(json_object_get(run, "prefill_curve"), 1), "tokens", json_string("8"));
    assert_int_equal(parse(json_incref(root)), ULB_BAD_INPUT);
    assert_non_null(
        strstr(err.message, "decode.runs[0]: prefill_curve[1]: tokens: a whole number is needed"));
    assert_int_equal(json_object_del(run, "prefill_curve"), 0);
    assert_int_equal(parse(root), ULB_OK);
}

/* Records older than the choice of how far ahead have "L2". */
static void test_an_older_place_is_read(void **state)
{
    (void)state;
    json_t *root = small_sample();
    json_object_set_new(first_cell(root), "prefetch", json_string("L2"));
    json_object_del(first_cell(root), "prefetch_reason");
    assert_int_equal(parse(root), ULB_OK);
}

static void test_files_that_are_no_records(void **state)
{
    (void)state;
    struct ulb_record record;
    assert_int_equal(ulb_record_read(&record, "/nowhere/run.json", &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "/nowhere/run.json could not be opened: No such file or directory");
    assert_int_equal(ulb_record_read(&record, "/tmp", &err), ULB_BAD_INPUT);
    assert_int_equal(ulb_record_read(&record, "/dev/null", &err), ULB_BAD_INPUT);
    assert_int_equal(ulb_record_read(&record, "/dev/zero", &err), ULB_BAD_INPUT);
    assert_string_equal(err.message, "/dev/zero: line 1, column 1: '[' or '{' expected near byte 0x00");
    static const char *const texts[] = {"",
                                        "[]",
                                        "{",
                                        "nul",
                                        "{\"schema_version\": 2, \"schema_version\": 2}",
                                        "{\"schema_version\": 1e999}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(ulb_record_parse(&record, texts[i], strlen(texts[i]), "x.json", &err),
                         ULB_BAD_INPUT);
        assert_memory_equal(err.message, "x.json: ", 8);
    }
}

static void test_truncation(void **state)
{
    (void)state;
    json_t *root = small_sample();
    char *text = json_dumps(root, 0);
    json_decref(root);
    size_t bytes = strlen(text);
    for (size_t cut = 0; cut < bytes; cut += 7) {
        struct ulb_record record;
        assert_int_equal(ulb_record_parse(&record, text, cut, "run.json", &err), ULB_BAD_INPUT);
        assert_null(record.root);
    }
    free(text);
}

/* One random edit of the text: a byte changed, a run removed or doubled, or a value that JSON allows put
 * elsewhere. */
static size_t mutate(struct ulb_rng *rng, char *text, size_t bytes)
{
    static const char *const values[] = {"null", "-1", "1e308", "\"\"",
                                         "[]",   "{}", "true",  "99999999999999999999"};
    size_t at = (size_t)ulb_rng_below(rng, bytes), run = 1 + (size_t)ulb_rng_below(rng, 40);
    if (run > bytes - at)
        run = bytes - at;
    switch (ulb_rng_below(rng, 4)) {
    case 0:
        text[at] = (char)ulb_rng_below(rng, 256);
        return bytes;
    case 1:
        memmove(text + at, text + at + run, bytes - at - run);
        return bytes - run;
    case 2:
        memmove(text + at + run, text + at, bytes - at);
        return bytes + run;
    default: {
        char *colon = memchr(text + at, ':', bytes - at);
        const char *value = values[ulb_rng_below(rng, sizeof values / sizeof *values)];
        size_t from = colon ? (size_t)(colon - text) + 1 : bytes, to = from, length = strlen(value);
        while (to < bytes && !memchr(",}]\n", text[to], 4))
            to++;
        memmove(text + from + length, text + to, bytes - to);
        memcpy(text + from, value, length);
        return bytes - (to - from) + length;
    }
    }
}

/* Read value by value a text is JSON where jansson takes it whole, and its fault is in the same line. */
static void check_as_whole(const char *text, size_t bytes, enum ulb_status status)
{
    json_error_t why;
    char place[64];
    json_t *whole = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);
    snprintf(place, sizeof place, "run.json: line %d, column ", why.line);
    if (!whole)
        assert_int_equal(status, ULB_BAD_INPUT);
    if (!whole)
        assert_memory_equal(err.message, place, strlen(place));
    else
        assert_memory_not_equal(err.message, "run.json: line ", 15);
    json_decref(whole);
}

static void test_random_damage(void **state)
{
    (void)state;
    enum { MUTATIONS = 2000 };
    json_t *root = small_sample();
    char *valid = json_dumps(root, 0);
    json_decref(root);
    size_t bytes = strlen(valid), accepted = 0;
    char *text = malloc(bytes + 4096);
    assert_non_null(text);
    struct ulb_rng rng = {20250131};
    for (int i = 0; i < MUTATIONS; i++) {
        struct ulb_record record;
        memcpy(text, valid, bytes);
        size_t length = bytes;
        for (uint64_t edits = 1 + ulb_rng_below(&rng, 3); edits > 0; edits--)
            length = mutate(&rng, text, length);
        err.message[0] = '\0';
        enum ulb_status status = ulb_record_parse(&record, text, length, "run.json", &err);
        assert_true(status == ULB_OK || err.message[0]);
        assert_true(status != ULB_ENVIRONMENT || strstr(err.message, "newer version"));
        check_as_whole(text, length, status);
        accepted += status == ULB_OK;
        if (status != ULB_OK)
            continue;
        struct ulb_cell *cells;
        size_t n;
        assert_int_equal(ulb_record_cells(&record, &cells, &n, &err), ULB_OK);
        ulb_cells_free(cells, n);
        ulb_record_free(&record);
    }
    /* Some edits touch free text only; were all or none accepted, the test would not be looking. */
    assert_in_range(accepted, 20, MUTATIONS / 2);
    free(text);
    free(valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample_is_accepted),
        cmocka_unit_test(test_cell_faults_name_the_place),
        cmocka_unit_test(test_top_faults_name_the_place),
        cmocka_unit_test(test_newer_version),
        cmocka_unit_test(test_older_version),
        cmocka_unit_test(test_renamed_keys_are_read),
        cmocka_unit_test(test_newer_keys_may_be_missing),
        cmocka_unit_test(test_points_of_prompts),
        cmocka_unit_test(test_an_older_place_is_read),
        cmocka_unit_test(test_files_that_are_no_records),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
