#include "harness/cli/measure_options.h"

#include "harness/cli/guests.h"
#include "harness/cli/option.h"
#include "harness/cli/terminal.h"
#include "harness/session/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_FULL = 0x100,
    OPTION_ISA_MASK,
    OPTION_LIBRARY,
    OPTION_TIMEOUT,
    OPTION_SEED,
    OPTION_RING,
    OPTION_PROGRESS,
    OPTION_WARM,
    OPTION_AA,
    OPTION_SHAPES,
    OPTION_DEVICE,
    OPTION_RESUME,
    OPTION_TURNS
};

enum {
    GRID = ULB_FOR_RUN | ULB_FOR_GEMV | ULB_FOR_GEMM,
    ROWS = GRID | ULB_FOR_GAMMA | ULB_FOR_FORMATS | ULB_FOR_VERIFY,
    ON_DEVICE = ULB_FOR_BETA | ULB_FOR_VERIFY | ULB_FOR_GEMV | ULB_FOR_GEMM,
    ALL_FORMATS = ULB_FOR_FORMATS | ULB_FOR_VERIFY,
    TIMED = GRID | ULB_FOR_BETA | ULB_FOR_GAMMA | ULB_FOR_DECODE | ULB_FOR_FORMATS
};

/* takers: the commands that have the option; refusers: those that say what to give instead. */
static const struct {
    struct argp_option option;
    unsigned takers, refusers;
} options[] = {
    {{"platform", 'p', "auto|PLATFORM|FILE", 0,
      "auto (this machine), or a described platform to model without measuring", 0},
     ULB_FOR_RUN,
     TIMED & ~ULB_FOR_RUN},
    {{"quick", 'q', NULL, 0, "fewer samples, part of the rows of large matrices verified: about a minute", 0},
     TIMED,
     0},
    {{"full", OPTION_FULL, NULL, 0, "all samples (the default)", 0}, TIMED, 0},
    {{"models", 'm', "MODEL|FILE,...", 0,
      "models whose shapes are run: names, config.json or GGUF files (default: "
      "falcon3-1b,mobilellm-1.5b,llama3-8b)",
      0},
     GRID,
     ULB_FOR_DECODE},
    {{"shapes", OPTION_SHAPES, "MxK,...", 0, "shapes of your own, instead of the models or beside --models",
      0},
     GRID,
     ULB_FOR_DECODE},
    {{"formats", 'f', "FORMAT,...", 0,
      "weight formats, see list formats (default: bf16 and integers with a scale per row)", 0},
     ROWS & ~ALL_FORMATS,
     0},
    {{"formats", 'f', "FORMAT,...", 0, "weight formats, see list formats (default: all)", 0}, ALL_FORMATS, 0},
    {{"kernels", 'k', "KERNEL|REGEX", 0, "kernels by name", 0}, ROWS | ULB_FOR_DECODE, 0},
    {{"kernel-library", OPTION_LIBRARY, "LIBRARY,...", 0, "shared objects with further kernels", 0},
     ROWS | ULB_FOR_DECODE,
     0},
    {{"call-timeout", OPTION_TIMEOUT, "N", 0,
      "seconds that one call of a library's kernel may take (default: 1000 times the scalar kernel's), or "
      "one "
      "launch on a device (default: 60)",
      0},
     ON_DEVICE &ROWS,
     0},
    {{"call-timeout", OPTION_TIMEOUT, "N", 0,
      "seconds that one call of a library's kernel may take (default: 1000 times the scalar kernel's)", 0},
     (ROWS & ~ON_DEVICE) | ULB_FOR_DECODE,
     0},
    {{"call-timeout", OPTION_TIMEOUT, "N", 0, "seconds that one launch on a device may take (default: 60)",
      0},
     ULB_FOR_BETA,
     0},
    {{"device", OPTION_DEVICE, "cpu|opencl:P.D|NAME", 0,
      "use a device of 'ulb-bench list devices' instead of the CPU: its id, or a part of its name", 0},
     ON_DEVICE,
     ULB_FOR_GAMMA | ULB_FOR_DECODE},
    {{"set", 's', "SET", 0, "cores: P, E, LP-E, all, PUs such as 0-3,8, or several: P,LP-E", 0}, TIMED, 0},
    {{"split", 'S', "static|dynamic|weighted", 0,
      "how rows are divided among threads (default: static; dynamic if cores differ)", 0},
     GRID,
     0},
    {{"split", 'S', "static|dynamic|weighted,...", 0,
      "how rows are divided among threads (default: dynamic); several take turns at every token", 0},
     ULB_FOR_DECODE,
     0},
    {{"warm", OPTION_WARM, NULL, 0, "weights stay in cache (labelled; the default is cold)", 0},
     GRID,
     ULB_FOR_DECODE},
    {{"aa", OPTION_AA, NULL, 0,
      "measure the grid twice, set up again, for the A/A noise floor that the record keeps", 0},
     GRID,
     ULB_FOR_BETA | ULB_FOR_GAMMA | ULB_FOR_FORMATS},
    {{"isa-mask", OPTION_ISA_MASK, "BIT,...", 0, "instruction sets not to use, e.g. avx512f", 0},
     TIMED | ULB_FOR_VERIFY,
     0},
    {{"seed", OPTION_SEED, "N", 0, "seed of weights and of the order of cells", 0},
     TIMED | ULB_FOR_VERIFY,
     0},
    {{"ring-mib", OPTION_RING, "N", 0, "size of the cold ring (default: the larger of 2048 and 4 x LLC)", 0},
     TIMED,
     0},
    {{"resume", OPTION_RESUME, "RECORD", 0,
      "resume a run that was interrupted or killed, with the options it had", 0},
     GRID,
     0},
    {{"n", 'n', "N,...", 0, "numbers of tokens (default: 2,4,8,16,32,64,128,512; quick: 4,16,64)", 0},
     ULB_FOR_GEMM,
     0},
    {{"n", 'n', "N,...", 0, "with --explain: limits of so many tokens at once, and what they reach here", 0},
     ULB_FOR_GAMMA,
     0},
    {{"out", 'o', "DIR", 0, "where the record and the figures go (default: " ULB_RESULTS_FOLDER ")", 0},
     ULB_FOR_RUN,
     0},
    {{"out", 'o', "DIR", 0, "write a record there (default: none is written)", 0}, TIMED & ~ULB_FOR_RUN, 0},
    {{"turns", OPTION_TURNS, NULL, OPTION_HIDDEN, "measure what standard input asks for: compare --beside",
      0},
     ULB_FOR_GEMV,
     0},
    {{"json", 'j', NULL, 0, "one JSON document on standard output", 0}, TIMED | ULB_FOR_VERIFY, 0},
    {{"progress", OPTION_PROGRESS, "auto|on|off", 0,
      "progress on standard error (default: auto, on a terminal)", 0},
     TIMED,
     0},
    {{"verbose", 'v', NULL, 0, "print what the run is made with on standard error", 0}, TIMED, 0},
};

