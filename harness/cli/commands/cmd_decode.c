/* ulb-bench decode: a whole model, token by token. */
#include "harness/cli/commands/decode_import.h"
#include "harness/cli/commands/decode_merge.h"
#include "harness/cli/commands/decode_print.h"
#include "harness/cli/commands/decode_published.h"
#include "harness/cli/commands/decode_sets.h"
#include "harness/cli/measure_options.h"
#include "harness/cli/option.h"
#include "harness/cli/terminal.h"
#include "harness/decode/measure_decode.h"
#include "harness/session/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char doc[] = "Decodes with synthetic weights: the complete step of a model from a token to the "
                          "next, on the suite's own "
                          "kernels and threads. For each weight format: tokens per second, where the time of "
                          "a token goes, and beside "
                          "them Amdahl's bound from the 16-bit run and the roofline of the bandwidth.\vThe "
                          "matrices of the blocks come "
                          "in each format, head and router in bf16. "
                          "Exit code 1 when a kernel or "
                          "the whole step differs from its scalar reference.";

enum {
    OPTION_TOKENS = 0x200,
    OPTION_CONTEXT,
    OPTION_PROMPT,
    OPTION_UBATCH,
    OPTION_BATCH,
    OPTION_KV_TYPE,
    OPTION_LAYERS,
    OPTION_MODEL,
    OPTION_SHARES,
    OPTION_OLD_FORMATS, /* --weights */
    OPTION_OLD_SHARES,  /* --split-weights */
    OPTION_SLOW,
    OPTION_ENERGY_ROOT,
    OPTION_IMPORT,
    TOKENS_MAX = 65536,
    POSITIONS_MAX = 1 << 20,
    UBATCH_MAX = 8192,
    BATCH_MAX = 1024,
    LAYERS_MAX = 10000,
    THREADS_MAX = 1024,
    IMPORTS_MAX = 64,
    TIMES_MAX = 1000
};

struct options {
    struct ulb_measure_options measure;
    struct ulb_decode_settings decode;
    const char *threads;
    bool old_formats, old_shares;     /* the option was given by its old name */
    const char *imports[IMPORTS_MAX]; /* files of llama-bench */
    size_t n_imports;
    struct ulb_decode_merging merge; /* of what --record names */
    double rates[THREADS_MAX];
    struct ulb_llama_runs imported;
    char path[4128];                  /* of the record; "" when none is written */
    bool written;                     /* it is there */
    const struct ulb_record *earlier; /* runs of the sets before this one; NULL: none */
};

static error_t parse_count(const struct options *o, const char *option, const char *text, uint64_t least,
                           uint64_t most, size_t *value)
{
    char wanted[64];
    uint64_t count;
    if (ulb_read_count(text, least, most, &count)) {
        *value = (size_t)count;
        return 0;
    }
    snprintf(wanted, sizeof wanted, "must be %llu to %llu", (unsigned long long)least,
             (unsigned long long)most);
    return ulb_refuse_option(o->measure.err, option, text, wanted);
}

/* Numbers of tokens by comma, in any order. */
static error_t parse_sizes(const struct options *o, const char *option, const char *text, uint64_t most,
                           struct ulb_sizes *sizes)
{
    const char *at = text;
    char wanted[96];
    *sizes = (struct ulb_sizes){0};
    snprintf(wanted, sizeof wanted, "must be up to %d numbers from 1 to %llu, each once, as in 1,8,64",
             ULB_SIZES, (unsigned long long)most);
    for (bool more = true; more;) {
        uint64_t count;
        size_t i = sizes->n;
        if (i == ULB_SIZES || !ulb_take_count(&at, 1, most, &count) || (*at != ',' && *at != '\0'))
            return ulb_refuse_option(o->measure.err, option, text, wanted);
        for (; i > 0 && sizes->items[i - 1] > count; i--)
            sizes->items[i] = sizes->items[i - 1];
        if (i > 0 && sizes->items[i - 1] == count)
            return ulb_refuse_option(o->measure.err, option, text, wanted);
        sizes->items[i] = (size_t)count;
        sizes->n++;
        more = *at++ == ',';
    }
    return 0;
}

