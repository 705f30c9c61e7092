#include "harness/verify/stranger.h"

#include "common/affinity.h"
#include "common/doing.h"
#include "harness/timing/stopwatch.h"
#include "harness/session/interrupted.h"
#include "harness/verify/strict.h"
#include "harness/verify/trap_calls.h"
#include "kernels/gguf_block.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Around every tile edge, real shapes small enough to be quick, and the largest K of the layouts' bounds. */
static const struct {
    size_t m, k;
} shapes[] = {{1, 1},    {1, 4},    {7, 3},     {31, 31},    {32, 4},    {33, 5},    {63, 64},   {64, 127},
              {65, 129}, {96, 256}, {129, 513}, {200, 1600}, {320, 896}, {48, 5460}, {40, 8640}, {32, 65536}},
  token_shapes[] = {{33, 5}, {65, 129}, {97, 256}, {200, 1600}};
static const size_t tokens[] = {1, 2, 5, 17};

enum {
    SHAPES = sizeof shapes / sizeof *shapes,
    TOKEN_SHAPES = sizeof token_shapes / sizeof *token_shapes,
    TOKENS = sizeof tokens / sizeof *tokens,
    FILLS = ULB_FILL_ALTERNATING + 1,
    CASES = SHAPES * FILLS + TOKEN_SHAPES * TOKENS,
    LEFT = 42 /* status of a child that left by itself */
};

static const double LEAST_SECONDS = 1, TIMES_THE_REFERENCE = 1000;

/* Memory that the child writes and its parent reads. */
struct report {
    volatile size_t calls; /* odd while the kernel is at work */
    volatile size_t passed, m, k, n;
    volatile double limit_s;
    volatile bool whole;   /* every case was looked at */
    volatile bool no_work; /* fault is not the kernel's but of making the test case */
    char fault[384];
};

static struct report *report; /* the child's, for its signal handlers */

/* ---- the child ---- */

static void leave(const char *fault)
{
    snprintf(report->fault, sizeof report->fault, "%s", fault);
    _exit(LEFT);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    char text[128];
    (void)context;
    if (number == SIGSEGV && ulb_strict_place(info->si_addr, text, sizeof text))
        leave(text);
    if (number == SIGSYS)
        leave(ulb_trapped_call(info->si_syscall));
    snprintf(text, sizeof text, "%s (%s)",
             number == SIGILL ? "uses an instruction that this CPU lacks" : "crashed",
             ulb_signal_name(number));
    leave(text);
}

static void catch_faults(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = (int)SA_SIGINFO | SA_ONSTACK};
    ulb_signal_stack_open();
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
    signal(SIGINT, SIG_IGN); /* the parent's to see */
    signal(SIGTERM, SIG_DFL);
}

static size_t count_threads(void)
{
    size_t n = 0;
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *entry; folder && (entry = readdir(folder));)
        n += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return n;
}

/* What a kernel must leave as it was. */
struct surroundings {
    cpu_set_t affinity[ULB_AFFINITY_SETS];
    size_t threads;
    unsigned rounding; /* and what becomes of the smallest numbers */
};

static unsigned rounding(void)
{
    unsigned mode = (unsigned)fegetround();
#if defined(__x86_64__)
    mode |= (__builtin_ia32_stmxcsr() & 0xFFC0u) << 12; /* without the flags of what has happened */
#endif
    return mode;
}

static void look_around(struct surroundings *now)
{
    memset(now, 0, sizeof *now);
    sched_getaffinity(0, sizeof now->affinity, now->affinity);
    now->threads = count_threads();
    now->rounding = rounding();
}

/* What it has done besides its work; "": nothing. */
static const char *find_side_effect(const struct surroundings *before, int output)
{
    struct surroundings now;
    int printed = 0;
    look_around(&now);
    fflush(stdout);
    if (now.threads > before->threads)
        return "starts a thread or a process";
    if (memcmp(now.affinity, before->affinity, sizeof now.affinity) != 0)
        return "moves a thread to other CPUs";
    if (now.rounding != before->rounding)
        return "changes how floating-point numbers are rounded";
    if (ioctl(output, FIONREAD, &printed) == 0 && printed > 0)
        return "prints";
    return "";
}

static const char *check_case(const struct ulb_kernel *kernel, enum ulb_fill fill, size_t n, uint64_t seed,
                              double timeout_s)
{
    static struct ulb_error err;
    struct ulb_test_case test_case;
    if (ulb_test_case_open_tokens(&test_case, kernel, report->m, report->k, n > 0 ? n : 1, fill, seed, NULL,
                                  &err) != ULB_OK) {
        report->no_work = true;
        return err.message;
    }
    report->limit_s =
        timeout_s > 0 ? timeout_s : fmax(LEAST_SECONDS, TIMES_THE_REFERENCE * test_case.reference_s);
    const char *fault = ulb_strict_check(kernel, &test_case, n, &report->calls);
    ulb_test_case_close(&test_case);
    return fault;
}

/* Case i: a shape, a fill, and so many tokens that all differ, or 0. */
static void choose_case(const struct ulb_kernel *kernel, size_t i, enum ulb_fill *fill, size_t *n)
{
    const struct ulb_block *block = kernel->layout->format->block;
    const bool plain = i < SHAPES * FILLS;
    const size_t at = plain ? i / FILLS : (i - SHAPES * FILLS) / TOKENS;
    const size_t k = plain ? shapes[at].k : token_shapes[at].k;
    *fill = plain ? (enum ulb_fill)(i % FILLS) : ULB_FILL_RANDOM;
    *n = plain ? 0 : tokens[(i - SHAPES * FILLS) % TOKENS];
    report->m = plain ? shapes[at].m : token_shapes[at].m;
    report->k = block ? ulb_round_up(k, block->columns) : k;
    report->n = *n;
}

