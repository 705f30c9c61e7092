#include "results/history/history.h"

#include "results/history/history_key.h"
#include "results/history/history_private.h"
#include "results/record/renamed.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "ulbh": says that the file is a history, as user_version says of which form. */
enum { APPLICATION_ID = 0x756c6268, VERSION = 1 };

/* How long one writer waits for the others. */
enum { BUSY_MS = 30000 };

/* Points stand together by record, so that adding one appends to the file; a series is read by one look-up
 * for each record. */
static const char schema[] =
    "CREATE TABLE record(id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, created TEXT NOT "
    "NULL,"
    " committed TEXT, commit_id TEXT, compiler TEXT, machine TEXT NOT NULL);"
    "CREATE INDEX record_time ON record(coalesce(committed, created), created, id);"
    "CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, key TEXT NOT NULL,"
    " place TEXT NOT NULL, UNIQUE(metric, key, place));"
    "CREATE TABLE point(record INTEGER NOT NULL REFERENCES record(id),"
    " series INTEGER NOT NULL REFERENCES series(id), value REAL NOT NULL, lo REAL, hi REAL,"
    " PRIMARY KEY(record, series)) WITHOUT ROWID;";

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
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: others held it for more than %d s", history->path,
                        BUSY_MS / 1000);
    default:
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: %s", history->path, sqlite3_errmsg(history->db));
    }
}

static enum ulb_status execute(struct ulb_history *history, const char *sql, struct ulb_error *err)
{
    return sqlite3_exec(history->db, sql, NULL, NULL, NULL) == SQLITE_OK ? ULB_OK
                                                                         : ulb_history_fail(history, err);
}

enum ulb_status ulb_history_prepare(struct ulb_history *history, const char *sql, sqlite3_stmt **statement,
                                    struct ulb_error *err)
{
    return sqlite3_prepare_v2(history->db, sql, -1, statement, NULL) == SQLITE_OK
               ? ULB_OK
               : ulb_history_fail(history, err);
}

/* Runs a statement that gives no rows, and makes it ready for the next time. */
static enum ulb_status step(struct ulb_history *history, sqlite3_stmt *statement, struct ulb_error *err)
{
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

/* --- opening --- */

static enum ulb_status read_pragma(struct ulb_history *history, const char *sql, int *value,
                                   struct ulb_error *err)
{
    sqlite3_stmt *statement;
    enum ulb_status status = ulb_history_prepare(history, sql, &statement, err);
    if (status != ULB_OK)
        return status;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *value = sqlite3_column_int(statement, 0);
    else
        status = ulb_history_fail(history, err);
    sqlite3_finalize(statement);
    return status;
}

/* An empty file may become a history, another program's database may not. *made: it is one already. */
static enum ulb_status check_kind(struct ulb_history *history, bool *made, struct ulb_error *err)
{
    int application = 0, version = 0, tables = 0;
    enum ulb_status status = read_pragma(history, "PRAGMA application_id", &application, err);
    if (status == ULB_OK)
        status = read_pragma(history, "PRAGMA user_version", &version, err);
    if (status == ULB_OK)
        status = read_pragma(history, "SELECT count(*) FROM sqlite_schema", &tables, err);
    if (status != ULB_OK)
        return status;
    *made = application == APPLICATION_ID;
    if (!*made && (application != 0 || tables > 0))
        return ulb_fail(err, ULB_BAD_INPUT, "%s is another program's database; name a history with --db",
                        history->path);
    if (version > VERSION)
        return ulb_fail(err, ULB_BAD_INPUT, "%s was written by a newer version of ulb-bench (%d); update it",
                        history->path, version);
    return ULB_OK;
}

/* Two that make the same file at once take turns; the second finds it made. */
static enum ulb_status make_tables(struct ulb_history *history, struct ulb_error *err)
{
    char sql[128];
    bool made = false;
    enum ulb_status status = execute(history, "BEGIN IMMEDIATE", err);
    if (status != ULB_OK)
        return status;
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
             VERSION);
    status = check_kind(history, &made, err);
    if (status == ULB_OK && !made)
        status = execute(history, schema, err);
    if (status == ULB_OK && !made)
        status = execute(history, sql, err);
    if (status == ULB_OK)
        return execute(history, "COMMIT", err);
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static enum ulb_status check_or_make(struct ulb_history *history, bool create, struct ulb_error *err)
{
    bool made = false;
    /* One transaction: another process may be making the file. */
    enum ulb_status status = execute(history, "BEGIN", err);
    if (status != ULB_OK)
        return status;
    status = check_kind(history, &made, err);
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != ULB_OK || made)
        return status;
    if (create)
        return make_tables(history, err);
    return ulb_fail(err, ULB_BAD_INPUT, "%s is empty; 'ulb-bench history add RECORD' makes a history",
                    history->path);
}

/* A write-ahead log: readers and a writer do not wait for each other, and after a kill the file is as the
 * last whole transaction left it. Whoever switches to it must be alone for a moment, and hears so without
 * waiting. */
