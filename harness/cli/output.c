#include "harness/cli/cli.h"

#include "common/suggest.h"
#include "harness/cli/option.h"
#include "harness/cli/terminal.h"
#include "harness/session/describe_machine.h"
#include "results/record/json_reserve.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum ulb_status ulb_print_json(struct json_t *document, struct ulb_error *err)
{
    char *text = document ? json_dumps(document, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(document);
    if (!text || ulb_json_memory_short()) {
        free(text);
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "not enough memory for the JSON output; free memory or raise ulimit -v");
    }
    int failed = puts(text) == EOF;
    free(text);
    if (failed || fflush(stdout) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "standard output could not be written: %s", strerror(errno));
    return ULB_OK;
}

static struct {
    void (*read)(const struct argp *parser, void *context);
    void *context;
} reader;

void ulb_read_parser(void (*read)(const struct argp *parser, void *context), void *context)
{
    reader.read = read;
    reader.context = context;
}

/* ---- options of every command ---- */

enum { OPTION_COLOUR = 0x7000 };

static struct ulb_error *parse_error; /* where parse_common() leaves its message */

static error_t parse_common(int key, char *argument, struct argp_state *state)
{
    static const char *const modes[] = {"auto", "always", "never"};
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        return 0;
    }
    if (key != OPTION_COLOUR)
        return ARGP_ERR_UNKNOWN;
    size_t mode = ulb_read_word(argument, modes, sizeof modes / sizeof *modes);
    if (mode == sizeof modes / sizeof *modes)
        return ulb_refuse_option(parse_error, "color", argument, "must be auto, always or never");
    ulb_set_colours((enum ulb_colour_mode)mode);
    return 0;
}

static const struct argp_option common_options[] = {
    {"color", OPTION_COLOUR, "auto|always|never", 0,
     "colours (default: auto, on a terminal without NO_COLOR)", 0},
    {0},
};

static bool suggest_option(const struct argp_option *option, void *suggestion)
{
    ulb_suggest_name(suggestion, option->name);
    return false;
}

/* The word that argp could not read: an option that is unknown, lacks its value or takes none. */
static enum ulb_status refuse_word(const struct argp *parser, const char *word, const char *command,
                                   struct ulb_error *err)
{
    const char *given = strncmp(word, "--", 2) == 0 ? word + 2 : "";
    size_t length = strcspn(given, "=");
    struct ulb_suggestion suggestion = ulb_suggest(given, length);
    ulb_visit_options(parser, suggest_option, &suggestion);
    const char *name = ulb_suggested(&suggestion);
    bool known = name && strlen(name) == length && memcmp(name, given, length) == 0;
    if (name && !known)
        return ulb_fail(err, ULB_BAD_INPUT, "unknown option '--%.*s'; did you mean '--%s'?", (int)length,
                        given, name);
    return ulb_fail(err, ULB_BAD_INPUT, "wrong or incomplete option near '%s'; try '%s --help'", word,
                    command);
}

/* argp prints its own messages. They are turned off so that an error is one line in the suite's form. --help,
 * --usage and --version are handled here, since argp would exit. */
enum ulb_status ulb_parse_arguments(const struct argp *own, int argc, char **argv, void *input, bool *done,
                                    struct ulb_error *err)
{
    const struct argp_child children[] = {{own, 0, NULL, 0}, {0}};
    const struct argp with_common = {common_options, parse_common, NULL, NULL, children, NULL, NULL};
    const struct argp *parser = &with_common;
    parse_error = err;
    *done = reader.read != NULL;
    if (reader.read) {
        reader.read(parser, reader.context);
        return ULB_OK;
    }
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "-V") == 0) {
            printf("ulb-bench %s\n", ulb_build_version());
            *done = true;
            return ULB_OK;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 || strcmp(argv[i], "-?") == 0) {
            argp_help(parser, stdout, ARGP_HELP_STD_HELP & ~(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR),
                      argv[0]);
            *done = true;
            return ULB_OK;
        }
    }
    err->message[0] = '\0';
    int index = argc;
    error_t code = argp_parse(parser, argc, argv, ARGP_SILENT | ARGP_NO_HELP, &index, input);
    if (code == 0 && index < argc)
        return ulb_fail(err, ULB_BAD_INPUT, "surplus argument '%s'; try '%s --help'", argv[index], argv[0]);
    if (code == 0)
        return ULB_OK;
    if (code == ENOMEM)
        return err->message[0] ? ULB_ENVIRONMENT
                               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to read the command line");
    if (err->message[0])
        return ULB_BAD_INPUT; /* the parser left its own message */
    int at = index > 1 && index <= argc ? index - 1 : 1;
    if (at > 1 && at < argc && argv[at][0] != '-' && argv[at - 1][0] == '-')
        at--; /* what stands behind an option that is not known is not the fault */
    return refuse_word(parser, at < argc ? argv[at] : "the end", argv[0], err);
}

enum ulb_status ulb_need_utf8(const char *name, struct ulb_error *err)
{
    json_t *text = json_string(name);
    json_decref(text);
    return text ? ULB_OK
                : ulb_fail(err, ULB_BAD_INPUT, "the name %s is not UTF-8, which JSON and XML need", name);
}

static char made[PATH_MAX]; /* the folder that this process made; "": none */

enum ulb_status ulb_make_folder(const char *folder, const char *option, struct ulb_error *err)
{
    if (folder[0] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--%s names no folder", option);
    if (mkdir(folder, 0777) == 0)
        snprintf(made, sizeof made, "%s", folder);
    else if (errno != EEXIST)
        return ulb_fail(err, ULB_ENVIRONMENT, "cannot make the folder '%s' (%s); choose another with --%s",
                        folder, strerror(errno), option);
    struct stat is;
    if (stat(folder, &is) == 0 && !S_ISDIR(is.st_mode))
        return ulb_fail(err, ULB_ENVIRONMENT, "'%s' is a file and no folder; choose another with --%s",
                        folder, option);
    if (access(folder, W_OK | X_OK) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "cannot write in '%s' (%s); choose another folder with --%s",
                        folder, strerror(errno), option);
    return ULB_OK;
}

const char *ulb_default_history(void)
{
    static const char earlier[] = "results/history.db";
    if (access(ULB_HISTORY_FILE, F_OK) == 0 || access(earlier, F_OK) != 0)
        return ULB_HISTORY_FILE;
    ulb_print_note("the history is %s, where earlier versions kept it; move it to %s to have it beside the "
                   "records",
                   earlier, ULB_HISTORY_FILE);
    return earlier;
}

void ulb_leave_no_empty_folder(void)
{
    if (made[0])
        rmdir(made); /* fails where something is in it */
}

void ulb_output_stem(const char *folder, const char *word, char *stem, size_t bytes)
{
    char when[32], name[64];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H%M%SZ", &utc);
    snprintf(name, sizeof name, "%s", word);
    for (char *at = name; *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("-_.", *at))
            *at = '_';
    }
    snprintf(stem, bytes, "%s/%s-%s-%ld", folder, name, when, (long)getpid());
}
