/* ulb-bench compare: what became slower from one record to the next. */
#include "common/text.h"
#include "harness/cli/cli.h"
#include "harness/cli/commands/compare_beside.h"
#include "harness/cli/commands/compare_confirm.h"
#include "harness/cli/commands/compare_print.h"
#include "harness/cli/named_records.h"
#include "harness/cli/option.h"
#include "results/compare/in_turn.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_METRIC = 0x100,
    OPTION_THRESHOLD,
    OPTION_CONFIRM,
    OPTION_FORCE,
    OPTION_MARKDOWN,
    OPTION_JUNIT,
    OPTION_GITHUB,
    OPTION_ALL,
    OPTION_LIBRARY,
    OPTION_CELL,
    OPTION_KERNEL,
    OPTION_MUST_SEE,
    OPTION_ALLOW_BLIND,
    OPTION_ALLOW_MISSING,
    OPTION_BESIDE,
    OPTION_BASE_LIBRARY,
    OPTION_MAX_MINUTES,
    OPTION_SORT
};

enum form { FORM_TABLE, FORM_JSON, FORM_MARKDOWN, FORM_JUNIT, FORM_GITHUB };

struct request {
    struct ulb_compare_settings settings;
    enum form form;
    enum ulb_compare_detail detail;
    enum ulb_compared_order order;
    bool confirm, metric_given, max_minutes_given;
    const char *beside; /* the base's program; NULL: two records */
    double max_minutes;
    const char *libraries;            /* of kernels, which --confirm and --beside load */
    const char *base_libraries;       /* the base's, where they are others */
    struct ulb_named_records records; /* the base, then what is compared with it */
    struct ulb_error *err;
};

static error_t parse_percent(struct request *request, const char *option, const char *text, double *share)
{
    return ulb_read_percent(text, 0.1, 1000, share)
               ? 0
               : ulb_refuse_option(request->err, option, text, "must be a percentage, 0.1 to 1000");
}

