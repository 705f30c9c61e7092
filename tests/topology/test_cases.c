/* Small made-up machines, each with a trap that real ones hold (written by make_cases.py). */
#include "tests/topology/topology_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char one_class[] = "no sign of more than one class";

static const struct expected_machine machines[] = {
    {"three-kinds",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0-9",
     "",
     1,
     14336,
     3,
     {{"P", "0-3", "0-3", 4, 1, NULL, NULL, "0-3", 48, 2048, 12288},
      {"E", "4-7", "4-7", 4, 1, NULL, "4-7", "4-7", 32, 2048, 12288},
      {"LP-E", "8-9", "8-9", 2, 1, NULL, "8-9", "", 32, 2048, 0}}},
    {"low-power-kind",
     true,
     "hwloc CoreType",
     "0-9",
     "",
     1,
     14336,
     3,
     {{"P", "0-3", "0-3", 4, 1, NULL, NULL, "0-3", 48, 2048, 12288},
      {"E", "4-7", "4-7", 4, 1, NULL, "4-7", "4-7", 32, 2048, 12288},
      {"LP-E", "8-9", "8-9", 2, 1, NULL, "8-9", "", 32, 2048, 0}}},
    {"no-kinds",
     false,
     one_class,
     "0-7",
     "",
     1,
     12288,
     1,
     {{"core", "0-7", "0-7", 8, 1, NULL, NULL, "0-7", 32, 1024, 12288}}},
    {"no-kinds-hybrid",
     true,
     "sizes of L1d and L2",
     "0-7",
     "",
     1,
     12288,
     2,
     {{"P", "0-3", "0-3", 4, 1, NULL, NULL, "0-3", 48, 2048, 12288},
      {"E", "4-7", "4-7", 4, 1, NULL, "4-7", "4-7", 32, 2048, 12288}}},
    {"efficiency-unknown",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0-7",
     "",
     1,
     16384,
     2,
     {{"P", "0-3", "0-3", 4, 1, NULL, NULL, "0-3", 48, 2560, 12288},
      {"LP-E", "4-7", "4-7", 4, 1, NULL, "4-7", "", 32, 4096, 0}}},
    {"nine-phantom-kinds",
     false,
     one_class,
     "0-8",
     "",
     1,
     12288,
     1,
     {{"core", "0-8", "0-8", 9, 1, NULL, NULL, "0-8", 32, 1024, 12288}}},
    {"speed-only",
     true,
     "maximum frequency",
     "0-7",
     "",
     1,
     12288,
     2,
     {{"P", "0-3", "0-3", 4, 1, NULL, NULL, "0-3", 32, 1024, 12288},
      {"E", "4-7", "4-7", 4, 1, NULL, NULL, "4-7", 32, 1024, 12288}}},
    {"scattered-siblings",
     true,
     "hwloc CoreType",
     "0-7",
     "",
     1,
     12288,
     2,
     {{"P", "0,5-7", "0,6", 2, 2, "0,5 6-7", "0,5 6-7", "0,5-7", 48, 2048, 12288},
      {"E", "1-4", "1-4", 4, 1, NULL, "1-4", "1-4", 32, 2048, 12288}}},
    {"smt-off",
     true,
     "hwloc CoreType",
     "0,2,4,6,8-11",
     "1,3,5,7",
     1,
     12288,
     2,
     {{"P", "0,2,4,6", "0,2,4,6", 4, 1, NULL, NULL, "0,2,4,6", 48, 2048, 12288},
      {"E", "8-11", "8-11", 4, 1, NULL, "8-11", "8-11", 32, 2048, 12288}}},
    {"offline",
     true,
     "hwloc CoreType",
     "0,2-3,6-7,9",
     "1,4-5,8",
     1,
     12288,
     2,
     {{"P", "0,2-3", "0,2", 2, 2, "0 2-3", "0 2-3", "0,2-3", 48, 2048, 12288},
      {"E", "6-7,9", "6-7,9", 3, 1, NULL, "6-7,9", "6-7,9", 32, 2048, 12288}}},
    {"one-core-allowed",
     true,
     "hwloc CoreType",
     "2-3",
     "",
     1,
     12288,
     2,
     {{"P", "0-7", "2", 4, 2, "0-1 2-3 4-5 6-7", "0-1 2-3 4-5 6-7", "0-7", 48, 2048, 12288},
      {"E", "8-11", "", 4, 1, NULL, "8-11", "8-11", 32, 2048, 12288}}},
    {"sibling-allowed",
     true,
     "hwloc CoreType",
     "3,9-10",
     "",
     1,
     12288,
     2,
     {{"P", "0-7", "3", 4, 2, "0-1 2-3 4-5 6-7", "0-1 2-3 4-5 6-7", "0-7", 48, 2048, 12288},
      {"E", "8-11", "9-10", 4, 1, NULL, "8-11", "8-11", 32, 2048, 12288}}},
    {"kinds-cut-cores",
     true,
     "hwloc CoreType",
     "0-5",
     "",
     1,
     12288,
     2,
     {{"P", "0-3", "0,2", 2, 2, "0-1 2-3", "0-1 2-3", "0-3", 48, 2048, 12288},
      {"E", "4-5", "4-5", 2, 1, NULL, "4-5", "4-5", 32, 2048, 12288}}},
    {"speeds-cut-cores",
     true,
     "core capacity",
     "0-5",
     "",
     1,
     12288,
     2,
     {{"P", "0-3", "0,2", 2, 2, "0-1 2-3", "0-1 2-3", "0-3", 32, 1024, 12288},
      {"E", "4-5", "4-5", 2, 1, NULL, NULL, "4-5", 32, 1024, 12288}}},
    {"no-e-allowed",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0,8",
     "",
     1,
     14336,
     3,
     {{"P", "0-3", "0", 4, 1, NULL, NULL, "0-3", 48, 2048, 12288},
      {"E", "4-7", "", 4, 1, NULL, "4-7", "4-7", 32, 2048, 12288},
      {"LP-E", "8-9", "8", 2, 1, NULL, "8-9", "", 32, 2048, 0}}},
    {"no-caches",
     true,
     "hwloc CoreType, maximum frequency of LP-E",
     "0-5",
     "",
     1,
     0,
     3,
     {{"P", "0-1", "0-1", 2, 1, NULL, "", "", 0, 0, 0},
      {"E", "2-3", "2-3", 2, 1, NULL, "", "", 0, 0, 0},
      {"LP-E", "4-5", "4-5", 2, 1, NULL, "", "", 0, 0, 0}}},
    {"caches-of-size-0",
     true,
     "core capacity",
     "0-3",
     "",
     1,
     0,
     2,
     {{"P", "0-1", "0-1", 2, 1, NULL, NULL, "0-1", 0, 0, 0},
      {"E", "2-3", "2-3", 2, 1, NULL, "2-3", "2-3", 0, 0, 0}}},
    {"two-packages",
     true,
     "hwloc CoreType",
     "0-7",
     "",
     2,
     16384,
     2,
     {{"P", "0-1,4-5", "0-1,4-5", 4, 1, NULL, NULL, "0-1:8192 4-5:8192", 48, 2048, 8192},
      {"E", "2-3,6-7", "2-3,6-7", 4, 1, NULL, "2-3 6-7", "2-3:8192 6-7:8192", 32, 2048, 8192}}},
    {"atoms-only",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0-5",
     "",
     1,
     14336,
     2,
     {{"E", "0-3", "0-3", 4, 1, NULL, "0-3", "0-3", 32, 2048, 12288},
      {"LP-E", "4-5", "4-5", 2, 1, NULL, "4-5", "", 32, 2048, 0}}},
    {"stacked-l3",
     false,
     one_class,
     "0-7",
     "",
     1,
     131072,
     1,
     {{"core", "0-7", "0-7", 8, 1, NULL, NULL, "0-3:98304 4-7:32768", 32, 1024, 98304}}},
    {"unequal-l3",
     true,
     "sizes of L1d and L2",
     "0-7",
     "",
     1,
     24576,
     2,
     {{"P", "2-3,6-7", "2-3,6-7", 4, 1, NULL, NULL, "2-3:8192 6-7:16384", 64, 2048, 16384},
      {"E", "0-1,4-5", "0-1,4-5", 4, 1, NULL, NULL, "0-1:8192 4-5:16384", 64, 512, 16384}}},
    {"three-tiers",
     true,
     "core capacity",
     "0-5",
     "",
     1,
     0,
     3,
     {{"P", "5", "5", 1, 1, NULL, "", "", 0, 0, 0},
      {"E", "2-4", "2-4", 3, 1, NULL, "", "", 0, 0, 0},
      {"LP-E", "0-1", "0-1", 2, 1, NULL, "", "", 0, 0, 0}}},
};

