/* The file of cores: what is read from it, what is refused, and damaged ones. */
#include "models/platform/cores.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-12))
        fail_msg("%.17g, wanted %.17g", value, wanted);
}

struct document {
    const char *core, *ports, *rows;
};

static const struct document correct = {
    .core = "\"name\": \"c\", \"chips\": \"made up\", \"ports\": \"t\", \"issue_width\": 4, "
            "\"load_bytes_per_cycle\": {\"256\": 64}, \"isa\": \"avx2\", \"models\": [{\"vendor\": \"V\", "
            "\"family\": 1, \"models\": \"0a 10-1f\", \"classes\": \"core\"}]",
    .ports = "\"name\": \"t\", \"source\": \"nobody\", \"load_pipes\": \"L0 L1\", \"inferred\": false",
    .rows = "{\"ops\": \"loads\", \"uops\": 1, \"on\": {\"L0 L1\": 1}}, "
            "{\"ops\": \"dot_products\", \"uops\": 1, \"latency\": 5, \"on\": {\"p0\": 1}}",
};

static enum ulb_status parse(const struct document *parts, struct ulb_core_list *list, struct ulb_error *err)
{
    char text[2048];
    int n = snprintf(text, sizeof text, "{\"cores\": [{%s}], \"ports\": [{%s, \"256\": [%s]}]}", parts->core,
                     parts->ports, parts->rows);
    assert_in_range(n, 1, sizeof text - 1);
    return ulb_core_list_parse(text, (size_t)n, "x.json", list, err);
}

static void expect_refused(const struct document *parts, const char *first, const char *second)
{
    struct ulb_core_list list;
    struct ulb_error err = {""};
    assert_int_equal(parse(parts, &list, &err), ULB_BAD_INPUT);
    ulb_core_list_free(&list);
    if (strncmp(err.message, "x.json", 6) != 0 || !strstr(err.message, first) || !strstr(err.message, second))
        fail_msg("'%s' lacks '%s' or '%s'", err.message, first, second);
}

static void test_file(void **state)
{
    (void)state;
    struct ulb_core_list list;
    struct ulb_error err = {""};
    if (parse(&correct, &list, &err) != ULB_OK)
        fail_msg("%s", err.message);
    const struct ulb_core *core = ulb_core_find(&list, "c");
    assert_non_null(core);
    assert_int_equal(core->n_models, 2);
    assert_int_equal(core->models[1].first, 0x10);
    assert_int_equal(core->models[1].last, 0x1F);
    const struct ulb_mix mix = {.loads = 1, .dot_products = 2, .vector_bits = 256, .chains = 5};
    struct ulb_port_bound bound = ulb_port_bound(core, &mix, NULL);
    expect(bound.limits[ULB_LIMIT_VECTOR], 2);
    expect(bound.limits[ULB_LIMIT_LOADS], 0.5);
    expect(bound.limits[ULB_LIMIT_FRONT_END], 0.75);
    expect(bound.limits[ULB_LIMIT_LATENCY], 2);
    assert_int_equal(bound.decides, ULB_LIMIT_VECTOR);
    json_t *json = ulb_core_json(core);
    const json_t *ports = json_object_get(json_object_get(json, "ports"), "256");
    assert_int_equal(json_object_size(ports), 2);
    assert_true(json_number_value(
                    json_object_get(json_object_get(json_object_get(ports, "loads"), "on"), "L0 L1")) == 1);
    json_decref(json);
    ulb_core_list_free(&list);
}

