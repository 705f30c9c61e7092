/* Platform files: the built-in ones, and every way in which one can be wrong. */
#include "common/units.h"
#include "models/platform/platform.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A correct file in parts, so that a test can put something else in the place of one. */
struct document {
    const char *head, *classes, *bandwidth, *fork_join, *gammas;
};

static const struct document correct = {
    .head = "\"name\": \"x\", \"title\": \"X\", \"source\": \"made up\"",
    .classes = "\"classes\": [{\"name\": \"P\", \"cores\": 2, \"ghz\": 3},\n"
               " {\"name\": \"E\", \"cores\": 4, \"ghz\": 2.5}]",
    .bandwidth = "\"bandwidth_gbps\": 60",
    .fork_join = "\"fork_join_us\": 2.5",
    .gammas = "\"gammas\": [{\"format\": \"int2\", \"sequence\": \"s\", \"bytes_per_step\": 8, "
              "\"cycles\": {\"P\": 1, \"E\": 2}}]",
};

static enum ulb_status parse(const struct document *parts, struct ulb_platform *platform,
                             struct ulb_error *err)
{
    char text[2048];
    int n = snprintf(text, sizeof text, "{%s,\n%s,\n%s,\n%s,\n%s}\n", parts->head, parts->classes,
                     parts->bandwidth, parts->fork_join, parts->gammas);
    assert_in_range(n, 1, sizeof text - 1);
    return ulb_platform_parse(text, (size_t)n, "x.json", platform, err);
}

static void expect_message(enum ulb_status status, const struct ulb_error *err, const char *first,
                           const char *second)
{
    assert_int_equal(status, ULB_BAD_INPUT);
    if (!strstr(err->message, first) || !strstr(err->message, second) || strchr(err->message, '\n'))
        fail_msg("'%s' lacks '%s' or '%s', or is no single line", err->message, first, second);
}

static void expect_refused(const struct document *parts, const char *place, const char *remedy)
{
    struct ulb_platform platform;
    struct ulb_error err = {""};
    enum ulb_status status = parse(parts, &platform, &err);
    expect_message(status, &err, place, remedy);
    assert_true(strncmp(err.message, "x.json", 6) == 0);
}

static void test_builtin(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned p, e;
        double p_ghz, e_ghz, gib;
    } truths[] = {{"arl", 8, 16, 5.4, 4.5, 98}, {"arlh", 6, 8, 4.0, 3.6, 75}, {"lnl", 4, 4, 4.1, 3.7, 97}};
    for (size_t i = 0; i < 3; i++) {
        struct ulb_platform platform;
        struct ulb_error err = {""};
        assert_string_equal(ulb_platform_builtin(i), truths[i].name);
        assert_int_equal(ulb_platform_load(truths[i].name, &platform, &err), ULB_OK);
        assert_string_equal(platform.name, truths[i].name);
        assert_int_equal(platform.n_classes, 2);
        assert_string_equal(platform.classes[0].name, "P");
        assert_string_equal(platform.classes[1].name, "E");
        assert_int_equal(platform.classes[0].cores, truths[i].p);
        assert_int_equal(platform.classes[1].cores, truths[i].e);
        assert_true(platform.classes[0].hz == truths[i].p_ghz * 1e9);
        assert_true(platform.classes[1].hz == truths[i].e_ghz * 1e9);
        assert_string_equal(platform.classes[0].core, "lion-cove");
        assert_string_equal(platform.classes[1].core, "skymont");
        assert_true(platform.bandwidth == truths[i].gib * ULB_GIB);
        if (i == 0)
            assert_true(fabs(platform.fork_join_s - 1e-6) < 1e-18);
        else
            assert_true(isnan(platform.fork_join_s));
        const struct ulb_platform_gamma *int2 = ulb_platform_gamma_find(&platform, "int2", "pshufb");
        const struct ulb_platform_gamma *int1 = ulb_platform_gamma_find(&platform, "int1", "blend");
        assert_int_equal(platform.n_gammas, 2);
        assert_non_null(int2);
        assert_non_null(int1);
        assert_true(int2->bytes_per_step == 8 && int2->cycles[0] == 1.25 && int2->cycles[1] == 2.175);
        assert_true(int1->bytes_per_step == 4 && int1->cycles[0] == 2.4 && int1->cycles[1] == 4.71);
    }
    assert_null(ulb_platform_builtin(3));
}