/* One split, or for decode several. */
static error_t parse_splits(struct ulb_measure_options *o, const char *text)
{
    static const char wanted[] = "must be static, dynamic or weighted, each at most once";
    struct ulb_settings *settings = &o->settings;
    settings->n_splits = 0;
    for (const char *at = text; *at; at += *at == ',') {
        char word[16];
        enum ulb_split split;
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        if (!ulb_split_parse(word, &split) || ulb_takes_split(settings, split))
            return ulb_refuse_option(o->err, "split", at, wanted);
        settings->splits[settings->n_splits++] = split;
        at += length;
    }
    return settings->n_splits > 0 ? 0 : ulb_refuse_option(o->err, "split", text, wanted);
}

static error_t parse_progress(struct ulb_measure_options *o, const char *text)
{
    static const char *const words[] = {"auto", "on", "off"};
    size_t word = ulb_read_word(text, words, 3);
    if (word == 3)
        return ulb_refuse_option(o->err, "progress", text, "must be auto, on or off");
    o->progress = (enum ulb_progress_mode)word;
    return 0;
}

static error_t parse_number(struct ulb_measure_options *o, int key, const char *text)
{
    uint64_t mib;
    if (key == OPTION_SEED)
        return ulb_read_count(text, 0, INT64_MAX, &o->settings.seed)
                   ? 0
                   : ulb_refuse_option(o->err, "seed", text, "must be a whole number below 2^63");
    if (!ulb_read_count(text, 1, 1 << 20, &mib))
        return ulb_refuse_option(o->err, "ring-mib", text, "must be 1 to 1048576");
    o->settings.ring_bytes = (size_t)mib << 20;
    return 0;
}

