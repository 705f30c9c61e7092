/* ulb-bench simulate: the splits on described machines. */
#include "harness/cli/cli.h"
#include "harness/cli/option.h"
#include "harness/cli/commands/simulate_rows.h"
#include "harness/cli/table.h"
#include "harness/threads/split.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    OPTION_SHARING = 0x100,
    OPTION_TILE,
    OPTION_CHUNK,
    OPTION_TAKE,
    OPTION_FORK_JOIN,
    OPTION_SHAPES,
    OPTION_CHECK_PAPER
};

struct options {
    struct ulb_simulate_request request;
    bool json, check_paper, other; /* other: an option that --check-paper does not take */
    struct ulb_error *err;
};

static error_t parse_split(struct options *o, const char *text)
{
    return ulb_split_parse(text, &o->request.split)
               ? 0
               : ulb_refuse_option(o->err, "split", text, "must be static, dynamic or weighted");
}

static error_t parse_sharing(struct options *o, const char *text)
{
    size_t word = ulb_read_word(text, ulb_sim_sharing_names, 2);
    if (word == 2)
        return ulb_refuse_option(o->err, "sharing", text, "must be equal or fair");
    o->request.sharing = (enum ulb_sim_sharing)word;
    return 0;
}

static error_t parse_rows(struct options *o, const char *option, const char *text, size_t *rows)
{
    uint64_t count;
    if (!ulb_read_count(text, 1, 1 << 20, &count))
        return ulb_refuse_option(o->err, option, text, "must be 1 to 1048576");
    *rows = (size_t)count;
    return 0;
}

static error_t parse_time(struct options *o, const char *option, const char *text, double unit,
                          double *seconds)
{
    if (!ulb_read_number(text, 0, 1e6, seconds))
        return ulb_refuse_option(o->err, option, text, "must be 0 to 1000000");
    *seconds *= unit;
    return 0;
}

static error_t parse_text(struct options *o, int key, char *text)
{
    switch (key) {
    case 'p':
        o->request.platform = text;
        return 0;
    case 'm':
        o->request.models = text;
        return 0;
    case OPTION_SHAPES:
        o->request.shapes = text;
        return 0;
    case 'f':
        o->request.formats = ulb_lower(text);
        return 0;
    case 'S':
        return parse_split(o, text);
    case OPTION_SHARING:
        return parse_sharing(o, text);
    case OPTION_TILE:
        return parse_rows(o, "tile", text, &o->request.tile);
    case OPTION_CHUNK:
        return parse_rows(o, "chunk", text, &o->request.chunk);
    case OPTION_TAKE:
        return parse_time(o, "take-ns", text, 1e-9, &o->request.take_s);
    case OPTION_FORK_JOIN:
        return parse_time(o, "fork-join", text, 1e-6, &o->request.fork_join_s);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *o = state->input;
    if (key == 'j' || key == OPTION_CHECK_PAPER) {
        *(key == 'j' ? &o->json : &o->check_paper) = true;
        return 0;
    }
    if (argument)
        o->other = true;
    return parse_text(o, key, argument);
}

static const struct argp_option argp_options[] = {
    {"platform", 'p', "PLATFORM|FILE", 0,
     "a built-in platform or a platform file (default: all built-in ones)", 0},
    {"models", 'm', "MODEL|FILE,...", 0, "models to take shapes from: names or files", 0},
    {"shapes", OPTION_SHAPES, "MxK,...", 0, "shapes of your own", 0},
    {"formats", 'f', "FORMAT,...", 0, "weight formats of the platform's gammas", 0},
    {"split", 'S', "static|dynamic|weighted", 0, "how rows are divided among threads (default: dynamic)", 0},
    {"sharing", OPTION_SHARING, "equal|fair", 0,
     "how cores share the memory: a fixed part for each (the default), or others take what one leaves", 0},
    {"tile", OPTION_TILE, "ROWS", 0, "granularity of the split in rows (default: the kernel's tile)", 0},
    {"chunk", OPTION_CHUNK, "TILES", 0, "tiles that the dynamic split takes at least (default: 1)", 0},
    {"take-ns", OPTION_TAKE, "NS", 0, "cost of taking a piece (default: 0)", 0},
    {"fork-join", OPTION_FORK_JOIN, "US", 0, "cost of a parallel region (default: the platform's)", 0},
    {"check-paper", OPTION_CHECK_PAPER, NULL, 0,
     "compare with the published values; exit 1 if one is outside", 0},
    {"json", 'j', NULL, 0, "print one JSON document", 0},
    {0},
};

/* --- tables --- */

static void print_classes(const json_t *total)
{
    char text[512];
    size_t i, used = 0;
    const json_t *class;
    used += (size_t)snprintf(text, sizeof text,
                             "%.60s %.20s %.20s:", json_string_value(json_object_get(total, "platform")),
                             json_string_value(json_object_get(total, "format")),
                             json_string_value(json_object_get(total, "sequence")));
    json_array_foreach(json_object_get(total, "classes"), i, class)
    {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %d %.8s of %.2f GiB/s", i ? " and" : "",
                                 (int)json_integer_value(json_object_get(class, "cores")),
                                 json_string_value(json_object_get(class, "class")),
                                 json_real_value(json_object_get(class, "core_gibps")));
    }
    json_array_foreach(json_object_get(total, "idle_classes"), i, class)
    {
        used += (size_t)snprintf(text + used, sizeof text - used, "; %.8s idle, as in the platform's source",
                                 json_string_value(class));
    }
    ulb_print_wrapped(stdout, "", text);
}

