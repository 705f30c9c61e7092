/* The perf back end as it is, on its own system calls: this program's syscall() and read() stand before those
 * of libc and play a kernel, and sysfs is a folder. */
#include "harness/counters/counters_private.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENT = 1000 }; /* a descriptor that the real kernel has not given out */

static struct {
    int error;          /* of perf_event_open; 0: it succeeds */
    double hz;          /* of the counter's cycles */
    bool multiplexed;   /* time_running falls behind */
    uint32_t dead_type; /* PMU whose counter reads 0 */
    struct perf_event_attr asked;
    unsigned long flags;
    int pid, cpu, group, opened, closed;
} kernel;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

long syscall(long number, ...)
{
    va_list args;
    va_start(args, number);
    assert_int_equal(number, SYS_perf_event_open);
    kernel.asked = *va_arg(args, struct perf_event_attr *);
    kernel.pid = va_arg(args, int);
    kernel.cpu = va_arg(args, int);
    kernel.group = va_arg(args, int);
    kernel.flags = (unsigned long)va_arg(args, int);
    va_end(args);
    if (kernel.error) {
        errno = kernel.error;
        return -1;
    }
    kernel.opened++;
    return EVENT;
}

static ssize_t play_read(int fd, void *data, size_t bytes)
{
    uint64_t cycles = (uint64_t)(now() * kernel.hz), ns = (uint64_t)(now() * 1e9);
    bool dead = kernel.dead_type && kernel.asked.config >> PERF_PMU_TYPE_SHIFT == kernel.dead_type;
    uint64_t reading[3] = {dead ? 0 : cycles, ns, kernel.multiplexed ? ns / 2 : ns};
    assert_int_equal(fd, EVENT);
    assert_int_equal(bytes, sizeof reading);
    memcpy(data, reading, sizeof reading);
    return (ssize_t)sizeof reading;
}

static int play_close(int fd)
{
    assert_int_equal(fd, EVENT);
    kernel.closed++;
    return 0;
}

/* The host's own way to the kernel, on a sysfs of our own. */
static struct ulb_counter_system host_on(const char *sysfs)
{
    struct ulb_counter_system system = ulb_counter_host;
    system.sysfs = sysfs;
    system.read = play_read;
    system.close = play_close;
    return system;
}

static void add_pmu(const char *sysfs, const char *name, unsigned type, const char *cpus)
{
    char command[512];
    snprintf(command, sizeof command,
             "d=%s/bus/event_source/devices/%s; mkdir -p $d && echo %u >$d/type && echo %s >$d/cpus", sysfs,
             name, type, cpus);
    assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
    static char sysfs[64];
    memset(&kernel, 0, sizeof kernel);
    kernel.hz = ulb_counter_chain_hz(&ulb_counter_host);
    strcpy(sysfs, "/tmp/ulb-sysfs-XXXXXX");
    *state = mkdtemp(sysfs);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    return system(command);
}

/* The counter that the back end opens; the name of what refused it, or NULL. */
static const char *open_perf(const char *sysfs)
{
    static struct ulb_error err;
    static struct ulb_counter_system system;
    struct ulb_cycle_counter counter = {.system = &system, .sound = true};
    system = host_on(sysfs);
    if (ulb_counter_perf.open(&counter, &err) != ULB_OK)
        return err.message;
    uint64_t value = 1;
    bool sound = ulb_counter_perf.read(&counter, &value);
    ulb_counter_perf.close(&counter);
    return !sound ? "not counting all the time" : value == 0 ? "reads 0" : NULL;
}

static void what_the_kernel_is_asked(void **state)
{
    assert_null(open_perf(*state));
    assert_int_equal(kernel.asked.type, PERF_TYPE_HARDWARE);
    assert_int_equal(kernel.asked.config, PERF_COUNT_HW_CPU_CYCLES);
    assert_int_equal(kernel.asked.exclude_kernel, 1);
    assert_int_equal(kernel.asked.exclude_hv, 1);
    assert_int_equal(kernel.asked.size, sizeof kernel.asked);
    assert_int_equal(kernel.pid, 0);
    assert_int_equal(kernel.cpu, -1);
    assert_int_equal(kernel.group, -1);
    assert_int_equal(kernel.flags, PERF_FLAG_FD_CLOEXEC);
    assert_int_equal(kernel.opened, kernel.closed);
}

static void a_hybrid_chip_is_asked_by_pmu(void **state)
{
    add_pmu(*state, "cpu_core", 4, "4000-5000");
    add_pmu(*state, "cpu_atom", 10, "0-3999");
    assert_null(open_perf(*state));
    assert_int_equal(kernel.asked.config, (10ull << PERF_PMU_TYPE_SHIFT) | PERF_COUNT_HW_CPU_CYCLES);
    kernel.dead_type = 10;
    assert_string_equal(open_perf(*state), "reads 0");
    assert_int_equal(kernel.opened, kernel.closed);
}

static void refusals(void **state)
{
    static const struct {
        int error;
        const char *words;
    } cases[] = {{ENOENT, "no such hardware event"},
                 {EACCES, "kernel.perf_event_paranoid=2"},
                 {ENOSYS, "seccomp"},
                 {EMFILE, "open files"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kernel.error = cases[i].error;
        const char *why = open_perf(*state);
        assert_non_null(why);
        assert_non_null(strstr(why, cases[i].words));
    }
    kernel.error = 0;
    kernel.multiplexed = true;
    assert_string_equal(open_perf(*state), "not counting all the time");
    assert_int_equal(kernel.opened, kernel.closed);
}

/* A counter that keeps the core's own time is believed, others are not. Neighbours may spoil a try. (PAPI,
 * which is tried first, comes by the same kernel.) */
static void a_working_counter_is_believed(void **state)
{
    struct ulb_counter_system system = host_on(*state);
    struct ulb_cycle_counter counter;
    struct ulb_error err = {""};
    enum ulb_status status = ULB_ENVIRONMENT;
    for (int i = 0; i < 50 && status != ULB_OK; i++) {
        kernel.hz = 1.03 * ulb_counter_chain_hz(&ulb_counter_host);
        status = ulb_cycle_counter_open_on(&system, &counter, &err);
    }
    if (status != ULB_OK)
        fail_msg("%s", err.message);
    ulb_cycle_counter_close(&counter);
    static const double factors[] = {0.3, 0};
    for (size_t i = 0; i < 2; i++) {
        double hz = kernel.hz;
        kernel.hz *= factors[i];
        assert_int_equal(ulb_cycle_counter_open_on(&system, &counter, &err), ULB_ENVIRONMENT);
        assert_non_null(strstr(err.message, factors[i] > 0 ? "no core cycles" : "reads 0"));
        kernel.hz = hz;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_the_kernel_is_asked),
        TEST(a_hybrid_chip_is_asked_by_pmu),
        TEST(refusals),
        TEST(a_working_counter_is_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
