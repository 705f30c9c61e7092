/* Dumps of real hybrid chips. They are not part of this tree: without them the tests are skipped. */
#include "tests/topology/topology_check.h"

#include <stdio.h>

#define RECORDED "../shared/fixtures/topologies"

static const struct expected_machine machines[] = {
    {"raptorlake-i7-1370p",
     true,
     "sizes of L1d and L2",
     "0-19",
     "",
     1,
     24576,
     2,
     {{"P", "0-11", "0,2,4,6,8,10", 6, 2, "0-1 2-3 4-5 6-7 8-9 10-11", "0-1 2-3 4-5 6-7 8-9 10-11", "0-11",
       48, 1280, 24576},
      {"E", "12-19", "12-19", 8, 1, NULL, "12-15 16-19", "12-19", 32, 2048, 24576}}},
    {"raptorlake-i5-13600kf",
     true,
     "hwloc CoreType",
     "0-19",
     "",
     1,
     24576,
     2,
     {{"P", "0-11", "0,2,4,6,8,10", 6, 2, "0-1 2-3 4-5 6-7 8-9 10-11", "0-1 2-3 4-5 6-7 8-9 10-11", "0-11",
       48, 2048, 24576},
      {"E", "12-19", "12-19", 8, 1, NULL, "12-15 16-19", "12-19", 32, 4096, 24576}}},
    {"arrowlake-u-225u",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0-13",
     "",
     1,
     14336,
     3,
     {{"P", "0-3", "0,2", 2, 2, "0-1 2-3", "0-1 2-3", "0-3", 48, 2048, 12288},
      {"E", "4-11", "4-11", 8, 1, NULL, "4-7 8-11", "4-11", 32, 2048, 12288},
      {"LP-E", "12-13", "12-13", 2, 1, NULL, "12-13", "", 32, 2048, 0}}},
    {"dgx-spark-gb10",
     true,
     "sizes of L1d and L2",
     "0-19",
     "",
     1,
     24576,
     2,
     {{"P", "5-9,15-19", "5-9,15-19", 10, 1, NULL, NULL, "5-9:8192 15-19:16384", 64, 2048, 16384},
      {"E", "0-4,10-14", "0-4,10-14", 10, 1, NULL, NULL, "0-4:8192 10-14:16384", 64, 512, 16384}}},
    {"arl-285k-synthetic",
     true,
     "hwloc CoreType",
     "0-23",
     "",
     1,
     36864,
     2,
     {{"P", "0-7", "0-7", 8, 1, NULL, NULL, "0-7", 48, 3072, 36864},
      {"E", "8-23", "8-23", 16, 1, NULL, "8-11 12-15 16-19 20-23", "8-23", 32, 4096, 36864}}},
    {"arlh-255h-synthetic",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0-15",
     "",
     1,
     26624,
     3,
     {{"P", "0-5", "0-5", 6, 1, NULL, NULL, "0-5", 48, 3072, 24576},
      {"E", "6-13", "6-13", 8, 1, NULL, "6-9 10-13", "6-13", 32, 4096, 24576},
      {"LP-E", "14-15", "14-15", 2, 1, NULL, "14-15", "", 32, 2048, 0}}},
    {"lnl-258v-synthetic",
     true,
     "hwloc CoreType, no L3 above LP-E",
     "0-7",
     "",
     1,
     16384,
     2,
     {{"P", "0-3", "0-3", 4, 1, NULL, NULL, "0-3", 48, 2560, 12288},
      {"LP-E", "4-7", "4-7", 4, 1, NULL, "4-7", "", 32, 4096, 0}}},
};

enum { MACHINES = sizeof machines / sizeof *machines };

static void test_machine(void **state)
{
    const struct expected_machine *expected = *state;
    if (!replay(RECORDED, expected->file)) {
        print_message("%s/%s.xml is not here: skipped\n", RECORDED, expected->file);
        skip();
    }
    check_machine(expected);
}

int main(void)
{
    struct CMUnitTest tests[MACHINES];
    for (size_t i = 0; i < MACHINES; i++)
        tests[i] = (struct CMUnitTest){.name = machines[i].file,
                                       .test_func = test_machine,
                                       .initial_state = (void *)(uintptr_t)&machines[i]};
    return cmocka_run_group_tests_name("recorded machines", tests, NULL, NULL);
}