static error_t parse_layers(struct options *o, const char *text)
{
    uint64_t count = ULB_LAYERS_AUTO;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "must be auto, all or 1 to %d", LAYERS_MAX);
    if (strcmp(text, "all") == 0)
        count = SIZE_MAX;
    else if (strcmp(text, "auto") != 0 && !ulb_read_count(text, 1, LAYERS_MAX, &count))
        return ulb_refuse_option(o->measure.err, "layers", text, wanted);
    o->decode.layers = (size_t)count;
    return 0;
}

static error_t parse_slow(struct options *o, const char *text)
{
    const char *at = text;
    uint64_t thread, times;
    if (!ulb_take_count(&at, 0, THREADS_MAX, &thread) || *at++ != ':' ||
        !ulb_read_count(at, 1, TIMES_MAX, &times))
        return ulb_refuse_option(o->measure.err, "slow-thread", text, "must be THREAD:TIMES, e.g. 1:3");
    o->decode.slow_thread = (size_t)thread;
    o->decode.slow_times = (size_t)times;
    return 0;
}

static error_t parse_rates(struct options *o, const char *text)
{
    const char *at = text;
    size_t n = 0;
    for (; n < THREADS_MAX; n++) {
        char *end;
        o->rates[n] = strtod(at, &end);
        if (end == at || !(o->rates[n] > 0 && o->rates[n] < 1e9))
            break;
        at = end;
        if (*at++ != ',') {
            o->decode.rates = o->rates;
            o->decode.n_rates = n + 1;
            return at[-1] == '\0' ? 0
                                  : ulb_refuse_option(o->measure.err, "split-shares", text,
                                                      "must be positive numbers, e.g. 3,1");
        }
    }
    return ulb_refuse_option(o->measure.err, "split-shares", text, "must be positive numbers, e.g. 3,1");
}

