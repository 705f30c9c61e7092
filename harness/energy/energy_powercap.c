/* RAPL through sysfs: a folder per counter in /sys/class/powercap (Documentation/power/powercap in Linux). */
#include "harness/energy/energy_source.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double MICRO = 1e-6;

static bool read_line(const char *path, char *line, int bytes)
{
    FILE *file = fopen(path, "re");
    bool got = file && fgets(line, bytes, file);
    int error = errno;
    if (file)
        fclose(file);
    errno = error;
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

static enum ulb_status read_count(const char *path, double *count, struct ulb_error *err)
{
    char line[64], *end;
    errno = 0;
    if (!read_line(path, line, sizeof line))
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: %s; run as root, or: sudo chmod a+r %s", path,
                        errno ? strerror(errno) : "empty", path);
    errno = 0;
    unsigned long long value = strtoull(line, &end, 10);
    if (line[0] < '0' || line[0] > '9' || *end != '\0' || errno)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: '%.30s' is no number of microjoules", path, line);
    *count = (double)value;
    return ULB_OK;
}

static enum ulb_status read_domain(const struct ulb_energy_domain *domain, double *count,
                                   struct ulb_error *err)
{
    return read_count(domain->path, count, err);
}

/* A package or its memory; cores and graphics are parts of a package. "intel-rapl-mmio:0" counts the same
 * package once more. AMD's counters have the same names. */
static bool is_wanted(const char *folder, const char *name)
{
    return strncmp(folder, "intel-rapl:", strlen("intel-rapl:")) == 0 &&
           (strncmp(name, "package-", strlen("package-")) == 0 || strcmp(name, "dram") == 0);
}

static enum ulb_status add(const char *zone, const char *name, struct ulb_energy_domain *domains, size_t *n,
                           struct ulb_error *err)
{
    char path[600];
    double count;
    struct ulb_energy_domain domain = {.fd = -1, .unit_joules = MICRO};
    snprintf(domain.name, sizeof domain.name, "%.23s", name);
    snprintf(domain.path, sizeof domain.path, "%.480s/energy_uj", zone);
    snprintf(path, sizeof path, "%.480s/max_energy_range_uj", zone);
    enum ulb_status status = read_count(path, &domain.range, err);
    if (status == ULB_OK && !(domain.range > 0))
        status = ulb_fail(err, ULB_ENVIRONMENT, "%s: a range of 0", path);
    if (status == ULB_OK)
        status = read_domain(&domain, &count, err);
    if (status == ULB_OK && *n < ULB_ENERGY_DOMAINS)
        domains[(*n)++] = domain;
    return status;
}

static enum ulb_status open_powercap(const char *root, struct ulb_energy_domain *domains, size_t *n,
                                     struct ulb_error *err)
{
    char class[300], zone[480], path[500], name[64];
    struct dirent **entries;
    enum ulb_status status = ULB_OK;
    *n = 0;
    snprintf(class, sizeof class, "%.200s/sys/class/powercap", root);
    int found = scandir(class, &entries, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        snprintf(zone, sizeof zone, "%s/%.150s", class, entries[i]->d_name);
        snprintf(path, sizeof path, "%s/name", zone);
        if (status == ULB_OK && read_line(path, name, sizeof name) && is_wanted(entries[i]->d_name, name))
            status = add(zone, name, domains, n, err);
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    if (status == ULB_OK && *n == 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "no package in %s (a virtual machine?), try modprobe intel_rapl_msr", class);
    return status;
}

static void close_powercap(struct ulb_energy_domain *domains, size_t n)
{
    (void)domains;
    (void)n;
}

const struct ulb_energy_source ulb_energy_powercap = {"powercap", open_powercap, read_domain, close_powercap};
