#include "harness/verify/trap_calls.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Compares the number of the system call that was loaded: alike, it is trapped. */
#define TRAP(call)                                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

bool ulb_trap_calls(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        TRAP(SYS_clone),
#ifdef SYS_clone3
        TRAP(SYS_clone3),
#endif
#ifdef SYS_fork
        TRAP(SYS_fork),
        TRAP(SYS_vfork),
#endif
        TRAP(SYS_execve),
        TRAP(SYS_sched_setaffinity),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

const char *ulb_trapped_call(int call)
{
    return call == SYS_sched_setaffinity ? "moves a thread to other CPUs" : "starts a thread or a process";
}
