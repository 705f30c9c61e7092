/* Opening a history: one's own, another user's, one in a place that is read-only, and a hostile one. */
#include "results/history/history.h"

#include "results/history/history_private.h"
#include "results/record/renamed.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* "ulbh": says that the file is a history, as user_version says of which form. */
enum { APPLICATION_ID = 0x756c6268, VERSION = 1 };

/* Points stand together by record, so that adding one appends to the file; a series is read by one look-up
 * for each record. */
static const struct object {
    const char *name, *sql;
} objects[] = {
    {"record",
     "CREATE TABLE record(id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, created TEXT NOT NULL,"
     " committed TEXT, commit_id TEXT, compiler TEXT, machine TEXT NOT NULL)"},
    {"record_time", "CREATE INDEX record_time ON record(coalesce(committed, created), created, id)"},
    {"series", "CREATE TABLE series(id INTEGER PRIMARY KEY, metric TEXT NOT NULL, key TEXT NOT NULL,"
               " place TEXT NOT NULL, UNIQUE(metric, key, place))"},
    {"point", "CREATE TABLE point(record INTEGER NOT NULL REFERENCES record(id),"
              " series INTEGER NOT NULL REFERENCES series(id), value REAL NOT NULL, lo REAL, hi REAL,"
              " PRIMARY KEY(record, series)) WITHOUT ROWID"},
};
enum { N_OBJECTS = sizeof objects / sizeof *objects };

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

/* The objects are those that make_tables makes: a view of a table's name could compute for ever. */
static enum ulb_status check_schema(struct ulb_history *history, struct ulb_error *err)
{
    sqlite3_stmt *select;
    enum ulb_status status =
        ulb_history_prepare(history, "SELECT sql FROM sqlite_schema WHERE name = ?", &select, err);
    for (size_t i = 0; i < N_OBJECTS && status == ULB_OK; i++) {
        ulb_history_bind_text(select, 1, objects[i].name);
        int code = sqlite3_step(select);
        const char *sql = code == SQLITE_ROW ? (const char *)sqlite3_column_text(select, 0) : NULL;
        if (code != SQLITE_ROW && code != SQLITE_DONE)
            status = ulb_history_fail(history, err);
        else if (!sql || strcmp(sql, objects[i].sql) != 0)
            status =
                ulb_fail(err, ULB_BAD_INPUT,
                         "%s is no history of ulb-bench, or a damaged one: '%s' in it is another's; name "
                         "a history with --db",
                         history->path, objects[i].name);
        sqlite3_reset(select);
    }
    sqlite3_finalize(select);
    return status;
}

/* Two that make the same file at once take turns; the second finds it made. */
static enum ulb_status make_tables(struct ulb_history *history, struct ulb_error *err)
{
    char sql[128];
    bool made = false;
    enum ulb_status status = ulb_history_execute(history, "BEGIN IMMEDIATE", err);
    if (status != ULB_OK)
        return status;
    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", APPLICATION_ID,
             VERSION);
    status = check_kind(history, &made, err);
    for (size_t i = 0; i < N_OBJECTS && status == ULB_OK && !made; i++)
        status = ulb_history_execute(history, objects[i].sql, err);
    if (status == ULB_OK && !made)
        status = ulb_history_execute(history, sql, err);
    if (status == ULB_OK)
        return ulb_history_execute(history, "COMMIT", err);
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static enum ulb_status check_or_make(struct ulb_history *history, bool create, struct ulb_error *err)
{
    bool made = false;
    /* One transaction: another process may be making the file. */
    enum ulb_status status = ulb_history_execute(history, "BEGIN", err);
    if (status != ULB_OK)
        return status;
    status = check_kind(history, &made, err);
    if (status == ULB_OK && made)
        status = check_schema(history, err);
    sqlite3_exec(history->db, "ROLLBACK", NULL, NULL, NULL);
    if (status != ULB_OK || made)
        return status;
    if (create)
        return make_tables(history, err);
    return ulb_fail(err, ULB_BAD_INPUT, "%s is empty; 'ulb-bench history add RECORD' makes a history",
                    history->path);
}

/* --- the journal --- */

/* Whether other machines may hold the file: a write-ahead log needs memory that all its users share. FUSE
 * counts, since sshfs is one. */
static bool is_on_network(const char *path)
{
    static const unsigned types[] = {0x6969,     0xff534d42, 0xfe534d42, 0x517b,     0x01021997,
                                     0x65735546, 0x0bd00bd0, 0x01161970, 0x00c36400, 0x5346414f,
                                     0x73757245, 0x47504653, 0x19830326, 0x7461636f, 0x786f4256};
    struct statfs is;
    if (statfs(path, &is) != 0)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if ((unsigned)is.f_type == types[i])
            return true;
    }
    return false;
}

/* A write-ahead log: readers and a writer do not wait for each other, and after a kill the file is as the
 * last whole transaction left it. Whoever switches to it must be alone for a moment, and hears so without
 * waiting. */
