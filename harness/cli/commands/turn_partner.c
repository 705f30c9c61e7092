#include "harness/cli/commands/turn_partner.h"

#include "common/text.h"
#include "harness/session/interrupted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Verifying and warming up the kernels of a slow machine; one turn takes seconds. */
enum { READY_MS = 900000, TURN_MS = 120000 };
enum { LINE_MAX_BYTES = 64 << 20, READ_BYTES = 1 << 16, ARGUMENTS_MAX = 128, CELLS_MAX = 100000 };

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to measure in turn");
}

/* ---- the process ---- */

static int spawn(struct ulb_turn_partner *partner, char *const argv[], int in, int out)
{
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn(&partner->process, partner->program, &actions, NULL, argv, environ);
    if (code != 0)
        partner->process = 0;
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static enum ulb_status start(struct ulb_turn_partner *partner, char *const argv[], struct ulb_error *err)
{
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    bool piped = pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0;
    int code = piped ? spawn(partner, argv, to[0], from[1]) : errno;
    if (to[0] >= 0)
        close(to[0]);
    if (from[1] >= 0)
        close(from[1]);
    partner->to = to[1];
    partner->from = from[0];
    if (code == 0)
        return ULB_OK;
    return ulb_fail(err, ULB_ENVIRONMENT, "%s cannot be started: %s; name a build of ulb-bench",
                    partner->program, strerror(code));
}

/* Why a program ended that should have gone on: it has said so itself on standard error. */
static enum ulb_status judge_end(struct ulb_turn_partner *partner, bool is_ready, struct ulb_error *err)
{
    int ended = 0;
    while (waitpid(partner->process, &ended, 0) < 0 && errno == EINTR)
        ;
    partner->process = 0;
    if (ulb_check_interrupted(err) != ULB_OK)
        return ULB_INTERRUPTED;
    int code = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    switch (code) {
    case 1:
        return ulb_fail(err, ULB_FINDING, "%s: a kernel gives wrong results; the line above names it",
                        partner->program);
    case 2:
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s refuses its options (the line above says which), or is older than --beside: "
                        "then compare two records",
                        partner->program);
    default:
        return ulb_fail(err, ULB_ENVIRONMENT, "%s ended %s; the line above says why", partner->program,
                        is_ready ? "in the middle" : "before it measured");
    }
}

/* ---- lines ---- */

/* Appends what has come; the deadline is that of silence. */
static enum ulb_status receive(struct ulb_turn_partner *partner, int silence_ms, struct ulb_error *err)
{
    bool is_ready = partner->cells != NULL;
    struct pollfd wait = {.fd = partner->from, .events = POLLIN};
    if (partner->room - partner->used < READ_BYTES) {
        char *more =
            partner->room < LINE_MAX_BYTES ? realloc(partner->text, partner->room + 2 * READ_BYTES) : NULL;
        if (!more)
            return no_memory(err);
        partner->text = more;
        partner->room += 2 * READ_BYTES;
    }
    int ready = poll(&wait, 1, silence_ms);
    if (ready < 0 && errno == EINTR)
        return ulb_check_interrupted(err);
    if (ready == 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s said nothing for %d s and was stopped", partner->program,
                        silence_ms / 1000);
    ssize_t got = read(partner->from, partner->text + partner->used, READ_BYTES);
    if (got <= 0)
        return judge_end(partner, is_ready, err);
    partner->used += (size_t)got;
    return ULB_OK;
}

/* The next line as JSON, to be released. */
static enum ulb_status read_line(struct ulb_turn_partner *partner, int silence_ms, json_t **line,
                                 struct ulb_error *err)
{
    char *end = NULL;
    enum ulb_status status = ULB_OK;
    while (status == ULB_OK && !(partner->used && (end = memchr(partner->text, '\n', partner->used))))
        status = receive(partner, silence_ms, err);
    if (status != ULB_OK)
        return status;
    size_t length = (size_t)(end - partner->text);
    *line = json_loadb(partner->text, length, 0, NULL);
    partner->used -= length + 1;
    memmove(partner->text, end + 1, partner->used);
    return *line ? ULB_OK
                 : ulb_fail(err, ULB_ENVIRONMENT,
                            "%s answers with what is no turn; name a build of ulb-bench", partner->program);
}

static bool is_cell(const json_t *cell)
{
    const char *kernel = json_string_value(json_object_get(cell, "kernel"));
    return kernel && *kernel && strlen(kernel) < 64 && strcspn(kernel, " ") == strlen(kernel) &&
           json_integer_value(json_object_get(cell, "m")) > 0 &&
           json_integer_value(json_object_get(cell, "k")) > 0;
}

