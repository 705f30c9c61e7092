/* What a record holds beyond beta, gamma and one token at a time: port bounds, many tokens, formats with
 * groups, decode runs. */
#include "tests/results/sample_record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum ulb_status add_port_bounds(struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_gamma_cell *cells;
    size_t n;
    json_t *rows = json_array();
    enum ulb_status status = ulb_record_gamma_cells(record, &cells, &n, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        bool known = strcmp(cells[i].format, "bf16") != 0;
        json_array_append_new(
            rows, known
                      ? json_pack("{s:s, s:s, s:s, s:f, s:s}", "kernel", cells[i].kernel, "class",
                                  cells[i].cls, "core", "golden-cove", "bound_cycles",
                                  0.92 * cells[i].gamma_cycles, "decided_by", "vector ports")
                      : json_pack("{s:s, s:s, s:s, s:n, s:s, s:n, s:s}", "kernel", cells[i].kernel, "class",
                                  cells[i].cls, "core", "golden-cove", "bound_cycles", "bound_cycles_reason",
                                  "the kernel states no instruction mix", "decided_by", "decided_by_reason",
                                  "the kernel states no instruction mix"));
    }
    ulb_gamma_cells_free(cells, n);
    return status == ULB_OK ? ulb_record_set(record, "port_bounds", rows, err) : status;
}

/* A cell like another one, of so many tokens or of a format with groups of so many columns. */
static enum ulb_status add_like(struct ulb_record *record, const struct ulb_cell *like, size_t tokens,
                                unsigned group, struct ulb_error *err)
{
    struct ulb_cell cell = *like;
    double slower = 1, larger = group ? 1 + 32.0 / group * 4 / 16 : 1;
    if (tokens > 1)
        slower = fmax(1, like->gops / like->gbps * like->yardstick_gbps * (double)tokens / 1300);
    cell.n = tokens;
    cell.us *= slower * larger * 1.02;
    cell.gbps = like->gbps / slower / 1.02;
    cell.gops = like->gops * (double)tokens / slower / larger;
    cell.weight_bytes = (size_t)(larger * (double)like->weight_bytes);
    cell.efficiency = cell.gbps / cell.yardstick_gbps;
    cell.read_share = cell.efficiency * 1.03;
    cell.peak_share = cell.gops / cell.peak_gops;
    if (tokens > 1)
        cell.predicted_us = cell.residual = cell.predicted_plain_us = cell.residual_plain = NAN;
    snprintf(cell.predicted_reason, sizeof cell.predicted_reason, "predictions are of one token");
    if (group)
        snprintf(cell.format, sizeof cell.format, "%.4sg%u", like->format, group % 1000);
    return ulb_record_add_cell(record, &cell, err);
}

static enum ulb_status add_cells(struct ulb_record *record, struct ulb_error *err)
{
    static const size_t tokens[] = {4, 16, 64, 512};
    static const unsigned groups[] = {32, 64, 128};
    struct ulb_cell *cells;
    size_t n;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        bool shape = strcmp(cells[i].model, "llama3-8b") == 0 && strcmp(cells[i].layer, "o") == 0;
        bool grouped =
            strcmp(cells[i].format, "int8") == 0 || strstr(cells[i].kernel, "int2a8-pshufb-avx512vnni-");
        for (size_t t = 0; t < sizeof tokens / sizeof *tokens && shape && status == ULB_OK; t++)
            status = add_like(record, &cells[i], tokens[t], 0, err);
        for (size_t g = 0; g < sizeof groups / sizeof *groups && grouped && status == ULB_OK; g++)
            status = add_like(record, &cells[i], 1, groups[g], err);
    }
    ulb_cells_free(cells, n);
    return status == ULB_OK ? ulb_record_judge_tokens(record, err) : status;
}

