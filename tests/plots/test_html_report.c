/* The report says what the record says, whatever its names hold, with and without gnuplot. That it works in a
 * browser is test_report_page.py's. */
#include "plots/report/report.h"
#include "results/summary/verdict.h"
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

static struct ulb_error err, no_figures;

static struct ulb_record record_of(enum sample_kind kind)
{
    struct ulb_record record;
    if (sample_record(&record, kind, &err) != ULB_OK)
        fail_msg("%s", err.message);
    return record;
}

static void assert_says(const struct ulb_verdict *verdict, const char *text)
{
    for (size_t i = 0; i < verdict->n; i++) {
        if (strstr(verdict->lines[i], text))
            return;
    }
    fail_msg("the verdict does not say '%s'", text);
}

static void test_verdict(void **state)
{
    (void)state;
    struct ulb_verdict verdict;
    struct ulb_record record = record_of(SAMPLE_SERVER);
    assert_int_equal(ulb_verdict_of(&record, &verdict, &err), ULB_OK);
    assert_string_equal(
        verdict.lines[0],
        "This CPU reaches 95 % of its memory limit with int1 (23.3 of 24.6 GB/s, cold weights).");
    assert_says(&verdict,
                "int8 reaches 97 % (23.8 GB/s): the memory is its limit, only fewer bytes would help.");
    assert_says(&verdict, "The run was noisy");
    ulb_record_free(&record);

    /* B/gamma of the 1-bit kernel is 1.67 on P and 0.85 on E, beta 1.44 and 1.60. */
    record = record_of(SAMPLE_HYBRID);
    assert_int_equal(sample_add_rest(&record, &err), ULB_OK);
    assert_int_equal(ulb_verdict_of(&record, &verdict, &err), ULB_OK);
    assert_non_null(strstr(verdict.lines[0], " of its memory limit with int2 ("));
    assert_says(
        &verdict,
        "its fastest kernel is compute-bound on E-cores (gamma 4.71 allows 0.85 of 1.60 bytes/cycle).");
    assert_says(&verdict, "llama3-8b decodes ");
    assert_says(&verdict, "The model's times are off by ");
    ulb_record_free(&record);

    record = record_of(SAMPLE_ABSENT);
    assert_int_equal(ulb_verdict_of(&record, &verdict, &err), ULB_OK);
    assert_non_null(strstr(verdict.lines[0], "the record has no yardstick to compare with"));
    ulb_record_free(&record);
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    assert_int_equal(ulb_verdict_of(&record, &verdict, &err), ULB_OK);
    assert_int_equal(verdict.n, 1);
    assert_non_null(strstr(verdict.lines[0], "no products of matrices"));
    ulb_record_free(&record);
}

/* A run may name every format that there is: none is passed over, nor what is said behind them. */
static void test_verdict_of_many_formats(void **state)
{
    (void)state;
    enum { FORMATS = 64 };
    struct ulb_verdict verdict;
    struct ulb_record record = record_of(SAMPLE_SERVER);
    json_t *cells = json_object_get(record.root, "cells"), *one = json_deep_copy(json_array_get(cells, 0));
    json_array_clear(cells);
    for (int f = 1; f <= FORMATS; f++) {
        char name[16];
        snprintf(name, sizeof name, "format%d", f);
        json_object_set_new(one, "format", json_string(name));
        json_object_set_new(one, "efficiency", json_real(0.8 * f / FORMATS));
        json_array_append_new(cells, json_deep_copy(one));
    }
    json_decref(one);
    assert_int_equal(ulb_verdict_of(&record, &verdict, &err), ULB_OK);
    assert_non_null(strstr(verdict.lines[0], "reaches 80 % of its memory limit with format64 "));
    for (int f = 1; f < FORMATS; f++) {
        char words[32];
        snprintf(words, sizeof words, "format%d reaches ", f);
        assert_says(&verdict, words);
    }
    assert_says(&verdict, "The run was noisy");
    ulb_record_free(&record);
}

/* With an even number of shapes the median lies between the two in the middle, of shares and speeds alike. */
static void test_median_of_an_even_number(void **state)
{
    (void)state;
    static const double shares[] = {0.5, 0.6, 0.7, 0.9}, gbps[] = {30, 10, 14, 20};
    struct ulb_cell cells[4];
    const struct ulb_cell *of[4];
    struct ulb_format_share found[ULB_FORMAT_SHARES];
    size_t used;
    for (size_t i = 0; i < 4; i++) {
        cells[i] = (struct ulb_cell){.m = 64 * (i + 1), .k = 64, .efficiency = shares[i], .gbps = gbps[i]};
        snprintf(cells[i].format, sizeof cells[i].format, "int2");
        of[i] = &cells[i];
    }
    assert_int_equal(ulb_format_shares(of, 4, found, &used, &err), ULB_OK);
    assert_int_equal(used, 1);
    assert_int_equal(found->shapes, 4);
    assert_true(fabs(found->share - 0.65) < 1e-9);
    assert_true(fabs(found->gbps - 17) < 1e-9);
    assert_int_equal(ulb_format_shares(of, 3, found, &used, &err), ULB_OK);
    assert_int_equal(used, 1);
    assert_true(fabs(found->share - 0.6) < 1e-9 && fabs(found->gbps - 14) < 1e-9);
    cells[0].efficiency = NAN;
    assert_int_equal(ulb_format_shares(of, 3, found, &used, &err), ULB_OK);
    assert_int_equal(used, 1);
    assert_true(fabs(found->share - 0.65) < 1e-9);
}

