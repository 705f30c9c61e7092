/* LIKWID's programs, played by shell scripts, and its marker API, played by fake_likwid.c. */
#include "harness/counters/counters_private.h"
#include "harness/counters/likwid.h"
#include "harness/counters/marker.h"
#include "harness/counters/run_program.h"

#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[64]; /* first in PATH */

static int setup(void **state)
{
    strcpy(directory, "/tmp/ulb-likwid-XXXXXX");
    *state = mkdtemp(directory);
    assert_non_null(*state);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}

static void put_in_path(const char *program, const char *script)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, program);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(script, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", directory);
    setenv("PATH", path, 1);
}

static void test_bench_text(void **state)
{
    (void)state;
    static const char text[] = "LIKWID MICRO BENCHMARK\nTest: load_avx\n"
                               "Group: 0 Thread 0 Global Thread 0 running on hwthread 0 - MByte/s: 1\n"
                               "Number of Flops:\t0\nMFlops/s:\t\t0.00\n"
                               "Data volume (Byte):\t16000000000\nMByte/s:\t\t11741.92\n"
                               "Cycles per update:\t1.703282\n";
    double gbps;
    struct ulb_error err;
    assert_int_equal(ulb_likwid_bench_parse(text, &gbps, &err), ULB_OK);
    assert_true(gbps > 11.74191 && gbps < 11.74193);
    assert_int_equal(ulb_likwid_bench_parse("MByte/s:\t\t0.00\n", &gbps, &err), ULB_ENVIRONMENT);
    assert_int_equal(ulb_likwid_bench_parse("MByte/s:\tinf\n", &gbps, &err), ULB_ENVIRONMENT);
    assert_int_equal(ulb_likwid_bench_parse("MByte/s:", &gbps, &err), ULB_ENVIRONMENT);
    assert_int_equal(ulb_likwid_bench_parse("", &gbps, &err), ULB_ENVIRONMENT);
}

static void test_bench_is_run_on_the_pus(void **state)
{
    (void)state;
    put_in_path("likwid-bench", "#!/bin/sh\n"
                                "[ \"$3 $4\" = '-W N:2000000kB:1' ] || { echo \"asked $*\"; exit 4; }\n"
                                "set -- $(grep Cpus_allowed_list /proc/self/status)\n"
                                "echo \"MByte/s: ${2}500\"\n");
    unsigned pu = (unsigned)sched_getcpu();
    double gbps = 0;
    struct ulb_error err = {""};
    assert_int_equal(ulb_likwid_bench_bandwidth(&pu, 1, 2000000000, &gbps, &err), ULB_OK);
    assert_int_equal(gbps * 1e3, pu * 1000.0 + 500);
    assert_int_equal(ulb_likwid_bench_bandwidth(&pu, 1, 1000, &gbps, &err), ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "-W N:1kB:1"));
}

static void test_programs_that_fail(void **state)
{
    (void)state;
    char *output;
    struct ulb_error err;
    char *missing[] = {"ulb-no-such-program", NULL};
    assert_int_equal(ulb_run_program(missing, NULL, 0, 5, &output, &err), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "ulb-no-such-program could not be started; install it or mend PATH");
    char *bad[] = {"sh", "-c", "echo first; echo the reason >&2; echo; exit 2", NULL};
    assert_int_equal(ulb_run_program(bad, NULL, 0, 5, &output, &err), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "sh failed: the reason");
    char *slow[] = {"sleep", "30", NULL};
    assert_int_equal(ulb_run_program(slow, NULL, 0, 0.1, &output, &err), ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "did not end within"));
    assert_null(output);
    char *endless[] = {"yes", NULL};
    assert_int_equal(ulb_run_program(endless, NULL, 0, 30, &output, &err), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "yes printed more than 1024 KiB and was stopped");
    char *good[] = {"sh", "-c", "echo one; echo two >&2", NULL};
    assert_int_equal(ulb_run_program(good, NULL, 0, 5, &output, &err), ULB_OK);
    assert_string_equal(output, "one\ntwo\n");
    free(output);
}

static void assert_likwid(bool works, const char *words)
{
    struct ulb_counter_report report;
    ulb_likwid_probe(&ulb_counter_host, &report);
    assert_int_equal(report.works, works);
    if (!strstr(report.reason, words))
        fail_msg("'%s' is not in '%s'", words, report.reason);
}

/* The program must be asked to keep one core busy. */
static void play_likwid(int mhz, const char *cpi, const char *exit_code)
{
    char script[256];
    snprintf(script, sizeof script,
             "#!/bin/sh\n[ \"$2 $5 $6\" = '-C CLOCK sh' ] || exit 9\necho 'Runtime (RDTSC) [s],0.1'\n"
             "echo 'Clock [MHz],%d'\necho 'CPI,%s'\nexit %s\n",
             mhz, cpi, exit_code);
    put_in_path("likwid-perfctr", script);
}

static void test_likwid_probe(void **state)
{
    (void)state;
    int mhz = (int)(1e-6 * ulb_counter_chain_hz(&ulb_counter_host));
    play_likwid(mhz, "0.5", "0");
    assert_likwid(true, " MHz");
    play_likwid(mhz, "0.05", "0");
    assert_likwid(false, "20.0 instructions per cycle");
    play_likwid(mhz, "0", "0");
    assert_likwid(false, "CPI is 0");
    play_likwid(mhz / 3, "0.5",
                "0"); /* reference cycles of a slow clock, or half of the loop on another PMU */
    assert_likwid(false, "where a chain of adds runs at");
    play_likwid(0, "0.5", "0");
    assert_likwid(false, "sees no core clock");
    put_in_path("likwid-perfctr", "#!/bin/sh\necho 'Cannot get access to MSRs. Please check'; exit 1\n");
    assert_likwid(false, "Cannot get access to MSRs");
}

/* What the library of fake_likwid.c has been asked for, which ctest puts where liblikwid.so.5 is looked for.
 */
static const char *marker_calls(void)
{
    void *library = dlopen("liblikwid.so.5", RTLD_NOW);
    const char *calls = library ? dlsym(library, "fake_likwid_calls") : NULL;
    if (!calls)
        fail_msg("the fake library is not loaded; run this test by ctest");
    return calls;
}

static void test_marker_regions(void **state)
{
    (void)state;
    static const char *const names[] = {"LIKWID_MODE", "LIKWID_FILEPATH", "LIKWID_EVENTS", "LIKWID_THREADS"};
    struct ulb_error err;
    const char *calls = marker_calls();
    for (size_t i = 0; i < 4; i++) { /* with some of them missing nothing is called */
        assert_int_equal(ulb_marker_init(&err), ULB_OK);
        ulb_marker_start("beta");
        ulb_marker_stop("beta");
        ulb_marker_close();
        assert_string_equal(calls, "");
        setenv(names[i], "1", 1);
    }
    assert_int_equal(ulb_marker_init(&err), ULB_OK);
    ulb_marker_start("beta");
    ulb_marker_stop("beta");
    ulb_marker_close();
    ulb_marker_start("after");
    assert_string_equal(calls, "init +beta-beta close");
    for (size_t i = 0; i < 4; i++)
        unsetenv(names[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bench_text),   TEST(test_bench_is_run_on_the_pus), TEST(test_programs_that_fail),
        TEST(test_likwid_probe), TEST(test_marker_regions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
