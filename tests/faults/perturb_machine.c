/* Changes the machine under a running program (LD_PRELOAD), from SIGUSR1 on. ULB_UPSET says what:
 *
 *   slow:FACTOR     all takes FACTOR times as long: what a core at a lower frequency looks like
 *   sleep:SECONDS   the system has been suspended that long
 *   offline:PU      the PU is gone: its thread is found on another one, and nothing can be pinned to it
 *
 * Or from the start:
 *
 *   no-memory-size  the system does not tell how much memory it has */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t upset;
static double factor = 1, slept;
static int offline = -1;
static bool sizeless;
static struct timespec begin;

static int (*real_gettime)(clockid_t, struct timespec *);

static void on_signal(int number)
{
    (void)number;
    real_gettime(CLOCK_MONOTONIC, &begin);
    upset = 1;
}

__attribute__((constructor)) static void prepare(void)
{
    const char *what = getenv("ULB_UPSET");
    *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    sizeless = what && strcmp(what, "no-memory-size") == 0;
    if (!what || (sscanf(what, "slow:%lf", &factor) != 1 && sscanf(what, "sleep:%lf", &slept) != 1 &&
                  sscanf(what, "offline:%d", &offline) != 1))
        return;
    unsetenv("LD_PRELOAD");
    signal(SIGUSR1, on_signal);
}

static void add(struct timespec *time, double seconds)
{
    double all = (double)time->tv_nsec + 1e9 * seconds;
    time->tv_sec += (time_t)(all / 1e9);
    time->tv_nsec = (long)(all - 1e9 * (double)(time_t)(all / 1e9));
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    if (!real_gettime)
        *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real_gettime(id, time);
    if (code != 0 || !upset)
        return code;
    double since = (double)(time->tv_sec - begin.tv_sec) + 1e-9 * (double)(time->tv_nsec - begin.tv_nsec);
    if (id == CLOCK_MONOTONIC)
        add(time, (factor - 1) * since);
    else if (id == CLOCK_BOOTTIME)
        add(time, slept + (factor - 1) * since);
    return code;
}

int sched_getcpu(void)
{
    static int (*real)(void);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sched_getcpu");
    int pu = real();
    return upset && pu == offline ? pu + 1 : pu;
}

int pthread_setaffinity_np(pthread_t thread, size_t bytes, const cpu_set_t *set)
{
    static int (*real)(pthread_t, size_t, const cpu_set_t *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_setaffinity_np");
    return upset && offline >= 0 && CPU_ISSET_S((size_t)offline, bytes, set) && CPU_COUNT_S(bytes, set) == 1
               ? EINVAL
               : real(thread, bytes, set);
}

long sysconf(int name)
{
    static long (*real)(int);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return sizeless && name == _SC_PHYS_PAGES ? -1 : real(name);
}
