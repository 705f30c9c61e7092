/* The command line: the only place that prints and exits. One file per subcommand (cmd_NAME.c). */
#ifndef ULB_HARNESS_CLI_H
#define ULB_HARNESS_CLI_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

/* A subcommand: parses its own argv (argv[0] is "ulb-bench NAME") with argp, prints its result on stdout.
 * What goes wrong is returned with the message in err; main prints it as one line and exits. */
struct ulb_command {
    const char *name;
    const char *summary; /* one line, for --help */
    enum ulb_status (*run)(int argc, char **argv, struct ulb_error *err);
};

/* All of them, in the order of --help; the first is the default. */
extern const struct ulb_command *const ulb_commands[];
extern const size_t ulb_command_count;

/* The subcommand of that name, or NULL. */
const struct ulb_command *ulb_find_command(const char *name);

/* Writes a JSON document to stdout with a newline; takes the reference. NULL means out of memory.
 * A failed write (closed pipe, full disk) is ULB_ENVIRONMENT. */
struct json_t;
enum ulb_status ulb_print_json(struct json_t *document, struct ulb_error *err);

/* Runs argp with the suite's conventions. A wrong option or a surplus argument is ULB_BAD_INPUT (exit 2).
 * --help and --version print on stdout and set *done. */
struct argp;
enum ulb_status ulb_parse_arguments(const struct argp *parser, int argc, char **argv, void *input, bool *done,
                                    struct ulb_error *err);

/* While reader is not NULL, ulb_parse_arguments shows it the parser instead of running it, and sets *done. A
 * command that is run then tells its options and does nothing. */
void ulb_read_parser(void (*reader)(const struct argp *parser, void *context), void *context);

/* Adds to an array the rows of 'ulb-bench list WHAT --json'. */
enum ulb_status ulb_list_rows(const char *what, struct json_t *rows, struct ulb_error *err);

/* ULB_BAD_INPUT when a file's name cannot stand in JSON or XML. */
enum ulb_status ulb_need_utf8(const char *name, struct ulb_error *err);

/* Makes the folder that a command writes to, before it does anything else. ULB_ENVIRONMENT: it cannot be made
 * or written in; option names the option that chooses another. */
enum ulb_status ulb_make_folder(const char *folder, const char *option, struct ulb_error *err);

/* Where records, figures and the history go by default, in the current directory. */
#define ULB_RESULTS_FOLDER "ulb-results"
#define ULB_HISTORY_FILE   ULB_RESULTS_FOLDER "/history.db"

/* The history without --db: ULB_HISTORY_FILE. If there is none, the one that earlier versions kept in
 * results/, with a note on standard error how to move it. */
const char *ulb_default_history(void);

/* At the end: removes the folder made if nothing was written into it, as when the input is refused. */
void ulb_leave_no_empty_folder(void);

/* FOLDER/WORD-2026-01-31T120000Z-PID: the common part of the names of what a command writes, sorted by time.
 * In a container every process may have the same PID: ulb_record_write_new() finds a name that is free. What
 * a file name should not hold becomes '_'. */
void ulb_output_stem(const char *folder, const char *word, char *stem, size_t bytes);

#endif
