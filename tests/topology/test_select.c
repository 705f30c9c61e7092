#include "tests/topology/topology_check.h"

#include <stdlib.h>
#include <string.h>

static void load(struct ulb_topology *topology, const char *file)
{
    struct ulb_error err;
    assert_true(replay(DATA, file));
    assert_int_equal(ulb_topology_load(topology, &err), ULB_OK);
}

static void check_set(const char *file, const char *set, const char *expected)
{
    struct ulb_topology topology;
    struct ulb_pu_list pus;
    struct ulb_error err = {""};
    char text[256];
    load(&topology, file);
    assert_int_equal(ulb_topology_select(&topology, set, &pus, &err), ULB_OK);
    assert_string_equal(ulb_pu_list_text(&pus, text, sizeof text), expected);
    ulb_pu_list_free(&pus);
    ulb_topology_free(&topology);
}

static void check_bad(const char *file, const char *set, const char *words)
{
    struct ulb_topology topology;
    struct ulb_pu_list pus;
    struct ulb_error err = {""};
    load(&topology, file);
    assert_int_equal(ulb_topology_select(&topology, set, &pus, &err), ULB_BAD_INPUT);
    if (!strstr(err.message, words))
        fail_msg("set '%s': \"%s\" lacks \"%s\"", set, err.message, words);
    assert_null(pus.items);
    assert_int_equal(pus.n, 0);
    ulb_topology_free(&topology);
}

static void test_names(void **state)
{
    (void)state;
    check_set("three-kinds", "P", "0-3");
    check_set("three-kinds", "E", "4-7");
    check_set("three-kinds", "LP-E", "8-9");
    check_set("no-kinds", "core", "0-7");
    check_set("scattered-siblings", "P", "0,6");
    check_set("sibling-allowed", "P", "3");
    check_set("sibling-allowed", "E", "9-10");
}

static void test_all(void **state)
{
    (void)state;
    check_set("three-kinds", "all", "0-7");
    check_set("efficiency-unknown", "all", "0-7"); /* no plain E: the LP-E cores count */
    check_set("atoms-only", "all", "0-3");
    check_set("no-kinds", "all", "0-7");
    check_set("scattered-siblings", "all", "0-4,6");
    check_set("one-core-allowed", "all", "2");
    check_set("no-e-allowed", "all", "0,8"); /* nor where plain E cores may not be used */
    check_set("sibling-allowed", "all", "3,9-10");
}

static void test_lists(void **state)
{
    (void)state;
    check_set("scattered-siblings", "0-7", "0-7");
    check_set("scattered-siblings", "5", "5");
    check_set("three-kinds", "8,0-1", "0-1,8");
    check_set("three-kinds", "9-9", "9");
    check_set("one-core-allowed", "2-3", "2-3");
    check_set("smt-off", "4,6,8", "4,6,8");
}

static void test_mixed_sets(void **state)
{
    (void)state;
    check_set("three-kinds", "P,LP-E", "0-3,8-9");
    check_set("three-kinds", "P,E,LP-E", "0-9");
    check_set("three-kinds", "all,LP-E", "0-9");
    check_set("three-kinds", "E,0,8-9", "0,4-9");
    check_set("scattered-siblings", "P,2", "0,2,6");
}

static void check_remarks(const char *file, const char *set, const char *left_out, const char *shared)
{
    struct ulb_topology topology;
    struct ulb_pu_list pus, lpe;
    struct ulb_error err = {""};
    char text[64];
    load(&topology, file);
    assert_int_equal(ulb_topology_select(&topology, set, &pus, &err), ULB_OK);
    assert_int_equal(ulb_topology_left_out(&topology, &lpe), left_out[0] != '\0');
    assert_string_equal(ulb_pu_list_text(&lpe, text, sizeof text), left_out);
    const struct ulb_pu_list *core = ulb_topology_shared_core(&topology, &pus);
    assert_string_equal(core ? ulb_pu_list_text(core, text, sizeof text) : "", shared);
    ulb_pu_list_free(&pus);
    ulb_topology_free(&topology);
}

