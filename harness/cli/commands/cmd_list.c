/* ulb-bench list WHAT: the tables that the suite is made of. */
#include "harness/cli/cli.h"
#include "harness/cli/guests.h"
#include "harness/cli/option.h"
#include "common/filter.h"
#include "harness/cli/table.h"
#include "harness/cli/terminal.h"
#include "harness/opencl/devices.h"
#include "common/isa.h"
#include "common/units.h"
#include "models/platform/cores.h"
#include "models/platform/platform.h"
#include "harness/session/selection.h"
#include "kernels/kernel.h"
#include "plots/draw/figure.h"
#include "shapes/model.h"

#include <argp.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *what;
    const char *kernels;
    ulb_isa_set isa_mask;
    bool only_kernels;     /* an option was given that has a meaning for kernels alone */
    const char *libraries; /* which have a meaning for kernels and their formats */
    bool json;
    struct ulb_error *err;
};

enum { OPTION_LIBRARY = 256, OPTION_ISA_MASK };

/* One thing that can be listed. rows builds the array that both outputs are made from. */
struct part {
    const char *name;
    enum ulb_status (*rows)(const struct options *options, json_t *rows, struct ulb_error *err);
    struct ulb_column columns[8];
    size_t n_columns;
};

static json_t *bit_names(ulb_isa_set set)
{
    json_t *names = json_array();
    for (unsigned bit = 0; bit < 64; bit++) {
        char name[32];
        if (set >> bit & 1)
            json_array_append_new(names,
                                  json_string(ulb_isa_names((ulb_isa_set)1 << bit, name, sizeof name)));
    }
    return names;
}

/* Adds the columns of the table that JSON says with more than one key. */
static void describe_kernel(json_t *row, const struct ulb_kernel *kernel, ulb_isa_set missing)
{
    char text[64] = "yes", first[32];
    int others = __builtin_popcountll(missing) - 1;
    ulb_isa_names(missing & -missing, first, sizeof first);
    if (others == 0)
        snprintf(text, sizeof text, "lacks %s", first);
    else if (others > 0)
        snprintf(text, sizeof text, "lacks %s + %d", first, others);
    json_object_set_new(row, "here", json_string(text));
    snprintf(text, sizeof text, "%.0e", kernel->tolerance);
    json_object_set_new(row, "verified", json_string(kernel->tolerance > 0 ? text : "exact"));
}

static json_t *kernel_row(const struct ulb_kernel *kernel, ulb_isa_set isa)
{
    char name[ULB_KERNEL_NAME_MAX];
    ulb_isa_set missing = kernel->needs & ~isa;
    json_t *row = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:f, s:[iii], s:b, s:f, s:b, s:b, s:b, s:o, s:o}", "name",
        ulb_kernel_name(kernel, name), "format", kernel->layout->format->name, "isa", kernel->isa, "variant",
        kernel->variant, "layout", kernel->layout->name, "bytes_per_step", kernel->bytes_per_step, "tile",
        (int)kernel->mr, (int)kernel->nr, (int)kernel->kr, "exact", !(kernel->tolerance > 0), "tolerance",
        kernel->tolerance, "prefetch_choice", kernel->prefetch.kind != ULB_PREFETCH_FIXED, "built", 1,
        "runs_here", !missing, "needs", bit_names(kernel->needs), "missing", bit_names(missing));
    json_object_set_new(row, "prefetch_tokens",
                        kernel->prefetch.max_n ? json_integer((json_int_t)kernel->prefetch.max_n)
                                               : json_null());
    describe_kernel(row, kernel, missing);
    return row;
}

/* A kernel that was not compiled is known by its file and ISA: its object alone knows its name. The table
 * shows text in the place of the name. */
static json_t *left_out_row(const struct ulb_left_out *kernel, const char *text, bool json)
{
    return json_pack("{s:o, s:s, s:b, s:b, s:s, s:s, s:i, s:s}", "name",
                     json ? json_null() : json_string(text), "name_reason", ulb_left_out_hint() + 2, "built",
                     0, "runs_here", 0, "source", kernel->file, "isa", kernel->isa, "group",
                     (int)kernel->group, "here", "not built");
}

/* Adds those that the build leaves out and whose text, file and ISA, matches. */
static enum ulb_status list_left_out(const struct options *options, const regex_t *filter, json_t *rows,
                                     struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < ulb_left_out_count && status == ULB_OK; i++) {
        const struct ulb_left_out *kernel = &ulb_left_out[i];
        char text[128], group[16] = "";
        bool matches;
        if (kernel->group)
            snprintf(group, sizeof group, " g%u", kernel->group);
        snprintf(text, sizeof text, "%s %s%s", kernel->file, kernel->isa, group);
        status = ulb_filter_match(filter, text, &matches, err);
        if (status == ULB_OK && matches)
            json_array_append_new(rows, left_out_row(kernel, text, options->json));
    }
    return status;
}

