#include "harness/cli/commands/print_summary.h"

#include "common/units.h"
#include "harness/cli/table.h"
#include "results/summary/format_choice.h"
#include "results/summary/record_summary.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    MODELS = 3,      /* as many as a default run measures */
    FORMATS = 4,     /* of a model: three tables of them and the other lines are at most 40 */
    NOTE_BYTES = 132 /* two lines */
};

/* ---- machine, memory, limit, trust ---- */

static void print_machine(const struct ulb_record *record, FILE *out)
{
    const char *cpu = ulb_record_text(record, "machine.cpu_model"),
               *guest = ulb_record_text(record, "machine.hypervisor"),
               *made = ulb_record_text(record, "build.version"),
               *created = ulb_record_text(record, "created");
    ulb_print_wrapped_as(out, "Machine  ", "%.40s, %.0f cores, %.1f GiB%s%s%s", cpu ? cpu : "unknown CPU",
                         ulb_record_number(record, "machine.cores"),
                         ulb_record_number(record, "machine.memory_bytes") / ULB_GIB,
                         guest ? " (guest of " : "", guest ? guest : "", guest ? ")" : "");
    ulb_print_wrapped_as(out, "Made     ", "%s by ulb-bench %s", created ? created : "at an unknown time",
                         made ? made : "of an unknown version");
}

static void print_memory(const json_t *summary, FILE *out)
{
    char all[32], one[32], other[32], spells[64] = "";
    double gbps = ulb_row_number(summary, "memory_gbps"),
           slower = ulb_row_number(summary, "memory_other_gbps"),
           core = ulb_row_number(summary, "memory_one_core_gbps"),
           threads = ulb_row_number(summary, "memory_threads");
    ulb_show_number(all, "%.1f", gbps);
    ulb_show_number(one, "%.1f", core);
    if (isfinite(slower))
        snprintf(spells, sizeof spells, ", in %s %s",
                 ulb_row_text(summary, "memory_other_created")[0] ? "an earlier run" : "other spells",
                 ulb_show_number(other, "%.1f", slower));
    if (isnan(gbps) && isnan(core))
        ulb_print_wrapped(out, "Memory   ", "not measured");
    else if (threads > 1)
        ulb_print_wrapped_as(out, "Memory   ", "%s GB/s read by %.0f cores%s; %s by one", all, threads,
                             spells, one);
    else
        ulb_print_wrapped_as(out, "Memory   ", "%s GB/s read by one core%s", isfinite(gbps) ? all : one,
                             spells);
}

/* What devices other than the CPU read from memories of their own, or share with it. */
static void print_devices(const json_t *devices, FILE *out)
{
    const json_t *device;
    size_t i;
    json_array_foreach(devices, i, device)
    {
        char gbps[32], launch[32];
        const json_t *yardstick = json_array_get(json_object_get(device, "yardstick"), 0);
        ulb_print_wrapped_as(
            out, "Device   ", "%s, %s: %s GB/s read, %s us a launch", ulb_row_text(device, "id"),
            ulb_row_text(device, "name"), ulb_show_number(gbps, "%.1f", ulb_row_number(yardstick, "gbps")),
            ulb_show_number(launch, "%.1f", ulb_row_number(json_object_get(device, "launch"), "us_host")));
    }
}

static void print_limits(const json_t *summary, FILE *out)
{
    const char *limit = ulb_row_text(summary, "limit"), *trust = ulb_row_text(summary, "trust");
    if (limit[0])
        ulb_print_wrapped_as(out, "Limit    ", "%s", limit);
    if (trust[0])
        ulb_print_wrapped_as(out, "Trust    ", "%s: %s", trust, ulb_row_text(summary, "trust_reason"));
}

/* ---- models ---- */

static void add_format(const json_t *format, const char *suggested, struct ulb_table *table)
{
    char tps[32], other[40] = "", number[32], share[32], error[32], bound[64];
    const char *name = ulb_row_text(format, "format");
    double gamma = ulb_row_number(format, "gamma_cycles"),
           slower = ulb_row_number(format, "tokens_per_s_other");
    bool computes = strcmp(ulb_row_text(format, "bound"), "compute") == 0, is = strcmp(name, suggested) == 0,
         fits = !json_is_false(json_object_get(format, "fits"));
    if (!fits)
        strcpy(bound, "does not fit");
    else if (computes && isfinite(gamma))
        snprintf(bound, sizeof bound, "compute (gamma %.2f)", gamma);
    else
        snprintf(bound, sizeof bound, "%s", ulb_row_text(format, "bound"));
    if (isfinite(slower))
        snprintf(other, sizeof other, "/%s", ulb_show_number(number, "%.1f", slower));
    ulb_table_add(table, "%c %s\t%s%s\t%s\t%.2f GB\t%s\t%s%s", is ? '>' : ' ', name,
                  ulb_show_number(tps, "%.1f", ulb_row_number(format, "tokens_per_s")), other,
                  ulb_show_number(share, "%.0f %%", 100 * ulb_row_number(format, "share_of_limit")),
                  ulb_row_number(format, "weight_bytes") / ULB_GB,
                  ulb_show_number(error, "%.3f", ulb_row_number(format, "error_rmse")), bound,
                  is ? "  <- suggested" : "");
    if (is || !fits)
        ulb_table_colour(table, is ? ULB_GREEN : ULB_RED);
}

