/* Libraries of kernels that others made, in this process: what they print, an exit() of theirs, calls that do
 * not return. */
#ifndef ULB_HARNESS_CLI_GUESTS_H
#define ULB_HARNESS_CLI_GUESTS_H

#include "common/status.h"

/* Loads the files of a comma list (kernels/plugin_loader.h). What their constructors print goes to standard
 * error. From here on an exit() of theirs or of a kernel ends the program with a line that says so and exit
 * code 3. */
enum ulb_status ulb_guests_load(const char *files, struct ulb_error *err);

/* While kernels run, standard output goes to standard error, so that nothing of theirs is among the results.
 * A watcher ends calls that take longer than ulb_doing allows (exit code 1), or that do not end within two
 * seconds of a signal (130). Both do nothing if no library is loaded. */
void ulb_guests_begin(void);
void ulb_guests_end(void);

/* The program ends by itself: an exit() is ours. */
void ulb_guests_leave(void);

#endif
