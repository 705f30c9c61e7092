/* What git says. A repository may be anyone's. Only plumbing is called, which runs nothing that a repository
 * configures (pager, signatures, file system monitor). Missing objects are not fetched. */
#include "harness/cli/commands/history.h"

#include "common/build_id.h"
#include "harness/counters/run_program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double TIMEOUT_SECONDS = 10;
enum { MOST_ARGUMENTS = 8 };

/* A commit without the mark of changes upon it; false for what is no name of one. */
static bool clean_name(const char *commit, char out[64])
{
    size_t length = ulb_commit_length(commit);
    snprintf(out, 64, "%.*s", (int)length, commit);
    return length > 0 && length < 64 && *out != '-' &&
           strspn(out, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._/-") == length;
}

/* The first line that git prints for these arguments, which end in NULL. */
static enum ulb_status ask_git(const char *repository, const char *const *arguments, char *out, size_t bytes,
                               struct ulb_error *err)
{
    static const char *const always[] = {"git",
                                         "--no-pager",
                                         "--no-optional-locks",
                                         "-c",
                                         "core.fsmonitor=false",
                                         "-c",
                                         "log.showSignature=false",
                                         "-C"};
    enum { N_ALWAYS = sizeof always / sizeof *always };
    const char *all[N_ALWAYS + MOST_ARGUMENTS + 2];
    size_t n = 0;
    char *output;
    memcpy(all, always, sizeof always);
    all[N_ALWAYS] = repository;
    for (; arguments[n] && n < MOST_ARGUMENTS; n++)
        all[N_ALWAYS + 1 + n] = arguments[n];
    all[N_ALWAYS + 1 + n] = NULL;
    /* A partial clone fetches what is missing by programs that its configuration names. */
    setenv("GIT_NO_LAZY_FETCH", "1", 1);
    setenv("GIT_ALLOW_PROTOCOL", "", 1);
    setenv("GIT_TERMINAL_PROMPT", "0", 1);
    setenv("LC_ALL", "C", 1);
    enum ulb_status status =
        ulb_run_program((char *const *)(uintptr_t)all, NULL, 0, TIMEOUT_SECONDS, &output, err);
    if (status != ULB_OK)
        return status;
    size_t length = strcspn(output, "\n");
    if (length < bytes)
        snprintf(out, bytes, "%.*s", (int)length, output);
    else
        status = ulb_fail(err, ULB_ENVIRONMENT, "git answered '%.40s...', which is too long", output);
    free(output);
    return status;
}

static bool is_shallow(const char *repository)
{
    static const char *const arguments[] = {"rev-parse", "--is-shallow-repository", NULL};
    struct ulb_error why;
    char answer[16];
    return ask_git(repository, arguments, answer, sizeof answer, &why) == ULB_OK &&
           strcmp(answer, "true") == 0;
}

/* Adds the remedy to git's reason: a clone may lack the commit by its depth alone. */
static enum ulb_status say_why(const char *repository, enum ulb_status status, struct ulb_error *err)
{
    if (status == ULB_OK)
        return status;
    if (strstr(err->message, "dubious ownership"))
        return ulb_fail_prefix(err, status,
                               "if you trust it, 'git config --global --add safe.directory' with its path");
    if (is_shallow(repository))
        return ulb_fail(err, status,
                        "the clone '%s' is shallow and lacks commits; 'git fetch --unshallow' gets them",
                        repository);
    return status;
}

enum ulb_status ulb_git_repository(const char *folder, struct ulb_error *err)
{
    static const char *const arguments[] = {"rev-parse", "--is-inside-work-tree", NULL};
    char inside[16];
    return say_why(folder, ask_git(folder, arguments, inside, sizeof inside, err), err);
}

enum ulb_status ulb_git_date(const char *repository, const char *commit, char date[24], struct ulb_error *err)
{
    char name[64], line[256], *end;
    if (!clean_name(commit, name))
        return ulb_fail(err, ULB_BAD_INPUT, "'%.64s' is no name of a commit", commit);
    const char *const arguments[] = {"rev-list", "--max-count=1", "--timestamp", name, "--", NULL};
    enum ulb_status status = ask_git(repository, arguments, line, sizeof line, err);
    if (status != ULB_OK)
        return say_why(repository, status, err);
    time_t seconds = (time_t)strtoll(line, &end, 10);
    struct tm utc;
    if (end == line || *end != ' ' || !gmtime_r(&seconds, &utc) ||
        strftime(date, 24, "%Y-%m-%dT%H:%M:%SZ", &utc) != strlen("2026-01-31T12:00:00Z"))
        return ulb_fail(err, ULB_ENVIRONMENT, "git gives commit %s no time: '%.60s'", name, line);
    return ULB_OK;
}

enum ulb_status ulb_git_between(const char *repository, const char *good, const char *bad, long *between,
                                char next[64], struct ulb_error *err)
{
    char from[64], to[64], range[132], count[32];
    *next = '\0';
    if (!clean_name(good, from) || !clean_name(bad, to))
        return ulb_fail(err, ULB_BAD_INPUT, "'%.64s' or '%.64s' is no name of a commit", good, bad);
    snprintf(range, sizeof range, "%s..%s", from, to);
    const char *const ancestor[] = {"merge-base", "--is-ancestor", from, to, NULL};
    const char *const how_many[] = {"rev-list", "--count", range, "--", NULL};
    const char *const middle[] = {"rev-list", "--bisect", range, "--", NULL};
    enum ulb_status status = ask_git(repository, how_many, count, sizeof count, err);
    /* If the clone ends before the good commit, the count is of what is there. */
    if (status == ULB_OK && is_shallow(repository))
        status = ask_git(repository, ancestor, next, 64, err);
    if (status != ULB_OK)
        return say_why(repository, status, err);
    *between = strtol(count, NULL, 10);
    return *between < 2 ? ULB_OK : ask_git(repository, middle, next, 64, err);
}
