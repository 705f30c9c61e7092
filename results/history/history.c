#include "results/history/history.h"

#include "results/history/history_key.h"
#include "results/history/history_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- SQLite's words --- */

enum ulb_status ulb_history_no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the history");
}

enum ulb_status ulb_history_fail(const struct ulb_history *history, struct ulb_error *err)
{
    switch (sqlite3_errcode(history->db) & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return ulb_fail(err, ULB_BAD_INPUT, "%s is no history of ulb-bench, or a damaged one: %s",
                        history->path, sqlite3_errmsg(history->db));
    case SQLITE_INTERRUPT:
    case SQLITE_TOOBIG:
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s: reading it takes more work than a history of its size can; it is damaged",
                        history->path);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: may not be written here; name another history with --db",
                        history->path);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: others held it for more than %d s", history->path,
                        ULB_HISTORY_BUSY_MS / 1000);
    default:
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: %s", history->path, sqlite3_errmsg(history->db));
    }
}

enum ulb_status ulb_history_execute(struct ulb_history *history, const char *sql, struct ulb_error *err)
{
    history->operations = 0;
    return sqlite3_exec(history->db, sql, NULL, NULL, NULL) == SQLITE_OK ? ULB_OK
                                                                         : ulb_history_fail(history, err);
}

enum ulb_status ulb_history_prepare(struct ulb_history *history, const char *sql, sqlite3_stmt **statement,
                                    struct ulb_error *err)
{
    history->operations = 0;
    return sqlite3_prepare_v2(history->db, sql, -1, statement, NULL) == SQLITE_OK
               ? ULB_OK
               : ulb_history_fail(history, err);
}

/* Runs a statement that gives no rows, and makes it ready for the next time. */
static enum ulb_status step(struct ulb_history *history, sqlite3_stmt *statement, struct ulb_error *err)
{
    history->operations = 0;
    int code = sqlite3_step(statement);
    enum ulb_status status =
        code == SQLITE_DONE || code == SQLITE_ROW ? ULB_OK : ulb_history_fail(history, err);
    sqlite3_reset(statement);
    return status;
}

static void bind_number(sqlite3_stmt *statement, int at, double value)
{
    if (isfinite(value))
        sqlite3_bind_double(statement, at, value);
    else
        sqlite3_bind_null(statement, at);
}

/* --- adding --- */

/* *id: of the new row, 0 when the record is there already. */
static enum ulb_status add_record(struct ulb_history *history, const struct ulb_record *record,
                                  const char *digest, const char *committed, const char *machine,
                                  sqlite3_int64 *id, struct ulb_error *err)
{
    sqlite3_stmt *insert;
    enum ulb_status status = ulb_history_prepare(
        history,
        "INSERT OR IGNORE INTO record(digest, created, committed, commit_id, compiler, machine) "
        "VALUES(?, ?, ?, ?, ?, ?)",
        &insert, err);
    if (status != ULB_OK)
        return status;
    ulb_history_bind_text(insert, 1, digest);
    ulb_history_bind_text(insert, 2, ulb_record_text(record, "created"));
    ulb_history_bind_text(insert, 3, committed);
    ulb_history_bind_text(insert, 4, ulb_record_text(record, "build.commit"));
    ulb_history_bind_text(insert, 5, ulb_record_text(record, "build.compiler"));
    ulb_history_bind_text(insert, 6, machine);
    status = step(history, insert, err);
    *id = status == ULB_OK && sqlite3_changes(history->db) > 0 ? sqlite3_last_insert_rowid(history->db) : 0;
    sqlite3_finalize(insert);
    return status;
}

struct value_statements {
    sqlite3_stmt *name, *add;
};

static enum ulb_status add_value(struct ulb_history *history, const struct value_statements *statements,
                                 sqlite3_int64 record, const struct ulb_value *value, const char *origin_key,
                                 struct ulb_error *err)
{
    const char *metric = ulb_metrics[value->metric].name;
    ulb_history_bind_text(statements->name, 1, metric);
    ulb_history_bind_text(statements->name, 2, value->key);
    ulb_history_bind_text(statements->name, 3, origin_key);
    enum ulb_status status = step(history, statements->name, err);
    if (status != ULB_OK)
        return status;
    sqlite3_bind_int64(statements->add, 1, record);
    bind_number(statements->add, 2, value->value);
    bind_number(statements->add, 3, value->lo);
    bind_number(statements->add, 4, value->hi);
    ulb_history_bind_text(statements->add, 5, metric);
    ulb_history_bind_text(statements->add, 6, value->key);
    ulb_history_bind_text(statements->add, 7, origin_key);
    return step(history, statements->add, err);
}

