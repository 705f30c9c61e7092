#include "harness/cli/measure_options.h"

#include "common/units.h"
#include "harness/cli/guests.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/kernel_filter.h"
#include "harness/cli/table.h"
#include "harness/cli/terminal.h"
#include "harness/counters/marker.h"
#include "results/compare/noise_floor.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* What a run was made with, for --verbose. */
static void print_conditions(const struct ulb_record *record)
{
    static const char *const places[] = {"topology.how", "clock.cycles_source", "clock.counters_reason",
                                         "machine.huge_pages.mode"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *text = ulb_record_text(record, places[i]);
        if (text)
            ulb_print_note("%s: %s", places[i], text);
    }
    double ring = ulb_record_number(record, "machine.huge_pages.ring_bytes");
    double got = ulb_record_number(record, "machine.huge_pages.got_bytes") / ULB_MIB;
    char huge[32];
    if (isfinite(ring))
        ulb_print_note("cold ring of %.0f MiB, %s MiB of the mapping in huge pages", ring / ULB_MIB,
                       isfinite(got) ? ulb_show_number(huge, "%.0f", got) : "an unknown number of");
}

static enum ulb_status run_once(const struct ulb_measure_options *o, enum ulb_stage stage,
                                struct ulb_record *record, struct ulb_error *err)
{
    record->root = NULL;
    enum ulb_status status = ulb_record_new(record, err);
    if (status != ULB_OK)
        return status;
    struct ulb_progress progress;
    struct ulb_settings settings = o->settings;
    ulb_progress_open(&progress, o->progress, stage, settings.quick);
    settings.progress = ulb_progress_show;
    settings.progress_context = &progress;
    status = ulb_run(&settings, stage, record, err);
    ulb_progress_close(&progress);
    return status;
}

/* The grid once more: another order, buffers, team and yardstick. */
static enum ulb_status run_second_pass(const struct ulb_measure_options *o, enum ulb_stage stage,
                                       struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_measure_options again = *o;
    struct ulb_record second = {NULL};
    char *filter = NULL;
    enum ulb_status status = ULB_OK;
    again.settings.seed++;
    again.settings.checkpoint.pass = "-aa";
    if (o->settings.best_kernels) {
        status = ulb_record_kernel_filter(record, "the first pass", &filter, err);
        again.settings.kernels = filter;
    }
    if (status == ULB_OK)
        status = run_once(&again, stage == ULB_STAGE_ALL ? ULB_STAGE_GEMV : stage, &second, err);
    if (status == ULB_OK)
        status = ulb_record_judge_passes(record, &second, err);
    ulb_record_free(&second);
    free(filter);
    return status;
}

enum ulb_status ulb_measure_run(struct ulb_measure_options *o, enum ulb_stage stage,
                                struct ulb_record *record, struct ulb_error *err)
{
    record->root = NULL;
    if (o->settings.aa && stage < ULB_STAGE_GEMV)
        return ulb_fail(err, ULB_BAD_INPUT, "--aa measures a grid twice: use it with run, gemv or gemm");
    if (o->settings.n_splits > 1 && stage != ULB_STAGE_DECODE)
        return ulb_fail(err, ULB_BAD_INPUT, "--split takes one split here, not %zu; decode takes several",
                        o->settings.n_splits);
    ulb_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* the record is written all the same */
    enum ulb_status status = ulb_marker_init(err);
    ulb_guests_begin();
    if (status == ULB_OK)
        status = run_once(o, stage, record, err);
    if (status == ULB_OK && o->settings.aa)
        status = run_second_pass(o, stage, record, err);
    ulb_guests_end();
    ulb_marker_close();
    if (o->verbose)
        print_conditions(record);
    return status;
}

/* "cells" is an array in the record. Here it becomes an object, so that every output is one. It has what
 * belongs to the cells beside them. Of "devices" one was measured. */
static json_t *section_json(const struct ulb_record *record, const struct ulb_section_command *command)
{
    json_t *value = json_object_get(record->root, command->section);
    if (strcmp(command->section, "devices") == 0)
        value = json_array_get(value, 0);
    if (!json_is_array(value))
        return json_incref(value);
    json_t *document = json_pack("{s:O}", command->section, value);
    for (const char *const *key = command->beside; key && *key && document; key++) {
        json_t *more = json_object_get(record->root, *key);
        if (more && json_object_set(document, *key, more) != 0) {
            json_decref(document);
            document = NULL;
        }
    }
    return document;
}

