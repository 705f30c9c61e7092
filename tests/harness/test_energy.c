/* Energy by a made-up powercap folder: what is added up, a counter that begins anew, rest, and what is
 * refused. */
#include "harness/energy/energy.h"
#include "harness/energy/energy_source.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void put(const char *zone, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/sys/class/powercap/%s", root, zone);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/sys/class/powercap/%s/%s", root, zone, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static void put_zone(const char *zone, const char *name, const char *count)
{
    put(zone, "name", name);
    put(zone, "max_energy_range_uj", "262143328850\n");
    put(zone, "energy_uj", count);
}

static int make_root(void **state)
{
    (void)state;
    char path[128];
    strcpy(root, "/tmp/ulb-energy-XXXXXX");
    assert_non_null(mkdtemp(root));
    static const char *const folders[] = {"sys", "sys/class", "sys/class/powercap"};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    return 0;
}

static int remove_root(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void assert_near(double value, double wanted, double tolerance)
{
    if (!(fabs(value - wanted) <= tolerance))
        fail_msg("%.12g is not %.12g", value, wanted);
}

static struct ulb_energy *open_energy(void)
{
    struct ulb_energy *energy;
    struct ulb_error err = {""};
    if (ulb_energy_open(&energy, root, &err) != ULB_OK)
        fail_msg("%s", err.message);
    return energy;
}

static void packages_and_their_memory_are_added_up(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "1000000\n");
    put_zone("intel-rapl:0:0", "core\n", "500000\n");
    put_zone("intel-rapl:0:1", "dram\n", "7000000\n");
    put_zone("intel-rapl:1", "package-1\n", "2000000\n");
    put_zone("intel-rapl:2", "psys\n", "0\n");
    put_zone("intel-rapl-mmio:0", "package-0\n", "1000000\n");
    struct ulb_energy *energy = open_energy();
    assert_string_equal(ulb_energy_source(energy), "powercap: package-0, dram, package-1");
    ulb_energy_start(energy);
    put("intel-rapl:0", "energy_uj", "3500000\n");
    put("intel-rapl:0:0", "energy_uj", "900000\n");
    put("intel-rapl:0:1", "energy_uj", "7250000\n");
    put("intel-rapl:1", "energy_uj", "3000000\n");
    put("intel-rapl:2", "energy_uj", "9000000\n");
    put("intel-rapl-mmio:0", "energy_uj", "3500000\n");
    ulb_energy_stop(energy);
    /* What is used between a stop and the next start does not count. */
    put("intel-rapl:1", "energy_uj", "50000000\n");
    ulb_energy_start(energy);
    put("intel-rapl:1", "energy_uj", "50500000\n");
    ulb_energy_stop(energy);
    struct ulb_energy_use use = ulb_energy_used(energy);
    assert_near(use.joules, 2.5 + 0.25 + 1 + 0.5, 1e-9);
    assert_true(use.seconds > 0 && isnan(use.net_joules));
    ulb_energy_reset(energy);
    assert_near(ulb_energy_used(energy).joules, 0, 0);
    ulb_energy_close(energy);
}

static void a_counter_that_begins_anew_is_made_up_for(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "262143000000\n");
    struct ulb_energy *energy = open_energy();
    ulb_energy_start(energy);
    put("intel-rapl:0", "energy_uj", "671150\n");
    ulb_energy_stop(energy);
    assert_near(ulb_energy_used(energy).joules, 1.0, 1e-9);
    ulb_energy_close(energy);
}

static void a_counter_that_may_have_turned_twice_gives_nothing(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "10\n");
    put("intel-rapl:0", "max_energy_range_uj", "1000\n");
    struct ulb_energy *energy = open_energy();
    ulb_energy_start(energy);
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    put("intel-rapl:0", "energy_uj", "20\n");
    ulb_energy_stop(energy);
    struct ulb_energy_use use = ulb_energy_used(energy);
    assert_true(isnan(use.joules) && isnan(use.net_joules));
    assert_non_null(strstr(use.reason, "package-0 may have begun anew more than once"));
    ulb_energy_close(energy);
}

static void *use_while_idle(void *arg)
{
    (void)arg;
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    put("intel-rapl:0", "energy_uj", "2000000\n");
    return NULL;
}