enum { MACHINES = sizeof machines / sizeof *machines };

static void test_machine(void **state)
{
    const struct expected_machine *expected = *state;
    assert_true(replay(DATA, expected->file));
    check_machine(expected);
}

static void check_refused(const char *words)
{
    struct ulb_topology topology;
    struct ulb_error err = {""};
    assert_int_equal(ulb_topology_load(&topology, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, getenv("HWLOC_XMLFILE")));
    assert_non_null(strstr(err.message, words));
    assert_null(strchr(err.message, '\n'));
}

static void test_format_3(void **state)
{
    (void)state;
    assert_true(replay(DATA, "format-3"));
    check_refused("XML format 3 is too new");
}

static void test_cut_off(void **state)
{
    (void)state;
    assert_true(replay(DATA, "cut-off"));
    check_refused("cannot read it as a topology");
}

static void test_missing(void **state)
{
    (void)state;
    assert_false(replay(DATA, "there-is-none"));
    check_refused("No such file");
}

static void test_not_xml(void **state)
{
    (void)state;
    setenv("HWLOC_XMLFILE", ULB_SOURCE_DIR "/tests/topology/make_cases.py", 1);
    check_refused("cannot read it as a topology");
}

int main(void)
{
    static const struct CMUnitTest refusals[] = {
        cmocka_unit_test(test_format_3), cmocka_unit_test(test_cut_off), cmocka_unit_test(test_missing),
        cmocka_unit_test(test_not_xml)};
    struct CMUnitTest tests[MACHINES];
    for (size_t i = 0; i < MACHINES; i++)
        tests[i] = (struct CMUnitTest){.name = machines[i].file,
                                       .test_func = test_machine,
                                       .initial_state = (void *)(uintptr_t)&machines[i]};
    int failed = cmocka_run_group_tests_name("made-up machines", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("refused XML", refusals, NULL, NULL);
}
