#include "results/export/export_formats.h"
#include "results/record/record.h"
#include "results/summary/dashboard.h"

#include <stdlib.h>
#include <string.h>

struct column {
    const char *title, *key;
    int decimals;  /* of a number */
    double factor; /* 100: in per cent */
    bool code;     /* a name, in back quotes */
};

/* Inside a table cell: no bar, no line break, nothing that starts a tag or ends a code span; outside of one
 * no mark that means something. */
static void put_text(FILE *out, const char *text, bool code)
{
    for (; *text; text++) {
        if (*text == '|' || (!code && strchr("\\*_{}[]#~&", *text)))
            putc('\\', out);
        putc((unsigned char)*text < ' ' || *text == 0x7F || strchr("`<>", *text) ? '?' : *text, out);
    }
}

static void put_value(FILE *out, const json_t *value, const struct column *column)
{
    if (json_is_string(value) && column->code)
        putc('`', out);
    if (json_is_string(value))
        put_text(out, json_string_value(value), column->code);
    if (json_is_string(value) && column->code)
        putc('`', out);
    if (json_is_integer(value))
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        fprintf(out, "%.*f", column->decimals, column->factor * json_real_value(value));
    else if (!json_is_string(value))
        fputs("-", out);
}

static void put_table(FILE *out, const char *title, const json_t *rows, const struct column *columns,
                      size_t n)
{
    if (json_array_size(rows) == 0)
        return;
    fprintf(out, "\n### %s\n\n|", title);
    for (size_t c = 0; c < n; c++)
        fprintf(out, " %s |", columns[c].title);
    fputs("\n|", out);
    for (size_t c = 0; c < n; c++)
        fputs(columns[c].factor > 0 ? " ---: |" : " --- |", out);
    putc('\n', out);
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        putc('|', out);
        for (size_t c = 0; c < n; c++) {
            putc(' ', out);
            put_value(out, json_object_get(row, columns[c].key), &columns[c]);
            fputs(" |", out);
        }
        putc('\n', out);
    }
}

static void put_heading(FILE *out, const struct ulb_record *record)
{
    fputs("## ulb-bench: ", out);
    put_text(out, ulb_export_text(record, "machine.cpu_model"), false);
    fputs(", ", out);
    put_text(out, ulb_export_text(record, "created"), false);
    fputs("\n\nCommit ", out);
    put_text(out, ulb_export_text(record, "build.commit"), false);
    fputs(", compiler ", out);
    put_text(out, ulb_export_text(record, "build.compiler"), false);
    fputs(", cycles by ", out);
    put_text(out, ulb_export_text(record, "clock.cycles_source"), false);
    fputs(".\n", out);
}

static void put_sections(FILE *out, const struct ulb_record *record)
{
    static const struct column cells[] = {
        {"kernel", "kernel", 0, 0, true},
        {"model", "model", 0, 0, false},
        {"layer", "layer", 0, 0, false},
        {"M", "m", 0, 1, false},
        {"K", "k", 0, 1, false},
        {"N", "n", 0, 1, false},
        {"cores", "set", 0, 0, false},
        {"weights", "mode", 0, 0, false},
        {"us", "us", 1, 1, false},
        {"GB/s", "gbps", 2, 1, false},
        {"% of yardstick", "efficiency", 1, 100, false},
        {"% of a plain read of its size", "read_share", 1, 100, false},
        {"residual %", "residual", 1, 100, false},
        {"bound", "bound", 0, 0, false},
    };
    static const struct column gammas[] = {
        {"kernel", "kernel", 0, 0, true},
        {"class", "class", 0, 0, false},
        {"gamma, cycles per 32 weights", "gamma_cycles", 3, 1, false},
        {"e_bw, bytes per cycle", "ebw_bytes_per_cycle", 2, 1, false},
    };
    static const struct column counts[] = {
        {"kernel", "kernel", 0, 0, true},
        {"instructions per 32 weights", "instructions_per_step", 3, 1, false},
        {"counted by", "source", 0, 0, false},
    };
    static const struct column betas[] = {
        {"cores", "set", 0, 0, false},
        {"threads", "threads", 0, 1, false},
        {"level", "level", 0, 0, false},
        {"GB/s", "gbps", 1, 1, false},
        {"bytes per cycle and core", "bytes_per_cycle", 2, 1, false},
        {"best reader", "variant", 0, 0, false},
    };
    static const struct column runs[] = {
        {"model", "model", 0, 0, false},
        {"weights", "format", 0, 0, false},
        {"cores", "set", 0, 0, false},
        {"split", "split", 0, 0, false},
        {"tokens", "tokens", 0, 1, false},
        {"context", "context", 0, 1, false},
        {"sequences", "batch", 0, 1, false},
        {"layers run", "layers_run", 0, 1, false},
        {"layers", "layers", 0, 1, false},
        {"tokens/s", "tokens_per_s", 2, 1, false},
        {"speed-up over 16 bits", "observed_speedup", 2, 1, false},
        {"Amdahl's bound", "amdahl_speedup", 2, 1, false},
        {"% of the roofline", "roofline_share", 1, 100, false},
        {"joules a token", "joule_per_token", 3, 1, false},
    };
    put_table(out, "Products", ulb_section_array(record->root, &ulb_section_cells), cells,
              sizeof cells / sizeof *cells);
    put_table(out, "Compute cost", ulb_section_array(record->root, &ulb_section_gamma), gammas,
              sizeof gammas / sizeof *gammas);
    put_table(out, "Instructions", ulb_section_array(record->root, &ulb_section_counts), counts,
              sizeof counts / sizeof *counts);
    put_table(out, "Read bandwidth", ulb_section_array(record->root, &ulb_section_beta), betas,
              sizeof betas / sizeof *betas);
    put_table(out, "Decoded tokens", ulb_section_array(record->root, &ulb_section_decode), runs,
              sizeof runs / sizeof *runs);
}

static enum ulb_status put_summary(FILE *out, const struct ulb_record *record, struct ulb_error *err)
{
    static const struct column formats[] = {
        {"format", "format", 0, 0, false},
        {"% of yardstick", "efficiency", 1, 100, false},
    };
    static const struct column kernels[] = {
        {"kernel", "kernel", 0, 0, true},
        {"format", "format", 0, 0, false},
        {"% of yardstick", "efficiency", 1, 100, false},
    };
    static const struct column models[] = {
        {"model", "model", 0, 0, false},
        {"format", "format", 0, 0, false},
        {"tokens/s", "tokens_per_s", 2, 1, false},
    };
    json_t *dashboard;
    enum ulb_status status = ulb_dashboard_of(record, &dashboard, err);
    if (status != ULB_OK)
        return status;
    put_table(out, "Formats", json_object_get(dashboard, "formats"), formats,
              sizeof formats / sizeof *formats);
    put_table(out, "Kernels", json_object_get(dashboard, "kernels"), kernels,
              sizeof kernels / sizeof *kernels);
    put_table(out, "Models", json_object_get(dashboard, "models"), models, sizeof models / sizeof *models);
    json_decref(dashboard);
    return ULB_OK;
}

enum ulb_status ulb_export_markdown(const struct ulb_record *record, const struct ulb_export_options *options,
                                    FILE *out, struct ulb_error *err)
{
    put_heading(out, record);
    if (options->summary)
        return put_summary(out, record, err);
    put_sections(out, record);
    return ULB_OK;
}
