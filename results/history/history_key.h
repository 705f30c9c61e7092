/* What the figures of a record belong to in a history. */
#ifndef ULB_RESULTS_HISTORY_HISTORY_KEY_H
#define ULB_RESULTS_HISTORY_HISTORY_KEY_H

#include "results/record/record.h"

enum { ULB_MACHINE_KEY_MAX = 160 };

/* "CPU MODEL, N cores". */
void ulb_machine_key(const struct ulb_record *record, char out[ULB_MACHINE_KEY_MAX]);

/* The compiler and its flags as a whole, whatever their length: builds that differ in the last flag count
 * apart. To be freed; NULL without memory. */
char *ulb_compiler_key(const struct ulb_record *record);

#endif
