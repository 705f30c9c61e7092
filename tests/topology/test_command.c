/* ulb-bench topology as scripts see it: exit code, one JSON document, a table within 100 columns. */
#include "tests/topology/topology_check.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const char *program; /* path of ulb-bench */

/* Runs `ulb-bench topology ARGUMENTS` and returns its exit code; out takes stdout and stderr. */
static int run(const char *arguments, char *out, size_t out_bytes)
{
    char command[1024];
    snprintf(command, sizeof command, "'%s' topology %s 2>&1", program, arguments);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    size_t n = fread(out, 1, out_bytes - 1, pipe);
    out[n] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static json_t *member(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    if (!value)
        fail_msg("key \"%s\" is missing", key);
    return value;
}

static void check_array(json_t *array, size_t n, int first)
{
    assert_int_equal(json_array_size(array), n);
    assert_int_equal(json_integer_value(json_array_get(array, 0)), first);
}

static void check_width(const char *text)
{
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        if (strcspn(line, "\n") > 80)
            fail_msg("%zu columns: %.120s", strcspn(line, "\n"), line);
        if (strcspn(line, "\n") > 0 && line[strcspn(line, "\n") - 1] == ' ')
            fail_msg("blank at the end of %.120s", line);
        if (!strchr(line, '\n'))
            break;
    }
}

static void test_json(void **state)
{
    (void)state;
    char out[16384];
    assert_true(replay(DATA, "three-kinds"));
    assert_int_equal(run("--json", out, sizeof out), 0);
    json_t *document = json_loads(out, 0, NULL);
    assert_non_null(document);
    assert_true(json_is_true(member(document, "hybrid")));
    check_array(member(document, "allowed_pus"), 10, 0);
    assert_int_equal(json_array_size(member(document, "isa")), 0);
    assert_true(json_is_null(member(document, "hypervisor")));
    assert_string_equal(json_string_value(member(document, "hypervisor_reason")),
                        "replayed, not the running machine");
    json_t *classes = member(document, "classes");
    assert_int_equal(json_array_size(classes), 3);
    json_t *low = json_array_get(classes, 2);
    assert_string_equal(json_string_value(member(low, "name")), "LP-E");
    check_array(member(low, "pus"), 2, 8);
    assert_int_equal(json_integer_value(member(low, "cores")), 2);
    assert_int_equal(json_integer_value(member(low, "smt")), 1);
    assert_int_equal(json_array_size(member(low, "l3_pus")), 0);
    assert_true(json_is_null(member(low, "l3_bytes")));
    assert_string_equal(json_string_value(member(low, "l3_bytes_reason")), "no L3 above this class");
    json_t *e = json_array_get(classes, 1);
    assert_int_equal(json_array_size(member(e, "l2_clusters")), 1);
    check_array(json_array_get(member(e, "l2_clusters"), 0), 4, 4);
    assert_int_equal(json_integer_value(member(e, "l2_bytes")), 2048 * 1024);
    assert_string_equal(json_string_value(member(document, "cpu_model")),
                        "Made-up CPU"); /* padded in the file */
    json_decref(document);
}

/* What is not known is null with the reason; that there is no note needs none. */
static void test_json_of_what_is_not_known(void **state)
{
    (void)state;
    static const char *const keys[] = {"cpu_model", "isa", "hypervisor"};
    char out[16384], reason[32];
    unsetenv("HWLOC_XMLFILE");
    setenv("HWLOC_SYNTHETIC", "core:2 pu:1", 1);
    assert_int_equal(run("--json", out, sizeof out), 0);
    unsetenv("HWLOC_SYNTHETIC");
    json_t *document = json_loads(out, 0, NULL);
    assert_non_null(document);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        assert_false(json_is_string(member(document, keys[i])));
        snprintf(reason, sizeof reason, "%s_reason", keys[i]);
        assert_true(json_is_string(member(document, reason)));
    }
    assert_true(json_is_null(member(document, "note")));
    json_decref(document);
}

