/* ulb-bench history: records over time. */
#include "common/words.h"
#include "harness/cli/commands/history.h"
#include "harness/cli/option.h"
#include "harness/cli/table.h"
#include "harness/cli/terminal.h"
#include "harness/session/checkpoint.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_LAST = 0x100, OPTION_REPOSITORY, OPTION_METRIC, OPTION_THRESHOLD, OPTION_FORMAT };

static error_t parse_last(struct ulb_history_request *request, const char *text)
{
    uint64_t last;
    if (!ulb_read_count(text, 0, SIZE_MAX, &last))
        return ulb_refuse_option(request->err, "last", text, "must be a number of records, 0 for all");
    request->last = (size_t)last;
    request->last_given = true;
    return 0;
}

static error_t parse_threshold(struct ulb_history_request *request, const char *text)
{
    return ulb_read_percent(text, 0, 1000, &request->threshold)
               ? 0
               : ulb_refuse_option(request->err, "threshold", text, "must be a percentage, 0 to 1000");
}

static error_t parse_metric(struct ulb_history_request *request, const char *text)
{
    if (ulb_metric_find(text, &request->metric, request->err) != ULB_OK)
        return EINVAL;
    return request->metric <= ULB_METRIC_INSTRUCTIONS
               ? 0
               : ulb_refuse_option(request->err, "metric", text,
                                   "a history keeps efficiency, us, gamma and instructions");
}

static error_t parse_argument(struct ulb_history_request *request, struct argp_state *state)
{
    request->action = state->argv[state->next];
    request->records = state->argv + state->next + 1;
    request->n_records = (size_t)(state->argc - state->next - 1);
    state->next = state->argc;
    return 0;
}

/* Options of some actions alone. */
static const struct scope {
    int key;
    const char *name, *actions;
} scopes[] = {{'c', "cell", "trend bisect"},
              {OPTION_METRIC, "metric", "trend bisect"},
              {OPTION_THRESHOLD, "threshold", "trend bisect"},
              {OPTION_LAST, "last", "list trend bisect"},
              {OPTION_REPOSITORY, "repo", "add bisect"},
              {'o', "out", "trend"},
              {OPTION_FORMAT, "format", "trend"},
              {'v', "verbose", "trend"}};
enum { N_SCOPES = sizeof scopes / sizeof *scopes };

