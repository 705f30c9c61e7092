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

enum { TEST_CASES_MAX = 256 };

static char verdict[1024];

/* The test cases of one weight and one activation format, kept from kernel to kernel: made for each anew,
 * they and their references took two fifths of all the time. */
static struct {
    const struct ulb_format *format;
    enum ulb_activation activation;
    size_t n;
    struct check of[TEST_CASES_MAX];
    struct ulb_test_case test_cases[TEST_CASES_MAX];
} cache;

static bool is_same(const struct check *a, const struct check *b)
{
    return a->m == b->m && a->k == b->k && a->fill == b->fill && a->tokens == b->tokens;
}

/* NULL: it is not kept yet. */
static const struct ulb_test_case *cached_case(const struct check *check)
{
    for (size_t i = 0; i < cache.n; i++) {
        if (is_same(&cache.of[i], check))
            return &cache.test_cases[i];
    }
    return NULL;
}

/* Makes those of n checks that are not kept; false: one could not be made. */
static bool cache_cases(const struct ulb_kernel *kernel, const struct check *checks, size_t n)
{
    if (cache.format != kernel->layout->format || cache.activation != kernel->activation) {
        while (cache.n > 0)
            ulb_test_case_close(&cache.test_cases[--cache.n]);
        cache.format = kernel->layout->format;
        cache.activation = kernel->activation;
    }
    for (size_t i = 0; i < n; i++) {
        const struct check *check = &checks[i];
        struct ulb_error err;
        if (cached_case(check))
            continue;
        if (cache.n == TEST_CASES_MAX ||
            ulb_test_case_open_tokens(&cache.test_cases[cache.n], kernel, check->m, check->k,
                                      check->tokens ? check->tokens : 1, check->fill, 42, NULL,
                                      &err) != ULB_OK)
            return false;
        cache.of[cache.n++] = *check;
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
        fault = ulb_strict_check(kernel, cached_case(check), check->tokens, NULL);
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
    if (!cache_cases(kernel, checks, n))
        return "the test cases could not be made";
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
