/* Kernels as a value of --kernels. */
#ifndef ULB_HARNESS_CLI_KERNEL_FILTER_H
#define ULB_HARNESS_CLI_KERNEL_FILTER_H

#include "common/isa.h"
#include "results/record/record.h"

#include <stdbool.h>

/* A regular expression of exactly the chosen rows that these instruction sets can run, to be freed. chosen
 * has one flag per row of the table. "": they can run none. NULL: not enough memory. */
char *ulb_kernel_filter(const bool *chosen, ulb_isa_set isa);

/* The same of the kernels of a record's cells of one token; name stands for the record in messages.
 * ULB_BAD_INPUT where it has no such cells, and for a kernel that the program has not. */
enum ulb_status ulb_record_kernel_filter(const struct ulb_record *record, const char *name, char **filter,
                                         struct ulb_error *err);

#endif
