#include "harness/cli/commands/newest_record.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
