/* ulb-bench: dispatches to the subcommand named first; without one, to run. */
#include "harness/cli/undo_omp_binding.h"
#include "harness/cli/cli.h"
#include "harness/cli/crash.h"
#include "harness/cli/guests.h"
#include "harness/cli/stack_limit.h"
#include "common/suggest.h"
#include "harness/cli/terminal.h"
#include "kernels/plugin_loader.h"
#include "results/record/json_reserve.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const struct ulb_command *ulb_find_command(const char *name)
{
    for (size_t i = 0; i < ulb_command_count; i++) {
        if (strcmp(ulb_commands[i]->name, name) == 0)
            return ulb_commands[i];
    }
    return NULL;
}

static void print_help(void)
{
    char head[32];
    printf("Usage: ulb-bench [COMMAND] [OPTION...]\n");
    ulb_print_wrapped(stdout, "", "How close a CPU comes to its own limit in ultra-low-bit LLM inference.");
    putchar('\n');
    ulb_print_wrapped(stdout, "", "Commands (the first is the default; each has its own --help):");
    for (size_t i = 0; i < ulb_command_count; i++) {
        snprintf(head, sizeof head, "  %-10s ", ulb_commands[i]->name);
        ulb_print_wrapped(stdout, head, ulb_commands[i]->summary);
    }
    putchar('\n');
    ulb_print_wrapped(stdout, "",
                      "Options: --help, --version, and those of the command; e.g. ulb-bench --platform auto "
                      "--quick");
    ulb_print_wrapped(
        stdout, "",
        "Exit codes: 0 done, 1 a finding is bad, 2 wrong usage or input, 3 the environment does "
        "not allow it, 130 interrupted (what was measured is kept).");
}

static enum ulb_status unknown_command(const char *name, struct ulb_error *err)
{
    char known[256] = "commands are ";
    struct ulb_suggestion suggestion = ulb_suggest(name, strlen(name));
    for (size_t i = 0; i < ulb_command_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", ulb_commands[i]->name);
        ulb_suggest_name(&suggestion, ulb_commands[i]->name);
    }
    return ulb_refuse_unknown(&suggestion, "unknown command", known, err);
}

static enum ulb_status dispatch(int argc, char **argv, struct ulb_error *err)
{
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                      strcmp(argv[1], "-?") == 0 || strcmp(argv[1], "help") == 0)) {
        print_help();
        return ULB_OK;
    }
    if (argc == 3 && strcmp(argv[1], "help") == 0) {
        static char help[] = "--help";
        argv[1] = argv[2];
        argv[2] = help;
    }
    if (argc < 2 || argv[1][0] == '-')
        return ulb_commands[0]->run(argc, argv, err);
    const struct ulb_command *command = ulb_find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1], err);
    char name[64];
    snprintf(name, sizeof name, "ulb-bench %s", command->name);
    argv[1] = name;
    return command->run(argc - 1, argv + 1, err);
}

int main(int argc, char **argv)
{
    struct ulb_error err = {""};
    ulb_undo_openmp_binding();
    ulb_catch_crashes();
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit shows as a failed write */
    ulb_json_memory_open();
    enum ulb_status status = ulb_ensure_stack(&err);
    if (status == ULB_OK)
        status = dispatch(argc, argv, &err);
    ulb_leave_no_empty_folder();
    ulb_json_memory_close();
    ulb_kernels_unload();
    errno = 0;
    bool unwritten = fflush(stdout) != 0 || ferror(stdout);
    if (status == ULB_OK && unwritten)
        status = ulb_fail(&err, ULB_ENVIRONMENT, "standard output could not be written: %s",
                          errno ? strerror(errno) : "is the disk full?");
    if (status == ULB_OK && ulb_json_memory_short())
        status = ulb_fail(&err, ULB_ENVIRONMENT,
                          "not enough memory: the result may lack parts; free memory or raise ulimit -v");
    if (status != ULB_OK)
        fprintf(stderr, "ulb-bench: %s\n", err.message[0] ? err.message : "failed without a message");
    ulb_guests_leave();
    return ulb_exit_code(status);
}