static error_t parse_text(struct ulb_measure_options *o, int key, char *text)
{
    switch (key) {
    case 'p':
        o->platform = text;
        return 0;
    case 'm':
        o->settings.models = text;
        return 0;
    case OPTION_SHAPES:
        o->settings.shapes = text;
        return 0;
    case 'f':
        o->settings.formats = ulb_lower(text);
        return 0;
    case 'k':
        o->settings.kernels = ulb_current_kernels(text);
        return 0;
    case 's':
        o->settings.set = text;
        return 0;
    case 'o':
        o->out = text;
        o->out_given = true;
        return 0;
    case 'S':
        return parse_splits(o, text);
    case 'n':
        o->settings.tokens = text;
        return 0;
    case OPTION_RESUME:
        o->resume = text;
        return 0;
    case OPTION_DEVICE:
        o->settings.device = strcmp(text, "cpu") == 0 ? NULL : text;
        return 0;
    case OPTION_PROGRESS:
        return parse_progress(o, text);
    case OPTION_ISA_MASK:
        return ulb_isa_parse(text, &o->settings.isa_mask, o->err) == ULB_OK ? 0 : EINVAL;
    case OPTION_LIBRARY:
        o->settings.libraries = text;
        return 0;
    case OPTION_TIMEOUT:
        return ulb_read_number(text, 0.001, 1e6, &o->settings.call_timeout_s)
                   ? 0
                   : ulb_refuse_option(o->err, "call-timeout", text, "must be 0.001 to 1000000 seconds");
    case OPTION_SEED:
    case OPTION_RING:
        return parse_number(o, key, text);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t load_libraries(const struct ulb_measure_options *o)
{
    const char *libraries = o->settings.libraries;
    enum ulb_status status = libraries ? ulb_guests_load(libraries, o->err) : ULB_OK;
    return status == ULB_OK ? 0 : status == ULB_ENVIRONMENT ? ENOMEM : EINVAL;
}

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    struct ulb_measure_options *o = state->input;
    switch (key) {
    case 'q':
        o->settings.quick = true;
        return 0;
    case OPTION_FULL:
        o->settings.quick = false;
        return 0;
    case OPTION_WARM:
        o->settings.warm = true;
        return 0;
    case OPTION_AA:
        o->settings.aa = true;
        return 0;
    case OPTION_TURNS:
        o->turns = true;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case 'v':
        o->verbose = true;
        return 0;
    case ARGP_KEY_SUCCESS: /* by now it is known which libraries were named last */
        return load_libraries(o);
    default:
        return parse_text(o, key, text);
    }
}

const struct argp *ulb_measure_argp(enum ulb_measuring command)
{
    enum { OPTIONS = sizeof options / sizeof *options };
    static struct argp_option taken[OPTIONS + 1];
    static const struct argp parser = {taken, parse_option, NULL, NULL, NULL, NULL, NULL};
    size_t n = 0;
    for (size_t i = 0; i < OPTIONS; i++) {
        if ((options[i].takers | options[i].refusers) & command) {
            taken[n] = options[i].option;
            taken[n++].flags |= options[i].refusers & command ? OPTION_HIDDEN : 0;
        }
    }
    return &parser;
}

void ulb_measure_defaults(struct ulb_measure_options *o, struct ulb_error *err)
{
    *o = (struct ulb_measure_options){.settings = {.seed = 1}, .out = ULB_RESULTS_FOLDER, .err = err};
}

enum ulb_status ulb_refuse_platform(const struct ulb_measure_options *o, struct ulb_error *err)
{
    if (!o->platform || strcmp(o->platform, "auto") == 0)
        return ULB_OK;
    return ulb_fail(err, ULB_BAD_INPUT, "--platform %s describes another machine: use 'ulb-bench model'",
                    o->platform);
}

enum ulb_status ulb_refuse_device(const struct ulb_measure_options *o, struct ulb_error *err)
{
    if (!o->settings.device)
        return ULB_OK;
    return ulb_fail(
        err, ULB_ENVIRONMENT,
        "--device %.64s: beta, verify, gemv and gemm alone can use a device yet; leave --device out for the "
        "CPU",
        o->settings.device);
}

enum ulb_status ulb_refuse_idle(const struct ulb_measure_options *o, const char *const *names,
                                const char *reason, struct ulb_error *err)
{
    const struct ulb_settings *settings = &o->settings;
    const struct {
        const char *name;
        bool given;
    } all[] = {
        {"models", settings->models != NULL},
        {"shapes", settings->shapes != NULL},
        {"formats", settings->formats != NULL},
        {"kernels", settings->kernels != NULL},
        {"split", settings->n_splits > 0},
        {"warm", settings->warm},
        {"aa", settings->aa},
        {"quick", settings->quick},
        {"ring-mib", settings->ring_bytes > 0},
        {"set", settings->set != NULL},
        {"isa-mask", settings->isa_mask != 0},
        {"resume", o->resume != NULL},
        {"turns", o->turns},
        {"kernel-library", settings->libraries != NULL},
    };
    for (; *names; names++) {
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            if (all[i].given && strcmp(all[i].name, *names) == 0)
                return ulb_fail(err, ULB_BAD_INPUT, "--%s has no effect %s; leave it out", *names, reason);
        }
    }
    return ULB_OK;
}

