/* perf_event: cycles or instructions of the calling thread, from the PMU of the core it runs on. */
#include "harness/counters/counters_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What read(2) gives for the read_format asked for below. */
struct reading {
    uint64_t value, time_enabled, time_running;
};

static enum ulb_status refuse(int error, const char *pmu, struct ulb_error *err)
{
    const char *why = strerror(error);
    if (error == ENOENT || error == EOPNOTSUPP)
        why = "no such hardware event; in a virtual machine, have the host pass a PMU through";
    else if (error == EACCES || error == EPERM)
        why = "not permitted; sysctl kernel.perf_event_paranoid=2, and in a container a seccomp profile that "
              "allows perf_event_open";
    else if (error == ENOSYS)
        why = "blocked; the kernel has no perf events or a container's seccomp profile bars perf_event_open";
    return ulb_fail(err, ULB_ENVIRONMENT, "%s%s%s", pmu, *pmu ? ": " : "", why);
}

static enum ulb_status open_event(struct ulb_cycle_counter *counter, uint64_t event, struct ulb_error *err)
{
    const struct ulb_counter_system *system = counter->system;
    struct perf_event_attr attributes = {
        .size = sizeof attributes,
        .type = PERF_TYPE_HARDWARE,
        .config = event,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS];
    size_t n = ulb_core_pmus(system->sysfs, pmus);
    int cpu = system->current_cpu();
    const char *name = "";
    for (size_t i = 0; i < n; i++) {
        if (ulb_cpu_list_next(pmus[i].cpus, cpu) == cpu) {
            attributes.config |= (uint64_t)pmus[i].type << PERF_PMU_TYPE_SHIFT;
            name = pmus[i].name;
        }
    }
    if (n > 0 && !*name)
        return ulb_fail(err, ULB_ENVIRONMENT, "CPU %d belongs to no core PMU in %s", cpu, system->sysfs);
    counter->handle = system->perf_event_open(&attributes);
    return counter->handle < 0 ? refuse(errno, name, err) : ULB_OK;
}

static enum ulb_status open_cycles(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    return open_event(counter, PERF_COUNT_HW_CPU_CYCLES, err);
}

static enum ulb_status open_instructions(struct ulb_cycle_counter *counter, struct ulb_error *err)
{
    return open_event(counter, PERF_COUNT_HW_INSTRUCTIONS, err);
}

static bool perf_read(struct ulb_cycle_counter *counter, uint64_t *cycles)
{
    struct reading reading;
    if (counter->system->read(counter->handle, &reading, sizeof reading) != (ssize_t)sizeof reading)
        return false;
    *cycles = reading.value;
    return reading.time_running == reading.time_enabled;
}

static void perf_close(struct ulb_cycle_counter *counter)
{
    counter->system->close(counter->handle);
}

const struct ulb_counter_backend ulb_counter_perf = {"perf", open_cycles, perf_read, perf_close};
const struct ulb_counter_backend ulb_counter_instructions = {"perf", open_instructions, perf_read,
                                                             perf_close};