/* ARLH's low-power cores, which the paper does not use: no clock, no share of the bandwidth. */
static void test_unused_classes(void **state)
{
    (void)state;
    struct ulb_platform platform;
    struct ulb_error err = {""};
    assert_int_equal(ulb_platform_load("arlh", &platform, &err), ULB_OK);
    assert_int_equal(platform.n_unused, 1);
    assert_string_equal(platform.unused[0].name, "LP-E");
    assert_string_equal(platform.unused[0].core, "crestmont");
    assert_int_equal(platform.unused[0].cores, 2);
    assert_true(isnan(platform.unused[0].hz));
    assert_true(fabs(ulb_platform_beta(&platform, 0) * 4e9 * 14 / (75 * ULB_GIB) - 1) < 1e-12);

    struct document other = correct;
#define UNUSED(row) "\"unused_classes\": [" row "], \"fork_join_us\": 1"
    other.fork_join = UNUSED("{\"name\": \"LP-E\", \"cores\": 2}");
    assert_int_equal(parse(&other, &platform, &err), ULB_OK);
    assert_string_equal(platform.unused[0].core, "");
    other.fork_join = UNUSED("{\"name\": \"LP-E\", \"cores\": 2, \"ghz\": 2}");
    expect_refused(&other, "unused_classes[0].ghz is an unknown key", "name, cores, core");
    other.fork_join = UNUSED("{\"name\": \"E\", \"cores\": 2}");
    expect_refused(&other, "unused_classes[0].name 'E' occurs twice", "rename");
    other.fork_join = UNUSED("");
    expect_refused(&other, "unused_classes has 0 items", "1 to 4");
#undef UNUSED
}

/* What is printed of a platform is a platform file. */
static void test_written_and_read(void **state)
{
    (void)state;
    struct ulb_platform platform, copy;
    struct ulb_error err = {""};
    assert_int_equal(ulb_platform_load("arlh", &platform, &err), ULB_OK);
    json_t *document = ulb_platform_json(&platform);
    char *text = json_dumps(document, 0);
    assert_int_equal(ulb_platform_parse(text, strlen(text), "again", &copy, &err), ULB_OK);
    for (size_t c = 0; c < 2; c++) {
        assert_string_equal(copy.classes[c].core, platform.classes[c].core);
        assert_true(fabs(copy.classes[c].hz / platform.classes[c].hz - 1) < 1e-12);
    }
    assert_int_equal(copy.n_unused, 1);
    assert_string_equal(copy.unused[0].core, "crestmont");
    free(text);
    json_decref(document);
}

static void test_core_names(void **state)
{
    (void)state;
    struct ulb_platform platform;
    struct ulb_error err = {""};
    struct document other = correct;
    other.classes = "\"classes\": [{\"name\": \"P\", \"cores\": 2, \"ghz\": 3, \"core\": \"zen5\"},"
                    "{\"name\": \"E\", \"cores\": 2, \"ghz\": 3}]";
    assert_int_equal(parse(&other, &platform, &err), ULB_OK);
    assert_string_equal(platform.classes[0].core, "zen5");
    assert_string_equal(platform.classes[1].core, "");
    other.classes = "\"classes\": [{\"name\": \"P\", \"cores\": 2, \"ghz\": 3, \"core\": \"zen9\"}]";
    expect_refused(&other, "classes[0].core 'zen9' is not in the table", "golden-cove");
}

static void test_correct_file(void **state)
{
    (void)state;
    struct ulb_platform platform;
    struct ulb_error err = {""};
    assert_int_equal(parse(&correct, &platform, &err), ULB_OK);
    assert_true(platform.bandwidth == 60e9);
    assert_true(fabs(platform.fork_join_s - 2.5e-6) < 1e-18);
    assert_int_equal(platform.classes[1].cores, 4);
    assert_true(platform.classes[1].hz == 2.5e9);
    assert_true(platform.gammas[0].cycles[1] == 2);

    struct document other = correct;
    other.gammas = "\"gammas\": []";
    other.fork_join = "\"fork_join_us\": 0";
    assert_int_equal(parse(&other, &platform, &err), ULB_OK);
    assert_int_equal(platform.n_gammas, 0);
    assert_true(platform.fork_join_s == 0);
}

