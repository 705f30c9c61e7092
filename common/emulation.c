#include "common/emulation.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool link_of(const char *path, char out[PATH_MAX])
{
    ssize_t length = readlink(path, out, PATH_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* User-mode emulators answer for /proc/self/exe themselves, so that programs find themselves; the same link
 * of the thread's own folder is the host kernel's, and leads to the emulator. */
const char *ulb_emulator(void)
{
    static char name[64];
    char claimed[PATH_MAX], real[PATH_MAX];
    const char *given = getenv("ULB_EMULATED");
    if (given)
        return *given ? given : NULL;
    if (!link_of("/proc/self/exe", claimed) || !link_of("/proc/thread-self/exe", real) ||
        strcmp(claimed, real) == 0)
        return NULL;
    const char *slash = strrchr(real, '/');
    snprintf(name, sizeof name, "%.63s", slash ? slash + 1 : real);
    return name;
}
