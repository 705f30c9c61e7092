/* A build without SQLite: the functions are there and say what is missing. */
#include "results/history/history.h"

enum ulb_status ulb_history_open(struct ulb_history **history, const char *path, bool create,
                                 struct ulb_error *err)
{
    (void)create;
    *history = NULL;
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "%s: this build has no SQLite; install libsqlite3-dev and configure again", path);
}

void ulb_history_close(struct ulb_history *history)
{
    (void)history;
}

static enum ulb_status not_open(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "no history is open: this build has no SQLite");
}

enum ulb_status ulb_history_add(struct ulb_history *history, const struct ulb_record *record,
                                const char *committed, bool *added, struct ulb_error *err)
{
    (void)history, (void)record, (void)committed;
    *added = false;
    return not_open(err);
}

enum ulb_status ulb_history_records(struct ulb_history *history, struct ulb_history_record **records,
                                    size_t *n, struct ulb_error *err)
{
    (void)history;
    *records = NULL;
    *n = 0;
    return not_open(err);
}

enum ulb_status ulb_history_trends(struct ulb_history *history, enum ulb_metric metric, const char *regex,
                                   size_t last, struct ulb_trend **series, size_t *n, struct ulb_error *err)
{
    (void)history, (void)metric, (void)regex, (void)last;
    *series = NULL;
    *n = 0;
    return not_open(err);
}

void ulb_trends_free(struct ulb_trend *series, size_t n)
{
    (void)series, (void)n;
}
