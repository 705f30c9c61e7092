/* Folders that hold a model: as downloaded, or the hub's cache. */
#include "shapes/load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool ulb_path_join(char out[ULB_PATH_BYTES], const char *folder, const char *name)
{
    int used = snprintf(out, ULB_PATH_BYTES, "%s/%s", folder, name);
    return used > 0 && used < ULB_PATH_BYTES;
}

/* True when the folder has it. */
static bool join(char out[ULB_PATH_BYTES], const char *folder, const char *name)
{
    return ulb_path_join(out, folder, name) && access(out, F_OK) == 0;
}

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

/* True for a part of a model that is not the first. */
static bool is_later_part(const char *name, const char *end)
{
    size_t length = strlen(name) - strlen(end);
    return length > 15 && strncmp(name + length - 9, "-of-", 4) == 0 &&
           strncmp(name + length - 15, "-00001", 6) != 0;
}

/* The only file or folder whose name ends so, first parts for all; n: how many there are. */
static size_t find_only(const char *folder, const char *end, char out[ULB_PATH_BYTES])
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (name[0] == '.' || (end[0] && (!ends_in(name, end) || is_later_part(name, end))))
            continue;
        n += join(out, folder, name);
    }
    if (dir)
        closedir(dir);
    return n;
}

/* The snapshot of a hub cache's root: the one that refs/main names, else the only one. */
static bool find_snapshot(const char *path, char out[ULB_PATH_BYTES])
{
    char refs[ULB_PATH_BYTES], hash[128] = "", snapshots[ULB_PATH_BYTES];
    if (!join(snapshots, path, "snapshots"))
        return false;
    FILE *file = join(refs, path, "refs/main") ? fopen(refs, "re") : NULL;
    if (file) {
        if (!fgets(hash, sizeof hash, file))
            hash[0] = '\0';
        fclose(file);
    }
    hash[strcspn(hash, "\r\n")] = '\0';
    bool plain = hash[0] && hash[0] != '.' && !strchr(hash, '/');
    return (plain && join(out, snapshots, hash)) || find_only(snapshots, "", out) == 1;
}

enum ulb_status ulb_folder_read(const char *path, struct ulb_folder *folder, struct ulb_error *err)
{
    char snapshot[ULB_PATH_BYTES], ignored[ULB_PATH_BYTES];
    const char *root = path;
    *folder = (struct ulb_folder){.file = ""};
    if (!join(ignored, path, "config.json") && find_snapshot(path, snapshot))
        root = snapshot;
    if (!join(folder->tensors, root, "model.safetensors.index.json") &&
        !join(folder->tensors, root, "model.safetensors"))
        folder->tensors[0] = '\0';
    if (join(folder->file, root, "config.json") || join(folder->file, root, "params.json"))
        return ULB_OK;
    snprintf(folder->file, sizeof folder->file, "%s", folder->tensors);
    folder->tensors[0] = '\0';
    if (folder->file[0])
        return ULB_OK;
    size_t n = find_only(root, ".gguf", folder->file);
    if (n == 0)
        n = find_only(root, ".safetensors", folder->file);
    if (n == 1)
        return ULB_OK;
    return n == 0 ? ulb_fail(err, ULB_BAD_INPUT,
                             "holds no config.json, params.json, GGUF or safetensors file; name a model's "
                             "file or folder")
                  : ulb_fail(err, ULB_BAD_INPUT, "holds %zu models and no config.json; name one of its files",
                             n);
}
