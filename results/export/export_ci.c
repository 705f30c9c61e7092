/* JSON for services that follow benchmarks over time. */
#include "results/export/export_formats.h"
#include "results/record/tracked_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the export");
}

/* An empty document would pass for a run in which nothing was slow. */
static enum ulb_status nothing(const char *missing, struct ulb_error *err)
{
    return ulb_fail(err, ULB_BAD_INPUT, "the record has nothing for this format: %s", missing);
}

/* Writes the document and releases it; NULL is want of memory. */
static enum ulb_status put_document(json_t *document, FILE *out, struct ulb_error *err)
{
    if (!document)
        return no_memory(err);
    int failed = json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(document);
    putc('\n', out);
    return failed ? no_memory(err) : ULB_OK;
}

/* All that is followed, or what stands for it; to be freed. */
static enum ulb_status values_of(const struct ulb_record *record, bool summary, bool times,
                                 struct ulb_value **values, size_t *n, struct ulb_error *err)
{
    return summary ? ulb_export_summary_values(record, times, values, n, err)
                   : ulb_record_values(record, values, n, err);
}

/* --- github-action-benchmark --- */

/* Names of one tool's file must differ: metric and key. */
static json_t *gha_entry(const struct ulb_value *value)
{
    const struct ulb_metric_info *metric = &ulb_metrics[value->metric];
    bool fraction = value->metric == ULB_METRIC_EFFICIENCY;
    double factor = fraction ? 100 : 1;
    char name[ULB_CELL_KEY_MAX + 32], range[64];
    snprintf(name, sizeof name, "%s: %s", metric->name, value->key);
    json_t *entry = json_pack("{s:s, s:s, s:f}", "name", name, "unit", fraction ? "%" : metric->unit, "value",
                              factor * value->value);
    int failed = !entry;
    if (isfinite(value->lo) && isfinite(value->hi)) {
        snprintf(range, sizeof range, "± %.3g", factor * (value->hi - value->lo) / 2);
        failed |= json_object_set_new(entry, "range", json_string(range));
    }
    if (*value->note)
        failed |= json_object_set_new(entry, "extra", json_string(value->note));
    if (!failed)
        return entry;
    json_decref(entry);
    return NULL;
}

static enum ulb_status put_gha(const struct ulb_record *record, bool summary, bool bigger, FILE *out,
                               struct ulb_error *err)
{
    struct ulb_value *values;
    size_t n;
    enum ulb_status status = values_of(record, summary, !bigger, &values, &n, err);
    if (status != ULB_OK)
        return status;
    json_t *entries = json_array();
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        if (ulb_metrics[values[i].metric].bigger_is_better == bigger &&
            json_array_append_new(entries, gha_entry(&values[i])) != 0)
            status = no_memory(err);
    }
    free(values);
    if (status == ULB_OK && json_array_size(entries) == 0)
        status = nothing(bigger    ? "no cell has an efficiency"
                         : summary ? "no model's tokens"
                                   : "no times, gammas or counts",
                         err);
    if (status == ULB_OK)
        return put_document(entries, out, err);
    json_decref(entries);
    return status;
}

enum ulb_status ulb_export_gha_bigger(const struct ulb_record *record,
                                      const struct ulb_export_options *options, FILE *out,
                                      struct ulb_error *err)
{
    return put_gha(record, options->summary, true, out, err);
}

enum ulb_status ulb_export_gha_smaller(const struct ulb_record *record,
                                       const struct ulb_export_options *options, FILE *out,
                                       struct ulb_error *err)
{
    return put_gha(record, options->summary, false, out, err);
}

/* --- Bencher --- */

/* Bencher's own measure of time is latency, in nanoseconds; the others are made when they first appear. */
static int add_measure(json_t *benchmark, const struct ulb_value *value)
{
    bool time = value->metric == ULB_METRIC_US;
    double factor = time ? 1e3 : 1;
    json_t *measure = json_pack("{s:f}", "value", factor * value->value);
    int failed = !measure;
    if (isfinite(value->lo) && isfinite(value->hi))
        failed |=
            json_object_set_new(measure, "lower_value", json_real(factor * fmin(value->lo, value->value))) |
            json_object_set_new(measure, "upper_value", json_real(factor * fmax(value->hi, value->value)));
    return failed |
           json_object_set_new(benchmark, time ? "latency" : ulb_metrics[value->metric].name, measure);
}

