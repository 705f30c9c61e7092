/* RAPL through perf: the PMU "power", one counter per package, which Linux widens to 64 bits. */
#include "harness/counters/pmu.h"
#include "harness/energy/energy_source.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool read_text(const char *root, const char *file, char *text, int bytes)
{
    char path[400];
    snprintf(path, sizeof path, "%.200s/sys/bus/event_source/devices/power/%.100s", root, file);
    FILE *in = fopen(path, "re");
    bool got = in && fgets(text, bytes, in);
    if (in)
        fclose(in);
    return got;
}

/* "event=0x02" and the joules of a count. */
static bool read_event(const char *root, const char *event, uint64_t *config, double *unit)
{
    char file[64], text[128];
    unsigned long long value;
    snprintf(file, sizeof file, "events/%.40s", event);
    if (!read_text(root, file, text, sizeof text) || sscanf(text, "event=%llx", &value) != 1)
        return false;
    *config = value;
    snprintf(file, sizeof file, "events/%.40s.scale", event);
    if (!read_text(root, file, text, sizeof text))
        return false;
    *unit = strtod(text, NULL);
    return *unit > 0;
}

static enum ulb_status add(struct ulb_energy_domain *domains, size_t *n, uint32_t type, uint64_t config,
                           double unit, const char *name, int cpu, struct ulb_error *err)
{
    struct perf_event_attr attributes = {.type = type, .size = sizeof attributes, .config = config};
    if (*n == ULB_ENERGY_DOMAINS)
        return ULB_OK;
    long fd = syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "%s: %s; run as root, or: sudo sysctl kernel.perf_event_paranoid=0", name,
                        strerror(errno));
    struct ulb_energy_domain *domain = &domains[(*n)++];
    *domain = (struct ulb_energy_domain){.fd = (int)fd, .unit_joules = unit};
    snprintf(domain->name, sizeof domain->name, "%s of CPU %d", name, cpu);
    return ULB_OK;
}

static void close_perf(struct ulb_energy_domain *domains, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(domains[i].fd);
}

/* One counter on each CPU that the PMU names: one per package. */
static enum ulb_status open_perf(const char *root, struct ulb_energy_domain *domains, size_t *n,
                                 struct ulb_error *err)
{
    static const char *const events[] = {"energy-pkg", "energy-ram"};
    char type[32], cpus[256];
    *n = 0;
    if (!read_text(root, "type", type, sizeof type) || !read_text(root, "cpumask", cpus, sizeof cpus))
        return ulb_fail(err, ULB_ENVIRONMENT, "no PMU 'power', try modprobe rapl");
    cpus[strcspn(cpus, "\n")] = '\0';
    if (ulb_cpu_list_next(cpus, 0) < 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "cpumask of the PMU 'power' is no list of CPUs: '%s'", cpus);
    enum ulb_status status = ULB_OK;
    for (size_t e = 0; e < sizeof events / sizeof *events; e++) {
        uint64_t config;
        double unit;
        if (!read_event(root, events[e], &config, &unit))
            continue;
        for (int cpu = ulb_cpu_list_next(cpus, 0); status == ULB_OK && cpu >= 0;
             cpu = ulb_cpu_list_next(cpus, cpu + 1))
            status = add(domains, n, (uint32_t)strtoul(type, NULL, 10), config, unit, events[e], cpu, err);
    }
    if (status == ULB_OK && *n == 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "the PMU 'power' has no energy-pkg");
    if (status != ULB_OK)
        close_perf(domains, *n);
    return status;
}

static enum ulb_status read_perf(const struct ulb_energy_domain *domain, double *count, struct ulb_error *err)
{
    uint64_t value;
    if (read(domain->fd, &value, sizeof value) != (ssize_t)sizeof value)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: %s", domain->name, strerror(errno));
    *count = (double)value;
    return ULB_OK;
}

const struct ulb_energy_source ulb_energy_perf = {"perf", open_perf, read_perf, close_perf};