static error_t parse_import(struct options *o, const char *text)
{
    char wanted[64];
    for (size_t i = 0; i < o->n_imports; i++) {
        if (strcmp(o->imports[i], text) == 0)
            return ulb_refuse_option(o->measure.err, "import", text, "is named twice");
    }
    snprintf(wanted, sizeof wanted, "is one file too many: %d at most", IMPORTS_MAX);
    if (o->n_imports == IMPORTS_MAX)
        return ulb_refuse_option(o->measure.err, "import", text, wanted);
    o->imports[o->n_imports++] = text;
    return 0;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->measure;
        return 0;
    case OPTION_MODEL:
        o->decode.model = text;
        return 0;
    case 'f':
    case OPTION_OLD_FORMATS:
        o->old_formats |= key == OPTION_OLD_FORMATS;
        o->decode.formats = ulb_lower(text);
        return 0;
    case 't':
        o->threads = text;
        return 0;
    case 'r':
        o->merge.path = text;
        return 0;
    case OPTION_TOKENS:
        return parse_count(o, "tokens", text, 1, TOKENS_MAX, &o->decode.tokens);
    case OPTION_CONTEXT:
        return parse_count(o, "context", text, 0, POSITIONS_MAX, &o->decode.context);
    case OPTION_PROMPT:
        return parse_sizes(o, "prompt", text, POSITIONS_MAX, &o->decode.prompts);
    case OPTION_BATCH:
        return parse_sizes(o, "batch", text, BATCH_MAX, &o->decode.batches);
    case OPTION_UBATCH:
        return parse_count(o, "ubatch", text, 1, UBATCH_MAX, &o->decode.ubatch);
    case OPTION_KV_TYPE:
        return ulb_kv_type_parse(text, &o->decode.kv_type)
                   ? 0
                   : ulb_refuse_option(o->measure.err, "kv-type", text, "must be bf16, q8_0, q4_0 or fp32");
    case OPTION_LAYERS:
        return parse_layers(o, text);
    case OPTION_SHARES:
    case OPTION_OLD_SHARES:
        o->old_shares |= key == OPTION_OLD_SHARES;
        return parse_rates(o, text);
    case OPTION_SLOW:
        return parse_slow(o, text);
    case OPTION_ENERGY_ROOT:
        o->decode.energy_root = text;
        return 0;
    case OPTION_IMPORT:
        return parse_import(o, text);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option argp_options[] = {
    {"model", OPTION_MODEL, "MODEL|FILE", 0,
     "the model to decode: a name, config.json or GGUF file (default: falcon3-1b)", 0},
    {"formats", 'f', "FORMAT,...", 0, "formats of the blocks' matrices (default: bf16,int8,int4,int2,int1)",
     0},
    {"weights", OPTION_OLD_FORMATS, "FORMAT,...", OPTION_HIDDEN, NULL, 0},
    {"tokens", OPTION_TOKENS, "N", 0, "tokens to decode (default: 128; quick: 24)", 0},
    {"context", OPTION_CONTEXT, "N", 0, "tokens already in the KV cache (default: 0)", 0},
    {"prompt", OPTION_PROMPT, "N,...", 0,
     "prefill N of the context's tokens in batches and report the time to the first token; of several N the "
     "largest, and the time of each",
     0},
    {"ubatch", OPTION_UBATCH, "N", 0, "tokens of one step of the prompt (default: 512)", 0},
    {"batch", OPTION_BATCH, "N,...", 0,
     "decode N sequences together, each with a cache of its own; of several N one after the other (default: "
     "1)",
     0},
    {"kv-type", OPTION_KV_TYPE, "bf16|q8_0|q4_0|fp32", 0,
     "format of keys and values in the KV cache (default: bf16; fp32 is the reference)", 0},
    {"threads", 't', "SET|each", 0,
     "cores, as for --set; each: one core, two cores, each class and all, one after the other", 0},
    {"layers", OPTION_LAYERS, "auto|all|N", 0,
     "auto (the default): as many as fit into memory, the rest extrapolated", 0},
    {"record", 'r', "RECORD", 0, "put the runs into this record of 'ulb-bench run', replacing those it has",
     0},
    {"split-shares", OPTION_SHARES, "SHARE,...", 0,
     "relative shares of the threads in the weighted split (default: what their cores get done)", 0},
    {"split-weights", OPTION_OLD_SHARES, "SHARE,...", OPTION_HIDDEN, NULL, 0},
    {"slow-thread", OPTION_SLOW, "T:K", OPTION_HIDDEN,
     "for tests of the splits: thread T runs each of its tiles K times, like a slow core", 0},
    {"energy-root", OPTION_ENERGY_ROOT, "DIR", OPTION_HIDDEN,
     "for tests of the energy: a folder with sys/class/powercap, in place of this machine's", 0},
    {"import", OPTION_IMPORT, "FILE", 0,
     "set the runs that llama-bench wrote with -o json or -o jsonl beside ours and the bounds; -: from "
     "standard input; as often as there are files",
     0},
    {0},
};

/* Dynamic unless --split says otherwise: many short products have a join after each, so that what disturbs
 * one core is then shared by all. Rates alone choose the weighted split. */
static void default_split(struct options *o)
{
    struct ulb_settings *settings = &o->measure.settings;
    if (settings->n_splits == 0)
        settings->splits[settings->n_splits++] =
            o->decode.n_rates > 0 ? ULB_SPLIT_WEIGHTED : ULB_SPLIT_DYNAMIC;
}

static enum ulb_status check_options(const struct options *o, struct ulb_error *err)
{
    const struct ulb_settings *settings = &o->measure.settings;
    if (settings->models || settings->shapes)
        return ulb_fail(err, ULB_BAD_INPUT, "decode takes one model with --model NAME");
    if (settings->warm)
        return ulb_fail(err, ULB_BAD_INPUT, "decode has no --warm: a token reads all weights once");
    size_t prompt = ulb_largest_size(&o->decode.prompts);
    if (o->decode.context > 0 && prompt > o->decode.context)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--prompt %zu is more than --context %zu, whose positions it computes", prompt,
                        o->decode.context);
    if (o->decode.ubatch > 0 && prompt == 0)
        return ulb_fail(err, ULB_BAD_INPUT, "--ubatch is for the prompt, which --prompt N asks for");
    if (o->decode.batches.n > 0 && prompt > 0)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "--prompt is of one sequence, and --batch of several: fill their caches with --context N");
    if (o->decode.n_rates > 0 && !ulb_takes_split(settings, ULB_SPLIT_WEIGHTED))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--split-shares is for the weighted split, which --split does not name");
    enum ulb_status status = ulb_refuse_device(&o->measure, err);
    return status == ULB_OK ? ulb_refuse_platform(&o->measure, err) : status;
}

