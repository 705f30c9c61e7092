/* Internal to plots/: writing HTML. */
#ifndef ULB_PLOTS_REPORT_HTML_H
#define ULB_PLOTS_REPORT_HTML_H

#include <stdio.h>

/* Text as it may stand in an element or in a quoted attribute. NULL is written as a dash. */
void ulb_html_text(FILE *out, const char *text);

/* A cell of a table, <td>. */
void ulb_html_cell(FILE *out, const char *text);

/* The same for a number, with the format of one double; empty when it is not finite. */
void ulb_html_number(FILE *out, const char *format, double value);

#endif
