/* The report: one HTML page of one or more records that needs nothing but itself. */
#ifndef ULB_PLOTS_REPORT_REPORT_H
#define ULB_PLOTS_REPORT_REPORT_H

#include "common/status.h"
#include "results/record/record.h"

#include <stddef.h>

struct ulb_report_record {
    const struct ulb_record *record;
    const char *name; /* what the page calls it where there are several: its file's name */
};

/* Makes the page of n records (at least one) as a text to be freed; NULL on failure. no_figures says why the
 * figures are left out (no gnuplot); "" if they are there. ULB_BAD_INPUT: a section of a record cannot be
 * read. */
enum ulb_status ulb_html_report(const struct ulb_report_record *records, size_t n, char **html, size_t *bytes,
                                struct ulb_error *no_figures, struct ulb_error *err);

#endif
