/* The figures of a record as series, one value per round of the run: what two records are compared by, and a
 * record with itself. Samples of one round come one right after the other and share its luck; rounds are
 * seconds apart. */
#ifndef ULB_RESULTS_COMPARE_SERIES_H
#define ULB_RESULTS_COMPARE_SERIES_H

#include "results/record/tracked_values.h"

struct ulb_series {
    char key[ULB_CELL_KEY_MAX];
    char kernel[64];    /* "" where there is none */
    double value;       /* the figure as the record states it */
    double noise_floor; /* as the record states it; NAN when it does not */
    size_t n;
    double *log_cost;  /* [n], ln of the round's best sample that nothing disturbed; more is worse */
    double *gbps, *hz; /* [n], yardstick and core frequency in the round; NAN where not known */
    size_t disturbed;  /* rounds in which something disturbed every sample: behind the n of all three */
    double
        memory_share; /* of the time that the yardstick would have needed, at most 1; NAN: not of interest */
};

/* The series of that key; NULL when there is none. */
const struct ulb_series *ulb_series_find(const struct ulb_series *series, size_t n, const char *key);

/* The machine's state that a series is moved to; NAN: as it was. */
struct ulb_machine_state {
    double gbps, hz;
};

/* How sharply a kernel's limit changes from memory to compute: time^p = memory^p + rest^p. Fitted to runs of
 * one build on a machine whose memory changed between 38 and 57 GB/s; 4 and 16 are what else it may be. */
#define ULB_ROOF_SHARPNESS 7.0

/* The series of one metric; *out is to be freed with the function below. ULB_BAD_INPUT names the place of
 * what cannot be read. Metrics without repetitions give series of one value. */
enum ulb_status ulb_series_read(const struct ulb_record *record, enum ulb_metric metric,
                                struct ulb_series **out, size_t *n, struct ulb_error *err);
/* The same of a metric of cells for a record that is read cell by cell: each is added, and the rest of the
 * record, which does not have them, finishes what they become. */
struct ulb_series_making {
    enum ulb_metric metric;
    struct ulb_series *series;        /* [n] */
    struct ulb_series_rounds *rounds; /* [n], what each is made of */
    size_t n, room;
};
bool ulb_metric_is_of_cells(enum ulb_metric metric);
/* Takes the cell's arrays. ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_series_add(struct ulb_series_making *making, struct ulb_cell *cell,
                               struct ulb_error *err);
enum ulb_status ulb_series_finish(struct ulb_series_making *making, const struct ulb_record *rest,
                                  struct ulb_series **out, size_t *n, struct ulb_error *err);
/* What was added and not finished. */
void ulb_series_making_free(struct ulb_series_making *making);

void ulb_series_free(struct ulb_series *series, size_t n);

/* Writes the series' log_cost as they would be with the machine in that state. Only efficiency knows of
 * states: the part of the time that memory takes goes with gbps, the rest with hz. */
void ulb_series_move(const struct ulb_series *series, struct ulb_machine_state to, double sharpness,
                     double *out);

/* Medians over the rounds; NAN where not known. */
struct ulb_machine_state ulb_series_state(const struct ulb_series *series);

/* Sets noise_floor, relative, of every series that has at least four rounds, else NAN: A/A, how far the
 * second half of the rounds differs from the first. One difference says little, so it is the larger of the
 * series' own and what is usual for its kernel: 1.48 times the median over its series, which is one standard
 * deviation if they were normal; a comparison's threshold is twice that. ULB_ENVIRONMENT without memory. */
enum ulb_status ulb_series_judge_noise(struct ulb_series *series, size_t n, struct ulb_error *err);

/* The same from differences that the caller has: own[n], NAN where there is none. */
enum ulb_status ulb_series_pool_noise(struct ulb_series *series, const double *own, size_t n,
                                      struct ulb_error *err);

#endif
