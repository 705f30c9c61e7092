/* ulb-bench plot: draws the figures of records. */
#include "common/json.h"
#include "common/words.h"
#include "harness/cli/cli.h"
#include "harness/cli/named_records.h"
#include "plots/draw/figure.h"

#include <argp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORCE = 0x100, OPTION_FORMAT };

struct request {
    const char *figures, *formats, *folder; /* NULL: all that there are; beside the record */
    struct ulb_named_records records;
    bool json, force;
    json_t *paths;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'F':
        request->figures = argument;
        return 0;
    case OPTION_FORMAT:
        request->formats = argument;
        return 0;
    case 'o':
        request->folder = argument;
        return 0;
    case 'j':
        request->json = true;
        return 0;
    case OPTION_FORCE:
        request->force = true;
        return 0;
    case ARGP_KEY_ARGS:
        return ulb_take_records(&request->records, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Calls each(word) for every word of a comma list, until one fails. */
static enum ulb_status for_words(const char *list, struct request *request, const void *context,
                                 enum ulb_status (*each)(const char *word, struct request *request,
                                                         const void *context, struct ulb_error *err),
                                 struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    char *copy = strdup(list), *rest = NULL;
    if (!copy)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory");
    if (strspn(list, ",") == strlen(list))
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "a list of figures or formats is empty; try 'ulb-bench plot --help'");
    if (status == ULB_OK)
        status = ulb_words_differ(list == request->formats ? "format" : "figure", list, err);
    for (char *word = strtok_r(copy, ",", &rest); word && status == ULB_OK; word = strtok_r(NULL, ",", &rest))
        status = each(word, request, context, err);
    free(copy);
    return status;
}

struct drawing {
    const struct ulb_record *record;
    const char *path, *prefix, *figure; /* of the record, of the figures; which one */
};

static enum ulb_status draw_format(const char *format, struct request *request, const void *context,
                                   struct ulb_error *err)
{
    const struct drawing *drawing = context;
    char path[PATH_MAX];
    enum ulb_status status =
        request->force ? ULB_OK
                       : ulb_figure_may_replace(drawing->figure, format, drawing->prefix,
                                                "name another folder with --out, or give --force", err);
    if (status == ULB_OK)
        status = ulb_figure_draw(drawing->record, drawing->figure, format, drawing->prefix, path, sizeof path,
                                 err);
    if (status == ULB_OK && !request->json)
        printf("%s\n", path);
    else if (status == ULB_OK && json_array_append_new(request->paths, json_string(path)) != 0)
        return ulb_fail(err, ULB_BAD_INPUT, "the name %s is not UTF-8, which JSON needs", path);
    return status;
}

/* Before any is drawn. */
static enum ulb_status check_figure(const char *figure, struct request *request, const void *context,
                                    struct ulb_error *err)
{
    (void)request;
    return ulb_figure_check(((const struct drawing *)context)->record, figure, err);
}

static enum ulb_status draw_figure(const char *figure, struct request *request, const void *context,
                                   struct ulb_error *err)
{
    struct drawing drawing = *(const struct drawing *)context;
    drawing.figure = figure;
    return for_words(request->formats, request, &drawing, draw_format, err);
}

/* "results/run.json" in folder "figures": "figures/run" */
static enum ulb_status make_prefix(const char *record, const char *folder, char out[PATH_MAX],
                                   struct ulb_error *err)
{
    const char *slash = strrchr(record, '/');
    const char *name = slash ? slash + 1 : record;
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot && dot > name ? dot - name : (long)strlen(name));
    int used = folder  ? snprintf(out, PATH_MAX, "%s/%.*s", folder, stem, name)
               : slash ? snprintf(out, PATH_MAX, "%.*s/%.*s", (int)(slash - record), record, stem, name)
                       : snprintf(out, PATH_MAX, "%.*s", stem, name);
    if (used < 0 || used >= PATH_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "the name is too long: %.200s...", record);
    return ULB_OK;
}

