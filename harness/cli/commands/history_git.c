#include "harness/cli/commands/history.h"

#include "common/build_id.h"
#include "harness/counters/run_program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TIMEOUT_SECONDS = 10;

/* A commit without the mark of changes upon it; false for what is no name of one. */
static bool clean_name(const char *commit, char out[64])
{
    size_t length = ulb_commit_length(commit);
    snprintf(out, 64, "%.*s", (int)length, commit);
    return length > 0 && length < 64 && *out != '-' &&
           strspn(out, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._/-") == length;
}

/* The first line that git prints. */
static bool ask_git(const char *const *arguments, char *out, size_t bytes)
{
    struct ulb_error why;
    char *output;
    if (ulb_run_program((char *const *)(uintptr_t)arguments, NULL, 0, TIMEOUT_SECONDS, &output, &why) !=
        ULB_OK)
        return false;
    size_t length = strcspn(output, "\n");
    bool fits = length < bytes;
    if (fits)
        snprintf(out, bytes, "%.*s", (int)length, output);
    free(output);
    return fits;
}

bool ulb_git_repository(const char *folder)
{
    char inside[16];
    const char *const arguments[] = {"git", "-C", folder, "rev-parse", "--is-inside-work-tree", NULL};
    return ask_git(arguments, inside, sizeof inside);
}

bool ulb_git_date(const char *repository, const char *commit, char date[24])
{
    char name[64];
    if (!clean_name(commit, name))
        return false;
    const char *const arguments[] = {
        "env",          "TZ=UTC0", "git", "-C",
        repository,     "log",     "-1",  "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
        "--format=%cd", name,      NULL};
    return ask_git(arguments, date, 24) && strlen(date) == strlen("2026-01-31T12:00:00Z");
}

bool ulb_git_between(const char *repository, const char *good, const char *bad, long *between, char next[64])
{
    char from[64], to[64], range[132], count[32];
    *next = '\0';
    if (!clean_name(good, from) || !clean_name(bad, to))
        return false;
    snprintf(range, sizeof range, "%s..%s", from, to);
    const char *const how_many[] = {"git", "-C", repository, "rev-list", "--count", range, NULL};
    if (!ask_git(how_many, count, sizeof count))
        return false;
    *between = strtol(count, NULL, 10);
    const char *const middle[] = {"git", "-C", repository, "rev-list", "--bisect", range, NULL};
    return *between < 2 || ask_git(middle, next, 64);
}