/* Which formats of many a screen has room for: the suggested one and its neighbours in speed. */
static size_t first_shown(const json_t *formats, const char *suggested)
{
    size_t n = json_array_size(formats), at = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(ulb_row_text(json_array_get(formats, i), "format"), suggested) == 0)
            at = i;
    }
    if (n <= FORMATS)
        return 0;
    size_t first = at > FORMATS / 2 ? at - FORMATS / 2 : 0;
    return first + FORMATS > n ? n - FORMATS : first;
}

/* At most so many formats; 0: all. */
static void print_model(const json_t *model, size_t most, FILE *out)
{
    const json_t *formats = json_object_get(model, "formats");
    const char *suggested = ulb_row_text(model, "suggested");
    size_t n = json_array_size(formats), first = most ? first_shown(formats, suggested) : 0;
    most = most ? most : n;
    const struct ulb_table_column columns[] = {
        {ulb_row_text(model, "model"), false, false},
        {"tok/s", true, false},
        {"of limit", true, false},
        {"weights", true, false},
        {"error", true, false},
        {"bound by", false, true},
    };
    fputc('\n', out);
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    for (size_t i = first; i < n && i < first + most; i++)
        add_format(json_array_get(formats, i), suggested, table);
    ulb_table_print(table, out);
    if (!suggested[0])
        ulb_print_wrapped(out, "  no suggestion: ", ulb_row_text(model, "reason"));
}

static void print_basis(const json_t *model, FILE *out)
{
    const json_t *format = json_array_get(json_object_get(model, "formats"), 0);
    ulb_print_wrapped_as(
        out, "  tok/s: ", "%s, context %.0f%s", ulb_row_text(model, "basis"),
        ulb_row_number(model, "context"),
        isfinite(ulb_row_number(format, "tokens_per_s_other")) ? "; behind /: at memory's other speed" : "");
}

/* most models, and formats of each; 0: all. */
static void print_models(const json_t *summary, size_t most, size_t formats, FILE *out)
{
    const json_t *models = json_object_get(summary, "models"), *first = json_array_get(models, 0);
    size_t n = json_array_size(models), of_each = json_array_size(json_object_get(first, "formats"));
    for (size_t i = 0; i < n && (most == 0 || i < most); i++)
        print_model(json_array_get(models, i), formats, out);
    if (!first)
        return;
    if (formats > 0 && (of_each > formats || n > most))
        fprintf(out, "  %zu formats of %zu model%s: show RECORD --section formats\n", of_each, n, ULB_S(n));
    print_basis(first, out);
    fprintf(out, "  error: RMS on normal weights, not model quality\n");
    ulb_print_wrapped_as(out, "  > ",
                         "the least error at %.0f tok/s or more, else the fastest of error up to %.2f",
                         ULB_SUGGESTED_TPS, ULB_SUGGESTED_ERROR);
    fputc('\n', out);
}

/* ---- why not more, what next ---- */

/* "; attention takes 40 % of a token of MODEL", of the model of which it takes the most. */
static void describe_attention(const json_t *models, char *text, size_t bytes)
{
    static const double WORTH_A_WORD = 0.2;
    double most = WORTH_A_WORD;
    const json_t *model;
    size_t i;
    text[0] = '\0';
    json_array_foreach(models, i, model)
    {
        double share = ulb_row_number(model, "cache_us") *
                       ulb_row_number(ulb_suggested_row(model), "tokens_per_s") / 1e6;
        if (!(share > most))
            continue;
        most = share;
        snprintf(text, bytes, "; attention takes %.0f %% of a token of %.40s", 100 * share,
                 ulb_row_text(model, "model"));
    }
}

