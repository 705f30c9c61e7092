#include "harness/opencl/device_process.h"

#include "common/json.h"
#include "common/text.h"
#include "harness/session/interrupted.h"
#include "harness/timing/stopwatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MOST = 4 << 20, DOING_BYTES = 200, REMEDY_BYTES = 160 };

static const double START_LIMIT_S = 30;  /* from the start to what the process says first */
static const double LEFT_AFTER_KILL = 2; /* a process that the system does not let go is left behind */

/* ---- in the process: one JSON document a line ---- */

struct ulb_device_link {
    int fd;
};

/* The program is gone when a line cannot be written, and with it all sense in going on. */
static void send_line(struct ulb_device_link *link, json_t *message)
{
    char *line = message ? json_dumps(message, JSON_COMPACT) : NULL;
    size_t bytes = line ? strlen(line) : 0;
    if (!line || bytes >= LINE_MOST)
        _exit(EXIT_FAILURE);
    line[bytes++] = '\n'; /* in the place of the closing zero byte */
    for (const char *at = line; bytes > 0;) {
        ssize_t written = write(link->fd, at, bytes);
        if (written < 0 && errno != EINTR)
            _exit(EXIT_FAILURE);
        at += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    free(line);
    json_decref(message);
}

void ulb_device_doing(struct ulb_device_link *link, double limit_s, const char *remedy, const char *format,
                      ...)
{
    char text[DOING_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ulb_text_mend(text);
    send_line(link, json_pack("{s:s, s:f, s:s}", "doing", text, "limit_s", limit_s, "remedy", remedy));
}

void ulb_device_tell(struct ulb_device_link *link, const char *key, json_t *value)
{
    send_line(link, json_pack("{s:s, s:o}", "key", key, "value", value));
}

/* What a driver prints goes nowhere; signals mean what they mean to any process, but that of the keyboard,
 * which the program answers. */
static void settle_process(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM, SIGPIPE};
    const struct rlimit no_core = {0, 0};
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(nowhere, STDERR_FILENO) < 0)
        _exit(EXIT_FAILURE);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], SIG_DFL);
    signal(SIGINT, SIG_IGN);
    setrlimit(RLIMIT_CORE, &no_core);
}

static void work(ulb_device_job *job, const void *arg, int fd, pid_t program)
{
    struct ulb_device_link link = {fd};
    struct ulb_error err = {""};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != program)
        _exit(EXIT_FAILURE);
    settle_process();
    enum ulb_status status = job(&link, arg, &err);
    ulb_text_mend(err.message);
    send_line(&link, json_pack("{s:i, s:s}", "status", (int)status, "message", err.message));
    _exit(EXIT_SUCCESS);
}

/* ---- in the program ---- */

struct watch {
    pid_t process;
    int fd;
    char *text; /* LINE_MOST bytes: what came of lines that are not whole yet */
    size_t used;
    double deadline, limit_s;
    char doing[DOING_BYTES], remedy[REMEDY_BYTES];
    bool ended; /* it told its status */
    enum ulb_status status;
    ulb_device_take *take;
    void *context;
};

static const char *text_of(const json_t *message, const char *key)
{
    const char *text = json_string_value(json_object_get(message, key));
    return text ? text : "";
}

static enum ulb_status begin(struct watch *watch, const json_t *message, struct ulb_error *err)
{
    snprintf(watch->doing, sizeof watch->doing, "%s", text_of(message, "doing"));
    snprintf(watch->remedy, sizeof watch->remedy, "%s", text_of(message, "remedy"));
    watch->limit_s = json_number_value(json_object_get(message, "limit_s"));
    watch->deadline = ulb_now() + watch->limit_s;
    return watch->take(watch->context, "doing", json_object_get(message, "doing"), err);
}

static enum ulb_status hear(struct watch *watch, const char *line, size_t bytes, struct ulb_error *err)
{
    json_t *message;
    enum ulb_status status = ulb_json_load(&message, line, bytes, 0, "the device process", err);
    if (status == ULB_BAD_INPUT)
        return ulb_fail(err, ULB_ENVIRONMENT, "the OpenCL driver wrote over what the program says %s",
                        watch->doing);
    if (status == ULB_OK && !ulb_json_printable(message))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for what a device says");
    if (status == ULB_OK && json_object_get(message, "doing")) {
        status = begin(watch, message, err);
    } else if (status == ULB_OK && json_object_get(message, "key")) {
        status = watch->take(watch->context, text_of(message, "key"), json_object_get(message, "value"), err);
    } else if (status == ULB_OK) {
        watch->ended = true;
        watch->status = (enum ulb_status)json_integer_value(json_object_get(message, "status"));
        snprintf(err->message, sizeof err->message, "%s", text_of(message, "message"));
    }
    json_decref(message);
    return status;
}

