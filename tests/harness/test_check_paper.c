/* The published values: the models give them, and the check notices when they do not. */
#include "harness/analysis/check_paper.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ulb_paper_check check;

static void run_check(const char *csv, size_t bytes)
{
    struct ulb_error err = {""};
    if (ulb_paper_parse(csv, bytes, "values.csv", &check, &err) != ULB_OK ||
        ulb_paper_check(&check, NULL, &err) != ULB_OK)
        fail_msg("%s", err.message);
}

static const struct ulb_paper_row *row_of(const char *id)
{
    const struct ulb_paper_row *row = ulb_paper_find(&check, id);
    if (!row)
        fail_msg("no row %s", id);
    return row;
}

/* A copy of the built-in table with the one occurrence of old replaced; freed by the caller. */
static char *edited(const char *old, const char *new)
{
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    char *text = malloc(bytes + strlen(new) + 1);
    assert_non_null(text);
    const char *at = strstr(csv, old); /* the embedded file ends in a zero byte */
    if (!at)
        fail_msg("'%s' is not in the table", old);
    size_t before = (size_t)(at - csv);
    memcpy(text, csv, before);
    strcpy(text + before, new);
    strcat(text + before, at + strlen(old));
    return text;
}

static void check_edited(const char *old, const char *new)
{
    char *text = edited(old, new);
    run_check(text, strlen(text));
    free(text);
}

static void expect_refused(const char *old, const char *new, const char *message)
{
    struct ulb_error err = {""};
    char *text = edited(old, new);
    enum ulb_status status = ulb_paper_parse(text, strlen(text), "values.csv", &check, &err);
    if (status == ULB_OK)
        status = ulb_paper_check(&check, NULL, &err);
    free(text);
    assert_int_equal(status, ULB_BAD_INPUT);
    if (!strstr(err.message, message))
        fail_msg("'%s' lacks '%s'", err.message, message);
}

static void test_all_inside(void **state)
{
    (void)state;
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    run_check(csv, bytes);
    assert_int_equal(check.n, 196);
    assert_int_equal(check.n_inputs, 44);
    assert_int_equal(check.n_derived, 41);
    assert_int_equal(check.n_other, 76);
    assert_int_equal(check.n_repeats, 28);
    assert_int_equal(check.n_open, 7);
    assert_int_equal(check.n_outside, 0);
    assert_int_equal(check.n_as_printed, 34);
    for (size_t i = 0; i < check.n; i++) {
        const struct ulb_paper_row *row = &check.rows[i];
        bool given = row->kind == ULB_PAPER_INPUT && isnan(row->modelled); /* to the measurements alone */
        if (row->kind == ULB_PAPER_OTHER || row->kind == ULB_PAPER_REPEAT || given)
            assert_true(isnan(row->modelled) && !row->inside && !row->reading);
        else if (row->kind == ULB_PAPER_OPEN)
            assert_true(row->modelled > 0 && !row->inside && row->reading);
        else
            assert_true(row->inside && row->modelled >= row->lo && row->modelled <= row->hi);
        /* Inputs are the published figures themselves; only alpha is chosen within its digits. */
        if (row->kind == ULB_PAPER_INPUT && !given && strcmp(row->unit, "fraction") != 0)
            assert_true(fabs(row->modelled - row->published) <= 1e-12 * row->published);
    }
}

/* Worked out by hand from the inputs, with 1 GiB = 1.073741824 GB. */
static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double value;
    } truths[] = {
        {"arl.beta.p", 98 * 1.073741824 / 24 / 5.4},
        {"arl.beta.e", 98 * 1.073741824 / 24 / 4.5},
        {"arlh.percore", 75.0 / 14},
        {"arlh.int1.e", 4 / 4.71 * 3.6 / 1.073741824},
        {"arlh.int1.total", 6 * 75.0 / 14 + 8 * (4 / 4.71 * 3.6 / 1.073741824)},
        {"lnl.int1.total", 4 * (4 / 2.4 * 4.1 + 4 / 4.71 * 3.7) / 1.073741824},
        {"int2.ebw.p", 6.4},
        {"arl.small.ideal", 640000 / (98 * 1073.741824)},
        {"g027", 640000 / (97 * 1073.741824)},
        {"g029", 640000 / (640000 / (97 * 1.073741824) + 2000) / 1.073741824},
        {"g009", 4 * 456 / (98 * 1.073741824)},
        {"g038", 4700.0 / 53},
        {"g039", 64 * (4 * 4.1 + 4 * 3.7) / 1000},
        {"g054", 8.029995008 / 4},
        {"g057", 456 / (97 * 1.073741824)},
        {"g071", (13107200 / (98 * 1073.741824) + 1) / (1638400 / (98 * 1073.741824) + 1)},
    };
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    run_check(csv, bytes);
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++) {
        double got = row_of(truths[i].id)->modelled;
        if (!(fabs(got - truths[i].value) <= 1e-12 * truths[i].value))
            fail_msg("%s: %.15g, wanted %.15g", truths[i].id, got, truths[i].value);
    }
    double alpha = row_of("arl.alpha.1b")->modelled;
    assert_true(alpha > 0.8740 && alpha < 0.8744);
    assert_true(row_of("arl.amdahl.1b.x16")->modelled == 1 / (1 - alpha + alpha / 16));
    alpha = row_of("arl.alpha.8b")->modelled;
    assert_true(alpha > 0.9551 && alpha < 0.9560);
    assert_true(row_of("arl.amdahl.8b.x8")->modelled == 1 / (1 - alpha + alpha / 8));
}

