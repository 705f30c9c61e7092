#include "harness/cli/guests.h"

#include "common/doing.h"
#include "harness/timing/stopwatch.h"
#include "harness/session/interrupted.h"
#include "kernels/plugin_loader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_FINDING = 1, EXIT_ENVIRONMENT = 3, EXIT_INTERRUPTED = 130 };

static const double LEFT_AFTER_SIGNAL = 1.5; /* seconds that a call may take to its end */

/* ---- exit() ---- */

static pid_t guarded; /* the process whose exit() is looked at; 0: nobody's */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line by one call: other threads may be at anything. */
static void say(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    length = length < (int)sizeof line ? length : (int)sizeof line - 1;
    while (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0 && errno == EINTR)
        ;
}

static void on_exit_of_others(void)
{
    if (guarded != getpid())
        return;
    if (ulb_doing.active)
        say("ulb-bench: %s ended the program by exit() %s; %s\n", ulb_doing.what, ulb_doing.where,
            ulb_doing.remedy);
    else
        say("ulb-bench: a library of kernels ended the program by exit(); mend it\n");
    _exit(EXIT_ENVIRONMENT);
}

void ulb_guests_leave(void)
{
    if (guarded != 0)
        dup2(STDERR_FILENO, STDOUT_FILENO); /* destructors of theirs may print */
    guarded = 0;
}

/* ---- standard output ---- */

static int results = -1; /* where standard output goes in truth, while it is diverted */

static void divert(void)
{
    fflush(stdout);
    results = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (results >= 0)
        dup2(STDERR_FILENO, STDOUT_FILENO);
}

static void restore(void)
{
    if (results < 0)
        return;
    fflush(stdout);
    dup2(results, STDOUT_FILENO);
    close(results);
    results = -1;
}

enum ulb_status ulb_guests_load(const char *files, struct ulb_error *err)
{
    static bool registered;
    if (!registered && atexit(on_exit_of_others) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to load %.300s", files);
    registered = true;
    guarded = getpid();
    divert();
    ulb_doing_set(NULL, files, "mend it, or leave it out", 0, "while it was loaded");
    enum ulb_status status = ulb_kernels_load(files, err);
    ulb_doing_end();
    restore();
    return status;
}

/* ---- the watchdog ---- */

static struct {
    pthread_t thread;
    bool started;
    atomic_bool stop;
} watchdog;

/* Seconds of the call at work, and those of them since a signal. Time between two looks beyond twice their
 * distance is time that the program was stopped. */
struct call_age {
    uint64_t call;
    double seconds, after_signal;
};

static void go_on(struct call_age *call_age, double passed)
{
    if (ulb_calls_at_work == 0 || !ulb_doing.active || ulb_calls != call_age->call) {
        *call_age = (struct call_age){ulb_calls, 0, 0};
        return;
    }
    call_age->seconds += passed;
    call_age->after_signal += ulb_interrupted ? passed : 0;
}

/* Looks ten times a second; the threads that measure it leaves alone. */
static void *look(void *unused)
{
    const struct timespec pause = {0, 100000000};
    struct call_age call_age = {0};
    double last = ulb_now();
    (void)unused;
    while (!atomic_load(&watchdog.stop)) {
        const double now = ulb_now();
        go_on(&call_age, fmin(now - last, 0.2));
        last = now;
        if (ulb_doing.limit_s > 0 && call_age.seconds > ulb_doing.limit_s) {
            say("ulb-bench: %s did not return within %.3g s %s; %s, or raise --call-timeout\n",
                ulb_doing.what, ulb_doing.limit_s, ulb_doing.where, ulb_doing.remedy);
            _exit(EXIT_FINDING);
        }
        if (call_age.after_signal > LEFT_AFTER_SIGNAL) {
            say("ulb-bench: interrupted in %s, which does not return, %s; what was measured so far is kept\n",
                ulb_doing.what, ulb_doing.where);
            _exit(EXIT_INTERRUPTED);
        }
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static void start_watchdog(void)
{
    sigset_t all, before;
    sigfillset(&all);
    atomic_store(&watchdog.stop, false);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    watchdog.started = pthread_create(&watchdog.thread, NULL, look, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ulb_guests_begin(void)
{
    if (!ulb_kernels_have_foreign())
        return;
    divert();
    start_watchdog();
}

void ulb_guests_end(void)
{
    if (watchdog.started) {
        atomic_store(&watchdog.stop, true);
        pthread_join(watchdog.thread, NULL);
        watchdog.started = false;
    }
    restore();
}