/* Both classes lie under an L3 of 8 and one of 16 MiB. */
static void test_l3s_of_unequal_size(void **state)
{
    (void)state;
    char out[16384];
    assert_true(replay(DATA, "unequal-l3"));
    assert_int_equal(run("", out, sizeof out), 0);
    check_width(out);
    assert_non_null(strstr(out, "L2s  L2 each  L3 each\n"
                                "P          4       4    4    1  64 KiB    4  2 MiB    8 MiB, 16 MiB\n"
                                "E          4       4    4    1  64 KiB    4  512 KiB  8 MiB, 16 MiB\n"));
    assert_non_null(strstr(out, "  under an L3 2-3 (8 MiB) | 6-7 (16 MiB)\n"));
    assert_non_null(strstr(out, "  under an L3 0-1 (8 MiB) | 4-5 (16 MiB)\n"));
    assert_int_equal(run("--json", out, sizeof out), 0);
    json_t *document = json_loads(out, 0, NULL);
    assert_non_null(document);
    json_t *caches = member(json_array_get(member(document, "classes"), 1), "l3_caches");
    assert_int_equal(json_array_size(caches), 2);
    check_array(member(json_array_get(caches, 0), "pus"), 2, 0);
    assert_int_equal(json_integer_value(member(json_array_get(caches, 0), "bytes")), 8 << 20);
    check_array(member(json_array_get(caches, 1), "pus"), 2, 4);
    assert_int_equal(json_integer_value(member(json_array_get(caches, 1), "bytes")), 16 << 20);
    json_decref(document);
}

static void test_json_of_this_machine(void **state)
{
    (void)state;
    char out[65536];
    unsetenv("HWLOC_XMLFILE");
    assert_int_equal(run("--json", out, sizeof out), 0);
    json_t *document = json_loads(out, 0, NULL);
    assert_non_null(document);
    assert_true(json_is_true(member(document, "this_system")));
    assert_true(json_array_size(member(document, "allowed_pus")) > 0);
    assert_null(json_object_get(document, "isa_reason"));
    json_t *hypervisor = member(document, "hypervisor");
    assert_true(json_is_null(hypervisor) || json_string_length(hypervisor) > 0);
    json_decref(document);
}

static void test_table(void **state)
{
    (void)state;
    char out[16384];
    assert_true(replay(DATA, "three-kinds"));
    assert_int_equal(run("", out, sizeof out), 0);
    check_width(out);
    assert_non_null(strstr(out, "hybrid        yes (hwloc CoreType, no L3 above LP-E)\n"));
    assert_non_null(strstr(out, "class  cores  usable  PUs  SMT  L1d     L2s  L2 each  L3 each\n"
                                "P          4       4    4    1  48 KiB    4  2 MiB    12 MiB\n"
                                "E          4       4    4    1  32 KiB    1  2 MiB    12 MiB\n"
                                "LP-E       2       2    2    1  32 KiB    1  2 MiB    none\n"));
    assert_non_null(strstr(out, "  share an L2 0 | 1 | 2 | 3\n"));
}

/* 300 cores of two threads: the lists go over several lines. */
static void test_table_of_a_large_machine(void **state)
{
    (void)state;
    char out[65536];
    unsetenv("HWLOC_XMLFILE");
    setenv("HWLOC_SYNTHETIC", "pack:4 l3:5 l2:15 l1d:1 core:1 pu:2(indexes=pack:pu)", 1);
    int code = run("", out, sizeof out);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(code, 0);
    check_width(out);
    assert_non_null(strstr(out, "packages 4"));
    assert_non_null(strstr(out, "core     300     300  600    2"));
}

static void test_refusals(void **state)
{
    (void)state;
    char out[4096];
    static const char *const files[] = {"format-3", "cut-off", "there-is-none"};
    for (size_t i = 0; i < 3; i++) {
        replay(DATA, files[i]);
        assert_int_equal(run("--json", out, sizeof out), 2);
        assert_int_equal(strncmp(out, "ulb-bench: HWLOC_XMLFILE=", 25), 0);
        assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
    }
    unsetenv("HWLOC_XMLFILE");
    assert_int_equal(run("--jsom", out, sizeof out), 2);
    assert_int_equal(run("surplus", out, sizeof out), 2);
    assert_int_equal(run("--help", out, sizeof out), 0);
    assert_non_null(strstr(out, "HWLOC_XMLFILE"));
}

int main(void)
{
    program = getenv("ULB_BENCH");
    if (!program) {
        fprintf(stderr, "set ULB_BENCH to the path of ulb-bench\n");
        return 2;
    }
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_json_of_what_is_not_known),
        cmocka_unit_test(test_json_of_this_machine),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_table_of_a_large_machine),
        cmocka_unit_test(test_l3s_of_unequal_size),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name("ulb-bench topology", tests, NULL, NULL);
}
