/* System calls that a kernel has no business with, trapped in the calling process for good. */
#ifndef ULB_HARNESS_VERIFY_TRAP_CALLS_H
#define ULB_HARNESS_VERIFY_TRAP_CALLS_H

#include <stdbool.h>

/* From here on starting threads, processes and programs, and changing an affinity raise SIGSYS in the thread
 * that tries. false: the system allows no such filter. */
bool ulb_trap_calls(void);

/* What the system call that raised it (si_syscall) does: "starts a thread or a process", "moves a thread to
 * other CPUs". */
const char *ulb_trapped_call(int call);

#endif