static enum ulb_status add_values(struct ulb_history *history, const struct ulb_record *record,
                                  const char *machine, sqlite3_int64 id, const struct ulb_value *values,
                                  size_t n, struct ulb_error *err)
{
    struct value_statements statements = {NULL, NULL};
    char *compiler = ulb_compiler_key(record);
    enum ulb_status status =
        compiler
            ? ulb_history_prepare(history, "INSERT OR IGNORE INTO series(metric, key, place) VALUES(?, ?, ?)",
                                  &statements.name, err)
            : ulb_history_no_memory(err);
    if (status == ULB_OK)
        status = ulb_history_prepare(
            history,
            "INSERT OR REPLACE INTO point(record, series, value, lo, hi) "
            "SELECT ?, id, ?, ?, ? FROM series WHERE metric = ? AND key = ? AND place = ?",
            &statements.add, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        const char *origin_key = values[i].metric == ULB_METRIC_INSTRUCTIONS ? compiler : machine;
        status = add_value(history, &statements, id, &values[i], origin_key, err);
    }
    free(compiler);
    sqlite3_finalize(statements.name);
    sqlite3_finalize(statements.add);
    return status;
}

/* What a record holds, whatever its kernels and layouts were called when it was added. */
#define FIGURES(record)                                                                                      \
    "SELECT metric, current_key(key), place, value, lo, hi FROM point JOIN series ON series.id = series"     \
    " WHERE record = " record

/* Whether another record is of the same run and has the same figures: what decode adds to a record, for
 * one, makes another file of it and no second measurement. */
static enum ulb_status find_twin(struct ulb_history *history, sqlite3_int64 id, bool *found,
                                 struct ulb_error *err)
{
    sqlite3_stmt *select;
    enum ulb_status status = ulb_history_prepare(
        history,
        "SELECT 1 FROM record new JOIN record old ON old.created = new.created AND old.machine = new.machine"
        " AND old.commit_id IS new.commit_id AND old.compiler IS new.compiler AND old.id <> new.id"
        " WHERE new.id = ?1"
        " AND NOT EXISTS (" FIGURES("old.id") " EXCEPT " FIGURES(
            "?1") ")"
                  " AND NOT EXISTS (" FIGURES("?1") " EXCEPT " FIGURES("old.id") ")",
        &select, err);
    if (status != ULB_OK)
        return status;
    sqlite3_bind_int64(select, 1, id);
    int code = sqlite3_step(select);
    *found = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = ulb_history_fail(history, err);
    sqlite3_finalize(select);
    return status;
}

enum ulb_status ulb_history_add(struct ulb_history *history, const struct ulb_record *record,
                                const char *committed, bool *added, struct ulb_error *err)
{
    char digest[17], machine[ULB_MACHINE_KEY_MAX];
    struct ulb_value *values;
    size_t n;
    sqlite3_int64 id = 0;
    bool twin = false;
    *added = false;
    enum ulb_status status = ulb_record_values(record, &values, &n, err);
    if (status != ULB_OK)
        return status;
    ulb_machine_key(record, machine);
    if (!ulb_record_digest(record, digest))
        status = ulb_history_no_memory(err);
    if (status == ULB_OK)
        status = ulb_history_execute(history, "BEGIN IMMEDIATE", err);
    if (status != ULB_OK)
        goto out;
    status = add_record(history, record, digest, committed, machine, &id, err);
    if (status == ULB_OK && id != 0)
        status = add_values(history, record, machine, id, values, n, err);
    if (status == ULB_OK && id != 0)
        status = find_twin(history, id, &twin, err);
    if (status == ULB_OK && !twin)
        status = ulb_history_execute(history, "COMMIT", err);
    if (status != ULB_OK || twin)
        sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    *added = status == ULB_OK && id != 0 && !twin;
out:
    free(values);
    return status;
}