static void print_text(const json_t *document)
{
    static const struct ulb_column totals[] = {
        {"platform", "platform", 0},
        {"format", "format", 0},
        {"static_gibps", "static GiB/s", 2},
        {"dynamic_gibps", "dynamic GiB/s", 2},
        {"weighted_gibps", "weighted", 2},
        {"speedup", "static/dynamic", 3},
        {"implied_speedup", "by class rates", 3},
    };
    static const struct ulb_column gemv[] = {
        {"platform", "chip", 0},
        {"model", "model", 0},
        {"layer", "layer", 0},
        {"m", "M", 0},
        {"k", "K", 0},
        {"format", "format", 0},
        {"static_us", "static", 1},
        {"dynamic_us", "dynamic", 1},
        {"weighted_us", "weighted", 1},
        {"speedup", "gain", 2},
        {"predicted_us", "total", 1},
    };
    const json_t *rows = json_object_get(document, "totals");
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row) print_classes(row);
    printf("\nLong matrices: the whole chip by split\n");
    ulb_print_table(rows, totals, sizeof totals / sizeof *totals);
    putchar('\n');
    ulb_print_wrapped_as(stdout, "",
                         "GEMVs in us; gain: static over dynamic; total: the %s split with fork/join",
                         json_string_value(json_object_get(document, "split")));
    ulb_print_table(json_object_get(document, "gemv"), gemv, sizeof gemv / sizeof *gemv);
}

static void print_paper(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"id", "id", 0},  {"quantity", "quantity", 0},   {"published", "paper", -1}, {"lo", "lo", -1},
        {"hi", "hi", -1}, {"simulated", "simulated", 3}, {"unit", "unit", 0},        {"inside", "inside", 0},
    };
    ulb_print_table(json_object_get(document, "rows"), columns, sizeof columns / sizeof *columns);
}

static enum ulb_status show(const struct options *o, json_t *document, void (*print)(const json_t *),
                            struct ulb_error *err)
{
    if (o->json)
        return ulb_print_json(document, err);
    print(document);
    json_decref(document);
    return ULB_OK;
}

static enum ulb_status check_paper(const struct options *o, struct ulb_error *err)
{
    json_t *document;
    size_t outside;
    if (o->other)
        return ulb_fail(err, ULB_BAD_INPUT, "--check-paper takes no other option than --json");
    enum ulb_status status = ulb_simulate_paper_json(&document, &outside, err);
    if (status == ULB_OK)
        status = show(o, document, print_paper, err);
    if (status == ULB_OK && outside > 0)
        status = ulb_fail(err, ULB_FINDING, "%zu published values are outside their interval", outside);
    return status;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp parser = {
        argp_options,
        parse_option,
        NULL,
        "Simulates GEMVs on described platforms: the split's own code hands rows to virtual cores, "
        "static beside dynamic beside weighted. Measures nothing.",
        NULL,
        NULL,
        NULL};
    struct options o = {.request = {.split = ULB_SPLIT_DYNAMIC, .chunk = 1, .fork_join_s = NAN}, .err = err};
    json_t *document;
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &o, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (o.check_paper)
        return check_paper(&o, err);
    if (o.request.platform && strcmp(o.request.platform, "auto") == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "the platform 'auto' is this machine: measure it with ulb-bench run");
    status = ulb_simulate_json(&o.request, &document, err);
    return status == ULB_OK ? show(&o, document, print_text, err) : status;
}

const struct ulb_command ulb_command_simulate = {
    "simulate", "static, dynamic and weighted splits on a described machine", run};