static void rest_is_subtracted(void **state)
{
    (void)state;
    put_zone("intel-rapl:0", "package-0\n", "0\n");
    struct ulb_energy *energy = open_energy();
    struct ulb_error err;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, use_while_idle, NULL), 0);
    assert_int_equal(ulb_energy_idle(energy, 0.1, &err), ULB_OK);
    pthread_join(thread, NULL);
    struct ulb_energy_use use = ulb_energy_used(energy);
    /* 2 J in 0.1 s or, on a busy machine, longer. */
    assert_true(use.idle_watts > 0 && use.idle_watts <= 20.001);
    assert_near(use.joules, 0, 0);
    ulb_energy_start(energy);
    put("intel-rapl:0", "energy_uj", "7000000\n");
    ulb_energy_stop(energy);
    use = ulb_energy_used(energy);
    assert_near(use.joules, 5, 1e-9);
    assert_near(use.net_joules, 5 - use.idle_watts * use.seconds, 1e-9);
    ulb_energy_close(energy);
}

static void expect_refused(const char *reason)
{
    struct ulb_energy *energy;
    struct ulb_error err = {""};
    assert_int_equal(ulb_energy_open(&energy, root, &err), ULB_ENVIRONMENT);
    assert_null(energy);
    if (!strstr(err.message, reason))
        fail_msg("no '%s' in '%s'", reason, err.message);
}

static void what_cannot_be_read_is_said(void **state)
{
    (void)state;
    char path[128];
    expect_refused("modprobe intel_rapl_msr");
    put_zone("intel-rapl:0", "package-0\n", "watts\n");
    expect_refused("'watts' is no number");
    put("intel-rapl:0", "energy_uj", "");
    expect_refused("energy_uj: empty");
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0755), 0);
    expect_refused("run as root, or: sudo chmod a+r");
    assert_int_equal(rmdir(path), 0);
    put_zone("intel-rapl:0", "package-0\n", "1\n");
    put("intel-rapl:0", "max_energy_range_uj", "0\n");
    expect_refused("a range of 0");
}

static void a_counter_that_goes_away_gives_nothing(void **state)
{
    (void)state;
    char path[128];
    put_zone("intel-rapl:0", "package-0\n", "1\n");
    struct ulb_energy *energy = open_energy();
    ulb_energy_start(energy);
    snprintf(path, sizeof path, "%s/sys/class/powercap/intel-rapl:0/energy_uj", root);
    assert_int_equal(unlink(path), 0);
    ulb_energy_stop(energy);
    assert_true(isnan(ulb_energy_used(energy).joules));
    assert_non_null(strstr(ulb_energy_used(energy).reason, "energy_uj"));
    ulb_energy_close(energy);
}

/* The kernel of perf: this program's syscall() stands before that of libc. */
static unsigned long long opened_on; /* CPUs, a bit each */

long syscall(long number, ...)
{
    va_list args;
    assert_int_equal(number, SYS_perf_event_open);
    va_start(args, number);
    (void)va_arg(args, void *);
    (void)va_arg(args, int);
    opened_on |= 1ull << va_arg(args, int);
    va_end(args);
    return open("/dev/null", O_RDONLY);
}

static void put_power(const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/sys/bus/event_source/devices/power/%s", root, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* Linux writes them as a list: "0,36", or "0-1" where packages take turns with CPU numbers. */
static void every_package_of_perf_is_opened(void **state)
{
    (void)state;
    char path[128];
    static const char *const folders[] = {"bus", "bus/event_source", "bus/event_source/devices",
                                          "bus/event_source/devices/power",
                                          "bus/event_source/devices/power/events"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/sys/%s", root, folders[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    put_power("type", "9\n");
    put_power("events/energy-pkg", "event=0x02\n");
    put_power("events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
    static const struct {
        const char *cpumask;
        unsigned long long cpus;
    } cases[] = {{"0\n", 1}, {"0,36\n", 1 | 1ull << 36}, {"0-1\n", 3}, {"0-1,8,32-33\n", 0x300000103}};
    struct ulb_energy_domain domains[ULB_ENERGY_DOMAINS];
    struct ulb_error err;
    size_t n;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        opened_on = 0;
        put_power("cpumask", cases[i].cpumask);
        assert_int_equal(ulb_energy_perf.open(root, domains, &n, &err), ULB_OK);
        assert_true(opened_on == cases[i].cpus);
        assert_int_equal(n, __builtin_popcountll(cases[i].cpus));
        ulb_energy_perf.close(domains, n);
    }
    put_power("cpumask", "none\n");
    assert_int_equal(ulb_energy_perf.open(root, domains, &n, &err), ULB_ENVIRONMENT);
    assert_non_null(strstr(err.message, "'none'"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        CASE(packages_and_their_memory_are_added_up),
        CASE(a_counter_that_begins_anew_is_made_up_for),
        CASE(a_counter_that_may_have_turned_twice_gives_nothing),
        CASE(rest_is_subtracted),
        CASE(what_cannot_be_read_is_said),
        CASE(a_counter_that_goes_away_gives_nothing),
        CASE(every_package_of_perf_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
