#include "common/temporary_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

bool ulb_temporary_folder_make(char folder[PATH_MAX], const char *name)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, PATH_MAX, "%s/%s-XXXXXX", parent && *parent ? parent : "/tmp", name);
    return mkdtemp(folder) != NULL;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

void ulb_temporary_folder_remove(const char *folder)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
