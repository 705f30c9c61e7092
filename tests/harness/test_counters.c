/* Counters on a made-up machine: what each back end is asked, what it answers, and whether it is believed. */
#include "harness/counters/counters_private.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* the made-up machine */

static struct {
    char sysfs[64];
    int error;             /* of perf_event_open; 0: it succeeds */
    double cycles_per_add; /* what the counter sees */
    double cycles_per_wide_add;
    uint64_t stolen;       /* time per chain during which the event did not count */
    int cpu;               /* where the thread is */
    uint64_t allowed;      /* CPUs that it may move to */
    uint64_t dead_type;    /* PMU whose counter stays at 0 */
    uint64_t asked_config; /* of the last event */
    uint64_t cycles, enabled, running;
    int open_events;
} machine;

static int fake_open(struct perf_event_attr *attributes)
{
    machine.asked_config = attributes->config;
    assert_int_equal(attributes->exclude_kernel, 1);
    if (machine.error) {
        errno = machine.error;
        return -1;
    }
    machine.cycles = machine.enabled = machine.running = 0;
    machine.open_events++;
    return 7;
}

static ssize_t fake_read(int fd, void *data, size_t bytes)
{
    assert_int_equal(fd, 7);
    bool dead = machine.dead_type != 0 && machine.asked_config >> 32 == machine.dead_type;
    uint64_t reading[3] = {dead ? 0 : machine.cycles, machine.enabled, machine.running};
    assert_int_equal(bytes, sizeof reading);
    memcpy(data, reading, sizeof reading);
    return (ssize_t)bytes;
}

static int fake_close(int fd)
{
    assert_int_equal(fd, 7);
    machine.open_events--;
    return 0;
}

static int fake_cpu(void)
{
    return machine.cpu;
}

static int fake_move(int cpu)
{
    if (!(machine.allowed >> cpu & 1))
        return -1;
    machine.cpu = cpu;
    return 0;
}

static void fake_work(uint64_t adds)
{
    machine.cycles += (uint64_t)((double)adds * machine.cycles_per_add);
    machine.enabled += adds;
    machine.running += adds - machine.stolen;
}

static void fake_wide(uint64_t adds)
{
    machine.cycles += (uint64_t)((double)adds * machine.cycles_per_wide_add);
    machine.enabled += adds;
    machine.running += adds;
}

static struct ulb_counter_system fake = {machine.sysfs, fake_open, fake_read, fake_close,
                                         fake_cpu,      fake_move, fake_work, fake_wide};

/* --- PAPI, LIKWID: the program's own definitions stand before those of the shared libraries ----------------
 */

#ifdef ULB_HAVE_PAPI
#include <papi.h>

static bool papi_counts; /* whether PAPI_TOT_CYC can be added */

