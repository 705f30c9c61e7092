/* The plan of a device's cold ring, the sum of its words, and which device a name means. */
#include "harness/opencl/device_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define MIB ((size_t)1 << 20)

static size_t planned(struct ulb_device device, size_t wanted, size_t *copy)
{
    static struct ulb_device_ring ring;
    ulb_device_ring_plan(&device, wanted, &ring);
    *copy = ring.copy_bytes;
    return ring.copy_bytes * ring.n;
}

static void a_ring_has_2_gib_or_four_caches_or_half_of_the_memory(void **state)
{
    const struct ulb_device large = {
        .memory_bytes = 16384 * MIB, .largest_buffer_bytes = 4096 * MIB, .cache_bytes = 18 * MIB};
    struct ulb_device cached = large, small = large, parted = large;
    size_t copy;
    (void)state;
    assert_int_equal(planned(large, 0, &copy), 2048 * MIB);
    assert_int_equal(copy, 256 * MIB);
    cached.cache_bytes = 1024 * MIB;
    assert_int_equal(planned(cached, 0, &copy), 4096 * MIB);
    small.memory_bytes = 1024 * MIB;
    assert_int_equal(planned(small, 0, &copy), 512 * MIB);
    parted.largest_buffer_bytes = 100 * MIB;
    assert_int_equal(planned(parted, 0, &copy), 2048 * MIB);
    assert_int_equal(copy, 64 * MIB);
    assert_int_equal(planned(large, 64 * MIB, &copy), 64 * MIB);
    assert_int_equal(copy, 8 * MIB);
    assert_int_equal(planned(large, MIB, &copy), MIB);
    assert_int_equal(planned((struct ulb_device){0}, 0, &copy), 2048 * MIB); /* a driver that tells nothing */
}

static void the_sum_is_that_of_the_words(void **state)
{
    uint32_t sum = 0;
    (void)state;
    for (size_t words = 0; words < 100000; words++) {
        assert_int_equal(ulb_device_ring_sum(words), sum);
        sum += (uint32_t)words * 2654435761u;
    }
}

static void a_device_is_meant_by_id_or_by_a_part_of_its_name(void **state)
{
    const struct ulb_device devices[] = {{.id = "opencl:0.0", .name = "Arc 140V"},
                                         {.id = "opencl:0.1", .name = "Arc B580"},
                                         {.id = "opencl:1.0", .name = "Radeon 780M"}};
    struct ulb_error err;
    size_t i;
    (void)state;
    assert_int_equal(ulb_device_choose(devices, 3, "opencl:0.1", &i, &err), ULB_OK);
    assert_int_equal(i, 1);
    assert_int_equal(ulb_device_choose(devices, 3, "radeon", &i, &err), ULB_OK);
    assert_int_equal(i, 2);
    assert_int_equal(ulb_device_choose(devices, 3, "arc", &i, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "names 2 devices"));
    assert_int_equal(ulb_device_choose(devices, 3, "opencl:2.0", &i, &err), ULB_BAD_INPUT);
    assert_non_null(strstr(err.message, "there is opencl:0.0 (Arc 140V), opencl:0.1 (Arc B580)"));
}

static void extensions_are_whole_words(void **state)
{
    char words[] = "cl_intel_subgroups_short cl_intel_subgroups cl_khr_fp16";
    const struct ulb_device device = {.extensions = words};
    (void)state;
    assert_true(ulb_device_has(&device, "cl_intel_subgroups"));
    assert_true(ulb_device_has(&device, "cl_khr_fp16"));
    assert_false(ulb_device_has(&device, "cl_intel_subgroups_char"));
    assert_false(ulb_device_has(&device, "cl_khr_fp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ring_has_2_gib_or_four_caches_or_half_of_the_memory),
        cmocka_unit_test(the_sum_is_that_of_the_words),
        cmocka_unit_test(a_device_is_meant_by_id_or_by_a_part_of_its_name),
        cmocka_unit_test(extensions_are_whole_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