static enum ulb_status use_write_ahead_log(struct ulb_history *history, struct ulb_error *err)
{
    for (int waited = 0; waited < BUSY_MS; waited++) {
        int code = sqlite3_exec(history->db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", NULL,
                                NULL, NULL);
        if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
            return code == SQLITE_OK ? ULB_OK : ulb_history_fail(history, err);
        usleep(1000);
    }
    return ulb_history_fail(history, err);
}

/* Whether the file may be read alone: another user's, or on a mount that is read-only. Writing needs the
 * folder, too, where the log lies. */
static bool is_read_only(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return access(path, W_OK) != 0 || access(folder, W_OK | X_OK) != 0;
}

/* A log with something in it, which a reader must not pass over. */
static bool has_log(const char *path)
{
    char log[PATH_MAX];
    struct stat is;
    int used = snprintf(log, sizeof log, "%s-wal", path);
    return used > 0 && (size_t)used < sizeof log && stat(log, &is) == 0 && is.st_size > 0;
}

/* Without a log beside it nobody writes the file, and SQLite need not make one to read it. */
static int open_to_read(const char *path, sqlite3 **db)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *how = has_log(path) ? "?mode=ro" : "?immutable=1";
    char *uri = malloc(3 * strlen(path) + strlen("file:") + strlen(how) + 1), *to = uri;
    *db = NULL;
    if (!uri)
        return SQLITE_NOMEM;
    to = stpcpy(to, "file:");
    for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
        if (isalnum(*at) || strchr("/._-", *at)) {
            *to++ = (char)*at;
        } else {
            *to++ = '%';
            *to++ = hex[*at >> 4];
            *to++ = hex[*at & 15];
        }
    }
    strcpy(to, how);
    int code = sqlite3_open_v2(uri, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(uri);
    return code;
}

/* For SQL: a series' key with the names of this version. */
static void current_key(sqlite3_context *context, int count, sqlite3_value **values)
{
    char key[ULB_CELL_KEY_MAX];
    const char *stored = (const char *)sqlite3_value_text(values[count - 1]);
    ulb_current_key(stored ? stored : "", key, sizeof key);
    sqlite3_result_text(context, key, -1, SQLITE_TRANSIENT);
}

enum ulb_status ulb_history_open(struct ulb_history **out, const char *path, bool create,
                                 struct ulb_error *err)
{
    *out = NULL;
    if (!create && access(path, F_OK) != 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s; 'ulb-bench history add RECORD' makes a history", path,
                        strerror(errno));
    struct stat is;
    if (path[0] == '\0' || path[0] == ':' || (stat(path, &is) == 0 && !S_ISREG(is.st_mode)))
        return ulb_fail(err, ULB_BAD_INPUT, "'%s' is no file for a history; name one with --db", path);
    struct ulb_history *history = calloc(1, sizeof *history + strlen(path) + 1);
    if (!history)
        return ulb_history_no_memory(err);
    strcpy(history->path, path);
    enum ulb_status status = ULB_OK;
    const bool read_only = !create && is_read_only(path);
    const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    if ((read_only ? open_to_read(path, &history->db) : sqlite3_open_v2(path, &history->db, flags, NULL)) !=
        SQLITE_OK)
        status = ulb_history_fail(history, err);
    if (status == ULB_OK)
        sqlite3_busy_timeout(history->db, BUSY_MS);
    if (status == ULB_OK && sqlite3_create_function(history->db, "current_key", 1, SQLITE_UTF8, NULL,
                                                    current_key, NULL, NULL) != SQLITE_OK)
        status = ulb_history_fail(history, err);
    if (status == ULB_OK)
        status = check_or_make(history, create, err);
    if (status == ULB_OK && !read_only)
        status = use_write_ahead_log(history, err);
    if (status != ULB_OK && read_only && has_log(path))
        status =
            ulb_fail(err, ULB_ENVIRONMENT,
                     "%s: may not be written, and its log %s-wal is not in it yet; copy both to a folder "
                     "of yours",
                     path, path);
    if (status != ULB_OK) {
        ulb_history_close(history);
        return status;
    }
    *out = history;
    return ULB_OK;
}

void ulb_history_close(struct ulb_history *history)
{
    if (history)
        sqlite3_close(history->db);
    free(history);
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
        status = execute(history, "BEGIN IMMEDIATE", err);
    if (status != ULB_OK)
        goto out;
    status = add_record(history, record, digest, committed, machine, &id, err);
    if (status == ULB_OK && id != 0)
        status = add_values(history, record, machine, id, values, n, err);
    if (status == ULB_OK && id != 0)
        status = find_twin(history, id, &twin, err);
    if (status == ULB_OK && !twin)
        status = execute(history, "COMMIT", err);
    if (status != ULB_OK || twin)
        sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    *added = status == ULB_OK && id != 0 && !twin;
out:
    free(values);
    return status;
}
