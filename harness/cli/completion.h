/* Completion: which words may stand where a shell's cursor is, by the commands' own option tables. */
#ifndef ULB_HARNESS_CLI_COMPLETION_H
#define ULB_HARNESS_CLI_COMPLETION_H

#include "common/status.h"

/* Prints what may replace the last of n words of a command line (the program's name is not among them). The
 * first line is the part of that word that stays. Each further line is a candidate, a tab and what it is. A
 * pattern of file names is possible, too: "*.json", or for folders alone "*" and a slash. */
enum ulb_status ulb_complete(int n, char **words, struct ulb_error *err);

#endif
