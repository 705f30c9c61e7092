/* Platforms with gammas that are not their file's: port bounds, and the measured ratio of two 1-bit rows. */
#include "common/units.h"
#include "harness/analysis/platform_gammas.h"
#include "models/platform/platform.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct given {
    const char *kernel, *isa, *class_name;
    double gamma;
};

/* A record with these gammas and nothing else. */
static void make_record(struct ulb_record *record, const struct given *rows, size_t n)
{
    struct ulb_error err = {""};
    assert_int_equal(ulb_record_new(record, &err), ULB_OK);
    for (size_t i = 0; i < n; i++) {
        struct ulb_gamma_cell cell = {.gamma_cycles = rows[i].gamma,
                                      .gamma_min_cycles = rows[i].gamma,
                                      .gamma_mad_cycles = 0.01,
                                      .bytes_per_step = 4,
                                      .ebw_bytes_per_cycle = NAN,
                                      .verified = true};
        snprintf(cell.kernel, sizeof cell.kernel, "%s", rows[i].kernel);
        snprintf(cell.format, sizeof cell.format, "%.4s", rows[i].kernel);
        snprintf(cell.isa, sizeof cell.isa, "%s", rows[i].isa);
        snprintf(cell.cls, sizeof cell.cls, "%s", rows[i].class_name);
        if (ulb_record_add_gamma(record, &cell, &err) != ULB_OK)
            fail_msg("%s", err.message);
    }
}

static enum ulb_status ratio_of(const struct given *rows, size_t n, struct ulb_int1_ratio *ratio,
                                struct ulb_error *err)
{
    struct ulb_record record;
    make_record(&record, rows, n);
    enum ulb_status status = ulb_int1_ratio_of(&record, ratio, err);
    ulb_record_free(&record);
    return status;
}

/* One class; a 512-bit row and another format are faster but do not count, nor does a row of no table. */
static const struct given one_class[] = {
    {"int2a8-mask-avxvnni-32x1x4", "avxvnni", "core", 0.10},
    {"int1a8-blend-avxvnni-32x1x4", "avxvnni", "core", 2.39},
    {"int1a8-blend-avx512vnni256-32x1x4", "avx512vnni256", "core", 2.30},
    {"int1a8-mask-avx512vnni-128x1x4", "avx512vnni", "core", 0.20},
    {"int1a8-mask-avx512vnni256-64x1x4", "avx512vnni256", "core", 0.30},
    {"int1a8-mask-avxvnni-64x1x4", "avxvnni", "core", 0.68},
    {"int1a8-table-avx2-64x1x4", "avx2", "core", 0.546},
    {"int1a8-dream-avx2-64x1x4", "avx2", "core", 0.01},
    {"int1a8-scalar-ref-1x1x8", "ref", "core", 0.02},
};

static void expect(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.12g, wanted %.12g", value, wanted);
}

static void expect_kernel(const struct ulb_kernel *kernel, const char *wanted)
{
    char name[ULB_KERNEL_NAME_MAX];
    ulb_kernel_name(kernel, name);
    if (strncmp(name, wanted, strlen(wanted)) != 0)
        fail_msg("%s, wanted %s", name, wanted);
}

static void test_ratio(void **state)
{
    (void)state;
    struct ulb_int1_ratio ratio;
    struct ulb_error err = {""};
    assert_int_equal(ratio_of(one_class, sizeof one_class / sizeof *one_class, &ratio, &err), ULB_OK);
    expect_kernel(ratio.kernel, "int1a8-table-avx2-");
    expect_kernel(ratio.paper, "int1a8-blend-avxvnni-");
    assert_int_equal(ratio.n_classes, 1);
    assert_string_equal(ratio.classes[0].name, "core");
    expect(ratio.classes[0].gamma, 0.546);
    expect(ratio.classes[0].paper_gamma, 2.39);
    assert_int_equal(ulb_int1_class_like(&ratio, "E"), 0);
}

