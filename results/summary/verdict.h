/* What a record says, in sentences: the first thing that a reader sees. */
#ifndef ULB_RESULTS_SUMMARY_VERDICT_H
#define ULB_RESULTS_SUMMARY_VERDICT_H

#include "results/record/record.h"

/* A line for each format, then those of decode runs, model and noise. */
enum { ULB_VERDICT_LINES = 256, ULB_VERDICT_BYTES = 256 };

struct ulb_verdict {
    char lines[ULB_VERDICT_LINES][ULB_VERDICT_BYTES]; /* the headline first; at least one */
    size_t n;
};

/* How close a weight format comes to the yardstick: medians over the shapes, each with its fastest kernel. */
struct ulb_format_share {
    char format[16];
    const struct ulb_cell *typical; /* the cell at the median share, the upper of two */
    double share;                   /* GB/s / yardstick; NAN when the record has no yardstick */
    double gbps;
    size_t shapes;
};

enum { ULB_FORMAT_SHARES = 128 }; /* twice as many as there are formats */

/* Of the cells that ulb_choose_cells chose; in their order. used: how many formats there are. Fails without
 * memory alone. */
enum ulb_status ulb_format_shares(const struct ulb_cell *const *cells, size_t n,
                                  struct ulb_format_share shares[ULB_FORMAT_SHARES], size_t *used,
                                  struct ulb_error *err);

/* ULB_BAD_INPUT: a section cannot be read. A record without results has a verdict that says so. */
enum ulb_status ulb_verdict_of(const struct ulb_record *record, struct ulb_verdict *verdict,
                               struct ulb_error *err);

#endif
