/* Records of many cells: compared without holding them, with the answers of records that are held. */
#include "results/compare/compare.h"
#include "tests/results/sample_record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

enum { SAMPLES = 27, FEW = 300, SOME = 5000, MANY = 20000 };

static struct ulb_error err;
static char folder[64], base_path[96], new_path[96];

static const struct ulb_compare_settings settings = {
    .metric = ULB_METRIC_EFFICIENCY, .threshold = NAN, .must_see = ULB_MUST_SEE};

/* Cell number i of a record: a sample's cell at a shape of its own. */
static json_t *make_cell(const json_t *cells, size_t i, double factor)
{
    size_t n = json_array_size(cells);
    json_t *cell = json_copy(json_array_get(cells, i % n)), *samples = json_array();
    json_int_t m = json_integer_value(json_object_get(cell, "m"));
    json_object_set_new(cell, "m", json_integer(m + 64 * (json_int_t)(i / n)));
    double us = json_number_value(json_object_get(cell, "us"));
    for (size_t s = 0; s < SAMPLES; s++)
        json_array_append_new(samples, json_real(us * factor * (1 + 0.001 * (double)((i + 7 * s) % 13))));
    json_object_set_new(cell, "us_samples", samples);
    json_object_set_new(cell, "disturbed_samples", json_pack("[i]", 5));
    json_object_set_new(cell, "samples_per_round", json_integer(3));
    return cell;
}

static void put_cells(FILE *file, const json_t *cells, size_t n, double factor)
{
    fprintf(file, "\"cells\": [");
    for (size_t i = 0; i < n; i++) {
        json_t *cell = make_cell(cells, i, factor);
        fputs(i ? ",\n" : "\n", file);
        assert_int_equal(json_dumpf(cell, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)), 0);
        json_decref(cell);
    }
    fputs("]", file);
}

/* A record of n cells, which stand behind the other sections or before them. */
static void write_record(const char *path, size_t n, double factor, bool cells_first)
{
    struct ulb_record record;
    assert_int_equal(sample_record(&record, SAMPLE_SERVER, &err), ULB_OK);
    json_t *cells = json_incref(json_object_get(record.root, "cells"));
    json_object_del(record.root, "cells");
    char *rest = json_dumps(record.root, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    FILE *file = fopen(path, "we");
    assert_true(rest && file);
    rest[strlen(rest) - 1] = '\0'; /* the closing brace */
    if (cells_first) {
        fputs("{", file);
        put_cells(file, cells, n, factor);
        fprintf(file, ",%s}", rest + 1);
    } else {
        fprintf(file, "%s,", rest);
        put_cells(file, cells, n, factor);
        fputs("}", file);
    }
    assert_int_equal(fclose(file), 0);
    free(rest);
    json_decref(cells);
    ulb_record_free(&record);
}

static enum ulb_status compare_files(struct ulb_comparison *comparison)
{
    struct ulb_compare_side base, fresh;
    enum ulb_status status = ulb_compare_side_read(&base, base_path, settings.metric, &err);
    if (status != ULB_OK)
        return status;
    status = ulb_compare_side_read(&fresh, new_path, settings.metric, &err);
    if (status == ULB_OK)
        status = ulb_compare_sides(&base, &fresh, &settings, comparison, &err);
    if (status == ULB_OK)
        ulb_compare_side_free(&fresh);
    ulb_compare_side_free(&base);
    return status;
}

static void compare_held(struct ulb_comparison *comparison)
{
    struct ulb_record base, fresh;
    assert_int_equal(ulb_record_read(&base, base_path, &err), ULB_OK);
    assert_int_equal(ulb_record_read(&fresh, new_path, &err), ULB_OK);
    assert_int_equal(ulb_compare(&base, &fresh, &settings, comparison, &err), ULB_OK);
    ulb_record_free(&base);
    ulb_record_free(&fresh);
}

static void test_the_answer_is_that_of_held_records(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct ulb_comparison held, passed;
        bool cells_first = i & 1;
        write_record(base_path, FEW, 1, cells_first);
        write_record(new_path, FEW, i & 2 ? 1.8 : 1, !cells_first);
        assert_int_equal(compare_files(&passed), ULB_OK);
        compare_held(&held);
        assert_int_equal(passed.n, FEW);
        assert_int_equal(held.n, FEW);
        assert_int_equal(passed.identical, !(i & 2));
        assert_int_equal(held.identical, passed.identical);
        assert_memory_equal(held.count, passed.count, sizeof held.count);
        for (size_t c = 0; c < FEW; c++) {
            assert_string_equal(held.cells[c].key, passed.cells[c].key);
            assert_int_equal(held.cells[c].verdict, passed.cells[c].verdict);
            assert_memory_equal(&held.cells[c].ratio, &passed.cells[c].ratio, sizeof(double));
        }
        ulb_comparison_free(&held);
        ulb_comparison_free(&passed);
    }
}