/* Into the record that --record names, and into a file of its own. */
static enum ulb_status store_record(struct options *o, const struct ulb_record *record, bool complete,
                                    struct ulb_error *err)
{
    enum ulb_status status = o->merge.path ? ulb_decode_merge(&o->merge, record, complete, err) : ULB_OK;
    if (status != ULB_OK || !o->path[0])
        return status;
    status = o->written ? ulb_record_write(record, o->path, err)
                        : ulb_record_write_new(record, o->path, sizeof o->path, err);
    o->written = o->written || status == ULB_OK;
    return status;
}

static enum ulb_status write_record(struct options *o, const struct ulb_record *record, bool complete,
                                    struct ulb_error *err)
{
    enum ulb_status status = store_record(o, record, complete, err);
    if (status == ULB_OK && o->merge.path)
        fprintf(stderr, "record: %s\n", o->merge.path);
    if (status == ULB_OK && o->path[0])
        fprintf(stderr, "record: %s\n", o->path);
    return status;
}

static enum ulb_status show(const struct options *o, const struct ulb_record *record, struct ulb_error *err)
{
    if (o->measure.json)
        return ulb_print_json(json_incref(json_object_get(record->root, "decode")), err);
    enum ulb_status status = ulb_print_decode(record, stdout, err);
    if (status != ULB_OK)
        return status;
    ulb_print_published(record, stdout);
    ulb_print_imported(record, stdout);
    return ULB_OK;
}

static enum ulb_status import(struct options *o, const char *path, struct ulb_error *err)
{
    struct ulb_llama_runs *runs = &o->imported;
    const size_t left = runs->prompts + runs->mixed, cut = runs->cut;
    enum ulb_status status = ulb_llama_bench_read(path, runs, err);
    if (status != ULB_OK)
        return status;
    const size_t now = runs->prompts + runs->mixed - left;
    if (now > 0)
        ulb_print_note("--import: %zu %s with a prompt left out", now, now == 1 ? "run" : "runs");
    if (runs->cut > cut)
        ulb_print_note("--import: a file ends inside a run, which is left out");
    return ULB_OK;
}

/* Before anything is measured: files that cannot be read, a folder that cannot be written. */
static enum ulb_status check_files(struct options *o, struct ulb_error *err)
{
    enum ulb_status status = o->measure.out ? ulb_make_folder(o->measure.out, "out", err) : ULB_OK;
    if (o->measure.out) {
        char stem[4096];
        ulb_output_stem(o->measure.out, "decode", stem, sizeof stem);
        snprintf(o->path, sizeof o->path, "%s.json", stem);
    }
    for (size_t i = 0; i < o->n_imports && status == ULB_OK; i++)
        status = import(o, o->imports[i], err);
    if (status != ULB_OK || !o->merge.path)
        return status;
    o->decode.into = &o->merge.before;
    status = ulb_record_read(&o->merge.before, o->merge.path, err);
    return status == ULB_OK ? ulb_checkpoint_refuse_unfinished(o->merge.path, err) : status;
}

/* Adds the runs and the warnings of another record. */
static enum ulb_status add_runs(struct ulb_record *record, const struct ulb_record *more,
                                struct ulb_error *err)
{
    const json_t *from = json_object_get(json_object_get(more->root, "decode"), "runs");
    json_t *to = json_object_get(json_object_get(record->root, "decode"), "runs");
    int failed =
        from ? json_array_extend(to, json_object_get(json_object_get(more->root, "decode"), "runs")) : 0;
    failed |=
        json_array_extend(json_object_get(record->root, "warnings"), json_object_get(more->root, "warnings"));
    return failed ? ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record") : ULB_OK;
}

/* The runs so far go to disk after each of them, so that a process that is killed loses the one at work. */
static enum ulb_status keep_runs(void *context, const struct ulb_record *record, struct ulb_error *err)
{
    struct options *o = context;
    struct ulb_record copy = {json_deep_copy(o->earlier ? o->earlier->root : record->root)};
    enum ulb_status status =
        copy.root ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    if (status == ULB_OK && o->earlier)
        status = add_runs(&copy, record, err);
    if (status == ULB_OK)
        status = ulb_record_warn(&copy, err, "unfinished: more runs were to come");
    if (status == ULB_OK)
        status = store_record(o, &copy, false, err);
    ulb_record_free(&copy);
    return status;
}

