/* ulb-bench run: the whole job. */
#include "harness/cli/commands/newest_record.h"
#include "harness/cli/commands/run_choice.h"
#include "harness/cli/commands/run_count.h"
#include "harness/cli/commands/draw_figures.h"
#include "harness/cli/measure_options.h"
#include "harness/cli/commands/model.h"
#include "harness/cli/commands/print_record.h"
#include "harness/cli/commands/print_summary.h"
#include "harness/cli/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] =
    "Discovers the machine, measures beta, gamma and the GEMV grid, sets the models "
    "beside them, and writes one record "
    "and its figures.\vExit codes: 0 done, 1 a kernel differs from its scalar reference, 2 "
    "wrong usage or "
    "input, 3 the environment does not allow it, 130 interrupted (what was measured is "
    "kept).";

static bool has_cells(const struct ulb_record *record)
{
    return record->root &&
           json_array_size(json_object_get(json_object_get(record->root, "beta"), "cells")) > 0;
}

/* path: NULL where the record could not be written. */
static enum ulb_status show(const struct ulb_measure_options *options, const struct ulb_record *record,
                            const char *path, struct ulb_error *err)
{
    if (options->json)
        return ulb_print_json(json_incref(record->root), err);
    if (options->verbose || options->tables) {
        ulb_report_print(record, stdout);
        fputc('\n', stdout);
    }
    return ulb_print_summary(record, path, stdout, err);
}

/* Figures and the report are extras: what goes wrong with them does not end the run. */
static void draw(const struct ulb_record *record, const char *json, bool verbose)
{
    const struct ulb_report_record one = {record, "this run"};
    struct ulb_error why;
    char stem[4096], path[4128];
    size_t bytes, length = strlen(json);
    bool named = length > 5 && strcmp(json + length - 5, ".json") == 0;
    snprintf(stem, sizeof stem, "%.*s", (int)(named ? length - 5 : length), json);
    ulb_draw_all_figures(record, stem, verbose);
    snprintf(path, sizeof path, "%s.html", stem);
    if (ulb_write_report(&one, 1, path, &bytes, &why) != ULB_OK)
        ulb_print_note("the report is left out: %s", why.message);
}

/* Writes and shows what there is, then gives back the measurement's own status. */
static enum ulb_status finish(const struct ulb_measure_options *options, struct ulb_record *record,
                              enum ulb_status measured, struct ulb_error *err)
{
    struct ulb_error kept = *err;
    const char *path = options->settings.checkpoint.record;
    if (measured != ULB_OK && measured != ULB_FINDING)
        ulb_record_warn(record, err, "interrupted: the record holds what was measured until then");
    enum ulb_status status = ulb_record_write(record, path, err);
    if (status != ULB_OK) {
        show(options, record, NULL, &kept);
        ulb_measure_close_checkpoint(options, record, status);
        return status;
    }
    ulb_measure_close_checkpoint(options, record, measured);
    if (measured == ULB_OK)
        draw(record, path, options->verbose);
    fprintf(stderr, "record: %s\n", path);
    enum ulb_status shown = show(options, record, path, err);
    if (measured != ULB_OK)
        *err = kept;
    return measured != ULB_OK ? measured : shown;
}

struct options {
    struct ulb_measure_options measure;
    const char *record; /* of the 1-bit kernels, for another machine's model */
    const char *like;   /* a record whose kernels and shapes are measured; NULL: those chosen here */
    bool count;         /* instructions instead of times */
    bool all;           /* every kernel of the default formats, with its tables */
};

enum { OPTION_COUNT = 0x300, OPTION_ALL, OPTION_LIKE };

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->measure;
        return 0;
    case 'r':
        options->record = argument;
        return 0;
    case OPTION_COUNT:
        options->count = true;
        return 0;
    case OPTION_ALL:
        options->all = true;
        return 0;
    case OPTION_LIKE:
        options->like = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ulb_status measure_machine(struct ulb_measure_options *options, struct ulb_error *err)
{
    char path[4128];
    options->settings.command = "run";
    enum ulb_status status = ulb_find_earlier_memory(options->out, options->settings.earlier, err);
    if (status == ULB_OK)
        status = ulb_measure_checkpoint(options, "ulb", path, sizeof path, err);
    if (status != ULB_OK)
        return status;
    struct ulb_record record;
    status = ulb_measure_run(options, ULB_STAGE_ALL, &record, err);
    if (has_cells(&record))
        status = finish(options, &record, status, err);
    else
        ulb_measure_close_checkpoint(options, &record, status);
    ulb_record_free(&record);
    return status;
}