static void test_strings(void **state)
{
    (void)state;
    struct document bad = correct;
    bad.head = "\"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "name is missing", "give a string of 1 to 31");
    bad.head = "\"name\": 7, \"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "name is 7", "must be a string");
    bad.head = "\"name\": \"\", \"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "name is \"\"", "1 to 31");
    bad.head = "\"name\": \"12345678901234567890123456789012\", \"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "name is", "1 to 31");
    bad.head = "\"name\": \"a\\u001b[31m\", \"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "name is", "printable");
    bad.head = "\"name\": \"a\\u009b31m\", \"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "name is", "printable");
    bad.head = "\"name\": \"x\", \"title\": \"X\", \"source\": \"s\", \"cores\": 3";
    expect_refused(&bad, "cores is an unknown key", "known here are name, title");
    bad.head = "\"name\": \"x\", \"name\": \"y\", \"title\": \"X\", \"source\": \"s\"";
    expect_refused(&bad, "line 1", "duplicate");
}

static void test_classes(void **state)
{
    (void)state;
    struct document bad = correct;
#define CLASS(name, cores, ghz) "{\"name\": \"" name "\", \"cores\": " cores ", \"ghz\": " ghz "}"
    bad.classes = "\"classes\": [" CLASS("P", "-2", "3") "]";
    expect_refused(&bad, "classes[0].cores is -2", "a whole number from 1");
    bad.classes = "\"classes\": [" CLASS("P", "0", "3") "]";
    expect_refused(&bad, "classes[0].cores is 0", "a whole number from 1");
    bad.classes = "\"classes\": [" CLASS("P", "2.5", "3") "]";
    expect_refused(&bad, "classes[0].cores is 2.5", "a whole number");
    bad.classes = "\"classes\": [" CLASS("P", "\"2\"", "3") "]";
    expect_refused(&bad, "classes[0].cores is \"2\"", "a whole number");
    bad.classes = "\"classes\": [" CLASS("P", "2", "3") ", " CLASS("E", "2", "0") "]";
    expect_refused(&bad, "classes[1].ghz is 0", "a number from");
    bad.classes = "\"classes\": [{\"name\": \"P\", \"cores\": 2}]";
    expect_refused(&bad, "classes[0].ghz is missing", "give a number from");
    bad.classes = "\"classes\": [" CLASS("P", "2", "3") ", " CLASS("P", "2", "3") "]";
    expect_refused(&bad, "classes[1].name 'P' occurs twice", "rename");
    bad.classes = "\"classes\": [" CLASS("a", "1", "1") "," CLASS("b", "1", "1") "," CLASS(
        "c", "1", "1") "," CLASS("d", "1", "1") "," CLASS("e", "1", "1") "]";
    expect_refused(&bad, "classes has 5 items", "1 to 4");
    bad.classes = "\"classes\": []";
    expect_refused(&bad, "classes has 0 items", "1 to 4");
    bad.classes = "\"classes\": {}";
    expect_refused(&bad, "classes is {}", "a list");
    bad.classes = "\"classes\": [3]";
    expect_refused(&bad, "classes[0] is no object", "objects");
    bad.classes = "\"hybrid\": true";
    expect_refused(&bad, "hybrid is an unknown key", "classes");
#undef CLASS
}

static void test_numbers(void **state)
{
    (void)state;
    struct document bad = correct;
    bad.bandwidth = "\"bandwidth_gbps\": NaN";
    expect_refused(&bad, "line 4", "column");
    bad.bandwidth = "\"bandwidth_gbps\": 1e999";
    expect_refused(&bad, "line 4", "overflow");
    bad.bandwidth = "\"bandwidth_gbps\": null";
    expect_refused(&bad, "bandwidth_gbps is null", "a number from");
    bad.bandwidth = "\"bandwidth_gibps\": -5";
    expect_refused(&bad, "bandwidth_gibps is -5", "a number from");
    bad.bandwidth = "\"bandwidth_gibps\": 5, \"bandwidth_gbps\": 5";
    expect_refused(&bad, "either bandwidth_gibps", "not both");

    bad = correct;
    bad.fork_join = "\"fork_join_us\": null";
    expect_refused(&bad, "fork_join_us_reason is missing", "give a string");
    bad.fork_join = "\"fork_join_us\": -1";
    expect_refused(&bad, "fork_join_us is -1", "or null");
    bad.fork_join = "\"fork_join_us\": false";
    expect_refused(&bad, "fork_join_us is false", "or null");
    bad.fork_join = "\"fork_join_us_reason\": \"x\"";
    expect_refused(&bad, "fork_join_us is missing", "or null");
}