static enum ulb_status list_kernels(const struct options *options, json_t *rows, struct ulb_error *err)
{
    static const char all[] = ".";
    regex_t filter;
    enum ulb_status status =
        ulb_filter_compile(&filter, "--kernels", options->kernels ? options->kernels : all, err);
    if (status != ULB_OK)
        return status;
    ulb_isa_set isa = ulb_isa_detect() & ~options->isa_mask;
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        char name[ULB_KERNEL_NAME_MAX];
        bool matches;
        status = ulb_filter_match(&filter, ulb_kernel_name(ulb_kernels[i], name), &matches, err);
        if (matches)
            json_array_append_new(rows, kernel_row(ulb_kernels[i], isa));
    }
    if (status == ULB_OK)
        status = list_left_out(options, &filter, rows, err);
    regfree(&filter);
    if (status != ULB_OK)
        return status;
    if (json_array_size(rows) == 0)
        return ulb_refuse_kernel_filter(options->kernels, NULL, err);
    return ULB_OK;
}

/* Formats are those that a kernel reads, in the order of the table. */
static enum ulb_status list_formats(const struct options *options, json_t *rows, struct ulb_error *err)
{
    (void)options;
    (void)err;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_format *format = ulb_kernels[i]->layout->format;
        int kernels = 0;
        if (!ulb_kernel_begins_format(i))
            continue;
        for (size_t j = i; j < ulb_kernel_count; j++)
            kernels += ulb_kernels[j]->layout->format == format;
        json_t *row = json_pack("{s:s, s:f, s:f, s:s, s:b, s:i}", "name", format->name, "bits", format->bits,
                                "bytes_per_step", ulb_kernels[i]->bytes_per_step, "summary", format->summary,
                                "floating", format->floating, "kernels", kernels);
        json_object_set_new(row, "min", format->floating ? json_null() : json_integer(format->min));
        json_object_set_new(row, "max", format->floating ? json_null() : json_integer(format->max));
        if (format->floating) {
            json_object_set_new(row, "min_reason", json_string("floating format"));
            json_object_set_new(row, "max_reason", json_string("floating format"));
        }
        json_array_append_new(rows, row);
    }
    return ULB_OK;
}

static enum ulb_status list_models(const struct options *options, json_t *rows, struct ulb_error *err)
{
    (void)options;
    for (size_t i = 0; i < ulb_model_count; i++) {
        const struct ulb_model *model = &ulb_models[i];
        struct ulb_shape_list shapes;
        enum ulb_status status = ulb_model_shapes(model, ULB_FORM_FUSED, &shapes, err);
        if (status != ULB_OK)
            return status;
        double parameters = ulb_model_parameters(model, &shapes);
        free(shapes.items);
        json_t *row =
            json_pack("{s:s, s:s, s:i, s:i, s:b, s:I, s:s}", "name", model->name, "title", model->title,
                      "layers", (int)model->layers, "hidden", (int)model->hidden, "tied_head",
                      model->tied_head, "params", (json_int_t)parameters, "source", model->source);
        json_object_set_new(row, "vocab", model->vocab ? json_integer(model->vocab) : json_null());
        if (!model->vocab)
            json_object_set_new(row, "vocab_reason", json_string("not published"));
        json_object_set_new(row, "params_b", json_real(parameters / 1e9));
        json_array_append_new(rows, row);
    }
    return ULB_OK;
}

static enum ulb_status list_shapes(const struct options *options, json_t *rows, struct ulb_error *err)
{
    (void)options;
    for (size_t i = 0; i < ulb_model_count; i++) {
        const struct ulb_model *model = &ulb_models[i];
        struct ulb_shape_list shapes;
        enum ulb_status status = ulb_model_shapes(model, ULB_FORM_FUSED, &shapes, err);
        if (status != ULB_OK)
            return status;
        for (size_t s = 0; s < shapes.n; s++) {
            const struct ulb_layer_shape *shape = &shapes.items[s];
            json_array_append_new(rows, json_pack("{s:s, s:s, s:I, s:I, s:i, s:i}", "model", model->name,
                                                  "layer", shape->layer, "m", (json_int_t)shape->m, "k",
                                                  (json_int_t)shape->k, "count", (int)shape->count, "active",
                                                  (int)shape->active));
        }
        free(shapes.items);
    }
    return ULB_OK;
}

