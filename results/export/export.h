/* A record in the formats of other programs. */
#ifndef ULB_RESULTS_EXPORT_EXPORT_H
#define ULB_RESULTS_EXPORT_EXPORT_H

#include "results/record/record.h"

#include <stdio.h>

struct ulb_export_format {
    const char *name;    /* "csv" */
    const char *summary; /* one line: what it is for */
    bool json;           /* the text is one JSON document */
    /* Writes the record; section is for tables and NULL otherwise. */
    enum ulb_status (*write)(const struct ulb_record *record, const char *section, FILE *out,
                             struct ulb_error *err);
};

extern const struct ulb_export_format ulb_export_formats[];
extern const size_t ulb_export_format_count;

/* The format of that name; NULL with the message that names all of them (ULB_BAD_INPUT). */
const struct ulb_export_format *ulb_export_find(const char *name, struct ulb_error *err);

/* The record as text, to be freed. section is the array that a CSV holds ("cells", "gamma.cells", ...; NULL:
 * cells); ULB_BAD_INPUT for an unknown one, or where the format takes none. */
enum ulb_status ulb_export(const struct ulb_record *record, const struct ulb_export_format *format,
                           const char *section, char **text, size_t *bytes, struct ulb_error *err);

#endif
