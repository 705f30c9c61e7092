#include "plots/draw/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* A file without a name that holds the script: unlike a pipe it cannot block or break. */
static int script_file(const char *script, size_t bytes)
{
    int fd = memfd_create("gnuplot-script", MFD_CLOEXEC);
    while (fd >= 0 && bytes > 0) {
        ssize_t written = write(fd, script, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            close(fd);
            return -1;
        }
        script += written;
        bytes -= (size_t)written;
    }
    if (fd >= 0)
        lseek(fd, 0, SEEK_SET);
    return fd;
}

/* The last line with text that gnuplot wrote to its standard error. */
static void last_words(int fd, char *out, size_t out_bytes)
{
    char text[4096];
    off_t end = lseek(fd, 0, SEEK_END);
    off_t from = end > (off_t)sizeof text - 1 ? end - (off_t)sizeof text + 1 : 0;
    ssize_t got = pread(fd, text, sizeof text - 1, from);
    text[got > 0 ? got : 0] = '\0';
    const char *last = text;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[strspn(line, " \t^")])
            last = line;
    }
    last += strspn(last, " \t");
    size_t length = strlen(last) < out_bytes ? strlen(last) : out_bytes - 1;
    memcpy(out, last, length);
    out[length] = '\0';
}

static int spawn(int script, int out, int messages, pid_t *child)
{
    /* -d: the user's own start-up files do not count. */
    char *const arguments[] = {"gnuplot", "-d", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t group;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&group);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    /* A group of its own, so that all of it can be ended. */
    code = posix_spawnattr_setflags(&group, POSIX_SPAWN_SETPGROUP);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    if (code == 0)
        code = posix_spawnp(child, arguments[0], &actions, &group, arguments, environ);
    posix_spawnattr_destroy(&group);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* A figure takes a second and some 100 KB. */
static const double MOST_SECONDS = 60;
static const off_t MOST_BYTES = (off_t)64 << 20;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool is_beyond(int file, off_t most)
{
    struct stat is;
    return fstat(file, &is) == 0 && is.st_size > most;
}

/* What goes beyond a limit; NULL: gnuplot has ended, with result, or waiting for it failed, with errno. */
static const char *watch(pid_t child, int out, int messages, int *result)
{
    const struct timespec pause = {0, 5000000};
    const double begin = now();
    for (;;) {
        pid_t ended = waitpid(child, result, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) {
            errno = ended == child ? 0 : errno;
            return NULL;
        }
        if (now() - begin > MOST_SECONDS)
            return "it draws for more than a minute";
        if (is_beyond(out, MOST_BYTES) || is_beyond(messages, MOST_BYTES))
            return "it writes more than 64 MiB";
        nanosleep(&pause, NULL);
    }
}

static enum ulb_status wait_for(pid_t child, int out, int messages, struct ulb_error *err)
{
    int result;
    const char *beyond = watch(child, out, messages, &result);
    if (beyond) {
        kill(-child, SIGKILL); /* and what it has started itself, which may be what writes */
        while (waitpid(child, &result, 0) < 0 && errno == EINTR)
            ;
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot was ended: %s; is the gnuplot in PATH sound?", beyond);
    }
    if (errno != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot could not be waited for: %s", strerror(errno));
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0)
        return ULB_OK;
    char words[256];
    last_words(messages, words, sizeof words);
    if (WIFSIGNALED(result))
        return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot was killed by signal %d", WTERMSIG(result));
    return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot failed: %s", words[0] ? words : "it did not say why");
}

enum ulb_status ulb_gnuplot_run(const char *script, size_t bytes, int out, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    pid_t child;
    int input = script_file(script, bytes);
    int messages = memfd_create("gnuplot-messages", MFD_CLOEXEC);
    if (input < 0 || messages < 0) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "gnuplot's script could not be stored: %s", strerror(errno));
        goto done;
    }
    int code = spawn(input, out, messages, &child);
    if (code == ENOENT || code == EACCES)
        status =
            ulb_fail(err, ULB_ENVIRONMENT,
                     "figures need the program gnuplot, which is not in PATH; apt-get install gnuplot-nox");
    else if (code != 0)
        status = ulb_fail(err, ULB_ENVIRONMENT, "gnuplot could not be started: %s", strerror(code));
    else
        status = wait_for(child, out, messages, err);
done:
    if (input >= 0)
        close(input);
    if (messages >= 0)
        close(messages);
    return status;
}
