/* Core types besides hwloc's: a made-up sysfs tree and a made-up CPUID, and the real ones of this machine. */
#include "tests/topology/topology_check.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char sysfs[64];
static enum ulb_core_type reported[16]; /* what the made-up CPUID says, by PU */
static hwloc_bitmap_t asked;            /* the PUs it was asked about */

static int make_tree(void **state)
{
    (void)state;
    char path[128];
    snprintf(sysfs, sizeof sysfs, "/tmp/ulb-sysfs-XXXXXX");
    memset(reported, 0, sizeof reported);
    asked = hwloc_bitmap_alloc();
    if (!asked || !mkdtemp(sysfs))
        return -1;
    snprintf(path, sizeof path, "%s/devices", sysfs);
    return mkdir(path, 0700);
}

static const char *const pmus[] = {"cpu_core", "cpu_atom", "cpu_lowpower"};

static int drop_tree(void **state)
{
    (void)state;
    char path[128];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/devices/%s/cpus", sysfs, pmus[i]);
        unlink(path);
        snprintf(path, sizeof path, "%s/devices/%s", sysfs, pmus[i]);
        rmdir(path);
    }
    snprintf(path, sizeof path, "%s/devices", sysfs);
    rmdir(path);
    hwloc_bitmap_free(asked);
    return rmdir(sysfs);
}

static void add_pmu(const char *pmu, const char *pus)
{
    char path[128];
    snprintf(path, sizeof path, "%s/devices/%s", sysfs, pmu);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/devices/%s/cpus", sysfs, pmu);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", pus) > 0);
    assert_int_equal(fclose(file), 0);
}

static enum ulb_status made_up_cpuid(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                     enum ulb_core_type *types, struct ulb_error *err)
{
    (void)hw, (void)err;
    hwloc_bitmap_copy(asked, allowed);
    for (int pu = hwloc_bitmap_first(allowed); pu >= 0; pu = hwloc_bitmap_next(allowed, pu))
        types[pu] = reported[pu];
    return ULB_OK;
}

static enum ulb_status failing_cpuid(hwloc_topology_t hw, hwloc_const_bitmap_t allowed,
                                     enum ulb_core_type *types, struct ulb_error *err)
{
    (void)hw, (void)allowed, (void)types;
    return ulb_fail(err, ULB_ENVIRONMENT, "no affinity");
}

/* "P 0-3, E 4-7": the classes that come out. */
static void check_classes(const char *file, const struct ulb_type_sources *sources, const char *expected,
                          const char *how, const char *note)
{
    struct ulb_topology topology;
    struct ulb_error err = {""};
    char text[256] = "", pus[64];
    assert_true(replay(DATA, file));
    assert_int_equal(ulb_topology_load_from(&topology, sources, &err), ULB_OK);
    for (size_t c = 0; c < topology.n_classes; c++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "%s%s %s", c ? ", " : "", topology.classes[c].name,
                 ulb_pu_list_text(&topology.classes[c].pus, pus, sizeof pus));
    }
    assert_string_equal(text, expected);
    assert_string_equal(topology.how, how);
    assert_string_equal(topology.note, note);
    ulb_topology_free(&topology);
}

static void test_sysfs_tells(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {sysfs, NULL};
    add_pmu("cpu_core", "0-1,4-5");
    add_pmu("cpu_atom", "2-3,6-7");
    check_classes("no-kinds", &sources, "P 0-1,4-5, E 2-3,6-7", "sysfs PMUs", "");
}

/* cpu_atom may list the low-power cores too; their own list is the better word. */
static void test_sysfs_low_power(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {sysfs, NULL};
    add_pmu("cpu_core", "0-3");
    add_pmu("cpu_atom", "4-7");
    add_pmu("cpu_lowpower", "6-7");
    check_classes("no-kinds", &sources, "P 0-3, E 4-5, LP-E 6-7", "sysfs PMUs", "");
    check_classes("no-kinds-hybrid", &sources, "P 0-3, E 4-5, LP-E 6-7", "sysfs PMUs", "");
    check_classes("speed-only", &sources, "P 0-3, E 4-5, LP-E 6-7", "sysfs PMUs", "");
}

