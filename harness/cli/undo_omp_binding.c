#include "harness/cli/undo_omp_binding.h"

#include "common/affinity.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static cpu_set_t started_with[ULB_AFFINITY_SETS];
static long bytes; /* of them that the kernel filled in */

/* Runs before the constructors of libraries, sanitizers' too: a bare system call. Linked statically it comes
 * first of all constructors, where the C library (musl) knows no .preinit_array. */
__attribute__((constructor(101), no_sanitize("address", "thread", "undefined"))) static void look(void)
{
    if (bytes == 0)
        bytes = syscall(SYS_sched_getaffinity, 0, sizeof started_with, started_with);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = look;

void ulb_undo_openmp_binding(void)
{
    if (bytes > 0)
        sched_setaffinity(0, (size_t)bytes, started_with);
}