static char *page_of(const struct ulb_report_record *records, size_t n)
{
    char *html;
    size_t bytes;
    if (ulb_html_report(records, n, &html, &bytes, &no_figures, &err) != ULB_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(html), bytes);
    assert_int_equal(no_figures.message[0] != '\0', strstr(html, "The figures are left out: ") != NULL);
    return html;
}

static void test_conditions(void **state)
{
    (void)state;
    struct ulb_record record = record_of(SAMPLE_SERVER);
    const struct ulb_report_record one = {&record, "run.json"};
    json_t *machine = json_object_get(record.root, "machine");
    json_t *class = json_array_get(json_object_get(json_object_get(record.root, "topology"), "classes"), 0);
    json_object_set_new(machine, "governor", json_string("powersave"));
    json_object_set_new(json_object_get(machine, "huge_pages"), "got_bytes", json_integer(0));
    json_object_set_new(class, "smt", json_integer(2));
    char *html = page_of(&one, 1);
    assert_non_null(strstr(html, "<li>yardstick drifted by 1.2 % during the run: noisy"));
    assert_non_null(strstr(html, "<li>cpufreq governor is powersave"));
    assert_non_null(strstr(html, "<li>no huge pages"));
    assert_non_null(
        strstr(html, "<li>SMT is on: siblings share a core's execution slots, one thread a core"));
    free(html);
    json_object_set_new(json_object_get(machine, "huge_pages"), "got_bytes", json_null());
    json_array_append_new(
        json_object_get(record.root, "warnings"),
        json_string("set 0-1: PUs 0-1 are one core; names such as P and all take one of each"));
    html = page_of(&one, 1);
    assert_null(strstr(html, "<li>no huge pages"));
    assert_null(strstr(html, "one thread a core was used"));
    assert_non_null(
        strstr(html, "<li>SMT is on: siblings share a core's execution slots, and some were used"));
    free(html);
    ulb_record_free(&record);
}

/* A record of decoding alone has its yardsticks in its runs. */
static void test_yardsticks_of_decoding(void **state)
{
    (void)state;
    struct ulb_record record;
    const struct ulb_report_record one = {&record, "run.json"};
    assert_int_equal(ulb_record_new(&record, &err), ULB_OK);
    char *html = page_of(&one, 1);
    assert_non_null(strstr(html, "yardstick<td>- (not measured)"));
    free(html);
    json_t *runs = json_pack("[{s:f}, {s:f}]", "yardstick_gbps", 41.26, "yardstick_gbps", 38.5);
    assert_int_equal(json_object_set_new(record.root, "decode", json_pack("{s:o}", "runs", runs)), 0);
    html = page_of(&one, 1);
    assert_non_null(strstr(html, "yardstick<td>38.5 to 41.3 GB/s, beside the tokens"));
    free(html);
    ulb_record_free(&record);
}

/* Names are text, never elements; and every kind of record has its page. */
static void test_names_are_no_elements(void **state)
{
    (void)state;
    static const char trap[] = "</td><script>alert(1)</script>\"&'";
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        struct ulb_record record = record_of((enum sample_kind)kind), other = record_of(SAMPLE_SERVER);
        struct ulb_report_record records[] = {{&record, trap}, {&other, "b.json"}};
        json_object_set_new(json_object_get(record.root, "machine"), "cpu_model", json_string(trap));
        json_array_append_new(json_object_get(record.root, "warnings"), json_string(trap));
        json_t *cell;
        size_t i;
        json_array_foreach(json_object_get(record.root, "cells"), i, cell)
        {
            json_object_set_new(cell, "layer", json_string("<b>&\"x"));
            json_object_set_new(cell, "verdict", json_string(trap));
        }
        char *html = page_of(records, 2);
        assert_null(strstr(html, "<script>alert"));
        assert_null(strstr(html, "<b>&"));
        assert_non_null(strstr(html, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;"));
        assert_non_null(strstr(html, "<td>&lt;b&gt;&amp;&quot;x"));
        assert_non_null(strstr(html, "Side by side"));
        free(html);
        ulb_record_free(&record);
        ulb_record_free(&other);
    }
}

static void test_without_gnuplot(void **state)
{
    (void)state;
    char *path = strdup(getenv("PATH"));
    struct ulb_record record = record_of(SAMPLE_SERVER);
    const struct ulb_report_record one = {&record, "run.json"};
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    char *html = page_of(&one, 1);
    assert_int_equal(setenv("PATH", path, 1), 0);
    assert_non_null(strstr(no_figures.message, "apt-get install gnuplot-nox"));
    assert_non_null(strstr(html, "The figures are left out: "));
    assert_non_null(strstr(html, "</html>"));
    free(html);
    free(path);
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdict),
        cmocka_unit_test(test_verdict_of_many_formats),
        cmocka_unit_test(test_median_of_an_even_number),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_yardsticks_of_decoding),
        cmocka_unit_test(test_names_are_no_elements),
        cmocka_unit_test(test_without_gnuplot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
