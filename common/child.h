/* Work that may bring its process down: runtimes and libraries that exit or crash when they get too little.
 */
#ifndef ULB_COMMON_CHILD_H
#define ULB_COMMON_CHILD_H

#include <stdbool.h>

/* job(arg) in a process of its own, whose output goes nowhere; false when it gave no answer. */
bool ulb_ask_child(double (*job)(void *arg), void *arg, double *answer);

#endif
