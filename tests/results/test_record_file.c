/* Records on disk: written and read again, and what happens where they cannot be written. */
#include "tests/results/sample_record.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
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

#include <cmocka.h>

static struct ulb_error err;

static void make(struct ulb_record *record, enum sample_kind kind)
{
    if (sample_record(record, kind, &err) != ULB_OK)
        fail_msg("%s", err.message);
}

static size_t files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t n = 0;
    for (const struct dirent *entry; (entry = readdir(dir));)
        n += entry->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void test_file_round_trip(void **state)
{
    (void)state;
    char folder[64], path[128];
    sample_folder(folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    for (int kind = 0; kind < SAMPLE_KINDS; kind++) {
        struct ulb_record out, in;
        make(&out, (enum sample_kind)kind);
        if (ulb_record_write(&out, path, &err) != ULB_OK || ulb_record_read(&in, path, &err) != ULB_OK)
            fail_msg("%s", err.message);
        struct ulb_beta_cell *a, *b;
        struct ulb_gamma_cell *gammas;
        struct ulb_yardstick *yardsticks;
        size_t n, m;
        assert_int_equal(ulb_record_beta_cells(&out, &a, &n, &err), ULB_OK);
        assert_int_equal(ulb_record_beta_cells(&in, &b, &m, &err), ULB_OK);
        assert_int_equal(n, m);
        for (size_t i = 0; i < n; i++) {
            assert_string_equal(a[i].set, b[i].set);
            assert_true(fabs(a[i].gbps - b[i].gbps) <= 1e-8 * a[i].gbps);
            assert_int_equal(isnan(a[i].bytes_per_cycle), isnan(b[i].bytes_per_cycle));
            assert_int_equal(a[i].n_samples, b[i].n_samples);
        }
        ulb_beta_cells_free(a, n);
        ulb_beta_cells_free(b, m);
        assert_int_equal(ulb_record_gamma_cells(&in, &gammas, &n, &err), ULB_OK);
        assert_true(n >= 9);
        assert_string_equal(gammas[0].cls, kind == SAMPLE_HYBRID    ? "P"
                                           : kind == SAMPLE_LONGEST ? "corewww"
                                                                    : "core");
        ulb_gamma_cells_free(gammas, n);
        assert_int_equal(ulb_record_yardsticks(&in, &yardsticks, &n, &err), ULB_OK);
        assert_int_equal(n, 1);
        ulb_yardsticks_free(yardsticks, n);
        ulb_record_free(&out);
        ulb_record_free(&in);
    }
    assert_int_equal(files_in(folder), 1); /* no temporary file is left */
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Runs write in a child and returns its status; the child may give up rights and limits. */
static enum ulb_status write_in_child(const char *path, void (*prepare)(void))
{
    pid_t child = fork();
    if (child == 0) {
        struct ulb_record record;
        make(&record, SAMPLE_SERVER);
        prepare();
        enum ulb_status status = ulb_record_write(&record, path, &err);
        if (status == ULB_ENVIRONMENT && !strstr(err.message, path))
            status = ULB_FINDING;
        _exit((int)status);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return (enum ulb_status)WEXITSTATUS(result);
}

static void limit_files(void)
{
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {10000, 10000};
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void become_nobody(void)
{
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(99);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_text(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, expected);
}

static void test_full_disk_keeps_the_old(void **state)
{
    (void)state;
    char folder[64], path[128];
    sample_folder(folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    assert_int_equal(write_in_child(path, limit_files), ULB_ENVIRONMENT);
    assert_int_equal(files_in(folder), 0);
    write_text(path, "old");
    assert_int_equal(write_in_child(path, limit_files), ULB_ENVIRONMENT);
    assert_text(path, "old");
    assert_int_equal(files_in(folder), 1);
    unlink(path);
    rmdir(folder);
}

static void test_no_permission(void **state)
{
    (void)state;
    char folder[64], path[128];
    sample_folder(folder);
    snprintf(path, sizeof path, "%s/run.json", folder);
    assert_int_equal(chmod(folder, 0555), 0);
    assert_int_equal(write_in_child(path, become_nobody), ULB_ENVIRONMENT);
    assert_int_equal(files_in(folder), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void test_bad_targets(void **state)
{
    (void)state;
    char folder[64], link[128], target[128];
    sample_folder(folder);
    struct ulb_record record;
    make(&record, SAMPLE_SERVER);
    assert_int_equal(ulb_record_write(&record, folder, &err), ULB_BAD_INPUT);
    assert_int_equal(ulb_record_write(&record, "/dev/null", &err), ULB_BAD_INPUT);
    assert_int_equal(ulb_record_write(&record, "/nowhere/run.json", &err), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "/nowhere/run.json could not be written: No such file or directory");
    /* A link stays, its target changes. */
    snprintf(link, sizeof link, "%s/latest.json", folder);
    snprintf(target, sizeof target, "%s/run.json", folder);
    write_text(target, "old");
    assert_int_equal(symlink("run.json", link), 0);
    assert_int_equal(ulb_record_write(&record, link, &err), ULB_OK);
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(target, &info), 0);
    assert_true(info.st_size > 10000);
    unlink(link);
    unlink(target);
    rmdir(folder);
    ulb_record_free(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file_round_trip),
        cmocka_unit_test(test_full_disk_keeps_the_old),
        cmocka_unit_test(test_no_permission),
        cmocka_unit_test(test_bad_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
