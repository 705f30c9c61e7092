/* Aliases on reading: names of earlier versions, and what each is called in this one. The table is
 * results/record/renamed.csv; a new name in it has no line of its own as an old one. */
#ifndef ULB_RESULTS_RECORD_RENAMED_H
#define ULB_RESULTS_RECORD_RENAMED_H

#include "common/status.h"

#include <jansson.h>
#include <stddef.h>

enum ulb_name_kind { ULB_NAME_KERNEL, ULB_NAME_LAYOUT };

enum { ULB_NAME_BYTES = 64 };

/* The present name: written to out, and out returned, where it differs; else the name given. */
const char *ulb_current_name(enum ulb_name_kind kind, const char *name, char out[ULB_NAME_BYTES]);

/* The present form of a figure's key (results/record/cell_key.h), whose first word is a kernel, the second of
 * nine a layout. Returns out. */
char *ulb_current_key(const char *key, char *out, size_t bytes);

/* Gives a record's document the keys and names of this version. ULB_ENVIRONMENT: not enough memory. */
enum ulb_status ulb_rename_record(json_t *root, struct ulb_error *err);

/* The same of one item of its "cells". */
enum ulb_status ulb_rename_cell(json_t *cell, struct ulb_error *err);

#endif
