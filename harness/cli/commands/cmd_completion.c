/* ulb-bench completion: what a shell reads to complete command lines, and what it then asks at each tab. */
#include "harness/cli/cli.h"
#include "harness/cli/completion.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

extern const unsigned char ulb_completion_bash[], ulb_completion_zsh[], ulb_completion_fish[];
extern const size_t ulb_completion_bash_size, ulb_completion_zsh_size, ulb_completion_fish_size;

static const struct shell {
    const char *name;
    const unsigned char *script;
    const size_t *size;
} shells[] = {
    {"bash", ulb_completion_bash, &ulb_completion_bash_size},
    {"zsh", ulb_completion_zsh, &ulb_completion_zsh_size},
    {"fish", ulb_completion_fish, &ulb_completion_fish_size},
};
enum { N_SHELLS = sizeof shells / sizeof *shells };

/* The words that the parser leaves: none of them is an option. */
struct request {
    char **words;
    int n;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    (void)argument;
    if (key != ARGP_KEY_ARGS)
        return ARGP_ERR_UNKNOWN;
    request->words = state->argv + state->next;
    request->n = state->argc - state->next;
    return 0;
}

static enum ulb_status print_script(const char *name, struct ulb_error *err)
{
    for (const struct shell *shell = shells; shell < shells + N_SHELLS; shell++) {
        if (strcmp(shell->name, name) == 0) {
            fwrite(shell->script, 1, *shell->size, stdout);
            return ULB_OK;
        }
    }
    return ulb_fail(err, ULB_BAD_INPUT, "no completion for the shell '%.64s'; there are bash, zsh and fish",
                    name);
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp parser = {
        NULL,
        parse_option,
        "bash|zsh|fish\nwords -- WORD...",
        "Prints what a shell reads to complete command lines, e.g. source <(ulb-bench completion bash).\v"
        "The shell then asks at each tab for the words that may stand at the end of a command line: words -- "
        "and what is typed behind the program's name, the last of it perhaps empty.",
        NULL,
        NULL,
        NULL};
    struct request request = {0};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (request.n == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "name a shell: bash, zsh or fish");
    if (strcmp(request.words[0], "words") != 0 && request.n == 1)
        return print_script(request.words[0], err);
    if (strcmp(request.words[0], "words") != 0 || request.n == 1)
        return ulb_fail(err, ULB_BAD_INPUT, "give one shell, or 'words --' and the words of a command line");
    return ulb_complete(request.n - 1, request.words + 1, err);
}

const struct ulb_command ulb_command_completion = {"completion",
                                                   "what bash, zsh or fish reads to complete words", run};