/* What bounds the products of most formats, of which compute, and what else takes time. */
static void print_why(const json_t *summary, FILE *out)
{
    const json_t *models = json_object_get(summary, "models"), *model, *format;
    const char *computes = "";
    char attention[128];
    bool memory = false;
    size_t i, f;
    json_array_foreach(models, i, model)
    {
        json_array_foreach(json_object_get(model, "formats"), f, format)
        {
            const char *bound = ulb_row_text(format, "bound");
            memory |= strcmp(bound, "memory") == 0;
            if (strcmp(bound, "compute") == 0)
                computes = ulb_row_text(format, "format");
        }
    }
    describe_attention(models, attention, sizeof attention);
    if (memory)
        ulb_print_wrapped_as(out, "Why      ", "memory: fewer bytes per weight would help%s%s%s%s",
                             computes[0] ? "; for " : "", computes, computes[0] ? " fewer instructions" : "",
                             attention);
    else if (computes[0])
        ulb_print_wrapped_as(out, "Why      ",
                             "%s computes longer than it reads: fewer instructions would help%s", computes,
                             attention);
}

/* Noise is what the line of trust is about. One note has room. */
static void print_notes(const struct ulb_record *record, FILE *out)
{
    enum { NOTES = 1 };
    const json_t *warning;
    size_t i, shown = 0, more = 0;
    json_array_foreach(json_object_get(record->root, "warnings"), i, warning)
    {
        const char *text = json_string_value(warning);
        if (text && strncmp(text, "noisy", 5) != 0 && shown++ < NOTES)
            ulb_print_wrapped_as(out, "Note     ", "%.*s%s", NOTE_BYTES, text,
                                 strlen(text) > NOTE_BYTES ? " ..." : "");
        else
            more++;
    }
    if (more > 0)
        fprintf(out, "%-9s%zu more warning%s: show RECORD --section machine\n", "", more, ULB_S(more));
}

/* A path is never cut or broken, so that it can be copied. */
static void print_paths(const char *path, FILE *out)
{
    char page[4128];
    if (path) {
        size_t length = strlen(path);
        bool named = length > 5 && strcmp(path + length - 5, ".json") == 0;
        snprintf(page, sizeof page, "%.*s.html", (int)(named ? length - 5 : length), path);
        fprintf(out, "%-9s%s\n", "Record", path);
        if (access(page, R_OK) == 0)
            fprintf(out, "%-9s%s\n", "Page", page);
    }
    ulb_print_wrapped_as(out, "Next     ",
                         "ulb-bench show RECORD --section all | compare BASE NEW | advise MODEL");
}

enum ulb_status ulb_print_summary(const struct ulb_record *record, const char *path, FILE *out,
                                  struct ulb_error *err)
{
    json_t *summary;
    enum ulb_status status = ulb_summary_of(record, &summary, err);
    if (status != ULB_OK)
        return status;
    print_machine(record, out);
    const json_t *devices = json_object_get(record->root, "devices");
    if (!devices || isfinite(ulb_row_number(summary, "memory_one_core_gbps")))
        print_memory(summary, out);
    print_devices(devices, out);
    print_limits(summary, out);
    print_models(summary, MODELS, FORMATS, out);
    print_why(summary, out);
    print_notes(record, out);
    print_paths(path, out);
    json_decref(summary);
    return ULB_OK;
}

enum ulb_status ulb_print_model_formats(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    json_t *summary;
    enum ulb_status status = ulb_summary_of(record, &summary, err);
    if (status != ULB_OK)
        return status;
    print_models(summary, 0, 0, out);
    json_decref(summary);
    return ULB_OK;
}

void ulb_print_advice(const json_t *advice, const char *model, bool decodes, FILE *out)
{
    char gbps[32], gib[32];
    const char *suggested = ulb_row_text(advice, "suggested");
    ulb_show_number(gbps, "%.1f", ulb_row_number(advice, "memory_gbps"));
    ulb_show_number(gib, "%.1f", ulb_row_number(advice, "available_bytes") / ULB_GIB);
    if (suggested[0])
        ulb_print_wrapped_as(out, "Take     ", "%s: %s", suggested, ulb_row_text(advice, "reason"));
    else
        ulb_print_wrapped_as(out, "Take     ", "none: %s", ulb_row_text(advice, "reason"));
    ulb_print_wrapped_as(out, "Here     ", "memory reads %s GB/s, %s GiB are available", gbps, gib);
    print_model(advice, 0, out);
    print_basis(advice, out);
    fprintf(out, "  error: RMS on normal weights, not model quality\n\n");
    fprintf(out, "%-9s%s\n", "Record", ulb_row_text(advice, "record"));
    size_t length = strlen(model);
    bool gguf = length > 5 && strcmp(model + length - 5, ".gguf") == 0;
    double context = ulb_row_number(advice, "context");
    if (decodes)
        fprintf(out, "%-9sulb-bench decode --model %s --formats %s --context %.0f\n", "Measure", model,
                suggested[0] ? suggested : "FORMAT", context);
    fprintf(out, "%-9sllama-bench -m %s -p 0 -n 64 -d %.0f\n", decodes ? "" : "Measure",
            gguf ? model : "MODEL.gguf", context);
}