enum ulb_status ulb_export_bmf(const struct ulb_record *record, const struct ulb_export_options *options,
                               FILE *out, struct ulb_error *err)
{
    struct ulb_value *values;
    size_t n;
    enum ulb_status status = values_of(record, options->summary, false, &values, &n, err);
    if (status != ULB_OK)
        return status;
    json_t *benchmarks = json_object();
    int failed = !benchmarks;
    for (size_t i = 0; i < n && !failed; i++) {
        json_t *benchmark = json_object_get(benchmarks, values[i].key);
        if (!benchmark) {
            benchmark = json_object();
            failed |= json_object_set_new(benchmarks, values[i].key, benchmark);
        }
        failed |= add_measure(benchmark, &values[i]);
    }
    free(values);
    if (!failed && n > 0)
        return put_document(benchmarks, out, err);
    json_decref(benchmarks);
    return failed ? no_memory(err) : nothing("no cells, gammas or counts", err);
}

/* --- Google Benchmark --- */

/* Frequency of the fastest class of cores, MHz; 0 when unknown, as Google Benchmark has it. */
static int mhz(const struct ulb_record *record)
{
    double fastest = 0;
    const char *cls;
    json_t *hz;
    json_object_foreach(json_object_get(json_object_get(record->root, "clock"), "hz"), cls, hz) fastest =
        fmax(fastest, json_number_value(hz));
    return (int)(fastest / 1e6 + 0.5);
}

static json_t *google_context(const struct ulb_record *record)
{
    double cores = ulb_record_number(record, "machine.cores");
    double load = ulb_record_number(record, "machine.load_average");
    const char *governor = ulb_record_text(record, "machine.governor");
    bool scaling = governor && strcmp(governor, "performance") != 0;
    bool debug = strcmp(ulb_export_text(record, "build.build_type"), "Debug") == 0;
    json_t *context = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:b, s:[], s:[], s:s, s:s, s:s}", "date",
        ulb_export_text(record, "created"), "host_name", ulb_export_text(record, "machine.cpu_model"),
        "executable", "ulb-bench", "num_cpus", isfinite(cores) ? (int)cores : 0, "mhz_per_cpu", mhz(record),
        "cpu_scaling_enabled", scaling, "caches", "load_avg", "library_build_type",
        debug ? "debug" : "release", "ulb_bench_commit", ulb_export_text(record, "build.commit"),
        "ulb_bench_compiler", ulb_export_text(record, "build.compiler"));
    if (isfinite(load))
        json_array_append_new(json_object_get(context, "load_avg"), json_real(load));
    return context;
}

/* One entry; what a call moves and computes stands beside its time, as the library's counters do. */
static json_t *google_entry(const struct ulb_cell *cell, const char *run_name, size_t family,
                            const char *aggregate, double us)
{
    char name[ULB_CELL_KEY_MAX + 16];
    snprintf(name, sizeof name, "%s%s%s", run_name, aggregate ? "_" : "", aggregate ? aggregate : "");
    json_t *entry =
        json_pack("{s:s, s:I, s:i, s:s, s:s, s:I, s:i, s:i, s:f, s:f, s:s}", "name", name, "family_index",
                  (json_int_t)family, "per_family_instance_index", 0, "run_name", run_name, "run_type",
                  aggregate ? "aggregate" : "iteration", "repetitions", (json_int_t)cell->n_samples,
                  "threads", (int)cell->threads, "iterations", aggregate ? (int)cell->n_samples : 1,
                  "real_time", us, "cpu_time", us, "time_unit", "us");
    if (aggregate)
        json_object_update_new(entry, json_pack("{s:s, s:s}", "aggregate_name", aggregate, "aggregate_unit",
                                                strcmp(aggregate, "cv") == 0 ? "percentage" : "time"));
    return entry;
}

