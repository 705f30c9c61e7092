/* Choosing a counter, and the test each has to pass before it is believed. */
#include "harness/counters/counters_private.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A chain long enough that opening, reading and closing do not count (0.5 ms), tried a few times. The
 * smallest count is the one that nothing disturbed. */
enum { PROBE_ADDS = 1 << 20, PROBE_TRIES = 5 };

/* One add per cycle is the bound of the chain; a busy sibling thread may slow it somewhat. A reference clock
 * or a counter of another core falls outside. */
static const double least_cycles_per_add = 0.97, most_cycles_per_add = 1.25;

/* The loop's own instructions, two or three for 64 adds, come on top. */
static const double least_instructions_per_add = 1, most_instructions_per_add = 1.1;

static const struct ulb_counter_backend *const backends[] = {&ulb_counter_papi, &ulb_counter_perf};
enum { BACKENDS = sizeof backends / sizeof *backends };

void ulb_dependent_adds(uint64_t adds)
{
    uint64_t sum = 0, one = 1;
    for (uint64_t left = (adds + 63) / 64; left > 0; left--) {
#if defined(__x86_64__)
        __asm__ volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one));
#elif defined(__aarch64__)
        __asm__ volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(one));
#else
#error "the chain of dependent adds is written for x86-64 and AArch64"
#endif
    }
}