/* What is chosen is said by options; measured once it is known. */
static enum ulb_status choose_and_measure(struct options *options, struct ulb_error *err)
{
    struct ulb_record from = {NULL};
    char *filter = NULL;
    enum ulb_status status = ULB_OK;
    if (options->like)
        status = ulb_measure_like(&options->measure, options->like, &from, &filter, err);
    else if (!options->all)
        ulb_choose_formats(&options->measure);
    options->measure.tables = options->all;
    if (status == ULB_OK)
        status = measure_machine(&options->measure, err);
    free(filter);
    ulb_record_free(&from);
    return status;
}

/* With the options of the record, and those of argv over them: what differs is found and named before
 * anything is measured. */
static enum ulb_status resume(struct options *options, const struct argp *parser, int argc, char **argv,
                              struct ulb_error *err)
{
    struct ulb_record from;
    bool done;
    const char *platform = options->measure.platform;
    if (options->count || options->record || options->all || options->like ||
        (platform && strcmp(platform, "auto") != 0))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--resume goes on with a measurement of this machine, without "
                        "--count, --all, --like, --record and other platforms");
    enum ulb_status status = ulb_measure_restore(&options->measure, options->measure.resume, &from, err);
    if (status == ULB_OK)
        status = ulb_parse_arguments(parser, argc, argv, options, &done, err);
    if (status == ULB_OK)
        status = measure_machine(&options->measure, err);
    ulb_record_free(&from);
    return status;
}

static enum ulb_status model_platform(struct options *options, struct ulb_error *err)
{
    static const char *const idle[] = {"shapes", "formats", "kernels",  "split",
                                       "warm",   "aa",      "ring-mib", NULL};
    static const char *const of_measuring[] = {"set", "isa-mask", "quick", NULL};
    struct ulb_measure_options *measure = &options->measure;
    if (options->count)
        return ulb_fail(err, ULB_BAD_INPUT, "--count goes with this machine; %s is modelled",
                        measure->platform);
    enum ulb_status status =
        ulb_refuse_idle(measure, idle, "with another machine's --platform, which is modelled", err);
    if (status == ULB_OK && options->record)
        status = ulb_refuse_idle(measure, of_measuring, "with --record, which measures nothing", err);
    if (status != ULB_OK)
        return status;
    const struct ulb_model_request request = {.platform = measure->platform,
                                              .models = measure->settings.models,
                                              .record = options->record,
                                              .measure = true,
                                              .out = measure->out,
                                              .json = measure->json};
    return ulb_model_run(&request, measure, err);
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option argp_options[] = {
        {"record", 'r', "RECORD", 0,
         "with another machine's --platform: take the ratio of the 1-bit kernels from there, measure nothing",
         0},
        {"all", OPTION_ALL, NULL, 0,
         "every kernel of bf16 and integers with a scale per row, and their tables, instead of the best "
         "kernel "
         "of each format that people choose among",
         0},
        {"like", OPTION_LIKE, "RECORD", 0, "measure exactly the kernels and shapes of this record", 0},
        {"count", OPTION_COUNT, NULL, 0,
         "count each kernel's instructions per 32 weights, by perf or else under valgrind, and measure "
         "nothing",
         0},
        {0},
    };
    const struct argp_child children[] = {{ulb_measure_argp(ULB_FOR_RUN), 0, NULL, 0}, {0}};
    const struct argp parser = {argp_options, parse_option, NULL, doc, children, NULL, NULL};
    struct options options = {0};
    bool done;
    ulb_measure_defaults(&options.measure, err);
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.measure.resume)
        return resume(&options, &parser, argc, argv, err);
    const char *platform = options.measure.platform;
    bool other = platform && strcmp(platform, "auto") != 0;
    if ((options.all || options.like) && (other || options.count))
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "--all and --like choose what is measured by the clock on this machine; leave them out");
    if (other)
        return model_platform(&options, err);
    if (options.count && !options.record)
        return ulb_count_run(&options.measure, err);
    if (options.record)
        return ulb_fail(err, ULB_BAD_INPUT, "--record goes with --platform NAME; this machine is measured");
    if (options.all && options.like)
        return ulb_fail(err, ULB_BAD_INPUT, "give either --all or --like, not both");
    return choose_and_measure(&options, err);
}

const struct ulb_command ulb_command_run = {
    "run", "the whole job: discover, measure, model, show (the default)", run};
