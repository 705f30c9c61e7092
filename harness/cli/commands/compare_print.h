/* Comparisons as tables for the terminal, at most 100 columns wide. */
#ifndef ULB_HARNESS_CLI_COMMANDS_COMPARE_PRINT_H
#define ULB_HARNESS_CLI_COMMANDS_COMPARE_PRINT_H

#include "results/compare/compare_write.h"

enum ulb_compare_detail {
    ULB_COMPARE_SUMMARY, /* the answer, and kernels that changed or could not be judged */
    ULB_COMPARE_CHANGED, /* and all kernels, and cells that changed */
    ULB_COMPARE_ALL,     /* and all cells */
};

void ulb_compare_print(const struct ulb_compared_files *files, size_t n, enum ulb_compare_detail detail);

#endif
