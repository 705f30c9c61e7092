/* Limits of containers, from trees of files as both versions of control groups lay them out. */
#include "common/cgroup.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct file {
    const char *path, *content;
};

/* A folder with these files, made new for each test. */
static char root[] = "/tmp/ulb-cgroup-XXXXXX";

static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
}

static void lay_out(const struct file *files, size_t n)
{
    memcpy(root + strlen(root) - 6, "XXXXXX", 6);
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", root, files[i].path);
        make_parents(path);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(files[i].content, file);
        assert_int_equal(fclose(file), 0);
    }
}

static int clean(void **state)
{
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

#define LAY_OUT(...)                                                                                         \
    do {                                                                                                     \
        const struct file files[] = {__VA_ARGS__};                                                           \
        lay_out(files, sizeof files / sizeof *files);                                                        \
    } while (0)

static void nothing_limits(void **state)
{
    (void)state;
    LAY_OUT({"proc/self/cgroup", "0::/user.slice\n"}, {"sys/fs/cgroup/cpu.max", "max 100000\n"},
            {"sys/fs/cgroup/user.slice/memory.max", "max\n"});
    assert_true(isinf(ulb_cgroup_cpus(root)));
    assert_int_equal(ulb_cgroup_memory_left(root), -1);
}

static void the_tightest_of_version_2_counts(void **state)
{
    (void)state;
    LAY_OUT({"proc/self/cgroup", "0::/a/b\n"}, {"sys/fs/cgroup/a/cpu.max", "150000 100000\n"},
            {"sys/fs/cgroup/a/b/cpu.max", "max 100000\n"}, {"sys/fs/cgroup/a/memory.max", "1000000\n"},
            {"sys/fs/cgroup/a/memory.current", "400000\n"}, {"sys/fs/cgroup/a/b/memory.max", "900000\n"},
            {"sys/fs/cgroup/a/b/memory.current", "500000\n"},
            {"sys/fs/cgroup/a/b/memory.stat", "anon 1\ninactive_file 100000\nactive_file 7\n"});
    assert_float_equal(ulb_cgroup_cpus(root), 1.5, 1e-9);
    assert_int_equal(ulb_cgroup_memory_left(root), 500000);
}

static void version_1_has_a_tree_for_each_controller(void **state)
{
    (void)state;
    LAY_OUT({"proc/self/cgroup", "7:memory:/m\n3:cpuset,cpu:/c\n"},
            {"sys/fs/cgroup/cpu/c/cpu.cfs_quota_us", "50000\n"},
            {"sys/fs/cgroup/cpu/c/cpu.cfs_period_us", "100000\n"},
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
            {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
            {"sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096000\n"},
            {"sys/fs/cgroup/memory/m/memory.usage_in_bytes", "8192000\n"},
            {"sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"},
            {"sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n"});
    assert_float_equal(ulb_cgroup_cpus(root), 0.5, 1e-9);
    assert_int_equal(ulb_cgroup_memory_left(root), 0);
}

/* Docker with version 1 shows the path of the host's tree, and mounts the container's own part of it. */
static void limits_stand_at_the_root_of_a_container(void **state)
{
    (void)state;
    LAY_OUT({"proc/self/cgroup", "4:cpu,cpuacct:/docker/0123\n2:memory:/docker/0123\n0::/docker/0123\n"},
            {"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n"},
            {"sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"},
            {"sys/fs/cgroup/memory/memory.limit_in_bytes", "1000\n"},
            {"sys/fs/cgroup/memory/memory.usage_in_bytes", "100\n"},
            {"sys/fs/cgroup/memory/memory.stat", "cache 50\ntotal_inactive_file 50\n"});
    assert_float_equal(ulb_cgroup_cpus(root), 2, 1e-9);
    assert_int_equal(ulb_cgroup_memory_left(root), 950);
}

static void without_proc_nothing_is_known(void **state)
{
    (void)state;
    LAY_OUT({"sys/fs/cgroup/cpu.max", "50000 100000\n"});
    assert_true(isinf(ulb_cgroup_cpus(root)));
    assert_int_equal(ulb_cgroup_memory_left(root), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nothing_limits, clean),
        cmocka_unit_test_teardown(the_tightest_of_version_2_counts, clean),
        cmocka_unit_test_teardown(version_1_has_a_tree_for_each_controller, clean),
        cmocka_unit_test_teardown(limits_stand_at_the_root_of_a_container, clean),
        cmocka_unit_test_teardown(without_proc_nothing_is_known, clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
