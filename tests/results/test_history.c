/* The history: many writers, killed writers, files that are none. */
#include "results/history/history.h"
#include "tests/results/sample_record.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WRITERS = 6, EACH = 8, KILLS = 12 };

static struct ulb_error err;
static char folder[64], path[128];

/* What statfs says of every file; 0: the truth. */
static long file_system;

int statfs(const char *file, struct statfs *is)
{
    int result = (int)syscall(SYS_statfs, file, is);
    if (result == 0 && file_system != 0)
        is->f_type = (__typeof__(is->f_type))file_system;
    return result;
}

static int setup(void **state)
{
    (void)state;
    sample_folder(folder);
    snprintf(path, sizeof path, "%s/history.db", folder);
    return 0;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static void run(const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

/* The sample of a server, measured at that minute on that commit. */
static void make(struct ulb_record *record, unsigned number, const char *commit)
{
    char created[32];
    snprintf(created, sizeof created, "2026-01-%02uT%02u:%02u:00Z", 1 + number / 1440 % 28, number / 60 % 24,
             number % 60);
    if (sample_record(record, SAMPLE_SERVER, &err) != ULB_OK)
        fail_msg("%s", err.message);
    json_object_set_new(record->root, "created", json_string(created));
    json_object_set_new(json_object_get(record->root, "build"), "commit", json_string(commit));
}

static struct ulb_history *open_history(bool create)
{
    struct ulb_history *history;
    if (ulb_history_open(&history, path, create, &err) != ULB_OK)
        fail_msg("%s", err.message);
    return history;
}

static bool add(struct ulb_history *history, unsigned number, const char *commit, const char *committed)
{
    struct ulb_record record;
    bool added;
    make(&record, number, commit);
    if (ulb_history_add(history, &record, committed, &added, &err) != ULB_OK)
        fail_msg("%s", err.message);
    ulb_record_free(&record);
    return added;
}

static size_t values_of_a_record(void)
{
    struct ulb_record record;
    struct ulb_value *values;
    size_t n;
    make(&record, 0, "x");
    assert_int_equal(ulb_record_values(&record, &values, &n, &err), ULB_OK);
    free(values);
    ulb_record_free(&record);
    assert_true(n > 100);
    return n;
}

/* Every record is whole, and the file is sound; returns how many there are. */
static size_t check_whole(void)
{
    struct ulb_history *history = open_history(false);
    struct ulb_history_record *records;
    size_t n, values = values_of_a_record();
    assert_int_equal(ulb_history_records(history, &records, &n, &err), ULB_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(records[i].values, values);
    free(records);
    ulb_history_close(history);
    run("[ \"$(sqlite3 %s 'PRAGMA integrity_check; PRAGMA foreign_key_check')\" = ok ]", path);
    return n;
}

/* Tokens decoded into a record that the history has make no second measurement of its cells; another run of
 * the same minute is one. */
static void test_twin(void **state)
{
    (void)state;
    struct ulb_history *history = open_history(true);
    struct ulb_record record;
    bool added;
    assert_true(add(history, 1, "aaa", NULL));
    make(&record, 1, "aaa");
    json_array_append_new(json_object_get(record.root, "warnings"), json_string("decoded since"));
    assert_int_equal(ulb_history_add(history, &record, NULL, &added, &err), ULB_OK);
    assert_false(added);
    json_t *cell = json_array_get(json_object_get(record.root, "cells"), 0);
    json_object_set_new(cell, "efficiency", json_real(0.5));
    assert_int_equal(ulb_history_add(history, &record, NULL, &added, &err), ULB_OK);
    assert_true(added);
    ulb_record_free(&record);
    ulb_history_close(history);
    assert_int_equal(check_whole(), 2);
}

static void test_series(void **state)
{
    (void)state;
    struct ulb_history *history = open_history(true);
    struct ulb_trend *series;
    size_t n;
    assert_true(add(history, 1, "aaa", NULL));
    assert_true(add(history, 2, "bbb", NULL));
    assert_false(add(history, 1, "aaa", NULL));
    assert_int_equal(ulb_history_trends(history, ULB_METRIC_EFFICIENCY,
                                        "^int2a8-pshufb-avx2-.*llama3-8b/down", 0, &series, &n, &err),
                     ULB_OK);
    assert_int_equal(n, 1);
    assert_int_equal(series->n_points, 2);
    assert_string_equal(series->points[0].commit, "aaa");
    assert_string_equal(series->points[1].created, "2026-01-01T00:02:00Z");
    assert_true(series->points[0].value > 0 && series->points[0].lo <= series->points[0].value);
    assert_string_equal(series->origin_key, "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz, 2 cores");
    ulb_trends_free(series, n);
    assert_int_equal(ulb_history_trends(history, ULB_METRIC_INSTRUCTIONS, "avxvnni", 1, &series, &n, &err),
                     ULB_OK);
    assert_int_equal(n, 3);
    assert_int_equal(series->n_points, 1);
    assert_string_equal(series->points->commit, "bbb");
    assert_string_equal(series->origin_key, "gcc 12.2.0 -O2 -g1");
    ulb_trends_free(series, n);
    assert_int_equal(ulb_history_trends(history, ULB_METRIC_US, "nosuch", 0, &series, &n, &err), ULB_OK);
    assert_int_equal(n, 0);
    ulb_trends_free(series, n);
    /* A figure in noise, as a gamma may be, has no ratio to others. */
    run("sqlite3 %s 'UPDATE point SET value = -0.1 WHERE record = 1'", path);
    assert_int_equal(
        ulb_history_trends(history, ULB_METRIC_EFFICIENCY, "llama3-8b/down", 0, &series, &n, &err), ULB_OK);
    assert_true(n > 0 && series->n_points == 1);
    assert_string_equal(series->points->commit, "bbb");
    ulb_trends_free(series, n);
    assert_int_equal(ulb_history_trends(history, ULB_METRIC_US, "[", 0, &series, &n, &err), ULB_BAD_INPUT);
    ulb_history_close(history);
}

/* Compilers whose flags differ behind hundreds of others count apart. */
static void test_long_flags(void **state)
{
    (void)state;
    struct ulb_history *history = open_history(true);
    struct ulb_trend *series;
    char flags[700];
    size_t n;
    for (unsigned i = 0; i < 2; i++) {
        struct ulb_record record;
        bool added;
        memset(flags, 'f', sizeof flags);
        snprintf(flags + 600, sizeof flags - 600, " -O%u", 2 + i);
        make(&record, i, "c");
        json_object_set_new(json_object_get(record.root, "build"), "flags", json_string(flags));
        assert_int_equal(ulb_history_add(history, &record, NULL, &added, &err), ULB_OK);
        ulb_record_free(&record);
    }
    assert_int_equal(ulb_history_trends(history, ULB_METRIC_INSTRUCTIONS, "^int2a8-pshufb-avx2-32x1x4 ", 0,
                                        &series, &n, &err),
                     ULB_OK);
    assert_int_equal(n, 2);
    assert_int_equal(series[0].n_points, 1);
    assert_non_null(strstr(series[1].origin_key, flags));
    ulb_trends_free(series, n);
    ulb_history_close(history);
}

static void set_source(struct ulb_record *record, const char *source)
{
    json_t *counts = json_object_get(record->root, "counts"), *count;
    size_t i;
    json_array_foreach(counts, i, count)
    {
        if (json_is_number(json_object_get(count, "instructions_per_step")))
            json_object_set_new(count, "source", json_string(source));
    }
}

/* perf and callgrind make two series of one kernel; one of an older version, without the source in its key,
 * is still read. */
static void test_counts_of_two_sources(void **state)
{
    (void)state;
    static const char regex[] = "^int2a8-pshufb-avx2-32x1x4( |$)";
    struct ulb_history *history = open_history(true);
    struct ulb_record record;
    struct ulb_trend *series;
    bool added;
    size_t n;
    assert_true(add(history, 1, "old", NULL));
    run("sqlite3 %s \"UPDATE series SET key = replace(key, ' callgrind', '') WHERE metric = 'instructions'\"",
        path);
    assert_true(add(history, 2, "callgrind", NULL));
    make(&record, 3, "perf");
    set_source(&record, "perf");
    assert_int_equal(ulb_history_add(history, &record, NULL, &added, &err), ULB_OK);
    ulb_record_free(&record);
    assert_int_equal(ulb_history_trends(history, ULB_METRIC_INSTRUCTIONS, regex, 0, &series, &n, &err),
                     ULB_OK);
    assert_int_equal(n, 3);
    static const char *const keys[] = {"int2a8-pshufb-avx2-32x1x4", "int2a8-pshufb-avx2-32x1x4 callgrind",
                                       "int2a8-pshufb-avx2-32x1x4 perf"};
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(series[i].key, keys[i]);
        assert_int_equal(series[i].n_points, 1);
    }
    ulb_trends_free(series, n);
    ulb_history_close(history);
}

/* A commit measured late stands where it was made. */
static void test_order_is_that_of_commits(void **state)
{
    (void)state;
    struct ulb_history *history = open_history(true);
    struct ulb_history_record *records;
    size_t n;
    add(history, 10, "first", "2025-01-01T00:00:00Z");
    add(history, 11, "third", "2025-01-03T00:00:00Z");
    add(history, 12, "unknown", NULL);
    add(history, 13, "second", "2025-01-02T00:00:00Z");
    add(history, 14, "second", "2025-01-02T00:00:00Z");
    assert_int_equal(ulb_history_records(history, &records, &n, &err), ULB_OK);
    static const char *const order[] = {"first", "second", "second", "third", "unknown"};
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(records[i].commit, order[i]);
    assert_string_equal(records[1].created, "2026-01-01T00:13:00Z");
    assert_string_equal(records[4].committed, "");
    free(records);
    ulb_history_close(history);
}

static void test_many_writers(void **state)
{
    (void)state;
    for (unsigned w = 0; w < WRITERS; w++) {
        if (fork() != 0)
            continue;
        for (unsigned i = 0; i < EACH; i++) {
            /* Each opens anew, as processes of their own would; the first makes the file. */
            struct ulb_history *history;
            struct ulb_record record;
            bool added;
            make(&record, w * EACH + i, "w");
            if (ulb_history_open(&history, path, true, &err) != ULB_OK ||
                ulb_history_add(history, &record, NULL, &added, &err) != ULB_OK || !added) {
                fprintf(stderr, "writer %u: %s\n", w, err.message);
                _exit(1);
            }
            ulb_record_free(&record);
            ulb_history_close(history);
        }
        _exit(0);
    }
    for (unsigned w = 0; w < WRITERS; w++) {
        int result;
        assert_true(wait(&result) > 0);
        assert_int_equal(result, 0);
    }
    assert_int_equal(check_whole(), WRITERS * EACH);
}

/* Adds records until it is killed; a byte on the pipe for each that was added. */
static void add_for_ever(unsigned from, int notice)
{
    struct ulb_history *history;
    if (ulb_history_open(&history, path, true, &err) != ULB_OK)
        _exit(1);
    for (unsigned i = from;; i++) {
        struct ulb_record record;
        bool added;
        make(&record, i, "k");
        if (ulb_history_add(history, &record, NULL, &added, &err) != ULB_OK || write(notice, "+", 1) != 1)
            _exit(1);
        ulb_record_free(&record);
    }
}

static void test_killed_writers(void **state)
{
    (void)state;
    size_t promised = 0;
    for (unsigned kill_number = 0; kill_number < KILLS; kill_number++) {
        int ends[2];
        char bytes[4096];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0)
            add_for_ever(1000 * kill_number, ends[1]);
        close(ends[1]);
        /* At any moment of making the file, adding the first or a later one. */
        for (unsigned i = 0; i < kill_number % 4 && read(ends[0], bytes, 1) == 1; i++)
            promised++;
        usleep(7919 * kill_number % 9000);
        kill(child, SIGKILL);
        int result;
        waitpid(child, &result, 0);
        assert_true(WIFSIGNALED(result));
        for (ssize_t got; (got = read(ends[0], bytes, sizeof bytes)) > 0;)
            promised += (size_t)got;
        close(ends[0]);
        if (access(path, F_OK) == 0 && promised > 0) {
            size_t there = check_whole();
            /* One may have been added that could not tell any more. */
            assert_in_range(there, promised, promised + kill_number + 1);
        }
    }
    assert_true(promised > 0);
}

static void assert_refused(bool create, const char *words)
{
    struct ulb_history *history;
    assert_int_equal(ulb_history_open(&history, path, create, &err), ULB_BAD_INPUT);
    assert_null(history);
    if (!strstr(err.message, words) || !strstr(err.message, path))
        fail_msg("'%s' and the path are not in '%s'", words, err.message);
}

static void test_files_that_are_none(void **state)
{
    (void)state;
    struct ulb_history *history;
    assert_refused(false, "history add");
    run("head -c 10000 /dev/urandom >%s", path);
    assert_refused(false, "no history of ulb-bench");
    assert_refused(true, "no history of ulb-bench");
    run("rm %s; sqlite3 %s 'CREATE TABLE mine(x)'", path, path);
    assert_refused(true, "another program's");
    run("[ \"$(sqlite3 %s 'SELECT name FROM sqlite_schema')\" = mine ]", path);
    run("rm %s; : >%s", path, path);
    assert_refused(false, "is empty");
    ulb_history_close(open_history(true));
    ulb_history_close(open_history(false));
    run("sqlite3 %s 'PRAGMA user_version = 9'", path);
    assert_refused(true, "newer version of ulb-bench (9)");
    snprintf(path, sizeof path, "%s/no/folder.db", folder);
    assert_int_equal(ulb_history_open(&history, path, true, &err), ULB_ENVIRONMENT);
}

/* Cut in the middle: a message, not a crash. */
static void test_truncated_file(void **state)
{
    (void)state;
    struct ulb_history *history = open_history(true);
    struct ulb_trend *series;
    size_t n;
    for (unsigned i = 0; i < 5; i++)
        add(history, i, "t", NULL);
    ulb_history_close(history);
    run("truncate -s 20000 %s", path);
    enum ulb_status status = ulb_history_open(&history, path, false, &err);
    if (status == ULB_OK)
        status = ulb_history_trends(history, ULB_METRIC_US, NULL, 0, &series, &n, &err);
    assert_int_equal(status, ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "damaged"));
    ulb_history_close(history);
}