int PAPI_library_init(int version)
{
    (void)version;
    return PAPI_VERSION_NUMBER(7, 1, 0, 0);
}
int PAPI_thread_init(unsigned long (*id)(void))
{
    return id() ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_create_eventset(int *set)
{
    *set = 3;
    return PAPI_OK;
}
int PAPI_add_event(int set, int event)
{
    assert_int_equal(set, 3);
    assert_int_equal(event, (int)PAPI_TOT_CYC);
    return papi_counts ? PAPI_OK : PAPI_ENOEVNT;
}
int PAPI_start(int set)
{
    return set == 3 ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_read(int set, long long *value)
{
    *value = (long long)machine.cycles;
    return set == 3 ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_stop(int set, long long *value)
{
    return PAPI_read(set, value);
}
int PAPI_cleanup_eventset(int set)
{
    return set == 3 ? PAPI_OK : PAPI_EINVAL;
}
int PAPI_destroy_eventset(int *set)
{
    *set = PAPI_NULL;
    return PAPI_OK;
}
int PAPI_unregister_thread(void)
{
    return PAPI_OK;
}
char *PAPI_strerror(int code)
{
    static char none[] = "No error", event[] = "Event does not exist", other[] = "Something else";
    return code == PAPI_OK ? none : code == PAPI_ENOEVNT ? event : other;
}
#endif

/* files */

static void write_file(const char *directory, const char *name, const char *text, mode_t mode)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void make_directory(char *path, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, bytes, format, arguments);
    va_end(arguments);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void add_pmu(const char *name, const char *type, const char *cpus_file, const char *cpus)
{
    char path[200];
    make_directory(path, sizeof path, "%s/bus/event_source/devices/%s", machine.sysfs, name);
    write_file(path, "type", type, 0600);
    write_file(path, cpus_file, cpus, 0600);
}

/* A machine that works, on an empty sysfs. */
static int setup(void **state)
{
    char path[200];
    memset(&machine, 0, sizeof machine);
    strcpy(machine.sysfs, "/tmp/ulb-counters-XXXXXX");
    *state = mkdtemp(machine.sysfs);
    assert_non_null(*state);
    machine.cycles_per_add = 1.0;
    machine.cycles_per_wide_add = 0.25;
    machine.allowed = ~0ull;
    make_directory(path, sizeof path, "%s/bus", machine.sysfs);
    make_directory(path, sizeof path, "%s/bus/event_source", machine.sysfs);
    make_directory(path, sizeof path, "%s/bus/event_source/devices", machine.sysfs);
#ifdef ULB_HAVE_PAPI
    papi_counts = false;
#endif
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", machine.sysfs);
    return system(command);
}

static void make_hybrid(void)
{
    add_pmu("cpu_core", "4\n", "cpus", "0-3\n");
    add_pmu("cpu_atom", "10\n", "cpus", "4-11\n");
    add_pmu("uncore_imc_0", "14\n", "cpumask", "0\n");
}

/* perf_event */

static void test_perf_reads_differences(void **state)
{
    (void)state;
    struct ulb_cycle_counter counter;
    struct ulb_error err;
    assert_int_equal(ulb_cycle_counter_open_on(&fake, &counter, &err), ULB_OK);
    assert_string_equal(ulb_cycle_counter_source(&counter), "perf");
    assert_int_equal(machine.asked_config, PERF_COUNT_HW_CPU_CYCLES);
    uint64_t before = ulb_cycle_counter_read(&counter);
    fake_work(12345);
    assert_int_equal(ulb_cycle_counter_read(&counter) - before, 12345);
    assert_true(counter.sound);
    machine.running--; /* from now on it did not count all the time */
    ulb_cycle_counter_read(&counter);
    assert_false(counter.sound);
    ulb_cycle_counter_close(&counter);
    ulb_cycle_counter_close(&counter);
    assert_int_equal(machine.open_events, 0);
}

static void assert_refused(const char *words)
{
    struct ulb_cycle_counter counter;
    struct ulb_error err;
    assert_int_equal(ulb_cycle_counter_open_on(&fake, &counter, &err), ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "papi: "));
    if (!strstr(err.message, words))
        fail_msg("'%s' is not in '%s'", words, err.message);
    assert_int_equal(machine.open_events, 0);
}

static void test_errors_have_remedies(void **state)
{
    (void)state;
    static const struct {
        int error;
        const char *words;
    } cases[] = {
        {ENOENT, "no such hardware event"}, {EACCES, "kernel.perf_event_paranoid=2"}, {EPERM, "seccomp"},
        {ENOSYS, "no perf events"},         {EMFILE, "Too many open files"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine.error = cases[i].error;
        assert_refused(cases[i].words);
    }
}

static void test_implausible_counts_are_refused(void **state)
{
    (void)state;
    machine.cycles_per_add = 0;
    assert_refused("reads 0");
    machine.cycles_per_add = 0.71; /* a 2.5 GHz reference clock under a 3.5 GHz core */
    assert_refused("0.71 cycles per dependent add");
    machine.cycles_per_add = 1.4;
    assert_refused("1.40 cycles per dependent add");
    machine.cycles_per_add = 1.0;
    machine.cycles_per_wide_add = 0.05; /* it stands still while the core is busiest */
    assert_refused("20.0 instructions per cycle");
    machine.cycles_per_wide_add = 0;
    assert_refused("reads 0");
    machine.cycles_per_wide_add = 0.125; /* eight a cycle are possible */
    machine.stolen = 1;
    assert_refused("not counting all the time");
}

/* What the made-up counter sees stands for instructions here. */
static void test_instructions(void **state)
{
    (void)state;
    struct ulb_cycle_counter counter;
    struct ulb_error err;
    make_hybrid();
    machine.cpu = 5;
    machine.cycles_per_add = 1.04;
    assert_int_equal(ulb_instruction_counter_open_on(&fake, &counter, &err), ULB_OK);
    assert_int_equal(machine.asked_config, (10ull << 32) | PERF_COUNT_HW_INSTRUCTIONS);
    assert_string_equal(ulb_cycle_counter_source(&counter), "perf");
    ulb_cycle_counter_close(&counter);
    static const double implausible[] = {0.9, 1.5, 0};
    for (size_t i = 0; i < sizeof implausible / sizeof *implausible; i++) {
        machine.cycles_per_add = implausible[i];
        assert_int_equal(ulb_instruction_counter_open_on(&fake, &counter, &err), ULB_ENVIRONMENT);
        assert_non_null(strstr(err.message, implausible[i] > 0 ? "instructions per add" : "reads 0"));
    }
    machine.error = EACCES;
    assert_int_equal(ulb_instruction_counter_open_on(&fake, &counter, &err), ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "perf_event_paranoid"));
    assert_int_equal(machine.open_events, 0);
}

static void test_hybrid_asks_the_pmu_of_the_core(void **state)
{
    (void)state;
    make_hybrid();
    struct ulb_cycle_counter counter;
    struct ulb_error err;
    for (machine.cpu = 0; machine.cpu < 12; machine.cpu++) {
        assert_int_equal(ulb_cycle_counter_open_on(&fake, &counter, &err), ULB_OK);
        assert_int_equal(machine.asked_config, (machine.cpu < 4 ? 4ull : 10ull) << 32);
        ulb_cycle_counter_close(&counter);
    }
    machine.cpu = 12;
    assert_refused("CPU 12 belongs to no core PMU");
}

static void test_one_core_pmu_is_no_hybrid(void **state)
{
    (void)state;
    add_pmu("armv8_pmuv3_0", "8\n", "cpus", "0-7\n");
    struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS];
    assert_int_equal(ulb_core_pmus(machine.sysfs, pmus), 0);
    assert_int_equal(ulb_core_pmus("/nonexistent", pmus), 0);
    add_pmu("cpu_broken", "eight\n", "cpus", "8\n");
    assert_int_equal(ulb_core_pmus(machine.sysfs, pmus), 0);
    add_pmu("armv8_pmuv3_1", "9\n", "cpus", "8-9\n");
    assert_int_equal(ulb_core_pmus(machine.sysfs, pmus), 2);
    assert_string_equal(pmus[1].name, "armv8_pmuv3_1");
    assert_int_equal(pmus[1].type, 9);
}

static void test_cpu_lists(void **state)
{
    (void)state;
    static const int wanted[] = {0, 2, 3, 4, 17, -1};
    int cpu = -1;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        cpu = ulb_cpu_list_next("0,2-4,17", cpu + 1);
        assert_int_equal(cpu, wanted[i]);
    }
    assert_int_equal(ulb_cpu_list_next("", 0), -1);
    assert_int_equal(ulb_cpu_list_next("x", 0), -1);
}