enum ulb_status ulb_measure_parse(int argc, char **argv, enum ulb_measuring command, const char *doc,
                                  struct ulb_measure_options *o, bool *done, struct ulb_error *err)
{
    ulb_measure_defaults(o, err);
    struct argp parser = *ulb_measure_argp(command);
    parser.doc = doc;
    return ulb_parse_arguments(&parser, argc, argv, o, done, err);
}

/* ---- runs that are gone on with ---- */

static const char *setting(const struct ulb_record *record, const char *key)
{
    return json_string_value(json_object_get(json_object_get(record->root, "settings"), key));
}

static bool is_set(const struct ulb_record *record, const char *key)
{
    return json_is_true(json_object_get(json_object_get(record->root, "settings"), key));
}

static json_int_t whole_number(const struct ulb_record *record, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(record->root, "settings"), key));
}

static enum ulb_status restore_words(struct ulb_settings *settings, const struct ulb_record *from,
                                     struct ulb_error *err)
{
    const char *split = setting(from, "split"), *mask = setting(from, "isa_mask");
    settings->n_splits = split && ulb_split_parse(split, &settings->splits[0]);
    return mask && *mask ? ulb_isa_parse(mask, &settings->isa_mask, err) : ULB_OK;
}

enum ulb_status ulb_measure_restore(struct ulb_measure_options *o, const char *resume,
                                    struct ulb_record *from, struct ulb_error *err)
{
    struct ulb_settings *settings = &o->settings;
    char journal[4200];
    enum ulb_status status = ulb_record_read(from, resume, err);
    if (status != ULB_OK)
        return status;
    ulb_checkpoint_journal_path(resume, "", journal, sizeof journal);
    if (access(journal, F_OK) != 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--resume %s: it has no journal %s, so that it is whole or cannot be gone on with",
                        resume, journal);
    settings->set = setting(from, "set");
    settings->models = setting(from, "models");
    settings->shapes = setting(from, "shapes");
    settings->tokens = setting(from, "tokens");
    settings->formats = setting(from, "formats");
    settings->kernels = setting(from, "kernels");
    if (!settings->libraries && setting(from, "kernel_library"))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "--resume %s: it was measured with --kernel-library %s, which no record loads; name "
                        "it again beside --resume",
                        resume, setting(from, "kernel_library"));
    settings->quick = is_set(from, "quick");
    settings->warm = is_set(from, "warm");
    settings->aa = is_set(from, "aa");
    settings->best_kernels = is_set(from, "best_kernels");
    settings->seed = (uint64_t)whole_number(from, "seed");
    settings->ring_bytes = (size_t)whole_number(from, "ring_bytes");
    return restore_words(settings, from, err);
}

enum ulb_status ulb_measure_checkpoint(struct ulb_measure_options *o, const char *word, char *path,
                                       size_t bytes, struct ulb_error *err)
{
    char stem[4096];
    o->settings.checkpoint = (struct ulb_checkpoint){
        .record = path, .record_bytes = bytes, .pass = "", .resume = o->resume != NULL};
    if (o->resume) {
        if (o->out_given)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "--out does not go with --resume: the record stays where it is");
        if ((size_t)snprintf(path, bytes, "%s", o->resume) >= bytes)
            return ulb_fail(err, ULB_BAD_INPUT, "--resume: the path is too long");
        return ULB_OK;
    }
    enum ulb_status status = ulb_make_folder(o->out, "out", err);
    ulb_output_stem(o->out, word, stem, sizeof stem);
    snprintf(path, bytes, "%s.json", stem);
    return status;
}

void ulb_measure_close_checkpoint(const struct ulb_measure_options *o, const struct ulb_record *record,
                                  enum ulb_status status)
{
    static const char *const passes[] = {"", "-aa"};
    char journal[4200];
    if (!json_object_get(record->root, "sessions"))
        return; /* it ended before it had files of its own */
    for (size_t i = 0; i < 2; i++) {
        ulb_checkpoint_journal_path(o->settings.checkpoint.record, passes[i], journal, sizeof journal);
        if (status == ULB_OK || status == ULB_FINDING)
            unlink(journal);
        else if (i == 0 && status != ULB_BAD_INPUT && access(journal, F_OK) == 0)
            ulb_print_note("'ulb-bench %s --resume %s' goes on", o->settings.command,
                           o->settings.checkpoint.record);
    }
}

void ulb_print_warnings(const struct ulb_record *record)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(json_object_get(record->root, "warnings"), i, warning)
        ulb_print_note("%s", json_string_value(warning));
}
