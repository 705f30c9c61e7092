/* The figures of a record that are followed from one record to the next: each has a key, which says what was
 * measured, a metric, and a 95 % interval. */
#ifndef ULB_RESULTS_RECORD_TRACKED_VALUES_H
#define ULB_RESULTS_RECORD_TRACKED_VALUES_H

#include "results/record/cell_key.h"
#include "results/record/record.h"

enum ulb_metric {
    ULB_METRIC_EFFICIENCY,
    ULB_METRIC_US,
    ULB_METRIC_GAMMA,
    ULB_METRIC_INSTRUCTIONS, /* those up to here are ulb_record_values()'s */
    ULB_METRIC_GBPS,
    ULB_METRIC_P95,
    ULB_METRIC_TPS,
    ULB_METRIC_JOULE,
    ULB_METRICS, /* how many */
};

struct ulb_metric_info {
    const char *name;    /* "efficiency" */
    const char *unit;    /* of the values; "" for a fraction */
    const char *summary; /* one line */
    bool bigger_is_better;
};

extern const struct ulb_metric_info ulb_metrics[ULB_METRICS];

/* The metric of that name; ULB_BAD_INPUT names those that there are. */
enum ulb_status ulb_metric_find(const char *name, enum ulb_metric *metric, struct ulb_error *err);

struct ulb_value {
    char key[ULB_CELL_KEY_MAX];
    enum ulb_metric metric;
    double value;
    double lo, hi;  /* 95 % interval: us as in the record, efficiency the same relative to it, gamma by the
                       bootstrap of its samples, a count exactly. NAN when there were too few samples */
    char note[128]; /* the cell's verdict, or "" */
};

/* All of them, in the order of the record: cells, gamma, counts. What is null in the record is left out.
 * *values is to be freed. ULB_BAD_INPUT names the place of a figure that cannot be read. */
enum ulb_status ulb_record_values(const struct ulb_record *record, struct ulb_value **values, size_t *n,
                                  struct ulb_error *err);

/* A name for the record's content, 16 hexadecimal digits: equal for equal records however they are laid out
 * in their files. FNV-1a, 64 bits; returns out, NULL without memory. */
char *ulb_record_digest(const struct ulb_record *record, char out[17]);

#endif