/* the probe */

static void test_probe_visits_every_kind_of_core(void **state)
{
    (void)state;
    make_hybrid();
    machine.allowed = 0xFF5; /* CPU 0 yes, 1 no, 2 yes, 3 no, 4-11 yes */
    machine.dead_type = 4;   /* P counts nothing */
    struct ulb_counter_report reports[ULB_COUNTER_REPORTS];
    ulb_counters_probe_on(&fake, reports);
    assert_string_equal(reports[1].name, "perf");
    assert_false(reports[1].works);
    assert_non_null(strstr(reports[1].reason, "reads 0"));
    machine.allowed = 0xFF0; /* a cpuset of E-cores: P does not matter */
    ulb_counters_probe_on(&fake, reports);
    assert_true(reports[1].works);
    assert_int_equal(machine.cpu, 4);
    assert_non_null(strstr(reports[1].reason, "1048576 cycles"));
    machine.allowed = 0;
    ulb_counters_probe_on(&fake, reports);
    assert_false(reports[1].works);
    assert_string_equal(reports[2].name, "likwid");
    assert_false(reports[2].works);
    assert_non_null(strstr(reports[2].reason, "does not know hybrid CPUs"));
}

static void test_probe_of_this_machine(void **state)
{
    (void)state;
    struct ulb_counter_report reports[ULB_COUNTER_REPORTS];
    struct ulb_error err;
    assert_int_equal(ulb_counters_probe(reports, &err), ULB_OK);
    for (size_t i = 0; i < ULB_COUNTER_REPORTS; i++)
        assert_true(strlen(reports[i].reason) > 10);
}

/* PAPI */

#ifdef ULB_HAVE_PAPI
static void test_papi_comes_first_where_it_works(void **state)
{
    (void)state;
    struct ulb_cycle_counter counter;
    struct ulb_error err;
    papi_counts = true;
    assert_int_equal(ulb_cycle_counter_open_on(&fake, &counter, &err), ULB_OK);
    assert_string_equal(ulb_cycle_counter_source(&counter), "papi");
    uint64_t before = ulb_cycle_counter_read(&counter);
    fake_work(77);
    assert_int_equal(ulb_cycle_counter_read(&counter) - before, 77);
    ulb_cycle_counter_close(&counter);

    machine.cycles_per_add = 0; /* it lists the event and reads 0 */
    machine.error = ENOENT;
    assert_refused("papi: reads 0");
}

static void test_old_papi_is_refused_on_a_hybrid(void **state)
{
    (void)state;
    make_hybrid();
    papi_counts = true;
    machine.error = ENOENT;
    assert_refused("papi: PAPI 7.1 does not know hybrid CPUs");
}

static void test_papi_without_the_event(void **state)
{
    (void)state;
    machine.error = ENOENT;
    assert_refused("papi: PAPI_TOT_CYC cannot be counted here: Event does not exist");
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_perf_reads_differences),
        TEST(test_errors_have_remedies),
        TEST(test_implausible_counts_are_refused),
        TEST(test_hybrid_asks_the_pmu_of_the_core),
        TEST(test_one_core_pmu_is_no_hybrid),
        TEST(test_cpu_lists),
        TEST(test_probe_visits_every_kind_of_core),
        TEST(test_probe_of_this_machine),
        TEST(test_instructions),
#ifdef ULB_HAVE_PAPI
        TEST(test_papi_comes_first_where_it_works),
        TEST(test_old_papi_is_refused_on_a_hybrid),
        TEST(test_papi_without_the_event),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
