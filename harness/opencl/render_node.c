#include "harness/opencl/render_node.h"

#include <errno.h>
#include <glob.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void describe(const char *path, char *text, size_t bytes)
{
    struct stat is = {0};
    bool known = stat(path, &is) == 0;
    const struct group *group = known ? getgrgid(is.st_gid) : NULL;
    if (group && is.st_gid != 0)
        snprintf(text, bytes,
                 "%s may not be opened: it is the group %s's; 'sudo usermod -aG %s USER' and a new login, "
                 "or --device of a container, give access",
                 path, group->gr_name, group->gr_name);
    else if (known)
        snprintf(text, bytes,
                 "%s may not be opened: its group has the number %u; run as a member of it, or let the "
                 "container have the file",
                 path, (unsigned)is.st_gid);
    else
        snprintf(text, bytes, "%s may not be opened; let this user or container have the file", path);
}

bool ulb_render_node_refused(const char *folder, char *text, size_t bytes)
{
    static const char *const nodes[] = {"dri/renderD*", "kfd", "nvidia[0-9]*"};
    bool refused = false;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes && !refused; i++) {
        char pattern[PATH_MAX];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s/%s", folder, nodes[i]);
        if (glob(pattern, 0, NULL, &found) != 0)
            continue;
        for (size_t n = 0; n < found.gl_pathc && !refused; n++) {
            refused = access(found.gl_pathv[n], R_OK | W_OK) != 0 && errno == EACCES;
            if (refused)
                describe(found.gl_pathv[n], text, bytes);
        }
        globfree(&found);
    }
    return refused;
}
