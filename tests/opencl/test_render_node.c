/* Render nodes that may not be opened are named with their group. As root, who may open all, the look is
 * taken by a child of another user. */
#include "harness/opencl/render_node.h"

#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOBODY = 65534, TEXT = 256 };

static char folder[] = "/tmp/render-XXXXXX";

static void put(const char *name, mode_t mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(chmod(path, mode), 0);
}

/* The answer of a process that is not root. */
static bool look(char text[TEXT])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char own[TEXT] = "";
        if (getuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(2);
        bool refused = ulb_render_node_refused(folder, own, sizeof own);
        _exit(write(ends[1], own, sizeof own) != sizeof own || !refused);
    }
    int status;
    close(ends[1]);
    assert_int_equal(read(ends[0], text, TEXT), TEXT);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
    return WEXITSTATUS(status) == 0;
}

static void no_node_and_an_open_one_are_not_refused(void **state)
{
    char text[TEXT];
    (void)state;
    assert_false(look(text));
    put("dri/renderD128", 0666);
    put("nvidiactl", 0);
    assert_false(look(text));
}

static void a_closed_node_is_named_with_its_group(void **state)
{
    char text[TEXT], path[128], wanted[160];
    const struct group *group = getuid() == 0 ? getgrnam("video") : NULL;
    (void)state;
    put("dri/renderD129", 0);
    snprintf(path, sizeof path, "%s/dri/renderD129", folder);
    if (group)
        assert_int_equal(chown(path, 0, group->gr_gid), 0);
    assert_true(look(text));
    snprintf(wanted, sizeof wanted, "%s may not be opened: it", path);
    assert_non_null(strstr(text, wanted));
    assert_true(!group || strstr(text, "usermod -aG video USER"));
}

static int make_folder(void **state)
{
    char inner[64];
    (void)state;
    if (!mkdtemp(folder) || chmod(folder, 0755) != 0)
        return -1;
    snprintf(inner, sizeof inner, "%s/dri", folder);
    return mkdir(inner, 0755);
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_node_and_an_open_one_are_not_refused),
        cmocka_unit_test(a_closed_node_is_named_with_its_group),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