static void work(const struct ulb_kernel *kernel, uint64_t seed, double timeout_s, int output)
{
    struct surroundings before;
    catch_faults();
    look_around(&before);
    ulb_trap_calls(); /* where it is not allowed, what threads leave behind is seen */
    for (size_t i = 0; i < CASES; i++, report->passed++) {
        enum ulb_fill fill;
        size_t n;
        choose_case(kernel, i, &fill, &n);
        const char *fault = check_case(kernel, fill, n, seed, timeout_s);
        const char *effect = report->no_work ? "" : find_side_effect(&before, output);
        if (*effect || *fault)
            leave(*effect ? effect : fault); /* it may be why a result differs */
    }
    report->whole = true;
    _exit(LEFT);
}

/* ---- the parent ---- */

/* Seconds of the processor that a process has had; NAN: the system does not say. */
static double seconds_worked(pid_t child)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return NAN;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Whether the call at work has had all the time it may take. That is time of the processor: a machine with
 * other work is slow and no kernel's fault. Or ten times as long if the call waits for something. */
struct call_age {
    size_t call;
    double worked, waited; /* when it began; since then */
};

static bool is_over(struct call_age *call_age, pid_t child, double passed)
{
    const size_t call = report->calls;
    const double worked = seconds_worked(child);
    if (call != call_age->call || call % 2 == 0) {
        *call_age = (struct call_age){call, worked, 0};
        return false;
    }
    call_age->waited += passed;
    return worked - call_age->worked > report->limit_s || call_age->waited > 10 * report->limit_s;
}

static void end_child(pid_t child, int *result)
{
    kill(child, SIGKILL);
    while (waitpid(child, result, 0) < 0 && errno == EINTR)
        ;
}

/* Until the child ends; false: it was ended because a call does not return, or by a signal to us. */
static bool wait_for(pid_t child, int *result)
{
    static const double longest_look = 0.05; /* what is more we were stopped ourselves */
    const struct timespec pause = {0, 2000000};
    struct call_age call_age = {0};
    double last = ulb_now();
    for (;;) {
        pid_t ended = waitpid(child, result, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR))
            return true;
        const double now = ulb_now();
        if (ulb_interrupted || is_over(&call_age, child, fmin(now - last, longest_look))) {
            end_child(child, result);
            return false;
        }
        last = now;
        nanosleep(&pause, NULL);
    }
}

/* Output goes where it is counted and cannot block. */
static pid_t start(const struct ulb_kernel *kernel, uint64_t seed, double timeout_s)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    fflush(NULL); /* what is still buffered must not be written twice */
    pid_t child = fork();
    if (child == 0) {
        if (dup2(ends[1], STDOUT_FILENO) < 0 || dup2(ends[1], STDERR_FILENO) < 0)
            _exit(1);
        work(kernel, seed, timeout_s, ends[0]);
    }
    close(ends[0]);
    close(ends[1]);
    return child;
}

static enum ulb_status judge(const struct ulb_kernel *kernel, bool ended, int result, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], fault[sizeof report->fault], at[64] = "";
    const bool gone = ended && !report->whole && !report->fault[0]; /* without a word */
    if (report->whole)
        return ULB_OK;
    if (report->no_work)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s", report->fault);
    snprintf(fault, sizeof fault, "%s", report->fault);
    if (!ended)
        snprintf(fault, sizeof fault, "did not return within %.3g s", report->limit_s);
    else if (gone && WIFSIGNALED(result) && WTERMSIG(result) == SIGSYS) /* pthread_create() blocks signals */
        snprintf(fault, sizeof fault, "starts a thread or a process");
    else if (gone && WIFSIGNALED(result))
        snprintf(fault, sizeof fault, "crashed (%s)", strsignal(WTERMSIG(result)));
    else if (gone)
        snprintf(fault, sizeof fault, "ended the program by exit(%d)", WEXITSTATUS(result));
    if (report->n > 1)
        snprintf(at, sizeof at, ", %zu tokens", report->n);
    ulb_kernel_name(kernel, name);
    /* A difference says kernel and shape itself. */
    if (strncmp(fault, "kernel ", 7) == 0)
        return ulb_fail(err, ULB_FINDING, "%s", fault);
    return ulb_fail(err, gone && WIFEXITED(result) ? ULB_ENVIRONMENT : ULB_FINDING,
                    "kernel %s %s at %zux%zu%s", name, fault, report->m, report->k, at);
}

enum ulb_status ulb_stranger_check(const struct ulb_kernel *kernel, uint64_t seed, double timeout_s,
                                   size_t *cases, struct ulb_error *err)
{
    int result = 0;
    enum ulb_status status = ULB_OK;
    *cases = 0;
    report = mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (report == MAP_FAILED)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to check kernels of others");
    report->limit_s = LEAST_SECONDS;
    pid_t child = start(kernel, seed, timeout_s);
    if (child < 0) {
        status = ulb_fail(err, ULB_ENVIRONMENT,
                          "no process could be started to check kernels of others in: %s", strerror(errno));
    } else {
        bool ended = wait_for(child, &result);
        *cases = report->passed;
        status = ulb_check_interrupted(err);
        if (status == ULB_OK)
            status = judge(kernel, ended, result, err);
    }
    munmap(report, sizeof *report);
    report = NULL;
    return status;
}