static void note_given(struct ulb_history_request *request, int key)
{
    for (size_t i = 0; i < N_SCOPES; i++) {
        if (scopes[i].key == key)
            request->given |= 1u << i;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct ulb_history_request *request = state->input;
    note_given(request, key);
    switch (key) {
    case 'd':
        request->db = argument;
        return 0;
    case 'c':
        request->cell = argument;
        return 0;
    case OPTION_METRIC:
        return parse_metric(request, argument);
    case OPTION_LAST:
        return parse_last(request, argument);
    case OPTION_THRESHOLD:
        return parse_threshold(request, argument);
    case OPTION_REPOSITORY:
        request->repository = argument;
        request->repository_given = true;
        return 0;
    case 'o':
        request->out = argument;
        return 0;
    case OPTION_FORMAT:
        request->formats = argument;
        return 0;
    case 'v':
        request->verbose = true;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case ARGP_KEY_ARGS:
        return parse_argument(request, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- add --- */

/* Records whose commit git does not know, and what it said of the first. */
struct undated {
    size_t n;
    char commit[64];
    struct ulb_error why;
};

static bool find_date(const char *repository, const char *commit, char date[24], struct undated *undated)
{
    struct ulb_error why;
    if (ulb_git_date(repository, commit, date, &why) == ULB_OK)
        return true;
    if (undated->n++ == 0) {
        snprintf(undated->commit, sizeof undated->commit, "%s", commit);
        undated->why = why;
    }
    return false;
}

static void note_undated(const struct undated *undated)
{
    if (undated->n > 0)
        ulb_print_note("%zu record%s placed by the time of measuring, as the date of the commit is unknown "
                       "(%s: %s); see "
                       "--repo",
                       undated->n, undated->n == 1 ? "" : "s", undated->commit, undated->why.message);
}

/* *stuck: it is the history that takes nothing, so that no other file would do better. */
static enum ulb_status add_one(const struct ulb_history_request *request, struct ulb_history *history,
                               const char *path, struct undated *undated, bool *added, bool *stuck,
                               struct ulb_error *err)
{
    *added = *stuck = false;
    struct ulb_record record;
    char date[24];
    enum ulb_status status = ulb_record_read(&record, path, err);
    if (status == ULB_OK)
        status = ulb_checkpoint_refuse_unfinished(path, err);
    if (status != ULB_OK) {
        ulb_record_free(&record);
        return status;
    }
    const char *commit = ulb_record_text(&record, "build.commit");
    bool dated = commit && find_date(request->repository, commit, date, undated);
    status = ulb_history_add(history, &record, dated ? date : NULL, added, err);
    *stuck = status == ULB_ENVIRONMENT;
    ulb_record_free(&record);
    return status == ULB_OK ? ULB_OK : ulb_fail_prefix(err, status, "%s", path);
}

static enum ulb_status print_added(const struct ulb_history_request *request, size_t added, size_t refused,
                                   struct ulb_error *err)
{
    size_t known = request->n_records - added - refused;
    if (request->json)
        return ulb_print_json(json_pack("{s:s, s:I, s:I, s:I}", "db", request->db, "added", (json_int_t)added,
                                        "known", (json_int_t)known, "refused", (json_int_t)refused),
                              err);
    printf("%s: %zu record%s added", request->db, added, added == 1 ? "" : "s");
    if (known > 0)
        printf(", %zu known already", known);
    if (refused > 0)
        printf(", %zu refused", refused);
    printf("\n");
    return ULB_OK;
}

static void say_refused(const struct ulb_error *why)
{
    fprintf(stderr, "ulb-bench: %s\n", why->message);
}

/* A file that is refused is named and passed over. The last message is main's to print. */
static enum ulb_status add(const struct ulb_history_request *request, struct ulb_history *history,
                           struct ulb_error *err)
{
    size_t added = 0, refused = 0;
    struct undated undated = {.n = 0};
    enum ulb_status answer = ULB_OK;
    struct ulb_error why;
    for (size_t i = 0; i < request->n_records; i++) {
        bool new, stuck;
        enum ulb_status status = add_one(request, history, request->records[i], &undated, &new, &stuck, &why);
        added += new;
        if (status == ULB_OK)
            continue;
        if (refused++ > 0)
            say_refused(err);
        *err = why;
        if (stuck)
            return added > 0 ? ulb_fail_prefix(err, status, "%zu added before", added) : status;
        if (answer != ULB_BAD_INPUT)
            answer = status;
    }
    note_undated(&undated);
    enum ulb_status status = print_added(request, added, refused, &why);
    if (status == ULB_OK)
        return answer;
    if (refused > 0)
        say_refused(err);
    *err = why;
    return status;
}

/* --- list --- */

static enum ulb_status list(const struct ulb_history_request *request, struct ulb_history *history,
                            struct ulb_error *err)
{
    static const struct ulb_column columns[] = {{"created", "measured", 0},
                                                {"commit", "commit", 0},
                                                {"committed", "committed", 0},
                                                {"values", "figures", 0},
                                                {"machine", "machine", 0}};
    struct ulb_history_record *records;
    size_t n;
    enum ulb_status status = ulb_history_records(history, &records, &n, err);
    if (status != ULB_OK)
        return status;
    json_t *rows = json_array();
    for (size_t i = request->last && request->last < n ? n - request->last : 0; i < n; i++) {
        const struct ulb_history_record *at = &records[i];
        json_t *row =
            json_pack("{s:s, s:s?, s:s?, s:s, s:s, s:I}", "created", at->created, "committed",
                      *at->committed ? at->committed : NULL, "commit", *at->commit ? at->commit : NULL,
                      "compiler", at->compiler, "machine", at->machine, "values", (json_int_t)at->values);
        if (!*at->committed)
            json_object_set_new(row, "committed_reason",
                                json_string("git did not know the commit when the record was added"));
        if (!*at->commit)
            json_object_set_new(row, "commit_reason", json_string(ulb_no_commit));
        json_array_append_new(rows, row);
    }
    free(records);
    if (request->json)
        return ulb_print_json(json_pack("{s:o}", "records", rows), err);
    ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    json_decref(rows);
    return ULB_OK;
}

/* --- all --- */

static const struct action {
    const char *name;
    bool makes, takes_records;
    enum ulb_status (*run)(const struct ulb_history_request *request, struct ulb_history *history,
                           struct ulb_error *err);
} actions[] = {{"add", true, true, add},
               {"list", false, false, list},
               {"trend", false, false, ulb_show_trend},
               {"bisect", false, false, ulb_show_bisect}};

static const struct action *find_action(const struct ulb_history_request *request, struct ulb_error *err)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        const struct action *action = &actions[i];
        if (!request->action || strcmp(action->name, request->action) != 0)
            continue;
        if (action->takes_records == (request->n_records > 0))
            return action;
        ulb_fail(err, ULB_BAD_INPUT,
                 action->takes_records ? "name the records to add: 'ulb-bench history add RECORD...'"
                                       : "'history %s' takes no records; add them by 'history add'",
                 action->name);
        return NULL;
    }
    if (request->action)
        ulb_fail(err, ULB_BAD_INPUT, "unknown action '%s': add, list, trend or bisect", request->action);
    else
        ulb_fail(err, ULB_BAD_INPUT, "say what to do with the history: add, list, trend or bisect");
    return NULL;
}

static enum ulb_status check_scopes(const struct ulb_history_request *request, const struct action *action,
                                    struct ulb_error *err)
{
    for (size_t i = 0; i < N_SCOPES; i++) {
        const struct scope *scope = &scopes[i];
        if (request->given >> i & 1 && !strstr(scope->actions, action->name))
            return ulb_fail(err, ULB_BAD_INPUT, "--%s is no option of 'history %s'; those that take it: %s",
                            scope->name, action->name, scope->actions);
    }
    return ULB_OK;
}

static enum ulb_status make_place(const char *path, struct ulb_error *err)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return ULB_OK;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return ulb_make_folder(folder, "db", err);
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"db", 'd', "FILE", 0, "the history (default: " ULB_HISTORY_FILE ")", 0},
        {"cell", 'c', "REGEX", 0, "only cells whose key matches", 0},
        {"metric", OPTION_METRIC, "efficiency|us|gamma|instructions", 0,
         "figure to follow (default: efficiency)", 0},
        {"last", OPTION_LAST, "N", 0, "so many newest records; default: all with --cell, else 1000", 0},
        {"threshold", OPTION_THRESHOLD, "PERCENT", 0, "smallest change; default 5, of instructions 0.1", 0},
        {"out", 'o', "DIR", 0, "trend: draw a figure of each cell there", 0},
        {"format", OPTION_FORMAT, "svg|png|pdf|txt,...", 0, "formats of the figures (default: svg)", 0},
        {"repo", OPTION_REPOSITORY, "DIR", 0,
         "git repository of the commits (default: the current directory)", 0},
        {"verbose", 'v', NULL, 0, "trend: each series, in place of a summary", 0},
        {"json", 'j', NULL, 0, "one JSON document on standard output", 0},
        {0},
    };
    static const struct argp parser = {options,
                                       parse_option,
                                       "add RECORD...\nlist\ntrend\nbisect",
                                       "Keeps records over time: adds them, lists them, shows where a cell's "
                                       "level changed, and between which "
                                       "commits.",
                                       NULL,
                                       NULL,
                                       NULL};
    struct ulb_history_request request = {.repository = ".", .threshold = NAN, .err = err};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    const struct action *action = find_action(&request, err);
    if (!action)
        return ULB_BAD_INPUT;
    struct ulb_history *history = NULL;
    if (!request.db)
        request.db = ulb_default_history();
    status = check_scopes(&request, action, err);
    if (status == ULB_OK && request.json)
        status = ulb_need_utf8(request.db, err);
    if (status == ULB_OK && request.formats && !request.out)
        status = ulb_fail(err, ULB_BAD_INPUT, "--format is of figures, which are drawn with --out");
    if (status == ULB_OK && request.formats && request.formats[strspn(request.formats, ",")] == '\0')
        status = ulb_fail(err, ULB_BAD_INPUT, "--format names no format: svg, png, pdf or txt");
    if (status == ULB_OK && request.formats)
        status = ulb_words_differ("format", request.formats, err);
    if (status == ULB_OK && request.repository_given && ulb_git_repository(request.repository, err) != ULB_OK)
        status = ulb_fail_prefix(err, ULB_BAD_INPUT, "--repo '%s'", request.repository);
    if (status == ULB_OK && action->makes)
        status = make_place(request.db, err);
    if (status == ULB_OK)
        status = ulb_history_open(&history, request.db, action->makes, err);
    if (status == ULB_OK)
        status = action->run(&request, history, err);
    ulb_history_close(history);
    return status;
}

const struct ulb_command ulb_command_history = {
    "history", "records over time: where a cell changed, and between which commits", run};
