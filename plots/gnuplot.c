#include "plots/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
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
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, messages, STDERR_FILENO);
    if (code == 0)
        code = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static enum ulb_status wait_for(pid_t child, int messages, struct ulb_error *err)
{
    int result;
    while (waitpid(child, &result, 0) < 0) {
        if (errno != EINTR)
            return ulb_fail(err, ULB_ENVIRONMENT, "gnuplot could not be waited for: %s", strerror(errno));
    }
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
        status = wait_for(child, messages, err);
done:
    if (input >= 0)
        close(input);
    if (messages >= 0)
        close(messages);
    return status;
}