static enum ulb_status read_cells(struct ulb_turn_partner *partner, struct ulb_error *err)
{
    json_t *line;
    enum ulb_status status = read_line(partner, READY_MS, &line, err);
    if (status != ULB_OK)
        return status;
    partner->cells = json_incref(json_object_get(line, "cells"));
    size_t n = json_array_size(partner->cells), i;
    bool good = json_integer_value(json_object_get(line, "turns")) == 1 && n > 0 && n < CELLS_MAX;
    const json_t *cell;
    json_array_foreach(partner->cells, i, cell) good &= is_cell(cell);
    json_decref(line);
    return good ? ULB_OK
                : ulb_fail(err, ULB_ENVIRONMENT,
                           "%s lists cells in another way than this build; compare two records",
                           partner->program);
}

enum ulb_status ulb_turn_partner_start(struct ulb_turn_partner *partner, const char *program,
                                       char *const options[], struct ulb_error *err)
{
    static char gemv[] = "gemv", turns[] = "--turns";
    char *argv[ARGUMENTS_MAX + 4] = {NULL};
    size_t n = 0;
    *partner = (struct ulb_turn_partner){.program = program, .to = -1, .from = -1};
    argv[n++] = (char *)(uintptr_t)program;
    argv[n++] = gemv;
    for (; *options; options++) {
        if (n == ARGUMENTS_MAX)
            return ulb_fail(err, ULB_BAD_INPUT, "more than %d options behind --", ARGUMENTS_MAX - 2);
        argv[n++] = *options;
    }
    argv[n] = turns;
    enum ulb_status status = start(partner, argv, err);
    return status == ULB_OK ? read_cells(partner, err) : status;
}

/* ---- turns ---- */

static enum ulb_status send_turn(struct ulb_turn_partner *partner, const size_t *cells, size_t n,
                                 struct ulb_error *err)
{
    enum { DIGITS = 8 };
    char *line = malloc(n * DIGITS + 2);
    size_t used = 0, sent = 0;
    if (!line)
        return no_memory(err);
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(line + used, DIGITS + 1, "%zu%c", cells[i], i + 1 < n ? ' ' : '\n');
    while (sent < used) {
        ssize_t got = write(partner->to, line + sent, used - sent);
        if (got < 0 && errno != EINTR)
            break;
        sent += got > 0 ? (size_t)got : 0;
    }
    free(line);
    return sent == used ? ULB_OK : judge_end(partner, true, err);
}

static bool read_samples(const json_t *line, struct ulb_turn_samples *out)
{
    const json_t *samples = json_object_get(line, "us");
    out->n = json_array_size(samples);
    out->first_us = out->best_us = json_number_value(json_array_get(samples, 0));
    for (size_t i = 1; i < out->n; i++) {
        double one = json_number_value(json_array_get(samples, i));
        out->best_us = one < out->best_us ? one : out->best_us;
    }
    return out->n > 0 && out->best_us > 0;
}

enum ulb_status ulb_turn_partner_measure(struct ulb_turn_partner *partner, const size_t *cells, size_t n,
                                         struct ulb_turn_samples *samples, struct ulb_error *err)
{
    enum ulb_status status = send_turn(partner, cells, n, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        json_t *line = NULL;
        status = read_line(partner, TURN_MS, &line, err);
        if (status == ULB_OK && ((size_t)json_integer_value(json_object_get(line, "cell")) != cells[i] ||
                                 !read_samples(line, &samples[i])))
            status =
                ulb_fail(err, ULB_ENVIRONMENT, "%s answers another turn than it was given", partner->program);
        json_decref(line);
    }
    return status;
}

void ulb_turn_partner_stop(struct ulb_turn_partner *partner)
{
    /* Its input ends, and so does it; one that hangs is ended. */
    enum { PATIENCE = 200 };
    struct timespec wait = {.tv_nsec = 25000000};
    if (partner->to >= 0)
        close(partner->to);
    if (partner->from >= 0)
        close(partner->from);
    for (int i = 0; i < PATIENCE && partner->process > 0; i++) {
        if (waitpid(partner->process, NULL, WNOHANG) != 0)
            partner->process = 0;
        else
            nanosleep(&wait, NULL);
    }
    if (partner->process > 0 && kill(partner->process, SIGKILL) == 0)
        waitpid(partner->process, NULL, 0);
    json_decref(partner->cells);
    free(partner->text);
    *partner = (struct ulb_turn_partner){.to = -1, .from = -1};
}