/* base: tokens/s with 16 bits; x: ratio of bytes. */
static enum ulb_status add_run(struct ulb_record *record, const char *model, const char *format, double base,
                               double x, size_t layers_run, size_t layers, struct ulb_error *err)
{
    double alpha = 0.93, amdahl = 1 / (1 - alpha + alpha / x), speedup = 0.97 * amdahl;
    double ms = 1e3 / (base * speedup), rest = 1e3 / base * (1 - alpha);
    enum { POINTS = 3 };
    struct ulb_prompt_time curve[POINTS];
    for (size_t i = 0; i < POINTS; i++) {
        const double tokens[POINTS] = {1, 8, 64}, time[POINTS] = {1, 5.5, 40};
        curve[i] = (struct ulb_prompt_time){.tokens = (size_t)tokens[i],
                                            .ms = time[i] * ms,
                                            .tokens_per_s = 1e3 * tokens[i] / time[i] / ms,
                                            .gops = 500 * tokens[i] / time[i],
                                            .split_ms = {0.7 * time[i] * ms, 0.15 * time[i] * ms,
                                                         0.05 * time[i] * ms, 0.08 * time[i] * ms,
                                                         0.02 * time[i] * ms},
                                            .peak_share = 0.375 * tokens[i] / time[i],
                                            .memory_share = 0.9 / time[i]};
        snprintf(curve[i].bound, sizeof curve[i].bound, "%s", i == 2 ? "compute" : "memory");
    }
    struct ulb_decode_run run = {.set = "all",
                                 .split = "static",
                                 .threads = 2,
                                 .tokens = 128,
                                 .context = 128,
                                 .batch = 1,
                                 .layers_run = layers_run,
                                 .layers = layers,
                                 .extrapolated = layers_run < layers,
                                 .tokens_per_s = base * speedup,
                                 .sequence_tokens_per_s = base * speedup,
                                 .ms_per_token = ms,
                                 .split_ms = {ms - rest, 0.4 * rest, 0.3 * rest, 0.2 * rest, 0.1 * rest},
                                 .barrier_ms = {NAN, NAN, NAN, 0.1 * rest},
                                 .alpha = alpha,
                                 .byte_ratio = x,
                                 .bit_ratio = x,
                                 .amdahl_speedup = amdahl,
                                 .amdahl_nominal_speedup = amdahl,
                                 .observed_speedup = speedup,
                                 .yardstick_gbps = 24.6,
                                 .queries_per_key = 4,
                                 .kv_type = "bf16",
                                 .kv_gbps = 22.1,
                                 .kv_share = 0.9,
                                 .roofline_tokens_per_s = base * x / 0.9,
                                 .roofline_share = 0.9 * speedup / x,
                                 .joule_per_token = 0.02 * ms,
                                 .prompt = 64,
                                 .prefill = {.whole = curve[POINTS - 1], .ubatch = 64},
                                 .n_prefill_curve = POINTS,
                                 .prefill_curve = curve,
                                 .token_digest = "0123456789abcdef",
                                 .verified = true,
                                 .n_samples = 1,
                                 .ms_samples = &ms};
    snprintf(run.model, sizeof run.model, "%s", model);
    snprintf(run.format, sizeof run.format, "%s", format);
    return ulb_record_add_decode(record, &run, err);
}

static enum ulb_status add_decode(struct ulb_record *record, struct ulb_error *err)
{
    static const struct {
        const char *format;
        double x;
    } formats[] = {{"bf16", 1}, {"int8", 2}, {"int4", 4}, {"int2", 8}, {"int1", 16}};
    enum ulb_status status = ULB_OK;
    for (size_t f = 0; f < sizeof formats / sizeof *formats && status == ULB_OK; f++) {
        status = add_run(record, "falcon3-1b", formats[f].format, 7.4, formats[f].x, 18, 18, err);
        if (status == ULB_OK)
            status = add_run(record, "llama3-8b", formats[f].format, 1.5, formats[f].x, 20, 32, err);
    }
    return status;
}

/* The look-up of u4 by both operators, of which one never had its core alone. */
static enum ulb_status add_look_ups(struct ulb_record *record, struct ulb_error *err)
{
    json_t *rows = json_pack(
        "[{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:b, s:[f, f]},"
        " {s:s, s:s, s:s, s:n, s:s, s:n, s:s, s:n, s:s, s:f, s:b, s:[]}]",
        "format", "u4", "isa", "bmi2", "class", "core", "gamma_cycles", 4.5, "gamma_min_cycles", 4.25,
        "gamma_mad_cycles", 0.125, "bytes_per_step", 17.0, "verified", 1, "gamma_samples", 4.25, 4.75,
        "format", "u4", "isa", "ref", "class", "core", "gamma_cycles", "gamma_cycles_reason", "disturbed",
        "gamma_min_cycles", "gamma_min_cycles_reason", "disturbed", "gamma_mad_cycles",
        "gamma_mad_cycles_reason", "disturbed", "bytes_per_step", 17.0, "verified", 1, "gamma_samples");
    return json_object_set_new(json_object_get(record->root, "gamma"), "embedding", rows) == 0
               ? ULB_OK
               : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the look-ups");
}