/* What a gate needs, fails at, or lets pass. */
static error_t parse_gate(int key, char *argument, struct request *request)
{
    struct ulb_compare_settings *settings = &request->settings;
    switch (key) {
    case OPTION_THRESHOLD:
        return parse_percent(request, "threshold", argument, &settings->threshold);
    case OPTION_MUST_SEE:
        return parse_percent(request, "must-see", argument, &settings->must_see);
    case OPTION_ALLOW_BLIND:
        settings->allow_blind = INFINITY;
        return argument ? parse_percent(request, "allow-blind", argument, &settings->allow_blind) : 0;
    case OPTION_ALLOW_MISSING:
        settings->allow_missing = argument ? argument : "";
        return 0;
    case OPTION_CELL:
        settings->cell = argument;
        return 0;
    case OPTION_KERNEL:
        settings->kernel = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t set_form(struct request *request, enum form form)
{
    if (request->form != FORM_TABLE && request->form != form) {
        ulb_fail(
            request->err, ULB_BAD_INPUT,
            "--json, --markdown, --junit and --github each take the whole of standard output; choose one");
        return EINVAL;
    }
    request->form = form;
    return 0;
}

static error_t parse_order(struct request *request, const char *text)
{
    static const char *const words[] = {"verdict", "change", "share", "key"};
    size_t word = ulb_read_word(text, words, sizeof words / sizeof *words);
    if (word == sizeof words / sizeof *words)
        return ulb_refuse_option(request->err, "sort", text, "must be verdict, change, share or key");
    request->order = (enum ulb_compared_order)word;
    return 0;
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case OPTION_METRIC:
        request->metric_given = true;
        return ulb_metric_find(argument, &request->settings.metric, request->err) == ULB_OK ? 0 : EINVAL;
    case OPTION_FORCE:
        request->settings.force = true;
        return 0;
    case OPTION_CONFIRM:
        request->confirm = true;
        return 0;
    case OPTION_ALL:
        request->detail = ULB_COMPARE_ALL;
        return 0;
    case 'v':
        request->detail = request->detail == ULB_COMPARE_ALL ? ULB_COMPARE_ALL : ULB_COMPARE_CHANGED;
        return 0;
    case OPTION_LIBRARY:
        request->libraries = argument;
        return 0;
    case OPTION_SORT:
        return parse_order(request, argument);
    case OPTION_BESIDE:
        request->beside = argument;
        return 0;
    case OPTION_BASE_LIBRARY:
        request->base_libraries = argument;
        return 0;
    case OPTION_MAX_MINUTES:
        request->max_minutes_given = true;
        return ulb_read_number(argument, 0.1, 1440, &request->max_minutes)
                   ? 0
                   : ulb_refuse_option(request->err, "max-minutes", argument, "must be 0.1 to 1440");
    case 'j':
        return set_form(request, FORM_JSON);
    case OPTION_MARKDOWN:
        return set_form(request, FORM_MARKDOWN);
    case OPTION_JUNIT:
        return set_form(request, FORM_JUNIT);
    case OPTION_GITHUB:
        return set_form(request, FORM_GITHUB);
    case ARGP_KEY_ARGS:
        return ulb_take_records(&request->records, state);
    default:
        return parse_gate(key, argument, request);
    }
}

static enum ulb_status show(const struct request *request, const struct ulb_compared_files *files,
                            struct ulb_error *err)
{
    switch (request->form) {
    case FORM_TABLE:
        ulb_compare_print(files, 1, request->detail);
        return ULB_OK;
    case FORM_JSON:
        return ulb_print_json(ulb_comparison_json(files, 1), err);
    case FORM_MARKDOWN:
        ulb_comparison_markdown(files, 1, stdout);
        return ULB_OK;
    case FORM_JUNIT:
        ulb_comparison_junit(files, 1, stdout);
        return ULB_OK;
    case FORM_GITHUB:
        ulb_comparison_github(files, 1, stdout);
        return ULB_OK;
    }
    return ULB_OK;
}

/* A base, and the new records, whose rounds are pooled. */
struct comparing {
    const struct request *request;
    struct ulb_compare_side base, fresh;
    struct ulb_comparison comparison;
    struct ulb_error why;
};

/* The new record's side; with its cells where they may have to be run again. */
static enum ulb_status read_fresh(const struct request *request, const char *path,
                                  struct ulb_compare_side *side, struct ulb_error *err)
{
    struct ulb_record record;
    if (!request->confirm)
        return ulb_compare_side_read(side, path, request->settings.metric, err);
    enum ulb_status status = ulb_record_read(&record, path, err);
    if (status != ULB_OK)
        return status;
    status = ulb_compare_side_of(side, &record, request->settings.metric, err);
    ulb_record_free(&record);
    return status == ULB_OK ? status : ulb_fail_prefix(err, status, "%s", path);
}

/* A base that another thread reads: of large records reading is most of the work. */
struct base_reading {
    struct comparing *comparing;
    enum ulb_status status;
    struct ulb_error err;
};

static void *read_base(void *context)
{
    struct base_reading *base = context;
    const struct request *request = base->comparing->request;
    base->status = ulb_compare_side_read(&base->comparing->base, request->records.paths[0],
                                         request->settings.metric, &base->err);
    return NULL;
}

/* The base and the first new record at the same time; a fault of the base is told first. */
static enum ulb_status read_first(struct comparing *comparing, struct ulb_error *err)
{
    struct base_reading base = {.comparing = comparing};
    pthread_t reader;
    bool apart = pthread_create(&reader, NULL, read_base, &base) == 0;
    if (!apart)
        read_base(&base);
    enum ulb_status status =
        read_fresh(comparing->request, comparing->request->records.paths[1], &comparing->fresh, err);
    if (apart)
        pthread_join(reader, NULL);
    if (base.status == ULB_OK)
        return status;
    *err = base.err;
    return base.status;
}

/* Adds the rounds of the further new records to those of the first. */
static enum ulb_status pool_fresh(struct comparing *comparing, struct ulb_error *err)
{
    const struct request *request = comparing->request;
    enum ulb_status status = ULB_OK;
    for (size_t i = 2; i < request->records.n && status == ULB_OK; i++) {
        struct ulb_compare_side more;
        status = read_fresh(request, request->records.paths[i], &more, err);
        if (status != ULB_OK)
            break;
        status = ulb_compare_side_pool(&comparing->fresh, &more, &request->settings, err);
        if (status != ULB_OK)
            ulb_fail_prefix(err, status, "%s beside %s", request->records.paths[i],
                            request->records.paths[1]);
        ulb_compare_side_free(&more);
    }
    return status;
}

/* Suspects are run again where that is asked for. */
static enum ulb_status compare_sides(struct comparing *comparing, struct ulb_error *err)
{
    const struct request *request = comparing->request;
    struct ulb_comparison *comparison = &comparing->comparison;
    enum ulb_status status =
        ulb_compare_sides(&comparing->base, &comparing->fresh, &request->settings, comparison, err);
    if (status != ULB_OK)
        ulb_fail_prefix(err, status, "%s against %s", request->records.paths[1], request->records.paths[0]);
    if (status == ULB_OK && request->confirm && comparison->count[ULB_REGRESSED] > 0)
        status = ulb_compare_confirm(&comparing->base, &comparing->fresh.record, &request->settings,
                                     request->libraries, comparison, err);
    ulb_sort_compared(comparison, request->order);
    return status;
}

/* The new records' names, with commas between them; to be freed. */
static char *join_names(const struct ulb_named_records *records)
{
    size_t bytes = 1, used = 0;
    for (size_t i = 1; i < records->n; i++)
        bytes += strlen(records->paths[i]) + 1;
    char *names = malloc(bytes);
    for (size_t i = 1; i < records->n && names; i++)
        used += (size_t)snprintf(names + used, bytes - used, "%s%s", i > 1 ? "," : "", records->paths[i]);
    return names;
}

static enum ulb_status show_comparison(const struct comparing *comparing, struct ulb_error *err)
{
    const struct request *request = comparing->request;
    /* The files were read: where people read their names, these are what a terminal may show. */
    bool strict = request->form == FORM_JSON || request->form == FORM_JUNIT;
    for (size_t r = 0; r < request->records.n && !strict; r++)
        ulb_text_printable(request->records.paths[r]);
    char *names = join_names(&request->records);
    if (!names)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the names of the records");
    const struct ulb_compared_files files = {request->records.paths[0], names, &comparing->comparison};
    enum ulb_status status = show(request, &files, err);
    free(names);
    return status == ULB_OK ? ulb_comparison_status(&comparing->comparison, err) : status;
}

static enum ulb_status compare(const struct request *request, struct ulb_error *err)
{
    struct comparing comparing = {.request = request};
    enum ulb_status status = ULB_OK;
    bool strict = request->form == FORM_JSON || request->form == FORM_JUNIT;
    for (size_t i = 0; i < request->records.n && strict && status == ULB_OK; i++)
        status = ulb_need_utf8(request->records.paths[i], err);
    if (status == ULB_OK)
        status = read_first(&comparing, err);
    if (status == ULB_OK)
        status = pool_fresh(&comparing, err);
    if (status == ULB_OK)
        status = compare_sides(&comparing, err);
    if (status == ULB_OK)
        status = show_comparison(&comparing, err);
    ulb_compare_side_free(&comparing.base);
    ulb_compare_side_free(&comparing.fresh);
    ulb_comparison_free(&comparing.comparison);
    return status;
}

/* ---- builds in turn ---- */

/* Words behind the options: NEW_PROGRAM, then what begins with a dash and all behind it. */
static enum ulb_status check_beside(struct request *request, struct ulb_error *err)
{
    struct ulb_compare_settings *settings = &request->settings;
    if (request->metric_given || request->confirm || settings->force)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--beside measures times here and now: leave out --metric, --confirm and --force");
    if (request->base_libraries && !request->libraries)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--base-library names the base's kernels; name the new ones with --kernel-library");
    if (isnan(settings->must_see))
        settings->must_see = ULB_MUST_SEE_IN_TURN;
    return ULB_OK;
}

static enum ulb_status beside(struct request *request, struct ulb_error *err)
{
    char self[4096] = "";
    const struct ulb_named_records *words = &request->records;
    bool named = words->n > 0 && words->paths[0][0] != '-';
    enum ulb_status status = check_beside(request, err);
    if (status != ULB_OK)
        return status;
    if (!named && readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "this program does not find itself: %s; name NEW_PROGRAM",
                        strerror(errno));
    const struct ulb_beside_request beside = {
        .programs = {request->beside, named ? words->paths[0] : self},
        .libraries = {request->base_libraries ? request->base_libraries : request->libraries,
                      request->libraries},
        .options = words->paths + named,
        .n_options = words->n - named,
        .max_minutes = request->max_minutes,
        .settings = request->settings};
    struct ulb_comparison comparison;
    struct ulb_error why;
    status = ulb_compare_beside(&beside, &comparison, err);
    ulb_sort_compared(&comparison, request->order);
    const struct ulb_compared_files files = {beside.programs[0], beside.programs[1], &comparison};
    if (comparison.sessions > 0 && show(request, &files, &why) != ULB_OK && status == ULB_OK) {
        *err = why;
        status = ULB_ENVIRONMENT;
    }
    if (status == ULB_OK)
        status = ulb_comparison_status(&comparison, err);
    ulb_comparison_free(&comparison);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"metric", OPTION_METRIC, "efficiency|gbps|us|p95|gamma|instructions|tps|joule", 0,
         "figure to compare (default: efficiency)", 0},
        {"threshold", OPTION_THRESHOLD, "PERCENT", 0,
         "change from which on it counts; default: the larger of 5 (of instructions 1) and twice the noise "
         "floor of both records",
         0},
        {"confirm", OPTION_CONFIRM, NULL, 0,
         "run suspects again by themselves, now and here, before they are called regressed", 0},
        {"beside", OPTION_BESIDE, "BASE_PROGRAM", 0,
         "measure two builds in turn, here and now, instead of reading records: BASE_PROGRAM and NEW_PROGRAM "
         "(default: this one); options of gemv behind -- say what (default: two square shapes)",
         0},
        {"max-minutes", OPTION_MAX_MINUTES, "N", 0,
         "with --beside: begin no further session after N minutes (default: 10)", 0},
        {"kernel-library", OPTION_LIBRARY, "FILE,...", 0,
         "with --confirm: the shared objects whose kernels the new record was measured with; with --beside: "
         "those to be measured",
         0},
        {"base-library", OPTION_BASE_LIBRARY, "FILE,...", 0,
         "with --beside: the shared objects of the base, where they differ", 0},
        {"must-see", OPTION_MUST_SEE, "PERCENT", 0,
         "slowdown of a kernel that may not pass unseen, else exit code 4 (default: 50; with --beside 10)",
         0},
        {"allow-blind", OPTION_ALLOW_BLIND, "PERCENT", OPTION_ARG_OPTIONAL,
         "accept kernels of which only larger slowdowns could be seen: up to PERCENT, or any", 0},
        {"allow-missing", OPTION_ALLOW_MISSING, "REGEX", OPTION_ARG_OPTIONAL,
         "accept that cells of BASE are missing: those whose key matches, or any", 0},
        {"cell", OPTION_CELL, "REGEX", 0, "compare the cells whose key matches", 0},
        {"kernel", OPTION_KERNEL, "REGEX", 0, "compare the kernels that match", 0},
        {"sort", OPTION_SORT, "verdict|change|share|key", 0,
         "order of kernels and cells (default: verdict); share: the smallest share of the yardstick first",
         0},
        {"force", OPTION_FORCE, NULL, 0, "compare records of different machines, builds or schemas", 0},
        {"verbose", 'v', NULL, 0, "list all kernels and the cells that changed", 0},
        {"all", OPTION_ALL, NULL, 0, "list all kernels and all cells", 0},
        {"json", 'j', NULL, 0, "one JSON document on standard output", 0},
        {"markdown", OPTION_MARKDOWN, NULL, 0, "a summary for a pull request", 0},
        {"junit", OPTION_JUNIT, NULL, 0, "JUnit XML", 0},
        {"github", OPTION_GITHUB, NULL, 0, "annotations of a GitHub workflow", 0},
        {0},
    };
    static const struct argp parser = {
        options,
        parse_option,
        "BASE NEW...\n--beside BASE_PROGRAM [NEW_PROGRAM] [-- OPTION...]",
        "Compares records, kernel by kernel and cell by cell, with the machine's own changes taken "
        "out.\vExit "
        "codes: 0 nothing regressed, and it would have been seen; 1 a regression, wrong results or missing "
        "cells; 2 wrong usage or a broken record; 3 not comparable: another machine, build or schema (the "
        "message names the field); 4 cannot tell: the smallest slowdown of some kernel that could have been "
        "seen exceeds --must-see.",
        NULL,
        NULL,
        NULL};
    struct request request = {
        .settings = {.metric = ULB_METRIC_EFFICIENCY, .threshold = NAN, .must_see = NAN},
        .max_minutes = 10,
        .err = err};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &request, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (request.order == ULB_ORDER_SHARE &&
        (request.beside || request.settings.metric != ULB_METRIC_EFFICIENCY))
        return ulb_fail(err, ULB_BAD_INPUT, "--sort share goes with --metric efficiency, which is a share");
    if (request.beside)
        return beside(&request, err);
    if (request.base_libraries || request.max_minutes_given)
        return ulb_fail(err, ULB_BAD_INPUT, "--base-library and --max-minutes go with --beside");
    if (isnan(request.settings.must_see))
        request.settings.must_see = ULB_MUST_SEE;
    if (request.records.n < 2)
        return ulb_fail(err, ULB_BAD_INPUT, "name two records: ulb-bench compare BASE NEW");
    if (request.libraries && !request.confirm)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "--kernel-library has no effect without --confirm or --beside, which alone run kernels; leave it "
            "out");
    if (request.confirm)
        status = ulb_compare_can_confirm(&request.settings, err);
    return status == ULB_OK ? compare(&request, err) : status;
}

const struct ulb_command ulb_command_compare = {"compare", "what became slower from one record to the next",
                                                run};
