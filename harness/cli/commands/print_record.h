/* The terminal report of a record, at most 100 columns wide. */
#ifndef ULB_HARNESS_CLI_COMMANDS_PRINT_RECORD_H
#define ULB_HARNESS_CLI_COMMANDS_PRINT_RECORD_H

#include "results/record/record.h"

#include <stdio.h>

/* The whole report: machine, clock, the three tables, warnings. */
void ulb_report_print(const struct ulb_record *record, FILE *out);

/* One table alone, with its headline: what `ulb-bench beta`, `gamma`, `gemv` and `gemm` print. */
void ulb_report_beta(const struct ulb_record *record, FILE *out);
void ulb_report_gamma(const struct ulb_record *record, FILE *out);
void ulb_report_cells(const struct ulb_record *record, FILE *out);
void ulb_report_gemm(const struct ulb_record *record, FILE *out);
void ulb_report_formats(const struct ulb_record *record, FILE *out);
void ulb_report_overlap(const struct ulb_record *record, FILE *out);
/* The machine, its clock, and the warnings. */
void ulb_report_machine(const struct ulb_record *record, FILE *out);

#endif