static enum ulb_status choose_journal(struct ulb_history *history, struct ulb_error *err)
{
    const char *sql = is_on_network(history->path) ? "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL"
                                                   : "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL";
    for (int waited = 0; waited < ULB_HISTORY_BUSY_MS; waited++) {
        int code = sqlite3_exec(history->db, sql, NULL, NULL, NULL);
        if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
            return code == SQLITE_OK ? ULB_OK : ulb_history_fail(history, err);
        usleep(1000);
    }
    return ulb_history_fail(history, err);
}

/* --- reading where nothing may be written --- */

/* Writing needs the folder, too, where the journal lies. */
static bool is_read_only(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    return access(path, W_OK) != 0 || access(folder, W_OK | X_OK) != 0;
}

static bool has_beside(const char *path, const char *ending)
{
    char name[PATH_MAX];
    struct stat is;
    int used = snprintf(name, sizeof name, "%s%s", path, ending);
    return used > 0 && (size_t)used < sizeof name && stat(name, &is) == 0 && is.st_size > 0;
}

/* A journal with something in it, which a reader must not pass over. */
static bool has_journal(const char *path)
{
    return has_beside(path, "-wal") || has_beside(path, "-journal");
}

/* Without a journal beside it nobody writes the file, and SQLite need not make one to read it. */
static int open_to_read(const char *path, sqlite3 **db)
{
    static const char hex[] = "0123456789ABCDEF";
    const char *how = has_journal(path) ? "?mode=ro" : "?immutable=1";
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

/* --- opening --- */

/* After each thousand operations of SQLite's machine; other than 0 ends the statement. */
static int count_operations(void *context)
{
    struct ulb_history *history = context;
    return ++history->operations > history->most_operations;
}

/* What comes from a file may be hostile: nothing of its schema runs, and a statement that works longer than
 * a file of its size can need is ended. */
static enum ulb_status guard(struct ulb_history *history, struct ulb_error *err)
{
    enum { EVERY = 1000, LEAST = 20000, LONGEST_VALUE = 1 << 20, BYTES_EACH = 10 };
    static const int off[] = {SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION};
    struct stat is;
    long long bytes = stat(history->path, &is) == 0 ? (long long)is.st_size : 0;
    history->most_operations = LEAST + bytes / BYTES_EACH;
    sqlite3_progress_handler(history->db, EVERY, count_operations, history);
    sqlite3_limit(history->db, SQLITE_LIMIT_LENGTH, LONGEST_VALUE);
    sqlite3_limit(history->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(history->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        sqlite3_db_config(history->db, off[i], 0, NULL);
    sqlite3_busy_timeout(history->db, ULB_HISTORY_BUSY_MS);
    return ulb_history_execute(history, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", err);
}

static enum ulb_status open_file(struct ulb_history *history, const char *real, bool create, bool read_only,
                                 struct ulb_error *err)
{
    const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    int code = read_only ? open_to_read(real, &history->db)
                         : sqlite3_open_v2(history->path, &history->db, flags, NULL);
    enum ulb_status status = code == SQLITE_OK ? guard(history, err) : ulb_history_fail(history, err);
    if (status == ULB_OK && sqlite3_create_function(history->db, "current_key", 1, SQLITE_UTF8, NULL,
                                                    current_key, NULL, NULL) != SQLITE_OK)
        status = ulb_history_fail(history, err);
    if (status == ULB_OK)
        status = check_or_make(history, create, err);
    if (status == ULB_OK && create)
        status = choose_journal(history, err);
    if (status == ULB_ENVIRONMENT && read_only && has_journal(real))
        status = ulb_fail(err, ULB_ENVIRONMENT,
                          "%s: may not be written, and its journal beside it (-wal or -journal) is not in it "
                          "yet; copy both to a folder of yours",
                          history->path);
    return status;
}

enum ulb_status ulb_history_open(struct ulb_history **out, const char *path, bool create,
                                 struct ulb_error *err)
{
    struct stat is;
    *out = NULL;
    if (!create && stat(path, &is) != 0) {
        const char *remedy = errno == ENOENT ? "'ulb-bench history add RECORD' makes a history"
                                             : "name another history with --db";
        return ulb_fail(err, ULB_BAD_INPUT, "%s: %s; %s", path, strerror(errno), remedy);
    }
    if (path[0] == '\0' || path[0] == ':' || (stat(path, &is) == 0 && !S_ISREG(is.st_mode)))
        return ulb_fail(err, ULB_BAD_INPUT, "'%s' is no file for a history; name one with --db", path);
    if (!create && access(path, R_OK) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s: may not be read: %s; ask its owner, or copy it", path,
                        strerror(errno));
    struct ulb_history *history = calloc(1, sizeof *history + strlen(path) + 1);
    /* The journal lies beside the file that a link leads to. */
    char *real = realpath(path, NULL);
    if (!history || (!real && !create)) {
        free(history);
        free(real);
        return ulb_history_no_memory(err);
    }
    strcpy(history->path, path);
    enum ulb_status status = open_file(history, real, create, !create && is_read_only(real), err);
    free(real);
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