static void test_sysfs_nothing(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {sysfs, NULL};
    check_classes("no-kinds", &sources, "core 0-7", "no sign of more than one class", "");
    add_pmu("cpu_core", "rubbish");
    add_pmu("cpu_atom", "5000-6000");
    check_classes("no-kinds", &sources, "core 0-7", "no sign of more than one class", "");
}

/* Agreement is silent; contradiction is noted and the later source believed. */
static void test_sources_agree(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {sysfs, made_up_cpuid};
    add_pmu("cpu_core", "0-3");
    add_pmu("cpu_atom", "4-9");
    for (int pu = 0; pu < 10; pu++)
        reported[pu] = pu < 4 ? ULB_TYPE_PERFORMANCE : ULB_TYPE_EFFICIENCY;
    check_classes("three-kinds", &sources, "P 0-3, E 4-7, LP-E 8-9",
                  "hwloc CoreType, sysfs PMUs, CPUID, no L3 above LP-E", "");
    check_classes("low-power-kind", &sources, "P 0-3, E 4-7, LP-E 8-9", "hwloc CoreType, sysfs PMUs, CPUID",
                  "");
}

static void test_sources_differ(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {sysfs, made_up_cpuid};
    add_pmu("cpu_core", "0-3,5");
    for (int pu = 0; pu < 10; pu++)
        reported[pu] = pu < 3 || pu == 5 ? ULB_TYPE_PERFORMANCE : ULB_TYPE_EFFICIENCY;
    check_classes(
        "three-kinds", &sources, "P 0-2,5, E 3-4,6-7, LP-E 8-9",
        "hwloc CoreType, sysfs PMUs, CPUID, no L3 above LP-E",
        "hwloc CoreType, sysfs PMUs, CPUID differ on the type of PU 3,5; the last named is believed");
}

/* Zen 5 with Zen 5c: no kinds, equal caches; CPUID alone tells. */
static void test_cpuid_tells(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {NULL, made_up_cpuid};
    for (int pu = 0; pu < 8; pu++)
        reported[pu] = pu < 3 ? ULB_TYPE_PERFORMANCE : ULB_TYPE_EFFICIENCY;
    check_classes("no-kinds", &sources, "P 0-2, E 3-7", "CPUID", "");
    for (int pu = 0; pu < 8; pu++)
        reported[pu] = ULB_TYPE_EFFICIENCY;
    check_classes("no-kinds", &sources, "core 0-7", "one core type by CPUID", "");
}

/* CPUID reaches the allowed PUs only; cores with the same caches are of the same type. */
static void test_cpuid_inside_cpuset(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {NULL, made_up_cpuid};
    char text[64];
    reported[3] = ULB_TYPE_PERFORMANCE;
    reported[9] = reported[10] = ULB_TYPE_EFFICIENCY;
    reported[0] = reported[8] = ULB_TYPE_LOW_POWER; /* not allowed: must not be heard */
    check_classes("sibling-allowed", &sources, "P 0-7, E 8-11", "hwloc CoreType, CPUID", "");
    hwloc_bitmap_list_snprintf(text, sizeof text, asked);
    assert_string_equal(text, "3,9-10");
}

static void test_cpuid_fails(void **state)
{
    (void)state;
    struct ulb_type_sources sources = {NULL, failing_cpuid};
    struct ulb_topology topology;
    struct ulb_error err = {""};
    assert_true(replay(DATA, "no-kinds"));
    assert_int_equal(ulb_topology_load_from(&topology, &sources, &err), ULB_ENVIRONMENT);
    assert_string_equal(err.message, "no affinity");
    assert_null(topology.all_pus.items);
}

static void test_intel_leaf(void **state)
{
    (void)state;
    const uint32_t hybrid = 1u << 15;
    assert_int_equal(ulb_intel_core_type(hybrid, 0x40000001), ULB_TYPE_PERFORMANCE);
    assert_int_equal(ulb_intel_core_type(hybrid, 0x20000004), ULB_TYPE_EFFICIENCY);
    assert_int_equal(ulb_intel_core_type(hybrid, 0), ULB_TYPE_UNKNOWN);
    assert_int_equal(ulb_intel_core_type(0, 0x40000001), ULB_TYPE_UNKNOWN);
}

