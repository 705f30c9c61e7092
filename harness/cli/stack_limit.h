/* The stacks of the process. */
#ifndef ULB_HARNESS_CLI_STACK_LIMIT_H
#define ULB_HARNESS_CLI_STACK_LIMIT_H

#include "common/status.h"

/* Raises the limit of the stack (ulimit -s) to what kernels keep on it, tables of nearly 1 MiB, if it is
 * lower. Gives threads of OpenMP as much. Before the first thread. ULB_ENVIRONMENT: the hard limit is lower,
 * too. */
enum ulb_status ulb_ensure_stack(struct ulb_error *err);

#endif
