/* Options that every measuring command shares, and what happens round a measurement. */
#ifndef ULB_HARNESS_CLI_MEASURE_OPTIONS_H
#define ULB_HARNESS_CLI_MEASURE_OPTIONS_H

#include "harness/cli/cli.h"
#include "harness/cli/progress.h"
#include "harness/run.h"

#include <argp.h>
#include <stdio.h>

struct ulb_measure_options {
    struct ulb_settings settings;
    const char *platform; /* NULL or "auto": this machine */
    const char *out;      /* folder of records and figures */
    bool out_given;       /* it was named: commands that measure a part write a record too */
    const char *resume;   /* the record to go on with; NULL: a new one */
    bool json, verbose;
    bool tables; /* of a whole run: every table beside the first screen */
    bool turns;  /* another program says which cells come next */
    enum ulb_progress_mode progress;
    struct ulb_error *err; /* where the parser leaves its message */
};

/* Commands that measure, as sets: who takes an option. */
enum ulb_measuring {
    ULB_FOR_RUN = 1,
    ULB_FOR_BETA = 2,
    ULB_FOR_GAMMA = 4,
    ULB_FOR_GEMV = 8,
    ULB_FOR_GEMM = 16,
    ULB_FOR_DECODE = 32,
    ULB_FOR_FORMATS = 64,
    ULB_FOR_VERIFY = 128
};

/* The options of one of them as a child parser for argp; its input is a struct ulb_measure_options. It lies
 * in static storage: one command a process. */
const struct argp *ulb_measure_argp(enum ulb_measuring command);

/* Parses argv of a measuring command that has no other options, with a usage text of its own. */
enum ulb_status ulb_measure_parse(int argc, char **argv, enum ulb_measuring command, const char *doc,
                                  struct ulb_measure_options *options, bool *done, struct ulb_error *err);

/* The options before any is given. */
void ulb_measure_defaults(struct ulb_measure_options *options, struct ulb_error *err);

/* Of --resume: the options that the record was made with, over which argv is to be parsed again. They point
 * into from, which the caller frees. Libraries of kernels alone must be named again: what a record names is
 * not loaded. ULB_BAD_INPUT: it is no record, or has no journal. */
enum ulb_status ulb_measure_restore(struct ulb_measure_options *options, const char *resume,
                                    struct ulb_record *from, struct ulb_error *err);

/* Where the record lies from the beginning of the run, with its journal beside it: --resume, or a new file
 * FOLDER/WORD-... The path outlives the measurement. */
enum ulb_status ulb_measure_checkpoint(struct ulb_measure_options *options, const char *word, char *path,
                                       size_t bytes, struct ulb_error *err);

/* After the record was written. A run that is done needs its journal no more. Of any other run a note says
 * how to resume it. */
void ulb_measure_close_checkpoint(const struct ulb_measure_options *options, const struct ulb_record *record,
                                  enum ulb_status status);

/* ULB_BAD_INPUT when --platform names another machine, which cannot be measured here. */
enum ulb_status ulb_refuse_platform(const struct ulb_measure_options *options, struct ulb_error *err);

/* ULB_ENVIRONMENT when --device names another device than the CPU. */
enum ulb_status ulb_refuse_device(const struct ulb_measure_options *options, struct ulb_error *err);

/* ULB_BAD_INPUT when one of these options (names without dashes, NULL-terminated) was given: "--OPTION has no
 * effect REASON; leave it out". */
enum ulb_status ulb_refuse_idle(const struct ulb_measure_options *options, const char *const *names,
                                const char *reason, struct ulb_error *err);

/* Makes a record and measures up to stage, with progress on stderr, signals caught and LIKWID's markers set.
 * The record is the caller's to free whatever the status (root NULL when it could not be made). */
enum ulb_status ulb_measure_run(struct ulb_measure_options *options, enum ulb_stage stage,
                                struct ulb_record *record, struct ulb_error *err);

/* Commands that measure one section of a record and show it alone: beta, gamma, formats, gemv, gemm. */
struct ulb_section_command {
    const char *doc;
    enum ulb_measuring options; /* of the command, unless it parses them itself */
    enum ulb_stage stage;
    const char *keeps;   /* the command's name when a run of it can be gone on with, which needs --resume;
                            else NULL */
    const char *section; /* key of the record; its value is the JSON output */
    const char *const
        *beside;    /* further keys that stand beside it when it is an array; NULL-terminated, or NULL */
    bool on_device; /* it measures the device of --device */
    const struct ulb_section_command *device; /* what --device measures in its place; NULL: it cannot */
    void (*print)(const struct ulb_record *record, FILE *out); /* the table */
    /* Measures in turn with another program, in the place of all this; NULL: the command cannot. */
    enum ulb_status (*in_turns)(struct ulb_measure_options *options, struct ulb_error *err);
};

/* Measures and shows. An interrupted measurement shows what there is and is still ULB_INTERRUPTED. */
enum ulb_status ulb_section_measure(const struct ulb_section_command *command,
                                    struct ulb_measure_options *options, struct ulb_error *err);

/* Parses argv, then the same. */
enum ulb_status ulb_section_run(const struct ulb_section_command *command, int argc, char **argv,
                                struct ulb_error *err);

/* Notes on stderr, warnings of a record. */
void ulb_print_warnings(const struct ulb_record *record);

#endif
