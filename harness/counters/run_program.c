#include "harness/counters/run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_NOT_STARTED = 127, OUTPUT_MAX = 1 << 20 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The set that holds the given PUs, NULL when out of memory; *bytes is its size. */
static cpu_set_t *pu_set(const unsigned *pus, size_t n, size_t *bytes)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++)
        most = pus[i] > most ? pus[i] : most;
    cpu_set_t *set = CPU_ALLOC(most + 1);
    if (!set)
        return NULL;
    *bytes = CPU_ALLOC_SIZE(most + 1);
    CPU_ZERO_S(*bytes, set);
    for (size_t i = 0; i < n; i++)
        CPU_SET_S(pus[i], *bytes, set);
    return set;
}

/* Between fork and exec, in a process that may have had threads: system calls only. */
static void become(char *const argv[], const cpu_set_t *set, size_t set_bytes, int out)
{
    int nowhere = open("/dev/null", O_RDONLY);
    if ((!set || sched_setaffinity(0, set_bytes, set) == 0) && dup2(nowhere, STDIN_FILENO) >= 0 &&
        dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0)
        execvp(argv[0], argv);
    _exit(EXIT_NOT_STARTED);
}

enum ending { AT_ITS_END, TOO_LATE, TOO_MUCH };

/* Reads until the other end closes, the deadline is passed or there is more than OUTPUT_MAX. */
static enum ending collect(int fd, double deadline, char *output)
{
    size_t used = 0;
    bool complete = false;
    while (!complete && used < OUTPUT_MAX) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        double left = deadline - seconds();
        if (left <= 0)
            break;
        if (poll(&wait, 1, (int)(left * 1e3) + 1) <= 0)
            continue;
        ssize_t got = read(fd, output + used, OUTPUT_MAX - used);
        if (got > 0)
            used += (size_t)got;
        else if (got == 0 || errno != EINTR)
            complete = true;
    }
    output[used] = '\0';
    return complete ? AT_ITS_END : used < OUTPUT_MAX ? TOO_LATE : TOO_MUCH;
}

/* The last line with anything in it; ends output behind it. */
static const char *last_line(char *output)
{
    size_t end = strlen(output);
    while (end > 0 && strchr(" \r\n", output[end - 1]))
        output[--end] = '\0';
    const char *newline = strrchr(output, '\n');
    return newline ? newline + 1 : output;
}

/* What a program that failed said of it: git explains its fatal errors in further lines. */
static const char *reason(char *output)
{
    static const char fatal[] = "fatal: ";
    char *line = strncmp(output, fatal, strlen(fatal)) == 0 ? output : strstr(output, "\nfatal: ");
    if (!line)
        return last_line(output);
    line += strcspn(line, "f");
    line[strcspn(line, "\r\n")] = '\0';
    return line + strlen(fatal);
}

static enum ulb_status judge(const char *program, int wait_status, enum ending ending, double timeout_s,
                             char *output, struct ulb_error *err)
{
    if (ending == TOO_MUCH)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s printed more than %d KiB and was stopped", program,
                        OUTPUT_MAX >> 10);
    if (ending == TOO_LATE)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s did not end within %.0f s and was stopped", program,
                        timeout_s);
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == EXIT_NOT_STARTED)
        return ulb_fail(err, ULB_ENVIRONMENT, "%s could not be started; install it or mend PATH", program);
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
        return ULB_OK;
    return ulb_fail(err, ULB_ENVIRONMENT, "%s failed: %.240s", program, reason(output));
}

enum ulb_status ulb_run_program(char *const argv[], const unsigned *pus, size_t n_pus, double timeout_s,
                                char **output, struct ulb_error *err)
{
    enum ulb_status status = ULB_ENVIRONMENT;
    int ends[2] = {-1, -1};
    size_t set_bytes = 0;
    cpu_set_t *set = n_pus > 0 ? pu_set(pus, n_pus, &set_bytes) : NULL;
    *output = malloc(OUTPUT_MAX + 1);
    if (!*output || (n_pus > 0 && !set)) {
        ulb_fail(err, status, "not enough memory to run %s", argv[0]);
        goto out;
    }
    pid_t child = -1;
    if (pipe2(ends, O_CLOEXEC) == 0)
        child = fork();
    if (child == 0)
        become(argv, set, set_bytes, ends[1]);
    if (child < 0) {
        ulb_fail(err, status, "%s could not be started: %s", argv[0], strerror(errno));
        goto out;
    }
    close(ends[1]);
    ends[1] = -1;
    enum ending ending = collect(ends[0], seconds() + timeout_s, *output);
    if (ending != AT_ITS_END)
        kill(child, SIGKILL);
    int wait_status = 0;
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        ;
    status = judge(argv[0], wait_status, ending, timeout_s, *output, err);
out:
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
    }
    if (set)
        CPU_FREE(set);
    if (status != ULB_OK) {
        free(*output);
        *output = NULL;
    }
    return status;
}
