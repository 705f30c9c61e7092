/* Figures when gnuplot is not there, fails, or its output cannot be written: one clear line, no partial file.
 */
#include "plots/draw/figure.h"
#include "tests/results/sample_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static struct ulb_error err;
static struct ulb_record record;
static char folder[64], prefix[80], path[128], program[80];

static int open_sample(void **state)
{
    (void)state;
    sample_folder(folder);
    snprintf(prefix, sizeof prefix, "%s/run", folder);
    snprintf(program, sizeof program, "%s/gnuplot", folder);
    return sample_record(&record, SAMPLE_SERVER, &err) == ULB_OK ? setenv("PATH", folder, 1) : -1;
}

static int close_sample(void **state)
{
    (void)state;
    ulb_record_free(&record);
    unlink(program);
    return rmdir(folder); /* fails when a file was left behind */
}

/* A gnuplot of our own, first and only in PATH. */
static void make_gnuplot(const char *script)
{
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", script);
    assert_int_equal(fchmod(fileno(file), 0755), 0);
    fclose(file);
}

static enum ulb_status draw_into(const char *where)
{
    return ulb_figure_draw(&record, "bars", "svg", where, path, sizeof path, &err);
}

static void test_missing(void **state)
{
    (void)state;
    assert_int_equal(draw_into(prefix), ULB_ENVIRONMENT);
    assert_string_equal(
        err.message, "figures need the program gnuplot, which is not in PATH; apt-get install gnuplot-nox");
}

static void test_fails_half_way(void **state)
{
    (void)state;
    make_gnuplot("echo '<svg>'; echo 'line 3: undefined variable: x' >&2; exit 1");
    assert_int_equal(draw_into(prefix), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "gnuplot failed: line 3: undefined variable: x");
    make_gnuplot("echo '<svg>'; kill -9 $$");
    assert_int_equal(draw_into(prefix), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "gnuplot was killed by signal 9");
    make_gnuplot("exit 0");
    assert_int_equal(draw_into(prefix), ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "drew nothing"));
}

static void test_failure_keeps_the_old_figure(void **state)
{
    (void)state;
    char text[64] = "";
    make_gnuplot("echo '<svg>old</svg>'");
    assert_int_equal(draw_into(prefix), ULB_OK);
    make_gnuplot("echo '<svg>new'; exit 1");
    assert_int_equal(draw_into(prefix), ULB_ENVIRONMENT);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(text, sizeof text, file));
    fclose(file);
    assert_string_equal(text, "<svg>old</svg>\n");
    assert_int_equal(unlink(path), 0);
}

/* The script reaches gnuplot through its standard input, and the user's start-up files are not read. */
static void test_how_it_is_called(void **state)
{
    (void)state;
    char line[64] = "";
    make_gnuplot("echo \"$@\"; read first; echo \"$first\"");
    assert_int_equal(draw_into(prefix), ULB_OK);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "-d /dev/stdin\n");
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "set encoding utf8\n");
    fclose(file);
    assert_int_equal(unlink(path), 0);
}

static void test_unwritable(void **state)
{
    (void)state;
    make_gnuplot("echo x");
    assert_int_equal(draw_into("/nowhere/run"), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "/nowhere/run-bars.svg could not be written: No such file or directory");
    char long_name[5000];
    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(draw_into(long_name), ULB_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_missing, open_sample, close_sample),
        cmocka_unit_test_setup_teardown(test_fails_half_way, open_sample, close_sample),
        cmocka_unit_test_setup_teardown(test_failure_keeps_the_old_figure, open_sample, close_sample),
        cmocka_unit_test_setup_teardown(test_how_it_is_called, open_sample, close_sample),
        cmocka_unit_test_setup_teardown(test_unwritable, open_sample, close_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