static char journal_version(void)
{
    char header[20] = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    return header[18];
}

/* A write-ahead log needs memory that all users share: none on a network file system, and one that came
 * there with a log is turned back. */
static void test_network_file_systems(void **state)
{
    enum { ROLLBACK = 1, WRITE_AHEAD = 2, NFS = 0x6969 };
    (void)state;
    struct ulb_history *history = open_history(true);
    add(history, 1, "local", NULL);
    ulb_history_close(history);
    assert_int_equal(journal_version(), WRITE_AHEAD);
    file_system = NFS;
    history = open_history(true);
    add(history, 2, "network", NULL);
    ulb_history_close(history);
    file_system = 0;
    assert_int_equal(journal_version(), ROLLBACK);
    assert_int_equal(check_whole(), 2);
}

#define FOR_EVER "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "

/* Views in the place of tables, and triggers, could compute for ever. */
static void test_hostile_schema(void **state)
{
    (void)state;
    ulb_history_close(open_history(true));
    run("sqlite3 %s \"CREATE TRIGGER t AFTER INSERT ON record BEGIN INSERT INTO series(metric, key, "
        "place) " FOR_EVER "SELECT 'us', i, '' FROM n; END\"",
        path);
    struct ulb_history *history = open_history(true);
    assert_true(add(history, 1, "aaa", NULL));
    ulb_history_close(history);
    run("sqlite3 %s \"DROP TRIGGER t; ALTER TABLE point RENAME TO other; CREATE VIEW point AS " FOR_EVER
        "SELECT 1 AS record, i AS series, 1 AS value, 1 AS lo, 1 AS hi FROM n\"",
        path);
    assert_refused(false, "'point' in it is another's");
    assert_refused(true, "'point' in it is another's");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_series),
        TEST(test_twin),
        TEST(test_order_is_that_of_commits),
        TEST(test_counts_of_two_sources),
        TEST(test_long_flags),
        TEST(test_many_writers),
        TEST(test_killed_writers),
        TEST(test_files_that_are_none),
        TEST(test_truncated_file),
        TEST(test_network_file_systems),
        TEST(test_hostile_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
