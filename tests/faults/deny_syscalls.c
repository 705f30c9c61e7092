/* Runs a command in a place that denies things.
 *
 * usage: deny WHAT... -- COMMAND...     WHAT: a system call of the list below (EPERM, by seccomp), or
 * huge-pages */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"perf_event_open", SYS_perf_event_open},
    {"sched_setaffinity", SYS_sched_setaffinity},
    {"madvise", SYS_madvise},
};

static int deny_call(unsigned number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ? -1
                                                       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int deny(const char *what)
{
    if (strcmp(what, "huge-pages") == 0)
        return prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (strcmp(calls[i].name, what) == 0)
            return deny_call(calls[i].number);
    }
    errno = EINVAL;
    return -1;
}

int main(int argc, char **argv)
{
    int i = 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (deny(argv[i]) != 0) {
            fprintf(stderr, "deny: %s: %s\n", argv[i], strerror(errno));
            return 125;
        }
    }
    if (i + 1 >= argc) {
        fprintf(stderr, "usage: deny WHAT... -- COMMAND...\n");
        return 125;
    }
    execvp(argv[i + 1], argv + i + 1);
    perror(argv[i + 1]);
    return 125;
}
