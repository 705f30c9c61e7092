/* Records over time: an SQLite file that holds the figures of many records (results/record/tracked_values.h)
 * as series. Any number of processes may add at once, and one that is killed leaves either its whole record
 * or nothing.
 *
 * A series is one key and metric with one origin key: a measured figure's is the machine (CPU model and
 * number of cores), a count's the compiler, since a count is the same on every machine. */
#ifndef ULB_RESULTS_HISTORY_HISTORY_H
#define ULB_RESULTS_HISTORY_HISTORY_H

#include "results/record/tracked_values.h"

#include <stdbool.h>
#include <stddef.h>

struct ulb_history;

/* Opens the file; with create it is made when absent. ULB_BAD_INPUT: no such file, or no history;
 * ULB_ENVIRONMENT: it cannot be written, is locked for too long, or this build has no SQLite. */
enum ulb_status ulb_history_open(struct ulb_history **history, const char *path, bool create,
                                 struct ulb_error *err);
void ulb_history_close(struct ulb_history *history); /* NULL is allowed */

/* Adds a record in one transaction. committed is when its commit was made ("2026-01-31T12:00:00Z"), which
 * places it among the others; NULL: its own time does. *added is false when the history has this very record
 * already, or the same figures of the same run. */
enum ulb_status ulb_history_add(struct ulb_history *history, const struct ulb_record *record,
                                const char *committed, bool *added, struct ulb_error *err);

struct ulb_history_record {
    char created[24], committed[24]; /* committed: "" when unknown */
    char commit[64], compiler[64], machine[160];
    size_t values;
};

/* Every record, oldest first; to be freed. */
enum ulb_status ulb_history_records(struct ulb_history *history, struct ulb_history_record **records,
                                    size_t *n, struct ulb_error *err);

struct ulb_point {
    char created[24], commit[64]; /* commit: "" when unknown */
    double value, lo, hi;         /* NAN where the record has no interval */
};

struct ulb_trend {
    enum ulb_metric metric;
    char key[ULB_CELL_KEY_MAX];
    char *origin_key;
    struct ulb_point *points; /* oldest first */
    size_t n_points;
};

/* The series of a metric whose key, in its present form or as it was stored, matches the extended regular
 * expression (NULL: all) and that have points, in the order of their first appearance; last > 0 looks at so
 * many newest records alone. ULB_BAD_INPUT for no regular expression. */
enum ulb_status ulb_history_trends(struct ulb_history *history, enum ulb_metric metric, const char *regex,
                                   size_t last, struct ulb_trend **series, size_t *n, struct ulb_error *err);
void ulb_trends_free(struct ulb_trend *series, size_t n);

#endif
