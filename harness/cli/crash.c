#include "harness/cli/crash.h"

#include "common/doing.h"

#if __has_include(<execinfo.h>)
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
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

/* Whether a small allocation fails. A library's crash is then want of memory. */
static bool memory_is_short(void)
{
    enum { SOME_BYTES = 16 << 20 };
    void *some = mmap(NULL, SOME_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (some != MAP_FAILED)
        munmap(some, SOME_BYTES);
    return some == MAP_FAILED;
}

static int describe(int number, const char *module, char *line, size_t bytes)
{
    const struct ulb_doing *doing = &ulb_doing;
    const char *what = doing->active ? doing->what : module;
    if (memory_is_short())
        return snprintf(line, bytes,
                        "ulb-bench: %.95s failed (%s) for want of memory; free memory or raise ulimit -v\n",
                        what, ulb_signal_name(number));
    if (!doing->active)
        return snprintf(line, bytes, "ulb-bench: %.95s crashed (%s); leave out what needs it\n", what,
                        ulb_signal_name(number));
    return snprintf(line, bytes, "ulb-bench: %.95s %s (%s) %.191s; %.127s\n", what,
                    number == SIGILL ? "uses an instruction that this CPU lacks" : "crashed",
                    ulb_signal_name(number), doing->where, doing->remedy);
}

/* Not all of this is safe in a handler; the alarm ends what hangs. */
static void on_crash(int number)
{
    alarm(2);
    const char *module = culprit();
    if (!module && !ulb_doing.active) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    char line[640];
    int length = describe(number, module ? module : "ulb-bench", line, sizeof line);
    while (length > 0 && write(STDERR_FILENO, line, (size_t)length) < 0 && errno == EINTR)
        ;
    _exit(EXIT_ENVIRONMENT);
}

void ulb_catch_crashes(void)
{
    void *frames[2];
    backtrace(frames, 2); /* loads the unwinder while there is memory */
    ulb_signal_stack_open();
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction old;
        const struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_NODEFER | SA_ONSTACK};
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}
#else
void ulb_catch_crashes(void) {}
#endif