/* LP-E cores that "all" does not take are said, and so are cores that a list takes twice; no name does. */
static void test_remarks(void **state)
{
    (void)state;
    check_remarks("three-kinds", "all", "8-9", "");
    check_remarks("three-kinds", "0-9", "8-9", "");
    check_remarks("efficiency-unknown", "all", "", "");
    check_remarks("no-e-allowed", "all", "", "");
    check_remarks("scattered-siblings", "all", "", "");
    check_remarks("scattered-siblings", "P", "", "");
    check_remarks("scattered-siblings", "0-7", "", "0,5");
}

static void test_unknown_names(void **state)
{
    (void)state;
    check_bad("no-kinds", "P", "give core, all or a PU list");
    check_bad("no-kinds-hybrid", "LP-E", "give P, E, all or a PU list");
    check_bad("three-kinds", "p", "give P, E, LP-E, all");
    check_bad("three-kinds", "", "unknown");
    check_bad("three-kinds", "P,X", "set 'P,X' is unknown");
    check_bad("three-kinds", "P-E", "unknown");
    check_bad("three-kinds", "performance-cores", "unknown");
    check_bad("one-core-allowed", "P,E", "E: none of its PUs may be used");
    check_bad("one-core-allowed", "E", "none of its PUs may be used");
}

static void test_bad_lists(void **state)
{
    (void)state;
    static const char *const bad[] = {"0,",    "0-", "3-1",  "0,,1", "0 1",  "1x",
                                      "0-3-5", "P,", "0-,1", "0x1",  "0, 1", "1;2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        check_bad("three-kinds", bad[i], "is no PU list");
    check_bad("three-kinds", "0,1,0", "PU 0 is named twice");
    check_bad("three-kinds", "0-2,1", "PU 1 is named twice");
    check_bad("three-kinds", "P,0", "PU 0 is named twice");
    check_bad("three-kinds", "0,P", "PUs of P are named twice");
    check_bad("three-kinds", "E,all", "PUs of all are named twice");
}

static void test_pus_out_of_reach(void **state)
{
    (void)state;
    check_bad("three-kinds", "10", "there is no PU 10; the machine has 0-9");
    check_bad("three-kinds", "8-4000000000", "there is no PU 10");
    check_bad("three-kinds", "4294967296", "there is no PU 4294967296");
    check_bad("three-kinds", "99999999999999999999999", "there is no PU");
    check_bad("smt-off", "0-2", "there is no PU 1;");
    check_bad("one-core-allowed", "0", "PU 0 may not be used");
    check_bad("one-core-allowed", "2-4", "PU 4 may not be used (cgroup or taskset); allowed are 2-3");
}

static void test_text(void **state)
{
    (void)state;
    unsigned items[] = {0, 1, 2, 5, 7, 8, 100};
    struct ulb_pu_list list = {items, sizeof items / sizeof *items}, none = {NULL, 0};
    char text[32];
    assert_string_equal(ulb_pu_list_text(&list, text, sizeof text), "0-2,5,7-8,100");
    assert_string_equal(ulb_pu_list_text(&list, text, 14), "0-2,5,7-8,100");
    assert_string_equal(ulb_pu_list_text(&list, text, 13), "0-2,5,7-8...");
    assert_string_equal(ulb_pu_list_text(&list, text, 9), "0-2,5...");
    assert_string_equal(ulb_pu_list_text(&list, text, 4), "...");
    assert_string_equal(ulb_pu_list_text(&none, text, sizeof text), "");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),     cmocka_unit_test(test_all),
        cmocka_unit_test(test_lists),     cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_bad_lists), cmocka_unit_test(test_pus_out_of_reach),
        cmocka_unit_test(test_text),      cmocka_unit_test(test_mixed_sets),
        cmocka_unit_test(test_remarks),
    };
    return cmocka_run_group_tests_name("PU sets", tests, NULL, NULL);
}