static void sample_moments(const struct ulb_cell *cell, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < cell->n_samples; i++)
        sum += cell->us_samples[i];
    *mean = sum / (double)cell->n_samples;
    for (size_t i = 0; i < cell->n_samples; i++)
        squares += (cell->us_samples[i] - *mean) * (cell->us_samples[i] - *mean);
    *deviation = cell->n_samples > 1 ? sqrt(squares / (double)(cell->n_samples - 1)) : 0;
}

static int add_google_cell(json_t *benchmarks, const struct ulb_cell *cell, const char *name, size_t family)
{
    int failed = 0;
    for (size_t i = 0; i < cell->n_samples; i++) {
        json_t *entry = google_entry(cell, name, family, NULL, cell->us_samples[i]);
        double rate = (double)cell->weight_bytes / cell->us_samples[i] * 1e6;
        failed |= json_object_set_new(entry, "repetition_index", json_integer((json_int_t)i)) |
                  json_array_append_new(benchmarks, entry);
        if (isfinite(rate)) /* of a sample of 0 there is none */
            failed |= json_object_set_new(entry, "bytes_per_second", json_real(rate));
    }
    double mean, deviation;
    if (cell->n_samples == 0)
        return json_array_append_new(benchmarks, google_entry(cell, name, family, NULL, cell->us));
    sample_moments(cell, &mean, &deviation);
    json_t *median = google_entry(cell, name, family, "median", cell->us);
    if (!isnan(cell->efficiency))
        failed |= json_object_set_new(median, "efficiency", json_real(cell->efficiency));
    return failed | json_object_set_new(median, "bytes_per_second", json_real(1e9 * cell->gbps)) |
           json_array_append_new(benchmarks, google_entry(cell, name, family, "mean", mean)) |
           json_array_append_new(benchmarks, median) |
           json_array_append_new(benchmarks, google_entry(cell, name, family, "stddev", deviation)) |
           json_array_append_new(benchmarks,
                                 google_entry(cell, name, family, "cv", mean > 0 ? deviation / mean : 0));
}

static int add_google_cells(json_t *benchmarks, const struct ulb_cell *cells, size_t n, const char *cycles)
{
    int failed = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        char name[ULB_CELL_KEY_MAX];
        ulb_cell_key(&cells[i], cycles, name);
        failed = add_google_cell(benchmarks, &cells[i], name, i);
    }
    return failed;
}

/* A token's time is one repetition of its own. */
static int add_google_tokens(json_t *benchmarks, const struct ulb_value *values, size_t n)
{
    static const struct ulb_cell once = {.threads = 1, .n_samples = 1};
    int failed = 0;
    for (size_t i = 0; i < n && !failed; i++) {
        json_t *entry = google_entry(&once, values[i].key, i, NULL, values[i].value);
        failed = json_object_set_new(entry, "repetition_index", json_integer(0)) |
                 json_array_append_new(benchmarks, entry);
    }
    return failed;
}

static enum ulb_status add_google_benchmarks(const struct ulb_record *record, bool summary,
                                             json_t *benchmarks, struct ulb_error *err)
{
    struct ulb_value *values = NULL;
    struct ulb_cell *cells = NULL;
    size_t n = 0;
    int failed = 0;
    enum ulb_status status = summary ? ulb_export_summary_values(record, true, &values, &n, err)
                                     : ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    if (summary)
        failed = add_google_tokens(benchmarks, values, n);
    else
        failed = add_google_cells(benchmarks, cells, n, ulb_record_text(record, "clock.cycles_source"));
    free(values);
    ulb_cells_free(cells, cells ? n : 0);
    if (failed)
        return no_memory(err);
    return n > 0 ? ULB_OK : nothing(summary ? "no model's tokens" : "no cells", err);
}

enum ulb_status ulb_export_googlebench(const struct ulb_record *record,
                                       const struct ulb_export_options *options, FILE *out,
                                       struct ulb_error *err)
{
    json_t *benchmarks = json_array(), *context = google_context(record);
    enum ulb_status status = benchmarks && context
                                 ? add_google_benchmarks(record, options->summary, benchmarks, err)
                                 : no_memory(err);
    if (status == ULB_OK)
        return put_document(json_pack("{s:o, s:o}", "context", context, "benchmarks", benchmarks), out, err);
    json_decref(benchmarks);
    json_decref(context);
    return status;
}
