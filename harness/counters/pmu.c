/* The core PMUs of a hybrid chip, by sysfs: cpu_core, cpu_atom, cpu_lowpower on x86; one per cluster on Arm.
 * They are the event sources with a "cpus" file; those of the uncore have "cpumask". */
#include "harness/counters/pmu.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_line(const char *path, char *line, size_t bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool got = fgets(line, (int)bytes, file) != NULL;
    fclose(file);
    if (got)
        line[strcspn(line, "\n")] = '\0';
    return got;
}

static bool read_pmu(const char *devices, const char *name, struct ulb_core_pmu *pmu)
{
    char path[PATH_MAX], type[32];
    snprintf(pmu->name, sizeof pmu->name, "%.63s", name);
    snprintf(path, sizeof path, "%s/%s/cpus", devices, name);
    if (!read_line(path, pmu->cpus, sizeof pmu->cpus))
        return false;
    snprintf(path, sizeof path, "%s/%s/type", devices, name);
    if (!read_line(path, type, sizeof type))
        return false;
    char *end;
    unsigned long value = strtoul(type, &end, 10);
    pmu->type = (unsigned)value;
    return end != type && *end == '\0' && value <= UINT_MAX;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ulb_core_pmu *)a)->name, ((const struct ulb_core_pmu *)b)->name);
}

size_t ulb_core_pmus(const char *sysfs, struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS])
{
    char devices[PATH_MAX / 2];
    snprintf(devices, sizeof devices, "%s/bus/event_source/devices", sysfs);
    DIR *dir = opendir(devices);
    if (!dir)
        return 0;
    size_t n = 0;
    for (const struct dirent *entry; n < ULB_MAX_CORE_PMUS && (entry = readdir(dir));) {
        if (entry->d_name[0] != '.' && read_pmu(devices, entry->d_name, &pmus[n]))
            n++;
    }
    closedir(dir);
    qsort(pmus, n, sizeof *pmus, by_name);
    return n >= 2 ? n : 0;
}

int ulb_cpu_list_next(const char *list, int from)
{
    while (*list) {
        char *end;
        long first = strtol(list, &end, 10);
        long last = first;
        if (end == list)
            return -1;
        if (*end == '-')
            last = strtol(end + 1, &end, 10);
        if (last >= from && last <= INT_MAX)
            return first > from ? (int)first : from;
        list = *end == ',' ? end + 1 : end;
    }
    return -1;
}
