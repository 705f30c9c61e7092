/* Keys tell apart whatever changes a figure, and nothing else. */
#include "results/record/cell_key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka last: it needs the headers above. */
#include <cmocka.h>

static const struct ulb_cell like = {.kernel = "int2a8-pshufb-avx2-32x1x4",
                                     .layout = "vnni4-interleaved",
                                     .format = "int2",
                                     .model = "llama3-8b",
                                     .layer = "down",
                                     .set = "all",
                                     .split = "static",
                                     .mode = "cold",
                                     .m = 4096,
                                     .k = 14336,
                                     .n = 1,
                                     .threads = 2,
                                     .us = 100};

static void test_text(void **state)
{
    (void)state;
    char key[ULB_CELL_KEY_MAX];
    assert_string_equal(ulb_cell_key(&like, "chain", key),
                        "int2a8-pshufb-avx2-32x1x4 vnni4-interleaved llama3-8b/down 4096x14336 n1 all:2 "
                        "static cold chain");
    struct ulb_cell old = like;
    old.layout[0] = '\0';
    assert_string_equal(ulb_cell_key(&old, NULL, key),
                        "int2a8-pshufb-avx2-32x1x4 ? llama3-8b/down 4096x14336 n1 all:2 static cold ?");
    struct ulb_gamma_cell gamma = {.kernel = "int2a8-pshufb-avx2-32x1x4", .cls = "E"};
    assert_string_equal(ulb_gamma_key(&gamma, "papi", key), "int2a8-pshufb-avx2-32x1x4 E papi");
    struct ulb_count_cell count = {.kernel = "int2a8-pshufb-avx2-32x1x4", .source = "perf"};
    assert_string_equal(ulb_count_key(&count, key), "int2a8-pshufb-avx2-32x1x4 perf");
    count.source[0] = '\0';
    assert_string_equal(ulb_count_key(&count, key), "int2a8-pshufb-avx2-32x1x4 ?");
}

static void test_conditions_tell_cells_apart(void **state)
{
    (void)state;
    enum { CHANGES = 11 };
    struct ulb_cell changed[CHANGES];
    char key[ULB_CELL_KEY_MAX], other[ULB_CELL_KEY_MAX];
    for (size_t i = 0; i < CHANGES; i++)
        changed[i] = like;
    strcpy(changed[0].kernel, "int2a8-pshufb-avx2-32x1x8");
    strcpy(changed[1].layout, "planes");
    strcpy(changed[2].model, "falcon3-1b");
    strcpy(changed[3].layer, "o");
    strcpy(changed[4].set, "0-1");
    strcpy(changed[5].split, "dynamic");
    strcpy(changed[6].mode, "warm");
    changed[7].m = 4095;
    changed[8].k = 4096;
    changed[9].n = 2;
    changed[10].threads = 1;
    ulb_cell_key(&like, "chain", key);
    for (size_t i = 0; i < CHANGES; i++)
        assert_string_not_equal(ulb_cell_key(&changed[i], "chain", other), key);
    assert_string_not_equal(ulb_cell_key(&like, "tsc", other), key);
    struct ulb_cell faster = like;
    faster.us = 50;
    assert_string_equal(ulb_cell_key(&faster, "chain", other), key);
}

static void test_the_longest_fits(void **state)
{
    (void)state;
    struct ulb_cell longest = {.m = SIZE_MAX, .k = SIZE_MAX, .n = SIZE_MAX, .threads = UINT32_MAX};
    memset(longest.kernel, 'w', sizeof longest.kernel - 1);
    memset(longest.layout, 'w', sizeof longest.layout - 1);
    memset(longest.model, 'w', sizeof longest.model - 1);
    memset(longest.layer, 'w', sizeof longest.layer - 1);
    memset(longest.set, 'w', sizeof longest.set - 1);
    memset(longest.split, 'w', sizeof longest.split - 1);
    memset(longest.mode, 'w', sizeof longest.mode - 1);
    char key[ULB_CELL_KEY_MAX];
    assert_string_equal(strrchr(ulb_cell_key(&longest, "chain", key), ' '), " chain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_conditions_tell_cells_apart),
        cmocka_unit_test(test_the_longest_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
