/* ulb-bench history: what its actions share. */
#ifndef ULB_HARNESS_CLI_COMMANDS_HISTORY_H
#define ULB_HARNESS_CLI_COMMANDS_HISTORY_H

#include "harness/cli/cli.h"
#include "results/history/history.h"

#include <jansson.h>

struct ulb_history_request {
    const char *action, *db, *cell, *repository, *out, *formats;
    enum ulb_metric metric;
    size_t last;      /* 0: all */
    double threshold; /* smallest change; NAN: the metric's own */
    bool last_given, repository_given, json, verbose;
    unsigned given; /* a bit for each option given that only some actions take */
    char **records;
    size_t n_records;
    struct ulb_error *err;
};

/* Levels and changes of the series that the request names. Prints them
 * and draws their figures into request->out unless it is NULL. */
enum ulb_status ulb_show_trend(const struct ulb_history_request *request, struct ulb_history *history,
                               struct ulb_error *err);

/* The last change of each series, by the commits between which it happened. */
enum ulb_status ulb_show_bisect(const struct ulb_history_request *request, struct ulb_history *history,
                                struct ulb_error *err);

/* The documents of those series: an array, NULL on failure. Only with json or out do they hold the points,
 * which plots/draw/figure.h draws. */
enum ulb_status ulb_trend_documents(const struct ulb_history_request *request, struct ulb_history *history,
                                    json_t **documents, struct ulb_error *err);

/* What changed, by spans of commits, in about twenty lines. */
void ulb_print_trend_summary(const struct ulb_history_request *request, const json_t *documents);

/* The last changes of the documents by the commits between which they happened; and the line that names
 * these and the number of cells. */
json_t *ulb_change_spans(const json_t *documents);
void ulb_print_span(const json_t *span);

/* What is said beside a commit that is null. */
extern const char ulb_no_commit[];

/* What git says of the repository that the records' commits are in; on failure its own reason. date:
 * "2026-01-31T12:00:00Z". between: how many commits follow the good one, the bad one included. next: the
 * commit to be measured next; "" if there is none in between. */
enum ulb_status ulb_git_repository(const char *folder, struct ulb_error *err);
enum ulb_status ulb_git_date(const char *repository, const char *commit, char date[24],
                             struct ulb_error *err);
enum ulb_status ulb_git_between(const char *repository, const char *good, const char *bad, long *between,
                                char next[64], struct ulb_error *err);

#endif