static void describe_platform(json_t *row, const struct ulb_platform *platform)
{
    char cores[96] = "";
    for (size_t c = 0; c < platform->n_classes; c++) {
        const struct ulb_platform_class *class = &platform->classes[c];
        size_t used = strlen(cores);
        snprintf(cores + used, sizeof cores - used, "%s%u %s %.1f GHz", c ? " + " : "", class->cores,
                 class->name, class->hz / 1e9);
    }
    json_object_set_new(row, "cores", json_string(cores));
    json_object_set_new(row, "bandwidth_gibps", json_real(platform->bandwidth / ULB_GIB));
}

static enum ulb_status list_platforms(const struct options *options, json_t *rows, struct ulb_error *err)
{
    (void)options;
    for (size_t i = 0; ulb_platform_builtin(i); i++) {
        struct ulb_platform platform;
        enum ulb_status status = ulb_platform_load(ulb_platform_builtin(i), &platform, err);
        if (status != ULB_OK)
            return status;
        json_t *row = ulb_platform_json(&platform);
        describe_platform(row, &platform);
        json_array_append_new(rows, row);
    }
    return ULB_OK;
}

static enum ulb_status list_cores(const struct options *options, json_t *rows, struct ulb_error *err)
{
    struct ulb_core_list cores;
    (void)options;
    enum ulb_status status = ulb_core_list_load(&cores, err);
    for (size_t i = 0; i < cores.n && status == ULB_OK; i++)
        json_array_append_new(rows, ulb_core_json(&cores.items[i]));
    ulb_core_list_free(&cores);
    return status;
}

static enum ulb_status list_counters(const struct options *options, json_t *rows, struct ulb_error *err)
{
    static const char *const counters[][2] = {
        {"papi", "core cycles through the PAPI library, where the build has it"},
        {"perf", "core cycles through perf_event_open and the PMU of the core's class"},
        {"likwid", "the marker API: regions that likwid-perfctr -m counts"},
        {"chain", "time in units of dependent adds, one a core cycle: needs no permission"},
        {"tsc", "ticks of the time-stamp counter, which are not core cycles: the last resort"},
    };
    (void)options;
    (void)err;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        json_array_append_new(rows,
                              json_pack("{s:s, s:s}", "name", counters[i][0], "summary", counters[i][1]));
    return ULB_OK;
}

/* Columns of the table that JSON says otherwise. */
static void describe_device(json_t *row)
{
    char lanes[64] = "";
    size_t i;
    const json_t *width, *widths = json_object_get(row, "lanes");
    json_array_foreach(widths, i, width)
    {
        size_t used = strlen(lanes);
        snprintf(lanes + used, sizeof lanes - used, "%s%lld", i ? "," : "", json_integer_value(width));
    }
    if (i > 0)
        json_object_set_new(row, "lanes", json_string(lanes));
    const json_t *bytes = json_object_get(row, "memory_bytes");
    if (json_is_number(bytes))
        json_object_set_new(row, "memory_gib", json_real(json_number_value(bytes) / ULB_GIB));
}

static enum ulb_status list_devices(const struct options *options, json_t *rows, struct ulb_error *err)
{
    size_t i;
    json_t *notes = json_array(), *row;
    enum ulb_status status = ulb_devices_list(rows, notes, err);
    json_array_foreach(notes, i, row)
    {
        if (status == ULB_OK)
            ulb_print_note("%s", json_string_value(row));
    }
    json_array_foreach(rows, i, row)
    {
        if (!options->json)
            describe_device(row);
    }
    json_decref(notes);
    return status;
}

/* A figure without a number has no counterpart in the paper. */
static enum ulb_status list_figures(const struct options *options, json_t *rows, struct ulb_error *err)
{
    (void)options;
    (void)err;
    for (size_t i = 0; i < ulb_figure_count; i++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:s}", "name", ulb_figures[i].name, "paper_figure",
                                              ulb_figures[i].paper, "summary", ulb_figures[i].summary));
    return ULB_OK;
}

