#include "tests/kernels/check_kernel.h"

#include "harness/verify/strict.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBLEMS_MAX = 256 };

static char verdict[1024];

/* The problems of one weight and one activation format, kept from kernel to kernel: made for each anew, they
 * and their references took two fifths of all the time. */
static struct {
    const struct ulb_format *format;
    enum ulb_activation activation;
    size_t n;
    struct check of[PROBLEMS_MAX];
    struct ulb_problem problems[PROBLEMS_MAX];
} kept;

static bool is_same(const struct check *a, const struct check *b)
{
    return a->m == b->m && a->k == b->k && a->fill == b->fill && a->tokens == b->tokens;
}

/* NULL: it is not kept yet. */
static const struct ulb_problem *kept_problem(const struct check *check)
{
    for (size_t i = 0; i < kept.n; i++) {
        if (is_same(&kept.of[i], check))
            return &kept.problems[i];
    }
    return NULL;
}

/* Makes those of n checks that are not kept; false: one could not be made. */
static bool keep_problems(const struct ulb_kernel *kernel, const struct check *checks, size_t n)
{
    if (kept.format != kernel->layout->format || kept.activation != kernel->activation) {
        while (kept.n > 0)
            ulb_problem_close(&kept.problems[--kept.n]);
        kept.format = kernel->layout->format;
        kept.activation = kernel->activation;
    }
    for (size_t i = 0; i < n; i++) {
        const struct check *check = &checks[i];
        struct ulb_error err;
        if (kept_problem(check))
            continue;
        if (kept.n == PROBLEMS_MAX ||
            ulb_problem_open_tokens(&kept.problems[kept.n], kernel, check->m, check->k,
                                    check->tokens ? check->tokens : 1, check->fill, 42, NULL, &err) != ULB_OK)
            return false;
        kept.of[kept.n++] = *check;
    }
    return true;
}

/* Which of the checks the child is at, for the parent to tell when a signal ends it. */
static size_t *shared_index(void)
{
    static size_t *index;
    if (!index)
        index = mmap(NULL, sizeof *index, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (index == MAP_FAILED)
        abort();
    return index;
}

static void work_in_child(const struct ulb_kernel *kernel, const struct check *checks, size_t n, int channel)
{
    const char *fault = "";
    size_t *index = shared_index();
    signal(SIGSEGV, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    for (*index = 0; *index < n; ++*index) {
        const struct check *check = &checks[*index];
        fault = ulb_strict_check(kernel, kept_problem(check), check->tokens, NULL);
        if (*fault)
            break;
    }
    ssize_t written = write(channel, fault, strlen(fault));
    _exit(written < 0);
}

/* In a child process: a fault or a trap is a verdict like any other. One for all checks of a kernel, because
 * under a sanitizer a fork takes longer than most of them. */
const char *check_kernel(const struct ulb_kernel *kernel, const struct check *checks, size_t n)
{
    static char message[sizeof verdict + 128];
    int channel[2], status = 0;
    if (!keep_problems(kernel, checks, n))
        return "the problems could not be made";
    if (pipe(channel) != 0)
        abort();
    fflush(NULL);
    *shared_index() = 0;
    pid_t child = fork();
    if (child == 0)
        work_in_child(kernel, checks, n, channel[1]);
    close(channel[1]);
    ssize_t length = read(channel[0], verdict, sizeof verdict - 1);
    close(channel[0]);
    verdict[length > 0 ? length : 0] = '\0';
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status))
        snprintf(verdict, sizeof verdict, "killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0) /* as a sanitizer ends it */
        snprintf(verdict, sizeof verdict, "ended with status %d", WEXITSTATUS(status));
    if (!*verdict)
        return "";
    const struct check *at = &checks[*shared_index()];
    snprintf(message, sizeof message, "%zux%zu, fill %d, %zu tokens: %s", at->m, at->k, at->fill, at->tokens,
             verdict);
    return message;
}