/* A record, or the document of a model or a trend, which is no record and is checked by what draws it. */
static enum ulb_status read_document(struct ulb_record *record, const char *path, struct ulb_error *err)
{
    enum ulb_status status = ulb_record_read(record, path, err);
    if (status != ULB_BAD_INPUT)
        return status;
    record->root = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    bool drawn = record->root && (ulb_is_model(record) || ulb_is_trend(record));
    if (drawn && ulb_json_printable(record->root))
        return ULB_OK;
    ulb_record_free(record);
    return status;
}

/* Every figure that the document has what is needed for; the others are named with the reason. */
static enum ulb_status draw_available(struct request *request, const struct drawing *drawing,
                                      struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    size_t drawn = 0;
    for (size_t i = 0; i < ulb_figure_count && status == ULB_OK; i++) {
        enum ulb_status there = ulb_figure_check(drawing->record, ulb_figures[i].name, err);
        if (there == ULB_OK) {
            status = draw_figure(ulb_figures[i].name, request, drawing, err);
            drawn++;
        } else if (there != ULB_BAD_INPUT) {
            return there;
        }
    }
    if (status == ULB_OK && drawn == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "%s has nothing to draw", drawing->path);
    return status;
}

static enum ulb_status draw_record(struct ulb_record *record, size_t i, void *context, struct ulb_error *err)
{
    struct request *request = context;
    const char *path = request->records.paths[i];
    char prefix[PATH_MAX];
    enum ulb_status status = make_prefix(path, request->folder, prefix, err);
    if (status != ULB_OK)
        return status;
    struct drawing drawing = {.record = record, .path = path, .prefix = prefix};
    if (request->figures)
        status = for_words(request->figures, request, &drawing, check_figure, err);
    if (status != ULB_OK)
        status = ulb_fail_prefix(err, status, "%s", path);
    if (status == ULB_OK)
        status = request->figures ? for_words(request->figures, request, &drawing, draw_figure, err)
                                  : draw_available(request, &drawing, err);
    return status;
}

/* Records whose figures would have the same names, of which only the last would remain. */
static enum ulb_status check_names(const struct request *request, struct ulb_error *err)
{
    char prefix[PATH_MAX], other[PATH_MAX];
    char *const *paths = request->records.paths;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < request->records.n && status == ULB_OK; i++) {
        status = make_prefix(paths[i], request->folder, prefix, err);
        for (size_t j = 0; j < i && status == ULB_OK; j++) {
            status = make_prefix(paths[j], request->folder, other, err);
            if (status == ULB_OK && strcmp(prefix, other) == 0)
                status =
                    ulb_fail(err, ULB_BAD_INPUT, "the figures of %.200s and %.200s would have the same names",
                             paths[j], paths[i]);
        }
    }
    return status;
}

static enum ulb_status draw_all(struct request *request, struct ulb_error *err)
{
    if (request->records.n == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "no record is named; try 'ulb-bench plot " ULB_RESULTS_FOLDER "/RUN.json'");
    enum ulb_status status = check_names(request, err);
    if (status == ULB_OK && request->folder)
        status = ulb_make_folder(request->folder, "out", err);
    return status == ULB_OK ? ulb_read_named(&request->records, read_document, draw_record, request, err)
                            : status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"figure", 'F', "FIGURE,...", 0, "see list figures; default: all that the record has the data for",
         0},
        {"format", OPTION_FORMAT, "svg|png|pdf|txt,...", 0, "file formats; default: svg,png", 0},
        {"out", 'o', "DIR", 0, "where the figures go; default: beside the record", 0},
        {"force", OPTION_FORCE, NULL, 0, "replace also files that ulb-bench has not drawn", 0},
        {"json", 'j', NULL, 0, "print the files drawn as one JSON document", 0},
        {0},
    };
    static const struct argp parser = {
        options,     parse_option,
        "RECORD...", "Draws the figures of records and models, each into RECORD-FIGURE.FORMAT.",
        NULL,        NULL,
        NULL};
    struct request request = {.formats = "svg,png"};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    request.paths = json_array();
    if (!request.paths)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory");
    status = draw_all(&request, err);
    if (status == ULB_OK && request.json)
        return ulb_print_json(json_pack("{s:o}", "figures", request.paths), err);
    json_decref(request.paths);
    return status;
}

const struct ulb_command ulb_command_plot = {"plot",
                                             "figures of records: rooflines, bars, predictions, tokens", run};