/* Whether a run that did not come to its end has measured something. */
static bool has_cells(const struct ulb_record *record, const struct ulb_section_command *command)
{
    const json_t *value = json_object_get(record->root, command->section);
    return json_array_size(json_is_object(value) ? json_object_get(value, "cells") : value) > 0;
}

/* Writes to --out. Of an interrupted run, too, what was measured is written. A record that was kept from the
 * beginning is there already. */
static enum ulb_status write_record(const struct ulb_record *record, bool kept, char *path, size_t bytes,
                                    struct ulb_error *err)
{
    enum ulb_status status =
        kept ? ulb_record_write(record, path, err) : ulb_record_write_new(record, path, bytes, err);
    if (status == ULB_OK)
        fprintf(stderr, "record: %s\n", path);
    return status;
}

/* Whether a record is written, and where. */
static enum ulb_status prepare(const struct ulb_section_command *command, struct ulb_measure_options *options,
                               char *path, size_t bytes, struct ulb_error *err)
{
    char stem[4096];
    if (command->keeps) {
        options->settings.command = command->keeps;
        return ulb_measure_checkpoint(options, command->section, path, bytes, err);
    }
    ulb_output_stem(options->out, command->section, stem, sizeof stem);
    snprintf(path, bytes, "%s.json", stem);
    return ulb_make_folder(options->out, "out", err);
}

enum ulb_status ulb_section_measure(const struct ulb_section_command *command,
                                    struct ulb_measure_options *options, struct ulb_error *err)
{
    char path[4128];
    bool writes = options->out_given || options->resume;
    enum ulb_status status = ulb_refuse_platform(options, err);
    if (status == ULB_OK && !command->on_device)
        status = ulb_refuse_device(options, err);
    if (status == ULB_OK && writes)
        status = prepare(command, options, path, sizeof path, err);
    if (status != ULB_OK)
        return status;
    struct ulb_record record;
    status = ulb_measure_run(options, command->stage, &record, err);
    if (record.root && (status == ULB_OK || status == ULB_INTERRUPTED || has_cells(&record, command))) {
        struct ulb_error unwritten;
        if (status != ULB_OK && status != ULB_FINDING)
            ulb_record_warn(&record, &unwritten, "interrupted: %s what was measured until then",
                            writes ? "the record holds" : "this is");
        ulb_print_warnings(&record);
        bool kept = json_object_get(record.root, "sessions") != NULL;
        if (writes && write_record(&record, kept, path, sizeof path, &unwritten) != ULB_OK &&
            status == ULB_OK) {
            *err = unwritten;
            status = ULB_ENVIRONMENT;
        }
        bool begun = json_object_get(record.root, command->section) != NULL;
        if (begun && !options->json)
            command->print(&record, stdout);
        else if (begun && ulb_print_json(section_json(&record, command), &unwritten) != ULB_OK &&
                 status == ULB_OK) {
            *err = unwritten;
            status = ULB_ENVIRONMENT;
        }
    }
    if (writes && command->keeps)
        ulb_measure_close_checkpoint(options, &record, status);
    ulb_record_free(&record);
    return status;
}

enum ulb_status ulb_section_run(const struct ulb_section_command *command, int argc, char **argv,
                                struct ulb_error *err)
{
    struct ulb_measure_options options;
    struct ulb_record from = {NULL};
    struct argp parser = *ulb_measure_argp(command->options);
    static const char *const cpu_alone[] = {"set",    "isa-mask", "split",          "warm", "aa",
                                            "resume", "turns",    "kernel-library", NULL};
    bool done;
    parser.doc = command->doc;
    ulb_measure_defaults(&options, err);
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.resume)
        status = ulb_measure_restore(&options, options.resume, &from, err);
    if (status == ULB_OK && options.resume)
        status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status == ULB_OK && options.settings.device && command->device) {
        command = command->device;
        status = ulb_refuse_idle(&options, cpu_alone, "on a device", err);
    }
    if (status == ULB_OK)
        status =
            options.turns ? command->in_turns(&options, err) : ulb_section_measure(command, &options, err);
    ulb_record_free(&from);
    return status;
}