/* The whole lines of what came. */
static enum ulb_status hear_lines(struct watch *watch, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    size_t from = 0;
    char *end;
    while (status == ULB_OK && (end = memchr(watch->text + from, '\n', watch->used - from)) != NULL) {
        size_t bytes = (size_t)(end - watch->text) - from;
        status = hear(watch, watch->text + from, bytes, err);
        from += bytes + 1;
    }
    memmove(watch->text, watch->text + from, watch->used - from);
    watch->used -= from;
    return status;
}

/* Until the process told its status, or ended and so closed the pipe. Signals are looked at five times a
 * second. */
static enum ulb_status listen(struct watch *watch, struct ulb_error *err)
{
    for (;;) {
        struct pollfd ready = {.fd = watch->fd, .events = POLLIN};
        enum ulb_status status = ulb_check_interrupted(err);
        if (status != ULB_OK)
            return status;
        if (ulb_now() > watch->deadline)
            return ulb_fail(err, ULB_ENVIRONMENT, "the device did not come to an end within %.3g s %s; %s",
                            watch->limit_s, watch->doing, watch->remedy);
        if (poll(&ready, 1, 200) <= 0)
            continue;
        ssize_t got = read(watch->fd, watch->text + watch->used, LINE_MOST - watch->used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return ULB_OK;
        watch->used += (size_t)got;
        status = hear_lines(watch, err);
        if (status != ULB_OK || watch->ended)
            return status;
    }
}

/* Ends the process where it has not ended; false: the system does not let it go. */
static bool reap(const struct watch *watch, bool kill_it, int *wait_status)
{
    const struct timespec pause = {0, 10000000};
    const double since = ulb_now();
    if (kill_it)
        kill(watch->process, SIGKILL);
    while (ulb_now() - since < LEFT_AFTER_KILL) {
        pid_t ended = waitpid(watch->process, wait_status, WNOHANG);
        if (ended == watch->process || (ended < 0 && errno != EINTR))
            return true;
        nanosleep(&pause, NULL);
    }
    if (!kill_it)
        return reap(watch, true, wait_status);
    return false;
}

/* The process ended and did not say how its work went. */
static enum ulb_status explain_end(const struct watch *watch, int wait_status, struct ulb_error *err)
{
    if (WIFSIGNALED(wait_status))
        return ulb_fail(err, ULB_ENVIRONMENT, "the OpenCL driver crashed (%s) %s; %s",
                        strsignal(WTERMSIG(wait_status)), watch->doing, watch->remedy);
    return ulb_fail(err, ULB_ENVIRONMENT, "the OpenCL driver ended its process by exit() %s; %s",
                    watch->doing, watch->remedy);
}

static enum ulb_status follow(struct watch *watch, struct ulb_error *err)
{
    int wait_status = 0;
    enum ulb_status status = listen(watch, err);
    bool reaped = reap(watch, status != ULB_OK, &wait_status);
    if (status == ULB_OK && watch->ended)
        return watch->status;
    if (status == ULB_OK)
        return explain_end(watch, wait_status, err);
    if (!reaped) {
        size_t used = strlen(err->message);
        snprintf(err->message + used, sizeof err->message - used,
                 " (the system does not let go of process %d: restart the machine)", (int)watch->process);
    }
    return status;
}

enum ulb_status ulb_device_run(ulb_device_job *job, const void *arg, ulb_device_take *take, void *context,
                               struct ulb_error *err)
{
    int ends[2] = {-1, -1};
    struct watch watch = {.limit_s = START_LIMIT_S,
                          .doing = "at its start",
                          .remedy = "try again",
                          .take = take,
                          .context = context};
    const pid_t program = getpid();
    watch.text = malloc(LINE_MOST);
    if (!watch.text || pipe2(ends, O_CLOEXEC) != 0) {
        free(watch.text);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for a process of the device's own");
    }
    fflush(NULL); /* what is still buffered must not be written twice */
    watch.process = fork();
    if (watch.process == 0)
        work(job, arg, ends[1], program);
    close(ends[1]);
    watch.fd = ends[0];
    watch.deadline = ulb_now() + watch.limit_s;
    enum ulb_status status = ULB_ENVIRONMENT;
    if (watch.process < 0)
        ulb_fail(err, status, "no process for the device: %s", strerror(errno));
    else
        status = follow(&watch, err);
    close(ends[0]);
    free(watch.text);
    return status;
}
