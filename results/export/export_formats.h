/* Internal to results/: the writers behind ulb_export_formats. */
#ifndef ULB_RESULTS_EXPORT_EXPORT_FORMATS_H
#define ULB_RESULTS_EXPORT_EXPORT_FORMATS_H

#include "results/export/export_options.h"
#include "results/record/record.h"
#include "results/record/tracked_values.h"

#include <stdio.h>

typedef enum ulb_status ulb_export_fn(const struct ulb_record *record,
                                      const struct ulb_export_options *options, FILE *out,
                                      struct ulb_error *err);

/* RFC 4180 with a header line: one array of the record behind the columns created, commit and cpu_model. null
 * is an empty field, samples are one field, separated by spaces. No text begins a formula. */
ulb_export_fn ulb_export_csv;
/* Tables of GitHub's Markdown: cells, gamma, counts. */
ulb_export_fn ulb_export_markdown;
/* A script for sqlite3: one table for each array of the record, one for the samples, one row in records. To
 * load a record again replaces it. */
ulb_export_fn ulb_export_sql;
/* What Google Benchmark writes with --benchmark_format=json: every sample as one repetition, and aggregates.
 */
ulb_export_fn ulb_export_googlebench;
/* Input of github-action-benchmark, tools customBiggerIsBetter and customSmallerIsBetter. */
ulb_export_fn ulb_export_gha_bigger, ulb_export_gha_smaller;
/* Bencher Metric Format: https://bencher.dev/docs/reference/bencher-metric-format */
ulb_export_fn ulb_export_bmf;
/* Gauges in the text format of Prometheus, in its base units: seconds, bytes, ratios. */
ulb_export_fn ulb_export_prometheus;

/* The dashboard as tracked values, to be freed: shares and tokens per second, or where times are wanted, for
 * smaller is better, the microseconds of a token. */
enum ulb_status ulb_export_summary_values(const struct ulb_record *record, bool times,
                                          struct ulb_value **values, size_t *n, struct ulb_error *err);

/* Text of the record at place, "" when there is none. */
const char *ulb_export_text(const struct ulb_record *record, const char *place);

#endif
