#include "harness/cli/commands/newest_record.h"

#include "harness/topology/topology.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int is_json(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static bool is_wanted(const struct ulb_record *record, const char *cpu_model)
{
    const char *cpu = ulb_record_text(record, "machine.cpu_model");
    return cpu && strcmp(cpu, cpu_model) == 0 &&
           json_array_size(json_object_get(record->root, "models")) > 0 &&
           json_array_size(json_object_get(record->root, "cells")) > 0;
}

enum ulb_status ulb_newest_record(const char *folder, const char *cpu_model, struct ulb_record *record,
                                  char *path, size_t bytes, bool *found, struct ulb_error *err)
{
    struct dirent **entries = NULL;
    char newest[32] = "";
    int n = scandir(folder, &entries, is_json, alphasort);
    *found = false;
    record->root = NULL;
    for (int i = 0; i < n; i++) {
        struct ulb_record one;
        struct ulb_error unused;
        char name[4200];
        snprintf(name, sizeof name, "%s/%s", folder, entries[i]->d_name);
        free(entries[i]);
        if (ulb_record_read(&one, name, &unused) != ULB_OK)
            continue;
        const char *created = ulb_record_text(&one, "created");
        if (!created || strcmp(created, newest) < 0 || !is_wanted(&one, cpu_model)) {
            ulb_record_free(&one);
            continue;
        }
        ulb_record_free(record);
        *record = one;
        *found = true;
        snprintf(newest, sizeof newest, "%s", created);
        snprintf(path, bytes, "%s", name);
    }
    free(entries);
    return *found && strlen(path) + 1 >= bytes
               ? ulb_fail(err, ULB_BAD_INPUT, "%s: the path is too long", folder)
               : ULB_OK;
}

/* ---- speeds of memory ---- */

static bool is_recent(const char *created)
{
    enum { DAY = 24 * 60 * 60 };
    char since[32];
    time_t day_ago = time(NULL) - DAY;
    struct tm utc;
    return gmtime_r(&day_ago, &utc) && strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", &utc) > 0 &&
           strcmp(created, since) > 0;
}

static void take_speed(struct ulb_earlier_memory *earlier, const char *set, const json_t *yardstick,
                       double gbps, const char *created)
{
    double threads = ulb_row_number(yardstick, "threads");
    if (!(gbps > 0) || !(threads >= 1) || !created || !is_recent(created))
        return;
    *earlier = (struct ulb_earlier_memory){.gbps = gbps, .threads = (unsigned)threads};
    snprintf(earlier->set, sizeof earlier->set, "%s", set);
    snprintf(earlier->created, sizeof earlier->created, "%.31s", created);
}

enum ulb_status ulb_find_earlier_memory(const char *folder, struct ulb_earlier_memory earlier[2],
                                        struct ulb_error *err)
{
    struct ulb_topology topology;
    struct ulb_record record;
    char path[4200];
    bool found;
    enum ulb_status status = ulb_topology_load(&topology, err);
    if (status != ULB_OK)
        return status;
    status = ulb_newest_record(folder, topology.cpu_model, &record, path, sizeof path, &found, err);
    ulb_topology_free(&topology);
    if (status == ULB_OK && found) {
        const json_t *beta = json_object_get(record.root, "beta"),
                     *yardstick = json_array_get(json_object_get(beta, "yardstick"), 0);
        const char *set = ulb_row_text(yardstick, "set"), *created = ulb_record_text(&record, "created");
        struct ulb_resolved_beta speeds = ulb_record_resolved_beta(&record, set);
        take_speed(&earlier[0], set, yardstick, speeds.gbps, created);
        take_speed(&earlier[1], set, yardstick, speeds.other_gbps,
                   speeds.other_created ? speeds.other_created : created);
    }
    ulb_record_free(&record);
    return status;
}