static void test_wrong_results_are_counted(void **state)
{
    (void)state;
    struct ulb_comparison comparison;
    write_record(base_path, FEW, 1, false);
    struct ulb_record record;
    assert_int_equal(ulb_record_read(&record, base_path, &err), ULB_OK);
    json_t *cells = json_object_get(record.root, "cells");
    for (size_t i = 7; i < 9; i++)
        json_object_set_new(json_array_get(cells, i), "verified", json_false());
    assert_int_equal(ulb_record_write(&record, new_path, &err), ULB_OK);
    assert_int_equal(compare_files(&comparison), ULB_OK);
    assert_int_equal(comparison.wrong, 2);
    assert_false(comparison.identical);
    assert_string_equal(comparison.wrong_kernel,
                        json_string_value(json_object_get(json_array_get(cells, 7), "kernel")));
    ulb_comparison_free(&comparison);
    ulb_record_free(&record);
}

/* A fault among many cells is named by its place, and one of the document before it. */
static void test_faults_name_the_place(void **state)
{
    (void)state;
    char *text;
    size_t bytes;
    write_record(base_path, SOME, 1, false);
    FILE *file = fopen(base_path, "re");
    text = calloc(1, 64 << 20);
    assert_true(file && text);
    bytes = fread(text, 1, (64 << 20) - 1, file);
    fclose(file);
    struct ulb_compare_side side;
    for (int i = 0; i < 2; i++) {
        char expected[160];
        char *flag = strstr(text + bytes / 2, "\"verified\": true"), *last = text + bytes - 1;
        if (i == 0)
            memcpy(flag + 12, "1234", 4);
        else
            *last = ']';
        const char *cells = NULL; /* those of the record are the last */
        size_t line = 1, cell = 0;
        for (const char *at = text; (at = strstr(at, "\"cells\": [")); at++)
            cells = at;
        for (const char *at = text; at < last; at++)
            line += *at == '\n';
        for (const char *at = cells; (at = strstr(at, "\"verified\"")) && at < flag; at++)
            cell++;
        file = fopen(new_path, "we");
        assert_int_equal(fwrite(text, 1, bytes, file), bytes);
        assert_int_equal(fclose(file), 0);
        if (i == 0)
            snprintf(expected, sizeof expected,
                     "%s: cells[%zu]: verified: true or false is needed, a number is there", new_path, cell);
        else
            snprintf(expected, sizeof expected, "%s: line %zu, column 3: '}' expected near ']'", new_path,
                     line);
        assert_int_equal(ulb_compare_side_read(&side, new_path, settings.metric, &err), ULB_BAD_INPUT);
        assert_string_equal(err.message, expected);
    }
    free(text);
}

/* What a comparison of two records of n cells takes, in a process of its own. */
static struct rusage cost_of(size_t n)
{
    struct rusage usage;
    int code;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        write_record(base_path, n, 1, false);
        write_record(new_path, n, 1.01, false);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct ulb_comparison comparison;
        bool done = compare_files(&comparison) == ULB_OK && comparison.n == n;
        _exit(done ? 0 : 1);
    }
    assert_int_equal(wait4(child, &code, 0, &usage), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    return usage;
}

static double seconds_of(const struct rusage *usage)
{
    return (double)usage->ru_utime.tv_sec + 1e-6 * (double)usage->ru_utime.tv_usec;
}

/* A tree of a document takes several times the document's bytes, what a comparison keeps less than twice. */
static void test_memory_and_time_are_bounded(void **state)
{
    (void)state;
    struct stat base, fresh;
    struct rusage some = cost_of(SOME), many = cost_of(MANY);
    assert_int_equal(stat(base_path, &base), 0);
    assert_int_equal(stat(new_path, &fresh), 0);
    double bytes = 1024 * (double)many.ru_maxrss, files = (double)(base.st_size + fresh.st_size);
    double slower = seconds_of(&many) / seconds_of(&some);
    print_message("%.0f MB of files, %.0f MB of memory; %.1f times the time for 4 times the cells\n",
                  1e-6 * files, 1e-6 * bytes, slower);
#ifndef ULB_SANITIZED /* sanitizers have memory of their own */
    assert_true(bytes < 2 * files);
#endif
    assert_true(slower < 8); /* a pass over all cells for each cell would make it 16 */
}

static int set_up(void **state)
{
    (void)state;
    sample_folder(folder);
    snprintf(base_path, sizeof base_path, "%s/base.json", folder);
    snprintf(new_path, sizeof new_path, "%s/new.json", folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(base_path);
    remove(new_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_and_time_are_bounded), /* first: the others make this process large */
        cmocka_unit_test(test_the_answer_is_that_of_held_records),
        cmocka_unit_test(test_wrong_results_are_counted),
        cmocka_unit_test(test_faults_name_the_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
