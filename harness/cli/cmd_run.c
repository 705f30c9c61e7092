/* ulb-bench run: the whole job. */
#include "harness/cli/measure.h"
#include "harness/cli/model.h"
#include "harness/cli/report.h"
#include "plots/figure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char doc[] = "Discovers the machine, measures beta, gamma and the GEMV grid, sets the models "
                          "beside them, and writes one record "
                          "and its figures.\vExit codes: 0 done, 1 a kernel differs from its scalar truth, 2 "
                          "wrong usage, 3 the environment "
                          "does not allow it, 130 interrupted (what was measured is kept).";

/* Checked before anything is measured: a run must not end with nowhere to write. */
static enum ulb_status make_folder(const char *folder, struct ulb_error *err)
{
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return ulb_fail(err, ULB_ENVIRONMENT, "cannot make the folder '%s' (%s); choose another with --out",
                        folder, strerror(errno));
    if (access(folder, W_OK | X_OK) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "cannot write in '%s' (%s); choose another folder with --out",
                        folder, strerror(errno));
    return ULB_OK;
}

/* DIR/ulb-2026-01-31T120000Z-PID: unique, and sorted by time. */
static void record_stem(const char *folder, char *stem, size_t bytes)
{
    char when[32];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H%M%SZ", &utc);
    snprintf(stem, bytes, "%s/ulb-%s-%ld", folder, when, (long)getpid());
}

static bool has_cells(const struct ulb_record *record)
{
    return record->root &&
           json_array_size(json_object_get(json_object_get(record->root, "beta"), "cells")) > 0;
}

/* Figures are an extra: without gnuplot the run is still done, and says how to get them. */
static void draw_figures(const struct ulb_record *record, const char *stem)
{
    static const char *const figures[] = {"roofline", "bars"}, *const formats[] = {"svg", "png"};
    char path[4200];
    struct ulb_error why;
    for (size_t i = 0; i < 4; i++) {
        if (ulb_figure_draw(record, figures[i / 2], formats[i % 2], stem, path, sizeof path, &why) !=
            ULB_OK) {
            fprintf(stderr, "note: figure %s left out: %s\n", figures[i / 2], why.message);
            return;
        }
        fprintf(stderr, "figure: %s\n", path);
    }
}

static enum ulb_status show(const struct ulb_measure_options *options, const struct ulb_record *record,
                            struct ulb_error *err)
{
    if (options->json)
        return ulb_print_json(json_incref(record->root), err);
    ulb_report_print(record, stdout);
    return ULB_OK;
}

/* Writes and shows what there is, then gives back the measurement's own status. */
static enum ulb_status finish(const struct ulb_measure_options *options, struct ulb_record *record,
                              enum ulb_status measured, struct ulb_error *err)
{
    struct ulb_error kept = *err;
    char stem[4096], path[4128];
    record_stem(options->out, stem, sizeof stem);
    snprintf(path, sizeof path, "%s.json", stem);
    if (measured == ULB_INTERRUPTED)
        ulb_record_warn(record, err, "interrupted: the record holds what was measured until then");
    enum ulb_status status = ulb_record_write(record, path, err);
    enum ulb_status shown = show(options, record, status == ULB_OK ? err : &kept);
    if (status != ULB_OK)
        return status;
    fprintf(stderr, "record: %s\n", path);
    if (measured == ULB_OK && shown == ULB_OK)
        draw_figures(record, stem);
    if (measured != ULB_OK)
        *err = kept;
    return measured != ULB_OK ? measured : shown;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    struct ulb_measure_options options;
    bool done;
    enum ulb_status status = ulb_measure_parse(argc, argv, doc, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.platform && strcmp(options.platform, "auto") != 0)
        return ulb_print_model(options.platform, options.json, err); /* modelled, not measured */
    status = make_folder(options.out, err);
    if (status != ULB_OK)
        return status;
    struct ulb_record record;
    status = ulb_measure_run(&options, ULB_STAGE_ALL, &record, err);
    if (has_cells(&record))
        status = finish(&options, &record, status, err);
    ulb_record_free(&record);
    return status;
}

const struct ulb_command ulb_command_run = {
    "run", "the whole job: discover, measure, model, show (the default)", run};
