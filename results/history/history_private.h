/* Internal to results/history: the open file and SQLite's words. */
#ifndef ULB_RESULTS_HISTORY_HISTORY_PRIVATE_H
#define ULB_RESULTS_HISTORY_HISTORY_PRIVATE_H

#include "results/history/history.h"

#include <sqlite3.h>

/* How long one writer waits for the others. */
enum { ULB_HISTORY_BUSY_MS = 30000 };

struct ulb_history {
    sqlite3 *db;
    long long operations, most_operations; /* of one statement, in thousands of SQLite's machine */
    char path[];
};

enum ulb_status ulb_history_no_memory(struct ulb_error *err);

/* The status and message of what SQLite last refused. */
enum ulb_status ulb_history_fail(const struct ulb_history *history, struct ulb_error *err);

enum ulb_status ulb_history_execute(struct ulb_history *history, const char *sql, struct ulb_error *err);

enum ulb_status ulb_history_prepare(struct ulb_history *history, const char *sql, sqlite3_stmt **statement,
                                    struct ulb_error *err);

/* NULL binds null; the text is not copied, which could fail, and must outlive the statement's steps. */
static inline void ulb_history_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

#endif
