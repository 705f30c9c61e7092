/* SIGINT and SIGTERM. */
#ifndef ULB_HARNESS_CLI_INTERRUPT_H
#define ULB_HARNESS_CLI_INTERRUPT_H

/* From here on the first of them sets ulb_interrupted (harness/session/interrupted.h), so that the work ends
 * in good order. Another one ends the program at once, but not within half a second: timeout(1) sends its
 * signal to the program and then to its process group. */
void ulb_catch_signals(void);

#endif
