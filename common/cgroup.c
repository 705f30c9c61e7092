#include "common/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NO_LIMIT_FROM_EXPONENT = 60 }; /* version 1 says "no limit" by a number near 2^63 */

/* Where a controller's files are, and the process's group below it. */
struct place {
    char mount[PATH_MAX];
    char group[PATH_MAX]; /* "" or "/a/b" */
};

/* First number of a file, or the one behind key; false when there is none ("max"). */
static bool read_number(const struct place *place, const char *file, const char *key, long long *value)
{
    char path[3 * PATH_MAX], line[256], format[64];
    snprintf(path, sizeof path, "%s%s/%s", place->mount, place->group, file);
    snprintf(format, sizeof format, "%s%%lld", key);
    FILE *stream = fopen(path, "re");
    bool found = false;
    while (stream && !found && fgets(line, sizeof line, stream))
        found = sscanf(line, format, value) == 1;
    if (stream)
        fclose(stream);
    return found;
}

/* The line "N:CONTROLLERS:/group" of /proc/self/cgroup; version 2 has no controllers there. */
static bool read_group(const char *root, const char *controller, char group[PATH_MAX])
{
    char path[PATH_MAX], line[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *stream = fopen(path, "re");
    bool found = false;
    while (stream && !found && fgets(line, sizeof line, stream)) {
        char *names = strchr(line, ':'), *name = names ? strchr(names + 1, ':') : NULL;
        if (!name)
            continue;
        line[strcspn(line, "\n")] = '\0';
        *name++ = '\0';
        for (char *word = names + 1, *rest = word; word && !found; word = rest) {
            rest = strchr(word, ',');
            if (rest)
                *rest++ = '\0';
            found = strcmp(word, controller) == 0;
        }
        if (found)
            snprintf(group, PATH_MAX, "%s", strcmp(name, "/") == 0 ? "" : name);
    }
    if (stream)
        fclose(stream);
    return found;
}

/* One step up; false at the root. */
static bool go_up(struct place *place)
{
    char *slash = strrchr(place->group, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* Calls look for the group and all above it. */
static void walk(const char *root, const char *controller, void (*look)(const struct place *place, void *arg),
                 void *arg)
{
    struct place place;
    snprintf(place.mount, sizeof place.mount, "%s/sys/fs/cgroup%s%s", root, *controller ? "/" : "",
             controller);
    if (!read_group(root, controller, place.group))
        return;
    do
        look(&place, arg);
    while (go_up(&place));
}

static void look_for_quota(const struct place *place, void *arg)
{
    double *cpus = arg;
    long long quota = -1, period = 0;
    char format[] = "%*d ";
    if (!read_number(place, "cpu.max", "", &quota) || !read_number(place, "cpu.max", format, &period)) {
        if (!read_number(place, "cpu.cfs_quota_us", "", &quota) ||
            !read_number(place, "cpu.cfs_period_us", "", &period))
            return;
    }
    if (quota > 0 && period > 0)
        *cpus = fmin(*cpus, (double)quota / (double)period);
}

double ulb_cgroup_cpus(const char *root)
{
    double cpus = INFINITY;
    walk(root, "", look_for_quota, &cpus);
    walk(root, "cpu", look_for_quota, &cpus);
    return cpus;
}

static void look_for_memory(const struct place *place, void *arg)
{
    long long *left = arg, limit, used, cache = 0;
    bool second = read_number(place, "memory.max", "", &limit);
    if (!second && !read_number(place, "memory.limit_in_bytes", "", &limit))
        return;
    if (limit >> NO_LIMIT_FROM_EXPONENT > 0 ||
        !read_number(place, second ? "memory.current" : "memory.usage_in_bytes", "", &used))
        return;
    read_number(place, "memory.stat", second ? "inactive_file " : "total_inactive_file ", &cache);
    long long now = limit - used + cache;
    now = now > 0 ? now : 0;
    *left = *left < 0 || now < *left ? now : *left;
}

long long ulb_cgroup_memory_left(const char *root)
{
    long long left = -1;
    walk(root, "", look_for_memory, &left);
    walk(root, "memory", look_for_memory, &left);
    return left;
}