static void test_amd_leaf(void **state)
{
    (void)state;
    const uint32_t heterogeneous = 1u << 30;
    assert_int_equal(ulb_amd_core_type(heterogeneous | 1, 0x00000002), ULB_TYPE_PERFORMANCE);
    assert_int_equal(ulb_amd_core_type(heterogeneous | 1, 0x10000002), ULB_TYPE_EFFICIENCY);
    assert_int_equal(ulb_amd_core_type(heterogeneous | 1, 0x20000002), ULB_TYPE_LOW_POWER);
    assert_int_equal(ulb_amd_core_type(heterogeneous | 1, 0xF0000002), ULB_TYPE_UNKNOWN);
    assert_int_equal(ulb_amd_core_type(1, 0x10000002), ULB_TYPE_UNKNOWN);
}

/* Part numbers of three kinds, and of fewer: which kind is which depends on what stands beside it. */
static void check_midr(const char *vendor, const unsigned parts[6], const enum ulb_core_type wanted[6])
{
    struct ulb_cpu_signature cpus[6] = {{.vendor = ""}};
    enum ulb_core_type types[6];
    for (size_t i = 0; i < 6; i++) {
        snprintf(cpus[i].vendor, sizeof cpus[i].vendor, "%s", vendor);
        cpus[i].model = parts[i];
    }
    ulb_midr_core_types(cpus, 6, types);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(types[i], wanted[i]);
}

static void test_midr_kinds(void **state)
{
    (void)state;
    const enum ulb_core_type P = ULB_TYPE_PERFORMANCE, E = ULB_TYPE_EFFICIENCY, L = ULB_TYPE_LOW_POWER,
                             U = ULB_TYPE_UNKNOWN;
    check_midr("Arm", (unsigned[]){0xD80, 0xD80, 0xD81, 0xD81, 0xD81, 0xD82},
               (enum ulb_core_type[]){L, L, E, E, E, P});
    check_midr("Arm", (unsigned[]){0xD87, 0xD87, 0xD87, 0xD85, 0xD85, 0xD85},
               (enum ulb_core_type[]){E, E, E, P, P, P});
    check_midr("Arm", (unsigned[]){0xD05, 0xD05, 0xD05, 0xD05, 0xD0B, 0xD0D},
               (enum ulb_core_type[]){E, E, E, E, P, P});
    check_midr("Apple", (unsigned[]){0x22, 0x22, 0x22, 0x23, 0x23, 0x23},
               (enum ulb_core_type[]){E, E, E, P, P, P});
    check_midr("Arm", (unsigned[]){0xD82, 0xD82, 0xD82, 0xD82, 0xD82, 0xD82},
               (enum ulb_core_type[]){U, U, U, U, U, U});
    check_midr("Arm", (unsigned[]){0xD80, 0xD80, 0xD82, 0xD82, 0xFFF, 0xFFF},
               (enum ulb_core_type[]){U, U, U, U, U, U});
    struct ulb_cpu_signature x925 = ulb_midr_signature(0x410FD851), other = ulb_midr_signature(0x530F0040);
    assert_string_equal(x925.vendor, "Arm");
    assert_int_equal(x925.model, 0xD85);
    assert_string_equal(other.vendor, "0x53");
    assert_string_equal(ulb_midr_signature(0).vendor, "");
}

static void test_hypervisor_names(void **state)
{
    (void)state;
    char name[32];
    assert_string_equal(ulb_hypervisor_name("KVMKVMKVM\0\0\0", name, sizeof name), "kvm");
    assert_string_equal(ulb_hypervisor_name("VMwareVMware", name, sizeof name), "vmware");
    assert_string_equal(ulb_hypervisor_name("Microsoft Hv", name, sizeof name), "hyperv");
    assert_string_equal(ulb_hypervisor_name("XenVMMXenVMM", name, sizeof name), "xen");
    assert_string_equal(ulb_hypervisor_name("New\"One Co.\x01", name, sizeof name), "NewOneCo.");
    assert_string_equal(ulb_hypervisor_name("", name, sizeof name), "unnamed");
}