/* One set after the other, all into one record. */
static enum ulb_status measure_each(struct options *o, struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_decode_sets sets;
    enum ulb_status status = ulb_decode_list_sets(&sets, err);
    for (size_t i = 0; i < sets.n && status == ULB_OK; i++) {
        struct ulb_record next;
        o->measure.settings.set = sets.names[i];
        o->earlier = i == 0 ? NULL : record;
        status = ulb_measure_run(&o->measure, ULB_STAGE_DECODE, i == 0 ? record : &next, err);
        if (i == 0)
            continue;
        struct ulb_error unmade;
        if (next.root && add_runs(record, &next, &unmade) != ULB_OK && status == ULB_OK) {
            *err = unmade;
            status = ULB_ENVIRONMENT;
        }
        ulb_record_free(&next);
    }
    return status;
}

/* A run that ended before its first format was measured. */
static void show_nothing(void)
{
    struct ulb_error unshown;
    ulb_print_json(json_pack("{s:[]}", "runs"), &unshown);
}

/* Keeps and prints what was measured. An error of this is reported if the measurement had none. */
static enum ulb_status keep_and_show(struct options *o, struct ulb_record *record, enum ulb_status status,
                                     struct ulb_error *err)
{
    struct ulb_error unwritten, unshown;
    ulb_print_warnings(record);
    enum ulb_status written = ulb_decode_published(record, &unwritten);
    if (written == ULB_OK && o->n_imports > 0)
        written = ulb_decode_import(record, &o->imported, o->decode.model, &unwritten);
    if (status == ULB_INTERRUPTED && written == ULB_OK)
        written = ulb_record_warn(record, &unwritten, "interrupted: more runs were to come");
    if (written == ULB_OK)
        written = write_record(o, record, status == ULB_OK, &unwritten);
    if (show(o, record, &unshown) != ULB_OK && written == ULB_OK) {
        unwritten = unshown;
        written = ULB_ENVIRONMENT;
    }
    if (status != ULB_OK || written == ULB_OK)
        return status;
    *err = unwritten;
    return written;
}

static enum ulb_status measure(struct options *o, struct ulb_error *err)
{
    struct ulb_record record = {NULL};
    const char *set = o->measure.settings.set;
    o->measure.settings.decode = &o->decode;
    o->decode.done = keep_runs;
    o->decode.done_context = o;
    enum ulb_status status = check_files(o, err);
    if (status == ULB_OK && set && strcmp(set, "each") == 0)
        status = measure_each(o, &record, err);
    else if (status == ULB_OK)
        status = ulb_measure_run(&o->measure, ULB_STAGE_DECODE, &record, err);
    if (record.root && json_is_object(json_object_get(record.root, "decode")))
        status = keep_and_show(o, &record, status, err);
    else if (record.root && status == ULB_INTERRUPTED && o->measure.json)
        show_nothing();
    ulb_record_free(&record);
    ulb_record_free(&o->merge.before);
    json_decref(o->merge.warned);
    ulb_llama_bench_free(&o->imported);
    return status;
}

static void note_old_names(const struct options *o)
{
    if (o->old_formats)
        ulb_print_note("--weights is an old name of --formats");
    if (o->old_shares)
        ulb_print_note("--split-weights is an old name of --split-shares");
}

/* --threads is another name of --set. */
static enum ulb_status take_threads(struct options *o, struct ulb_error *err)
{
    if (o->threads && o->measure.settings.set)
        return ulb_fail(err, ULB_BAD_INPUT, "--threads and --set both name cores: leave one out");
    if (o->threads)
        o->measure.settings.set = o->threads;
    return ULB_OK;
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    const struct argp_child children[] = {{ulb_measure_argp(ULB_FOR_DECODE), 0, NULL, 0}, {0}};
    const struct argp parser = {argp_options, parse_option, NULL, doc, children, NULL, NULL};
    struct options options = {.decode = {.model = "falcon3-1b", .formats = "bf16,int8,int4,int2,int1"}};
    bool done;
    ulb_measure_defaults(&options.measure, err);
    options.measure.out = NULL;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    note_old_names(&options);
    if (status == ULB_OK)
        status = take_threads(&options, err);
    default_split(&options);
    if (status == ULB_OK && !done)
        status = check_options(&options, err);
    return status == ULB_OK && !done ? measure(&options, err) : status;
}

const struct ulb_command ulb_command_decode = {
    "decode", "a whole model token by token, beside Amdahl's bound and the roofline", run};
