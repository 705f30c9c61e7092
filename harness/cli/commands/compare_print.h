/* Comparisons as tables for the terminal, at most 100 columns wide. */
#ifndef ULB_HARNESS_CLI_COMMANDS_COMPARE_PRINT_H
#define ULB_HARNESS_CLI_COMMANDS_COMPARE_PRINT_H

#include "results/compare/compare_write.h"

#include <stdbool.h>

/* What regressed, improved, is unsure, missing or new, and with all what stayed the same too; then the sums.
 */
void ulb_compare_print(const struct ulb_compared_files *files, size_t n, bool all);

#endif
