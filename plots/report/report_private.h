/* Internal to plots/: the tables of the report. */
#ifndef ULB_PLOTS_REPORT_REPORT_PRIVATE_H
#define ULB_PLOTS_REPORT_REPORT_PRIVATE_H

#include "plots/report/report.h"

#include <stdio.h>

/* Name of record i: its machine, and its file where there are several. */
void ulb_html_record_name(FILE *out, const struct ulb_report_record *records, size_t n, size_t i);

/* The section that answers, of one record: memory, share of the limit, tokens per second and suggested
 * format. Then controls for model, context and wishes, and the formats' table. */
enum ulb_status ulb_html_answer(FILE *out, const struct ulb_report_record *report, struct ulb_error *err);

/* The record itself, to be saved from the page. */
enum ulb_status ulb_html_download(FILE *out, const struct ulb_report_record *report, struct ulb_error *err);

/* Machines, side by side. */
void ulb_html_machines(FILE *out, const struct ulb_report_record *records, size_t n);

/* Share and bandwidth of each format in each record, and of each format at each shape, with the ratio to the
 * first record. */
enum ulb_status ulb_html_comparison(FILE *out, const struct ulb_report_record *records, size_t n,
                                    struct ulb_error *err);

/* Every cell of every record with its residual, for sorting and filtering. */
enum ulb_status ulb_html_cells(FILE *out, const struct ulb_report_record *records, size_t n,
                               struct ulb_error *err);

/* Runs of llama-bench beside ours; nothing where no record has any. */
void ulb_html_imported(FILE *out, const struct ulb_report_record *records, size_t n);

#endif
