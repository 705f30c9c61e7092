/* Internal to results/: parts of ulb_series_read(). */
#ifndef ULB_RESULTS_COMPARE_SERIES_PRIVATE_H
#define ULB_RESULTS_COMPARE_SERIES_PRIVATE_H

#include "results/compare/series.h"

enum { ULB_ROUNDS_MAX = 1024 };

/* Room for n values; gbps and hz not known. false: no memory. */
bool ulb_series_allocate(struct ulb_series *series, size_t n);
/* One more round; cost is positive and finite. */
void ulb_series_append(struct ulb_series *series, double cost, double gbps, double hz);

/* The metrics of cells: efficiency, us and gbps. */
enum ulb_status ulb_series_read_cells(const struct ulb_record *record, enum ulb_metric metric,
                                      struct ulb_series **out, size_t *n, struct ulb_error *err);

/* Fills a zeroed series with costs, of which those count that are positive and finite. ULB_ENVIRONMENT
 * without memory. */
enum ulb_status ulb_series_from_costs(struct ulb_series *series, const double *costs, size_t n,
                                      struct ulb_error *err);

/* The metrics of decode.runs: tps and joule. Nothing when the record has none. */
enum ulb_status ulb_series_read_decode(const struct ulb_record *record, enum ulb_metric metric,
                                       struct ulb_series **out, size_t *n, struct ulb_error *err);

#endif