/* Each class has its own ratio; the rows are those of the first. Tiles of another version do not matter. */
static void test_ratio_of_classes(void **state)
{
    (void)state;
    static const struct given rows[] = {
        {"int1a8-blend-avxvnni-48x1x4", "avxvnni", "P", 2.4},
        {"int1a8-table-avx2-99x1x4", "avx2", "P", 0.6},
        {"int1a8-mask-avxvnni-64x1x4", "avxvnni", "P", 0.7},
        {"int1a8-blend-avxvnni-32x1x4", "avxvnni", "E", 4.0},
        {"int1a8-table-avx2-64x1x4", "avx2", "E", 0.8},
        {"int1a8-mask-avxvnni-64x1x4", "avxvnni", "E", 0.5},
    };
    struct ulb_int1_ratio ratio;
    struct ulb_error err = {""};
    assert_int_equal(ratio_of(rows, sizeof rows / sizeof *rows, &ratio, &err), ULB_OK);
    expect_kernel(ratio.kernel, "int1a8-table-avx2-");
    assert_int_equal(ratio.n_classes, 2);
    assert_int_equal(ulb_int1_class_like(&ratio, "E"), 1);
    assert_int_equal(ulb_int1_class_like(&ratio, "P"), 0);
    expect(ratio.classes[1].gamma / ratio.classes[1].paper_gamma, 0.2);
}

static void test_no_ratio(void **state)
{
    (void)state;
    struct ulb_int1_ratio ratio;
    struct ulb_error err = {""};
    static const struct given no_paper[] = {{"int1a8-table-avx2-64x1x4", "avx2", "core", 0.5},
                                            {"int1a8-blend-avx2-32x1x4", "avx2", "core", 2.7}};
    static const struct given only_paper[] = {
        {"int1a8-blend-avx512vnni256-32x1x4", "avx512vnni256", "core", 2.4}};
    static const struct given apart[] = {{"int1a8-table-avx2-64x1x4", "avx2", "P", 0.5},
                                         {"int1a8-blend-avxvnni-32x1x4", "avxvnni", "E", 4.0}};
    assert_int_equal(ratio_of(no_paper, 2, &ratio, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "gamma --formats int1"));
    assert_int_equal(ratio_of(only_paper, 1, &ratio, &err), ULB_BAD_INPUT);
    /* On class E the paper's row is itself one of 256 bits that needs AVX-VNNI alone: a ratio of 1. */
    assert_int_equal(ratio_of(apart, 2, &ratio, &err), ULB_OK);
    assert_int_equal(ratio.n_classes, 1);
    expect(ratio.classes[0].gamma / ratio.classes[0].paper_gamma, 1);
    assert_int_equal(ratio_of(NULL, 0, &ratio, &err), ULB_BAD_INPUT);
}

static void load(const char *name, struct ulb_platform *platform)
{
    struct ulb_error err = {""};
    if (ulb_platform_load(name, platform, &err) != ULB_OK)
        fail_msg("%s", err.message);
}

/* With 0.546 and 2.39 the ratio is 0.228: gamma 0.548 on P and 1.076 on E, ceilings 7.30 and 3.72 above the
 * betas 3.18 and 3.52: from 37 GiB/s to all of the 97. */
static void test_new_row_on_lnl(void **state)
{
    (void)state;
    struct ulb_platform lnl;
    struct ulb_int1_ratio ratio;
    struct ulb_modelled modelled;
    struct ulb_error err = {""};
    load("lnl", &lnl);
    assert_int_equal(ratio_of(one_class, sizeof one_class / sizeof *one_class, &ratio, &err), ULB_OK);
    assert_int_equal(ulb_model_int1(&lnl, &ratio, &modelled, &err), ULB_OK);
    assert_int_equal(modelled.platform.n_gammas, 1);
    const struct ulb_platform_gamma *gamma = &modelled.platform.gammas[0];
    assert_string_equal(gamma->format, "int1");
    assert_string_equal(gamma->sequence, "table");
    assert_true(gamma->bytes_per_step == 4);
    expect(gamma->cycles[0], 2.4 * 0.546 / 2.39);
    expect(gamma->cycles[1], 4.71 * 0.546 / 2.39);
    expect(ulb_platform_bandwidth(&modelled.platform, gamma), 97 * ULB_GIB);
    const struct ulb_platform_gamma *paper = ulb_platform_gamma_find(&lnl, "int1", "blend");
    assert_true(fabs(ulb_platform_bandwidth(&lnl, paper) / ULB_GIB - 37.16) < 0.01);
}

/* A slower row: P at beta, E at its ceiling of 4 / (4.71 / 2) bytes/cycle. */
static void test_new_row_below_memory(void **state)
{
    (void)state;
    static const struct given rows[] = {{"int1a8-blend-avxvnni-32x1x4", "avxvnni", "core", 2},
                                        {"int1a8-table-avx2-64x1x4", "avx2", "core", 1}};
    struct ulb_platform lnl;
    struct ulb_int1_ratio ratio;
    struct ulb_modelled modelled;
    struct ulb_error err = {""};
    load("lnl", &lnl);
    assert_int_equal(ratio_of(rows, 2, &ratio, &err), ULB_OK);
    assert_int_equal(ulb_model_int1(&lnl, &ratio, &modelled, &err), ULB_OK);
    double total = ulb_platform_bandwidth(&modelled.platform, &modelled.platform.gammas[0]);
    expect(total, 97 * ULB_GIB / 2 + 4 * 3.7e9 * 4 / (4.71 / 2));
    lnl.n_gammas = 1; /* int2 alone */
    assert_int_equal(ulb_model_int1(&lnl, &ratio, &modelled, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "lnl has no gamma of int1 blend"));
}

