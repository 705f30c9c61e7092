/* The first process of the emulated machine: runs /test with the lines of /arguments, says how it ended and
 * has Bochs end. Linked statically by scripts/test-emulated; it is alone there. */
#include <stdio.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 8 };

static char lines[ARGUMENTS_MAX][1 << 14];
static char *arguments[ARGUMENTS_MAX + 2] = {"/test"};

static void read_arguments(void)
{
    FILE *file = fopen("/arguments", "r");
    if (!file)
        return;
    for (int i = 0; i < ARGUMENTS_MAX && fgets(lines[i], sizeof lines[i], file); i++) {
        lines[i][strcspn(lines[i], "\n")] = '\0';
        arguments[i + 1] = lines[i];
    }
    fclose(file);
}

/* Bochs ends when this word is written to its port (iodev/unmapped.cc there). */
static void power_off(void)
{
    ioperm(0x8900, 1, 1);
    for (const char *word = "Shutdown"; *word; word++)
        outb((unsigned char)*word, 0x8900);
}

int main(void)
{
    int status = 0;
    mount("dev", "/dev", "devtmpfs", 0, NULL);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sys", "/sys", "sysfs", 0, NULL);
    read_arguments();
    pid_t child = fork();
    if (child == 0) {
        execv(arguments[0], arguments);
        perror(arguments[0]);
        _exit(127);
    }
    while (wait(&status) != child)
        ;
    printf("\nemulated: exit code %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fflush(stdout);
    tcdrain(STDOUT_FILENO);
    power_off();
    for (;;)
        pause();
}
