/* Platform files of devices: the built-in ones, and every way in which one can be wrong. */
#include "common/units.h"
#include "models/platform/device_platform.h"
#include "models/platform/platform.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char correct[] =
    "{\"kind\": \"device\", \"name\": \"x\", \"title\": \"X\", \"source\": \"made up\",\n"
    " \"cores\": 8, \"memory_gb\": 16, \"bandwidth_gbps\": 100, \"launch_us\": 2.5,\n"
    " \"peaks\": [{\"format\": \"int2\", \"tops\": 50}]}";

static struct ulb_device_platform device;
static struct ulb_error err;

/* The correct file with old replaced. */
static enum ulb_status parse_edited(const char *old, const char *new, bool *is_device)
{
    char text[1024];
    const char *at = strstr(correct, old);
    assert_non_null(at);
    int n = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - correct), correct, new, at + strlen(old));
    return ulb_device_platform_parse(text, (size_t)n, "x.json", &device, is_device, &err);
}

static void expect_refused(const char *old, const char *new, const char *message)
{
    bool is_device;
    assert_int_equal(parse_edited(old, new, &is_device), ULB_BAD_INPUT);
    if (!strstr(err.message, message) || strchr(err.message, '\n') || strncmp(err.message, "x.json", 6) != 0)
        fail_msg("'%s' lacks '%s', or is no single line", err.message, message);
}

static void test_builtin(void **state)
{
    (void)state;
    bool is_device;
    static const struct {
        const char *name;
        double cores, gbps, launch_us, int2_tops;
    } truths[] = {{"lnl-gpu", 8, 97 * ULB_GIB / ULB_GB, 2, 50},
                  {"bmg", 20, 456, NAN, 200},
                  {"a100", NAN, 1824, NAN, NAN}};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(ulb_device_platform_builtin(i), truths[i].name);
        assert_int_equal(ulb_device_platform_load(truths[i].name, &device, &is_device, &err), ULB_OK);
        const double got[] = {device.cores, device.bandwidth / ULB_GB, device.launch_s * 1e6,
                              ulb_device_platform_peak(&device, "int2") / 1e12};
        const double wanted[] = {truths[i].cores, truths[i].gbps, truths[i].launch_us, truths[i].int2_tops};
        assert_true(is_device);
        for (size_t k = 0; k < 4; k++)
            assert_true(isnan(wanted[k]) ? isnan(got[k]) : fabs(got[k] / wanted[k] - 1) < 1e-12);
    }
    assert_null(ulb_device_platform_builtin(3));
    assert_int_equal(ulb_device_platform_load("lnl", &device, &is_device, &err), ULB_OK);
    assert_false(is_device);
    struct ulb_platform cpu;
    assert_int_equal(ulb_platform_load("bmg", &cpu, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "describes a device"));
    assert_int_equal(ulb_device_platform_load("absent", &device, &is_device, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "arlh, lnl, lnl-gpu, bmg, a100"));
}

/* What is printed of a device is a platform file. */
static void test_written_and_read(void **state)
{
    (void)state;
    for (size_t i = 0; ulb_device_platform_builtin(i); i++) {
        struct ulb_device_platform first;
        bool is_device;
        assert_int_equal(ulb_device_platform_load(ulb_device_platform_builtin(i), &first, &is_device, &err),
                         ULB_OK);
        json_t *document = ulb_device_platform_json(&first);
        char *text = json_dumps(document, 0);
        assert_int_equal(ulb_device_platform_parse(text, strlen(text), "again", &device, &is_device, &err),
                         ULB_OK);
        json_t *again = ulb_device_platform_json(&device);
        assert_true(is_device && json_equal(document, again));
        json_decref(again);
        json_decref(document);
        free(text);
    }
}

static void test_wrong_files(void **state)
{
    (void)state;
    bool is_device;
    assert_int_equal(parse_edited("8", "8", &is_device), ULB_OK);
    assert_true(is_device && device.memory_bytes == 16e9);
    assert_int_equal(parse_edited("\"device\"", "\"cpu\"", &is_device), ULB_OK);
    assert_false(is_device);
    expect_refused("\"cores\": 8", "\"cores\": 0", "cores is 0");
    expect_refused("\"cores\": 8", "\"cores\": null", "cores_reason is missing");
    expect_refused("\"cores\": 8, ", "", "cores is missing");
    expect_refused("16", "\"16\"", "memory_gb is");
    expect_refused("100", "-1", "bandwidth_gbps is -1");
    expect_refused("\"bandwidth_gbps\": 100", "\"bandwidth_gbps\": 100, \"bandwidth_gibps\": 93", "not both");
    expect_refused("\"launch_us\": 2.5", "\"launch_us\": -2", "launch_us is -2");
    expect_refused("\"tops\": 50", "\"tops\": 0", "peaks[0].tops is 0");
    expect_refused("\"tops\": 50", "\"gops\": 50", "gops is an unknown key");
    expect_refused("50}", "50}, {\"format\": \"int2\", \"tops\": 1}", "int2 occurs twice");
    expect_refused("\"title\"", "\"tittle\"", "tittle is an unknown key");
    expect_refused("]}", "]", "x.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builtin),
        cmocka_unit_test(test_written_and_read),
        cmocka_unit_test(test_wrong_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