static void test_bad_file(void **state)
{
    (void)state;
    struct document bad = correct;
    bad.rows = "{\"ops\": \"lodes\", \"uops\": 1, \"on\": {\"L0\": 1}}";
    expect_refused(&bad, "ports[0].256[0].ops: unknown kind of instruction 'lodes'", "known are loads,");
    bad.rows = "{\"ops\": \"loads loads\", \"uops\": 1, \"on\": {\"L0\": 1}}";
    expect_refused(&bad, "loads occurs twice", "remove");
    bad.rows = "{\"ops\": \"fmas\", \"uops\": 1, \"on\": {\"p0\": 1}}";
    expect_refused(&bad, "latency is missing", "fmas");
    bad.rows = "{\"ops\": \"logic\", \"uops\": 1, \"on\": {}}";
    expect_refused(&bad, "256[0].on is {}", "1 to 3 pipe sets");
    bad.rows = "{\"ops\": \"logic\", \"uops\": 1, \"on\": {\" \": 1}}";
    expect_refused(&bad, "names no pipe", "p0 p1");
    bad.rows = "{\"ops\": \"logic\", \"uops\": 1, \"on\": {\"overlong\": 1}}";
    expect_refused(&bad, "pipe 'overlong'", "1 to 7");
    bad.rows = "{\"ops\": \"logic\", \"uops\": 1, \"on\": {\"p0\": -1}}";
    expect_refused(&bad, "on.p0 is -1", "a number from");
    bad.rows = "{\"ops\": \"logic\", \"uops\": 1, \"on\": {\"p0\": 1}, \"port\": 1}";
    expect_refused(&bad, "port is an unknown key", "ops, uops");
    bad = correct;
    bad.ports = "\"name\": \"u\", \"source\": \"nobody\", \"load_pipes\": \"L0\", \"inferred\": false";
    expect_refused(&bad, "cores[0].ports", "no port table 't'");
    bad.ports = "\"name\": \"t\", \"source\": \"nobody\", \"load_pipes\": \"L0\", \"inferred\": 0";
    expect_refused(&bad, "inferred is 0", "true or false");
    bad = correct;
    bad.core = "\"name\": \"c\", \"chips\": \"x\", \"ports\": \"t\", \"issue_width\": 4, "
               "\"load_bytes_per_cycle\": {\"256\": 64}, \"isa\": \"avx9\", \"models\": []";
    expect_refused(&bad, "cores[0].isa", "avx9");
    bad.core = "\"name\": \"c\", \"chips\": \"x\", \"ports\": \"t\", \"issue_width\": 4, "
               "\"load_bytes_per_cycle\": {\"256\": 64, \"512\": 64}, \"isa\": \"avx2\", \"models\": []";
    expect_refused(&bad, "ports[0].512 is missing", "list");
    bad.core = "\"name\": \"c\", \"chips\": \"x\", \"ports\": \"t\", \"issue_width\": 4, "
               "\"load_bytes_per_cycle\": 64, \"isa\": \"avx2\", \"models\": []";
    expect_refused(&bad, "load_bytes_per_cycle is 64", "an object");
    bad.core = "\"name\": \"c\", \"chips\": \"x\", \"ports\": \"t\", \"issue_width\": 4, "
               "\"load_bytes_per_cycle\": {\"256\": 64}, \"isa\": \"avx2\", \"models\": [{\"vendor\": \"V\", "
               "\"family\": 1, \"models\": \"1f-10\", \"classes\": \"core\"}]";
    expect_refused(&bad, "models: '1f-10'", "hexadecimal");
}

/* Whatever is cut off or overwritten: refused or accepted, never a crash (the sanitizers watch). */
static void test_damaged_file(void **state)
{
    (void)state;
    struct ulb_core_list list;
    struct ulb_error err;
    char text[2048];
    int n = snprintf(text, sizeof text, "{\"cores\": [{%s}], \"ports\": [{%s, \"256\": [%s]}]}", correct.core,
                     correct.ports, correct.rows);
    assert_in_range(n, 1, sizeof text - 1);
    for (size_t i = 0; i < (size_t)n; i++) {
        static const char bytes[] = {'\0', '"', '9', '-', '{', '\x80', ' '};
        assert_int_equal(ulb_core_list_parse(text, i, "x.json", &list, &err), ULB_BAD_INPUT);
        ulb_core_list_free(&list);
        for (size_t b = 0; b < sizeof bytes; b++) {
            char kept = text[i];
            text[i] = bytes[b];
            enum ulb_status status = ulb_core_list_parse(text, (size_t)n, "x.json", &list, &err);
            ulb_core_list_free(&list);
            assert_true(status == ULB_OK || status == ULB_BAD_INPUT);
            text[i] = kept;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_bad_file),
        cmocka_unit_test(test_damaged_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