static unsigned reads;

static enum ulb_core_type by_cpu_number(void)
{
    reads++;
    return sched_getcpu() % 2 ? ULB_TYPE_EFFICIENCY : ULB_TYPE_PERFORMANCE;
}

static enum ulb_core_type never_known(void)
{
    reads++;
    return ULB_TYPE_UNKNOWN;
}

/* Every allowed PU is asked on itself; the affinity is as before. */
static void test_pinned_reading(void **state)
{
    (void)state;
    hwloc_topology_t hw;
    struct ulb_error err = {""};
    cpu_set_t before, after;
    unsetenv("HWLOC_XMLFILE");
    assert_int_equal(ulb_hwloc_open(&hw, &err), ULB_OK);
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    assert_int_equal(ulb_allowed_pus(hw, allowed, &err), ULB_OK);
    enum ulb_core_type *types = calloc((size_t)hwloc_bitmap_last(allowed) + 1, sizeof *types);
    assert_non_null(types);
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    reads = 0;
    assert_int_equal(ulb_pinned_core_types(hw, allowed, never_known, types, &err), ULB_OK);
    assert_int_equal(reads, 1);
    assert_int_equal(types[hwloc_bitmap_first(allowed)], ULB_TYPE_UNKNOWN);
    assert_int_equal(ulb_pinned_core_types(hw, allowed, by_cpu_number, types, &err), ULB_OK);
    for (int pu = hwloc_bitmap_first(allowed); pu >= 0; pu = hwloc_bitmap_next(allowed, pu))
        assert_int_equal(types[pu], pu % 2 ? ULB_TYPE_EFFICIENCY : ULB_TYPE_PERFORMANCE);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&before, &after));
    free(types);
    hwloc_bitmap_free(allowed);
    hwloc_topology_destroy(hw);
}

/* The machine the tests run on: affinity is as before, a narrower one is honoured. */
static void test_this_machine(void **state)
{
    (void)state;
    struct ulb_topology topology;
    struct ulb_error err = {""};
    cpu_set_t before, one, after;
    unsetenv("HWLOC_XMLFILE");
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(ulb_topology_load(&topology, &err), ULB_OK);
    assert_true(topology.this_system);
    assert_int_equal(topology.isa, ulb_isa_detect());
    unsigned last = topology.allowed_pus.items[topology.allowed_pus.n - 1];
    ulb_topology_free(&topology);
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(ulb_topology_load(&topology, &err), ULB_OK);
    assert_int_equal(topology.allowed_pus.n, 1);
    assert_int_equal(topology.allowed_pus.items[0], last);
    assert_int_equal(sched_getaffinity(0, sizeof after, &after), 0);
    assert_true(CPU_EQUAL(&after, &one));
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    ulb_topology_free(&topology);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sysfs_tells, make_tree, drop_tree),
        cmocka_unit_test_setup_teardown(test_sysfs_low_power, make_tree, drop_tree),
        cmocka_unit_test_setup_teardown(test_sysfs_nothing, make_tree, drop_tree),
        cmocka_unit_test_setup_teardown(test_sources_agree, make_tree, drop_tree),
        cmocka_unit_test_setup_teardown(test_sources_differ, make_tree, drop_tree),
        cmocka_unit_test_setup_teardown(test_cpuid_tells, make_tree, drop_tree),
        cmocka_unit_test_setup_teardown(test_cpuid_inside_cpuset, make_tree, drop_tree),
        cmocka_unit_test(test_cpuid_fails),
        cmocka_unit_test(test_intel_leaf),
        cmocka_unit_test(test_amd_leaf),
        cmocka_unit_test(test_midr_kinds),
        cmocka_unit_test(test_hypervisor_names),
        cmocka_unit_test(test_pinned_reading),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests_name("core types", tests, NULL, NULL);
}