static const struct part parts[] = {
    {"kernels",
     list_kernels,
     {{"name", "kernel", 0},
      {"layout", "layout", 0},
      {"bytes_per_step", "B", 2},
      {"verified", "verified", 0},
      {"here", "runs here", 0}},
     5},
    {"formats",
     list_formats,
     {{"name", "format", 0},
      {"bits", "bits", 3},
      {"bytes_per_step", "B", 2},
      {"min", "min", 0},
      {"max", "max", 0},
      {"kernels", "kernels", 0},
      {"summary", "what", 0}},
     7},
    {"models",
     list_models,
     {{"name", "model", 0},
      {"layers", "layers", 0},
      {"hidden", "hidden", 0},
      {"vocab", "vocab", 0},
      {"tied_head", "tied", 0},
      {"params_b", "1e9 params", 3},
      {"source", "source", 0}},
     7},
    {"shapes",
     list_shapes,
     {{"model", "model", 0},
      {"layer", "layer", 0},
      {"m", "M", 0},
      {"k", "K", 0},
      {"count", "count", 0},
      {"active", "active", 0}},
     6},
    {"platforms",
     list_platforms,
     {{"name", "platform", 0}, {"title", "what", 0}, {"cores", "cores", 0}, {"bandwidth_gibps", "GiB/s", 0}},
     4},
    {"cores",
     list_cores,
     {{"name", "core", 0},
      {"chips", "found in", 0},
      {"issue_width", "uops/cycle", 0},
      {"pipes_inferred", "inferred", 0}},
     4},
    {"counters", list_counters, {{"name", "counter", 0}, {"summary", "what", 0}}, 2},
    {"devices",
     list_devices,
     {{"id", "device", 0},
      {"units", "units", 0},
      {"memory_gib", "GiB", 1},
      {"lanes", "lanes", 0},
      {"matrix", "matrix", 0},
      {"driver", "driver", 0},
      {"name", "name", 0}},
     7},
    {"figures",
     list_figures,
     {{"name", "figure", 0}, {"paper_figure", "paper's", 0}, {"summary", "what it shows", 0}},
     3},
};
enum { N_PARTS = sizeof parts / sizeof *parts };

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'j':
        options->json = true;
        return 0;
    case 'k':
        options->kernels = ulb_current_kernels(argument);
        options->only_kernels = true;
        return 0;
    case OPTION_ISA_MASK:
        options->only_kernels = true;
        return ulb_isa_parse(argument, &options->isa_mask, options->err) == ULB_OK ? 0 : EINVAL;
    case OPTION_LIBRARY:
        options->libraries = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (options->what)
            return ARGP_ERR_UNKNOWN;
        options->what = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct part *find_part(const char *name, struct ulb_error *err)
{
    char known[128] = "";
    for (size_t i = 0; i < N_PARTS; i++) {
        if (name && strcmp(parts[i].name, name) == 0)
            return &parts[i];
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", parts[i].name);
    }
    if (name)
        ulb_fail(err, ULB_BAD_INPUT, "cannot list '%.64s'; lists are %s", name, known);
    else
        ulb_fail(err, ULB_BAD_INPUT, "say what to list: %s", known);
    return NULL;
}

enum ulb_status ulb_list_rows(const char *what, struct json_t *rows, struct ulb_error *err)
{
    const struct options all = {.err = err};
    const struct part *part = find_part(what, err);
    return part ? part->rows(&all, rows, err) : ULB_BAD_INPUT;
}

static enum ulb_status print_part(const struct part *part, const struct options *options,
                                  struct ulb_error *err)
{
    json_t *rows = json_array();
    enum ulb_status status = part->rows(options, rows, err);
    if (status == ULB_OK && options->json)
        return ulb_print_json(json_pack("{s:o}", part->name, rows), err);
    if (status == ULB_OK)
        ulb_print_table(rows, part->columns, part->n_columns);
    json_decref(rows);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option argp_options[] = {
        {"json", 'j', NULL, 0, "print one JSON document", 0},
        {"kernels", 'k', "KERNEL|REGEX", 0, "only kernels whose name matches", 0},
        {"kernel-library", OPTION_LIBRARY, "LIBRARY,...", 0, "shared objects with further kernels", 0},
        {"isa-mask", OPTION_ISA_MASK, "BIT,...", 0, "act as if the CPU lacked these instruction-set bits", 0},
        {0},
    };
    static const struct argp parser = {
        argp_options,
        parse_option,
        "kernels|formats|models|shapes|platforms|cores|counters|devices|figures",
        "Lists what is built in, and the devices of this machine.",
        NULL,
        NULL,
        NULL};
    struct options options = {.err = err};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    const struct part *part = find_part(options.what, err);
    if (!part)
        return ULB_BAD_INPUT;
    if (options.only_kernels && part->rows != list_kernels)
        return ulb_fail(err, ULB_BAD_INPUT, "--kernels and --isa-mask only go with 'list kernels'");
    if (options.libraries && part->rows != list_kernels && part->rows != list_formats)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--kernel-library only goes with 'list kernels' and 'list formats'");
    if (options.libraries)
        status = ulb_guests_load(options.libraries, err);
    return status == ULB_OK ? print_part(part, &options, err) : status;
}

const struct ulb_command ulb_command_list = {
    "list", "kernels, formats, models, shapes, platforms, cores, counters, devices, figures", run};