/* Lion Cove: int2 by the latency of 4 chains, int1 7 operations on 4 ports; Skymont: 11 / 2 operations of 2
 * micro-operations on 4 pipes per 4 steps, and (8 + 8) / 4. */
static void test_ports(void **state)
{
    (void)state;
    static const double int2[] = {1.0, 1.375}, int1[] = {1.75, 4.0};
    struct ulb_core_list cores;
    struct ulb_modelled ports;
    struct ulb_error err = {""};
    assert_int_equal(ulb_core_list_load(&cores, &err), ULB_OK);
    for (size_t i = 0; ulb_platform_builtin(i); i++) {
        struct ulb_platform platform;
        load(ulb_platform_builtin(i), &platform);
        ulb_model_ports(&platform, &cores, NULL, &ports);
        assert_int_equal(ports.platform.n_gammas, 2);
        for (size_t c = 0; c < 2; c++) {
            expect(ports.platform.gammas[0].cycles[c], int2[c]);
            expect(ports.platform.gammas[1].cycles[c], int1[c]);
            assert_string_equal(ports.origins[0][c].core->name, c ? "skymont" : "lion-cove");
            expect_kernel(ports.origins[0][c].kernel, "int2a8-pshufb-avxvnni-");
        }
        assert_int_equal(ports.origins[0][0].decides, ULB_LIMIT_LATENCY);
        assert_int_equal(ports.origins[1][1].decides, ULB_LIMIT_VECTOR);
        if (platform.n_unused) {
            assert_string_equal(ports.origins[0][2].core->name, "crestmont");
            expect(ports.idle_cycles[0][0], 2.0);
            expect(ports.idle_cycles[1][0], 3.89);
        }
        if (strcmp(platform.name, "lnl") == 0)
            expect(ulb_platform_bandwidth(&ports.platform, &ports.platform.gammas[1]),
                   4 * 4.1e9 * 4 / 1.75 + 4 * 3.7e9);
    }
    ulb_core_list_free(&cores);
}

static void test_ports_of_other_cores(void **state)
{
    (void)state;
    struct ulb_core_list cores;
    struct ulb_modelled ports;
    struct ulb_platform platform;
    struct ulb_int1_ratio ratio;
    struct ulb_error err = {""};
    assert_int_equal(ulb_core_list_load(&cores, &err), ULB_OK);
    assert_int_equal(ratio_of(one_class, sizeof one_class / sizeof *one_class, &ratio, &err), ULB_OK);
    load("lnl", &platform);
    snprintf(platform.classes[0].core, sizeof platform.classes[0].core, "zen3");
    platform.classes[1].core[0] = '\0';
    snprintf(platform.gammas[1].sequence, sizeof platform.gammas[1].sequence, "nosuch");
    ulb_model_ports(&platform, &cores, &ratio, &ports);
    /* Zen 3 has no dot product: the row without stands in. */
    expect_kernel(ports.origins[0][0].kernel, "int2a8-pshufb-avx2-");
    assert_true(isnan(ports.platform.gammas[0].cycles[1]));
    assert_string_equal(ports.origins[0][1].reason, "the platform file names no core for class E");
    assert_true(isnan(ports.platform.gammas[1].cycles[0]));
    assert_string_equal(ports.origins[1][0].reason, "no 256-bit kernel of int1 nosuch");
    /* The measured row stands beside the platform's own sequences. */
    assert_int_equal(ports.platform.n_gammas, 3);
    assert_string_equal(ports.platform.gammas[2].sequence, "table");
    assert_ptr_equal(ports.origins[2][0].kernel, ratio.kernel);
    assert_true(ports.platform.gammas[2].cycles[0] > 0.1 && ports.platform.gammas[2].cycles[0] < 1);
    ulb_core_list_free(&cores);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ratio),
        cmocka_unit_test(test_ratio_of_classes),
        cmocka_unit_test(test_no_ratio),
        cmocka_unit_test(test_new_row_on_lnl),
        cmocka_unit_test(test_new_row_below_memory),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_ports_of_other_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