void ulb_independent_adds(uint64_t adds)
{
    for (uint64_t left = (adds + 63) / 64; left > 0; left--) {
#if defined(__x86_64__)
        __asm__ volatile(".rept 8\n\tadd %%rax, %%rbx\n\tadd %%rax, %%rcx\n\tadd %%rax, %%rdx\n\t"
                         "add %%rax, %%rsi\n\tadd %%rax, %%r8\n\tadd %%rax, %%r9\n\tadd %%rax, %%r10\n\t"
                         "add %%rax, %%r11\n\t.endr"
                         :
                         :
                         : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc");
#elif defined(__aarch64__)
        __asm__ volatile(".rept 8\n\tadd x1, x1, x0\n\tadd x2, x2, x0\n\tadd x3, x3, x0\n\t"
                         "add x4, x4, x0\n\tadd x5, x5, x0\n\tadd x6, x6, x0\n\tadd x7, x7, x0\n\t"
                         "add x9, x9, x0\n\t.endr"
                         :
                         :
                         : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x9");
#endif
    }
}

double ulb_counter_chain_hz(const struct ulb_counter_system *system)
{
    double best = 0;
    for (int i = 0; i < PROBE_TRIES; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        system->work(PROBE_ADDS);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
        best = PROBE_ADDS / seconds > best ? PROBE_ADDS / seconds : best;
    }
    return best;
}

static int host_perf_event_open(struct perf_event_attr *attributes)
{
    return (int)syscall(SYS_perf_event_open, attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int host_move_to(int cpu)
{
    cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
    if (!set)
        return -1;
    size_t bytes = CPU_ALLOC_SIZE((size_t)cpu + 1);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S((size_t)cpu, bytes, set);
    int result = sched_setaffinity(0, bytes, set);
    CPU_FREE(set);
    return result;
}

const struct ulb_counter_system ulb_counter_host = {
    "/sys",
    host_perf_event_open,
    read,
    close,
    sched_getcpu,
    host_move_to,
    ulb_dependent_adds,
    ulb_independent_adds,
};

/* The least count of some runs of a loop of so many adds. */
static enum ulb_status count_loop(struct ulb_cycle_counter *counter, void (*loop)(uint64_t adds),
                                  uint64_t *count, struct ulb_error *err)
{
    *count = UINT64_MAX;
    for (int i = 0; i < PROBE_TRIES; i++) {
        uint64_t before = ulb_cycle_counter_read(counter);
        loop(PROBE_ADDS);
        uint64_t counted = ulb_cycle_counter_read(counter) - before;
        if (!counter->sound)
            return ulb_fail(
                err, ULB_ENVIRONMENT,
                "the event was not counting all the time: others use the PMU, or the thread moved");
        if (counted < *count)
            *count = counted;
    }
    if (*count == 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "reads 0 on this core: wrong PMU, or a virtual machine without counters");
    return ULB_OK;
}

static enum ulb_status check_on_chain(struct ulb_cycle_counter *counter, uint64_t *cycles,
                                      struct ulb_error *err)
{
    enum ulb_status status = count_loop(counter, counter->system->work, cycles, err);
    if (status != ULB_OK)
        return status;
    double per_add = (double)*cycles / PROBE_ADDS;
    if (per_add < least_cycles_per_add)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "counts %.2f cycles per dependent add, and 1 is the least possible: no core cycles",
                        per_add);
    if (per_add > most_cycles_per_add)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "counts %.2f cycles per dependent add instead of 1: no core cycles, or a busy core",
                        per_add);
    return ULB_OK;
}

/* A counter may stand still, or keep another clock's time, while the core is busiest. It then gives more
 * instructions a cycle than a core can allocate. */
static enum ulb_status check_on_wide_loop(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    uint64_t cycles;
    enum ulb_status status = count_loop(counter, counter->system->wide, &cycles, err);
    if (status != ULB_OK)
        return status;
    double ipc = PROBE_ADDS / (double)cycles;
    if (ipc > ULB_WIDEST_IPC)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "%.1f instructions per cycle in a loop of independent adds, more than any core "
                        "allocates: no core cycles",
                        ipc);
    return ULB_OK;
}

static enum ulb_status open_backend(const struct ulb_counter_system *system,
                                    const struct ulb_counter_backend *backend,
                                    struct ulb_cycle_counter *counter, uint64_t *cycles,
                                    struct ulb_error *err)
{
    *counter = (struct ulb_cycle_counter){.system = system, .sound = true};
    enum ulb_status status = backend->open(counter, err);
    if (status != ULB_OK)
        return status;
    counter->backend = backend;
    status = check_on_chain(counter, cycles, err);
    if (status == ULB_OK)
        status = check_on_wide_loop(counter, err);
    if (status != ULB_OK)
        ulb_cycle_counter_close(counter);
    return status;
}

enum ulb_status ulb_cycle_counter_open_on(const struct ulb_counter_system *system,
                                          struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    struct ulb_error reasons[BACKENDS];
    for (size_t i = 0; i < BACKENDS; i++) {
        uint64_t cycles;
        if (open_backend(system, backends[i], counter, &cycles, &reasons[i]) == ULB_OK)
            return ULB_OK;
    }
    return ulb_fail(err, ULB_ENVIRONMENT, "no cycle counter: papi: %.200s; perf: %.200s", reasons[0].message,
                    reasons[1].message);
}

enum ulb_status ulb_cycle_counter_open(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    return ulb_cycle_counter_open_on(&ulb_counter_host, counter, err);
}

enum ulb_status ulb_instruction_counter_open_on(const struct ulb_counter_system *system,
                                                struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    *counter = (struct ulb_cycle_counter){.system = system, .sound = true};
    enum ulb_status status = ulb_counter_instructions.open(counter, err);
    if (status != ULB_OK)
        return status;
    uint64_t count;
    counter->backend = &ulb_counter_instructions;
    status = count_loop(counter, system->work, &count, err);
    double per_add = status == ULB_OK ? (double)count / PROBE_ADDS : 0;
    if (status == ULB_OK && (per_add < least_instructions_per_add || per_add > most_instructions_per_add))
        status =
            ulb_fail(err, ULB_ENVIRONMENT, "counts %.3f instructions per add of a chain of adds", per_add);
    if (status != ULB_OK)
        ulb_cycle_counter_close(counter);
    return status;
}

enum ulb_status ulb_instruction_counter_open(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    return ulb_instruction_counter_open_on(&ulb_counter_host, counter, err);
}

uint64_t ulb_cycle_counter_read(struct ulb_cycle_counter *counter)
{
    uint64_t cycles = 0;
    if (!counter->backend->read(counter, &cycles))
        counter->sound = false;
    return cycles;
}

const char *ulb_cycle_counter_source(const struct ulb_cycle_counter *counter)
{
    return counter->backend->name;
}

void ulb_cycle_counter_close(struct ulb_cycle_counter *counter)
{
    if (counter->backend)
        counter->backend->close(counter);
    counter->backend = NULL;
}

/* Tries a back end on the core that the thread is on, which belongs to the named PMU. */
static void probe_here(const struct ulb_counter_system *system, const struct ulb_counter_backend *backend,
                       const char *pmu, struct ulb_counter_report *report)
{
    struct ulb_cycle_counter counter;
    struct ulb_error err;
    uint64_t cycles;
    report->works = open_backend(system, backend, &counter, &cycles, &err) == ULB_OK;
    if (report->works)
        snprintf(report->reason, sizeof report->reason, "%" PRIu64 " cycles for a chain of %d adds%s%s",
                 cycles, PROBE_ADDS, *pmu ? ", last on " : "", pmu);
    else
        snprintf(report->reason, sizeof report->reason, "%.159s", err.message);
    ulb_cycle_counter_close(&counter);
}

/* Moves to the first CPU of the list that the thread may use; false when there is none. */
static bool move_to_any(const struct ulb_counter_system *system, const char *cpus)
{
    for (int cpu = ulb_cpu_list_next(cpus, 0); cpu >= 0; cpu = ulb_cpu_list_next(cpus, cpu + 1)) {
        if (system->move_to(cpu) == 0)
            return true;
    }
    return false;
}

/* A back end works when it does on every kind of core that may be used. */
static void probe_backend(const struct ulb_counter_system *system, const struct ulb_counter_backend *backend,
                          struct ulb_counter_report *report)
{
    struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS];
    size_t n = ulb_core_pmus(system->sysfs, pmus);
    *report = (struct ulb_counter_report){.name = backend->name, .reason = "no core of any PMU may be used"};
    if (n == 0)
        probe_here(system, backend, "", report);
    for (size_t i = 0; i < n; i++) {
        if (!move_to_any(system, pmus[i].cpus))
            continue;
        probe_here(system, backend, pmus[i].name, report);
        if (!report->works)
            return;
    }
}

void ulb_counters_probe_on(const struct ulb_counter_system *system,
                           struct ulb_counter_report reports[ULB_COUNTER_REPORTS])
{
    for (size_t i = 0; i < BACKENDS; i++)
        probe_backend(system, backends[i], &reports[i]);
    ulb_likwid_probe(system, &reports[BACKENDS]);
}

static void *probe_thread(void *reports)
{
    ulb_counters_probe_on(&ulb_counter_host, reports);
    return NULL;
}

/* In a thread of its own, because the probe pins. */
enum ulb_status ulb_counters_probe(struct ulb_counter_report reports[ULB_COUNTER_REPORTS],
                                   struct ulb_error *err)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, probe_thread, reports) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "no thread could be started to probe the counters");
    pthread_join(thread, NULL);
    return ULB_OK;
}
