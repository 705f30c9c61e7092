#include "harness/cli/crash.h"

#if __has_include(<execinfo.h>)
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 48, EXIT_ENVIRONMENT = 3 };

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

static const char *module_of(const void *address)
{
    Dl_info info;
    if (!dladdr(address, &info) || !info.dli_fname)
        return "";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static bool is_system(const char *module)
{
    return strncmp(module, "libc.", 5) == 0 || strncmp(module, "ld-", 3) == 0 || module[0] == '\0';
}

/* The frames of the handler itself are this program's; behind them come the signal's and the fault's. */
static const char *culprit(void)
{
    static void *frames[FRAMES];
    int n = backtrace(frames, FRAMES);
    const char *own = module_of((const void *)(size_t)&ulb_catch_crashes);
    int i = 0;
    while (i < n && strcmp(module_of(frames[i]), own) == 0)
        i++;
    while (i < n && is_system(module_of(frames[i])))
        i++;
    const char *module = i < n ? module_of(frames[i]) : own;
    return strcmp(module, own) == 0 ? NULL : module;
}

/* Not all of this is safe in a handler; the alarm ends what hangs. */
static void on_crash(int number)
{
    alarm(2);
    const char *module = culprit();
    if (!module) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    char line[256];
    int length =
        snprintf(line, sizeof line,
                 "ulb-bench: %.64s failed (%s), which it does when it gets no memory; free memory, raise "
                 "ulimit -v, or leave it out\n",
                 module, sigdescr_np(number));
    while (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0 && errno == EINTR)
        ;
    _exit(EXIT_ENVIRONMENT);
}

void ulb_catch_crashes(void)
{
    void *frames[2];
    backtrace(frames, 2); /* loads the unwinder while there is memory */
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;
        const struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_NODEFER};
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}
#else
void ulb_catch_crashes(void) {}
#endif