/* A device that was measured: its first peak, the first size of two readers and the whole ring of one. */
static enum ulb_status add_devices(struct ulb_record *record, struct ulb_error *err)
{
#define CELL(bytes, reader, gbps)                                                                            \
    "{\"device\": \"opencl:0.0\", \"set\": \"opencl:0.0\", \"threads\": null, \"threads_reason\": "          \
    "\"none\", \"level\": "                                                                                  \
    "\"mem\", \"bytes\": " #bytes ", \"items\": 4096, \"variant\": \"" reader "\", \"gbps\": " #gbps         \
    ", \"gbps_mad\": 0.5, \"gbps_host\": 90.0, \"gbps_samples\": [" #gbps "], \"bytes_per_cycle\": null, "   \
    "\"bytes_per_cycle_reason\": \"none\", \"us_event\": 2.5, \"us_host\": 4.5, \"predicted_us\": 4.7}"
    static const char text[] =
        "[{\"id\": \"opencl:0.0\", \"name\": \"Arc \\\"`id`\", \"vendor\": \"Intel\", \"driver\": \"23.1\", "
        "\"version\": "
        "\"OpenCL 3.0\", \"kind\": \"gpu\", \"units\": 64, \"mhz\": null, \"mhz_reason\": \"unknown\", "
        "\"memory_bytes\": 16000000000, \"largest_buffer_bytes\": 4000000000, \"cache_bytes\": 8388608, "
        "\"unified\": true, \"lanes\": [16, 32], \"matrix\": \"dpas-int2\", \"extensions\": "
        "[\"cl_khr_fp16\"], "
        "\"launch\": {\"us_host\": 2.0, \"us_event\": 0.5, \"samples\": 100, \"back_to_back\": {\"us_host\": "
        "1.0, "
        "\"us_event\": 0.9, \"launches\": 1000}}, \"peaks\": [{\"name\": \"i8xi2\", \"gops\": 50000.0, "
        "\"gops_mad\": "
        "10.0, \"gops_host\": 49000.0, \"gops_samples\": [50000.0], \"us_event\": 20000.0, \"us_host\": "
        "20100.0, "
        "\"ops_per_unit_cycle\": null, \"ops_per_unit_cycle_reason\": \"unknown\", \"rounds\": 4096}, "
        "{\"name\": "
        "\"dp4a\", \"gops\": null, \"gops_reason\": \"lacking\"}], \"ring\": {\"bytes\": 2147483648, "
        "\"wanted_bytes\": "
        "2147483648, \"copies\": 8, \"copy_bytes\": 268435456}, \"cells\": [" CELL(
            262144, "strided-512",
            104.5) ", " CELL(262144, "block-2048",
                             120.5) ", " CELL(2147483648, "block-2048",
                                              96.5) "], \"yardstick\": [{\"device\": \"opencl:0.0\", "
                                                    "\"set\": \"opencl:0.0\", \"threads\": null, "
                                                    "\"threads_reason\": \"none\", \"bytes\": 2147483648, "
                                                    "\"gbps\": 96.5, \"gbps_mad\": 0.5, \"gbps_host\": 90.0, "
                                                    "\"variant\": \"block-2048\"}], \"cycles_source\": null, "
                                                    "\"cycles_source_reason\": \"none\", \"left_out\": "
                                                    "[{\"variant\": \"strided-512\", \"reason\": \"slow\"}], "
                                                    "\"build_logs\": []}]";
#undef CELL
    json_t *devices = json_loads(text, 0, NULL);
    return devices ? ulb_record_set(record, "devices", devices, err)
                   : ulb_fail(err, ULB_BAD_INPUT, "the sample's devices are no JSON");
}

enum ulb_status sample_add_rest(struct ulb_record *record, struct ulb_error *err)
{
    enum ulb_status status = add_port_bounds(record, err);
    if (status == ULB_OK)
        status = add_look_ups(record, err);
    if (status == ULB_OK)
        status = add_devices(record, err);
    if (status == ULB_OK)
        status = add_cells(record, err);
    return status == ULB_OK ? add_decode(record, err) : status;
}

void sample_folder(char path[64])
{
    snprintf(path, 64, "/tmp/ulb-test-XXXXXX");
    if (!mkdtemp(path))
        abort();
}
