/* A record in the formats of other programs. */
#ifndef ULB_RESULTS_EXPORT_EXPORT_H
#define ULB_RESULTS_EXPORT_EXPORT_H

#include "results/export/export_options.h"
#include "results/record/record.h"

#include <stdio.h>

struct ulb_export_format {
    const char *name;    /* "csv" */
    const char *summary; /* one line: what it is for */
    bool json;           /* the text is one JSON document */
    enum ulb_status (*write)(const struct ulb_record *record, const struct ulb_export_options *options,
                             FILE *out, struct ulb_error *err);
};

extern const struct ulb_export_format ulb_export_formats[];
extern const size_t ulb_export_format_count;

/* The format of that name; NULL with the message that names all of them (ULB_BAD_INPUT). */
const struct ulb_export_format *ulb_export_find(const char *name, struct ulb_error *err);

/* The record as text, to be freed. ULB_BAD_INPUT: an unknown section, an option that the format does not
 * take, or a record that holds nothing for it. */
enum ulb_status ulb_export(const struct ulb_record *record, const struct ulb_export_format *format,
                           const struct ulb_export_options *options, char **text, size_t *bytes,
                           struct ulb_error *err);

#endif