static void expect_only_outside(const char *id)
{
    assert_int_equal(check.n_outside, 1);
    assert_false(row_of(id)->inside);
}

static void test_planted_wrong_values(void **state)
{
    (void)state;
    check_edited("arlh.int1.total,IV-B,arlh,derived,int1 GEMV of the chip,55,54.5,55.5",
                 "arlh.int1.total,IV-B,arlh,derived,int1 GEMV of the chip,56,55.5,56.5");
    expect_only_outside("arlh.int1.total");
    check_edited("6.4,6.35,6.45", "6.5,6.45,6.55");
    expect_only_outside("int2.ebw.p");
    check_edited("98,97.5,98.5", "99,98.5,99.5"); /* an input that the platform file does not carry */
    expect_only_outside("arl.bw");
    check_edited("456,455.5,456.5", "448,447.5,448.5");
    expect_only_outside("g019");
    check_edited("4.6,4.55,4.65", "4.7,4.65,4.75");
    expect_only_outside("g056");

    /* Bounds that no alpha gives together: the published alpha is used, and both are outside. */
    check_edited("Falcon3-1B,4.3,4.25,4.35", "Falcon3-1B,4.5,4.45,4.55");
    assert_false(row_of("arl.amdahl.1b.x8")->inside);
    assert_false(row_of("arl.amdahl.1b.x16")->inside);
    assert_true(row_of("arl.alpha.1b")->modelled == 0.87);
    assert_true(row_of("arl.amdahl.8b.x8")->inside);
    assert_int_equal(check.n_outside, 2);
}

static void test_malformed_tables(void **state)
{
    (void)state;
    expect_refused("id,section,", "id,part,", "header");
    expect_refused("5.4,5.35,5.45", "5.4,5.35", "9 fields");
    expect_refused("5.4,5.35,5.45", "5.4,5.35,5.45,7", "9 fields");
    expect_refused("5.4,5.35,5.45", "5.4 GHz,5.35,5.45", "numbers");
    expect_refused("5.4,5.35,5.45", "nan,5.35,5.45", "numbers");
    expect_refused("5.4,5.35,5.45", ",5.35,5.45", "numbers");
    expect_refused("5.4,5.35,5.45", "5.4,5.45,5.35", "[lo, hi]");
    expect_refused("arl,input,P clock", "arl,guess,P clock", "kind");
    expect_refused("arl,input,P clock under full load", "arl,input,", "empty or too long");
    expect_refused("arlh.cores.p,", "arl.cores.p,", "twice");
    expect_refused("arlh.cores.p,", "arlh.cores.x,", "arlh.cores.p is missing");
    expect_refused("arl.beta.p,IV-B,arl,derived", "arl.beta.p,IV-B,arl,other", "wrong kind");
    expect_refused("arl.tdp,IV-A,arl,other", "arl.tdp,IV-A,arl,derived", "wrong kind");
    expect_refused("g057,IV-E,bmg,open", "g057,IV-E,bmg,other", "wrong kind");
    expect_refused("g056,IV-E,bmg,derived", "g056,IV-E,bmg,open", "wrong kind");
    expect_refused("g058,IV-E,bmg,other", "g058,IV-E,bmg,open", "wrong kind");
    struct ulb_error err = {""};
    assert_int_equal(ulb_paper_parse("# nothing\n", 10, "values.csv", &check, &err), ULB_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_inside),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_planted_wrong_values),
        cmocka_unit_test(test_malformed_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