static void test_gammas(void **state)
{
    (void)state;
    struct document bad = correct;
#define GAMMA(bytes, cycles)                                                                                 \
    "{\"format\": \"int2\", \"sequence\": \"s\", \"bytes_per_step\": " bytes ", \"cycles\": " cycles "}"
    bad.gammas = "\"gammas\": [" GAMMA("8", "{\"P\": 1}") "]";
    expect_refused(&bad, "gammas[0].cycles.E is missing", "give a number");
    bad.gammas = "\"gammas\": [" GAMMA("8", "{\"P\": 1, \"E\": 2, \"LP-E\": 3}") "]";
    expect_refused(&bad, "gammas[0].cycles.LP-E is an unknown key", "known here are P, E");
    bad.gammas = "\"gammas\": [" GAMMA("8", "{\"P\": 0, \"E\": 2}") "]";
    expect_refused(&bad, "gammas[0].cycles.P is 0", "a number from");
    bad.gammas = "\"gammas\": [" GAMMA("8", "1.25") "]";
    expect_refused(&bad, "gammas[0].cycles is 1.25", "one number per class");
    bad.gammas = "\"gammas\": [" GAMMA("0", "{\"P\": 1, \"E\": 2}") "]";
    expect_refused(&bad, "gammas[0].bytes_per_step is 0", "a number from");
    bad.gammas =
        "\"gammas\": [" GAMMA("8", "{\"P\": 1, \"E\": 2}") ", " GAMMA("8", "{\"P\": 1, \"E\": 3}") "]";
    expect_refused(&bad, "gammas[1]: int2/s occurs twice", "remove");
    bad.gammas = "\"gamma\": []";
    expect_refused(&bad, "gamma is an unknown key", "gammas");
    bad.gammas = "\"gammas\": [{}]";
    expect_refused(&bad, "gammas[0].format is missing", "give a string");
#undef GAMMA
}

static void test_no_document(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "{", "{\"name\": \"x\"", "[]", "null", "\xff\xfe", "{}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ulb_platform platform;
        struct ulb_error err = {""};
        enum ulb_status status = ulb_platform_parse(texts[i], strlen(texts[i]), "x.json", &platform, &err);
        expect_message(status, &err, "x.json", "");
    }
}

/* Whatever is cut off or overwritten: refused or accepted, never a crash (the sanitizers watch). */
static void test_damaged_file(void **state)
{
    (void)state;
    struct ulb_platform platform;
    struct ulb_error err;
    char text[1024];
    int n = snprintf(text, sizeof text, "{%s,%s,%s,%s,%s}", correct.head, correct.classes, correct.bandwidth,
                     correct.fork_join, correct.gammas);
    assert_in_range(n, 1, sizeof text - 1);
    for (size_t i = 0; i < (size_t)n; i++)
        assert_int_equal(ulb_platform_parse(text, i, "x.json", &platform, &err), ULB_BAD_INPUT);
    for (size_t i = 0; i < (size_t)n; i++) {
        static const char bytes[] = {'\0', '"', '9', '-', '{', '\x80'};
        for (size_t b = 0; b < sizeof bytes; b++) {
            char kept = text[i];
            text[i] = bytes[b];
            enum ulb_status status = ulb_platform_parse(text, (size_t)n, "x.json", &platform, &err);
            assert_true(status == ULB_OK || status == ULB_BAD_INPUT);
            text[i] = kept;
        }
    }
}

static void test_load(void **state)
{
    (void)state;
    struct ulb_platform platform;
    struct ulb_error err = {""};
    enum ulb_status status = ulb_platform_load("nosuch", &platform, &err);
    expect_message(status, &err, "'nosuch'", "arl, arlh, lnl");
    status = ulb_platform_load("/", &platform, &err);
    expect_message(status, &err, "'/'", "directory");
    status = ulb_platform_load("/dev/zero", &platform, &err);
    expect_message(status, &err, "'/dev/zero'", "larger than 1 MiB");

    status = ulb_platform_load(ULB_SOURCE_DIR "/models/data/lnl.json", &platform, &err);
    assert_int_equal(status, ULB_OK);
    assert_string_equal(platform.name, "lnl");

    char path[] = "/tmp/ulb-platform-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "{\n\n\"name\" 1}", 12), 12);
    close(fd);
    status = ulb_platform_load(path, &platform, &err);
    unlink(path);
    expect_message(status, &err, path, "line 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),     cmocka_unit_test(test_correct_file),
        cmocka_unit_test(test_strings),     cmocka_unit_test(test_classes),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_gammas),
        cmocka_unit_test(test_no_document), cmocka_unit_test(test_damaged_file),
        cmocka_unit_test(test_load),        cmocka_unit_test(test_unused_classes),
        cmocka_unit_test(test_core_names),  cmocka_unit_test(test_written_and_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
