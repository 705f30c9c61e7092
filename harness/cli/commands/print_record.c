#include "harness/cli/commands/print_record.h"

#include "common/units.h"
#include "harness/cli/table.h"
#include "harness/topology/topology.h"

#include <math.h>
#include <string.h>

static const char *known(const char *text)
{
    return text ? text : "unknown";
}

/* ---- beta ---- */

static void print_yardsticks(const struct ulb_record *record, FILE *out)
{
    struct ulb_yardstick *yardsticks;
    struct ulb_error err;
    size_t n;
    if (ulb_record_yardsticks(record, &yardsticks, &n, &err) != ULB_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char mad[32], drift[32];
        ulb_print_wrapped_as(out, "", " yardstick of %s, %u thread%s: %.1f GB/s, +- %s, drift %s %%, %s",
                             yardsticks[i].set, yardsticks[i].threads, ULB_S(yardsticks[i].threads),
                             yardsticks[i].gbps, ulb_show_number(mad, "%.1f", yardsticks[i].gbps_mad),
                             ulb_show_number(drift, "%.1f", 100 * yardsticks[i].drift),
                             yardsticks[i].variant);
    }
    ulb_yardsticks_free(yardsticks, n);
}

static void print_idle_penalty(const struct ulb_record *record, FILE *out)
{
    double lost = ulb_record_number(record, "beta.wake.lost_us");
    if (isfinite(lost))
        ulb_print_wrapped_as(
            out, "", " after a rest of %.0f us: %.1f GB/s at first, %.1f awake; the rest costs %.0f us",
            ulb_record_number(record, "beta.wake.rest_us"), ulb_record_number(record, "beta.wake.first_gbps"),
            ulb_record_number(record, "beta.wake.awake_gbps"), lost);
}

/* LIKWID's opinion of the memory level, or why there is none. */
static void print_likwid(const struct ulb_record *record, FILE *out)
{
    double gbps = ulb_record_number(record, "likwid_bench.gbps");
    const char *reason = ulb_record_text(record, "likwid_bench.gbps_reason");
    if (isfinite(gbps))
        ulb_print_wrapped_as(out, "", " likwid-bench, one plain stream on the same cores: %.1f GB/s", gbps);
    else if (reason)
        ulb_print_wrapped(out, " no cross-check by likwid-bench: ", reason);
}

/* The PUs of a cluster that were read with, one of each core, as a set is named; false when it is one core's.
 */
static bool cluster_name(const json_t *class, const json_t *cluster, char *name, size_t bytes)
{
    enum { PUS_MAX = 64 };
    unsigned items[PUS_MAX];
    struct ulb_pu_list list = {items, 0};
    size_t i, p;
    const json_t *leader, *pu;
    json_array_foreach(json_object_get(class, "leaders"), i, leader)
    {
        json_array_foreach(cluster, p, pu)
        {
            if (json_equal(leader, pu) && list.n < PUS_MAX)
                items[list.n++] = (unsigned)json_integer_value(leader);
        }
    }
    ulb_pu_list_text(&list, name, bytes);
    return list.n > 1;
}

/* A cell of the cluster, or of its first cores: name, or name:n. */
static bool is_of_cluster(const struct ulb_beta_cell *cell, const char *name)
{
    size_t length = strlen(name);
    return strcmp(cell->level, "mem") == 0 && strncmp(cell->set, name, length) == 0 &&
           (cell->set[length] == '\0' || cell->set[length] == ':');
}

/* One core of an L2 beside all of them, and how many already read what all do. */
static void print_cluster(const struct ulb_beta_cell *cells, size_t n, const char *class, const char *name,
                          FILE *out)
{
    double one = NAN, all = NAN;
    unsigned cores = 0, enough = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_of_cluster(&cells[i], name) && cells[i].threads == 1)
            one = cells[i].gbps;
        if (is_of_cluster(&cells[i], name) && cells[i].threads > cores) {
            all = cells[i].gbps;
            cores = cells[i].threads;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (is_of_cluster(&cells[i], name) && cells[i].gbps >= 0.95 * all &&
            (enough == 0 || cells[i].threads < enough))
            enough = cells[i].threads;
    }
    if (cores > 1 && one > 0)
        ulb_print_wrapped_as(
            out, "",
            "L2 of PUs %s (%s): 1 core reads %.1f GB/s, %u read %.1f, %.0f %% of as many alone; %u do "
            "for that",
            name, class, one, cores, all, 100 * all / (one * cores), enough);
}

static void print_clusters(const struct ulb_record *record, const struct ulb_beta_cell *cells, size_t n,
                           FILE *out)
{
    size_t i, c;
    const json_t *class, *cluster;
    json_array_foreach(json_object_get(json_object_get(record->root, "topology"), "classes"), i, class)
    {
        json_array_foreach(json_object_get(class, "l2_clusters"), c, cluster)
        {
            char name[24];
            if (cluster_name(class, cluster, name, sizeof name))
                print_cluster(cells, n, known(json_string_value(json_object_get(class, "name"))), name, out);
        }
    }
}

void ulb_report_beta(const struct ulb_record *record, FILE *out)
{
    struct ulb_beta_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_beta_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    ulb_print_wrapped_as(out, "", "Read bandwidth (beta), 1e9 bytes/s; cycles by %s",
                         known(ulb_record_text(record, "beta.cycles_source")));
    static const struct ulb_table_column columns[] = {
        {"set", false, true},         {"threads", true, false}, {"level", false, false},
        {"GB/s", true, false},        {"+-", true, false},      {"B/cycle/core", true, false},
        {"best reader", false, true},
    };
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        char mad[32], per_cycle[32];
        ulb_table_add(table, "%s\t%u\t%s\t%.1f\t%s\t%s\t%s", cells[i].set, cells[i].threads, cells[i].level,
                      cells[i].gbps, ulb_show_number(mad, "%.1f", cells[i].gbps_mad),
                      ulb_show_number(per_cycle, "%.2f", cells[i].bytes_per_cycle), cells[i].variant);
    }
    ulb_table_print(table, out);
    print_clusters(record, cells, n, out);
    ulb_beta_cells_free(cells, n);
    print_yardsticks(record, out);
    print_idle_penalty(record, out);
    print_likwid(record, out);
}

/* ---- gamma ---- */

static void add_gamma(const struct ulb_gamma_cell *cell, struct ulb_table *table)
{
    char median[32], min[32], mad[32], ceiling[32], ebw[32];
    ulb_table_add(table, "%s\t%s\t%s\t%s\t%s\t%.4g\t%s\t%s\t%s", cell->kernel, cell->cls,
                  ulb_show_number(median, "%.3f", cell->gamma_cycles),
                  ulb_show_number(min, "%.3f", cell->gamma_min_cycles),
                  ulb_show_number(mad, "%.3f", cell->gamma_mad_cycles), cell->bytes_per_step,
                  ulb_show_number(ceiling, "%.2f", cell->bytes_per_step / cell->gamma_cycles),
                  ulb_show_number(ebw, "%.2f", cell->ebw_bytes_per_cycle),
                  !isfinite(cell->gamma_cycles) ? cell->reason
                  : cell->verified              ? ""
                                                : "differs");
}

static const char *word_of(const json_t *row, const char *key)
{
    return known(json_string_value(json_object_get(row, key)));
}

static double figure_of(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void print_look_ups(const struct ulb_record *record, FILE *out)
{
    const json_t *rows = ulb_record_at(record, "gamma.embedding"), *row;
    char gamma[32], min[32], mad[32];
    size_t i;
    if (json_array_size(rows) == 0)
        return;
    ulb_print_wrapped_as(out, "",
                         "Embedding look-up, core cycles per 32 weights to floats in L1; B in bytes");
    static const struct ulb_table_column columns[] = {
        {"format", false, false}, {"isa", false, false}, {"class", false, false}, {"gamma", true, false},
        {"min", true, false},     {"+-", true, false},   {"B", true, false},      {"", false, false},
    };
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(rows, i, row)
    {
        ulb_table_add(table, "%s\t%s\t%s\t%s\t%s\t%s\t%.4g\t%s", word_of(row, "format"), word_of(row, "isa"),
                      word_of(row, "class"), ulb_show_number(gamma, "%.3f", figure_of(row, "gamma_cycles")),
                      ulb_show_number(min, "%.3f", figure_of(row, "gamma_min_cycles")),
                      ulb_show_number(mad, "%.3f", figure_of(row, "gamma_mad_cycles")),
                      figure_of(row, "bytes_per_step"),
                      json_is_true(json_object_get(row, "verified")) ? "" : "differs");
    }
    ulb_table_print(table, out);
}

void ulb_report_gamma(const struct ulb_record *record, FILE *out)
{
    struct ulb_gamma_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_gamma_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    ulb_print_wrapped_as(
        out, "",
        "Compute cost (gamma), core cycles per 32 weights in L1; B in bytes, e_bw = min(beta, B/gamma)");
    static const struct ulb_table_column columns[] = {
        {"kernel", false, false}, {"class", false, false}, {"gamma", true, false},
        {"min", true, false},     {"+-", true, false},     {"B", true, false},
        {"B/gamma", true, false}, {"e_bw", true, false},   {"", false, true},
    };
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++)
        add_gamma(&cells[i], table);
    ulb_table_print(table, out);
    ulb_gamma_cells_free(cells, n);
    print_look_ups(record, out);
}

/* ---- overlap ---- */

static void add_overlap(const struct ulb_overlap_cell *cell, struct ulb_table *table)
{
    char c[32], mad[32], tile[32], call[32];
    /* What tables cost per input feature, for a row of 4096. */
    double call_us = cell->call_us + 4.096 * cell->column_ns;
    ulb_table_add(table, "%s\t%s\t%s\t%s\t%s\t%s", cell->kernel, ulb_show_number(c, "%.2f", cell->overlap),
                  ulb_show_number(mad, "%.2f", cell->overlap_mad),
                  ulb_show_number(tile, "%.3f", cell->tile_us), ulb_show_number(call, "%.2f", call_us),
                  isfinite(cell->overlap) ? "" : cell->reason);
}

void ulb_report_overlap(const struct ulb_record *record, FILE *out)
{
    struct ulb_overlap_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_overlaps(record, &cells, &n, &err) != ULB_OK)
        return;
    static const struct ulb_table_column columns[] = {
        {"kernel", false, false}, {"c", true, false},       {"+-", true, false},
        {"us/tile", true, false}, {"us/call", true, false}, {"", false, true},
    };
    if (n > 0)
        ulb_print_wrapped_as(
            out, "",
            "Overlap on %s, %u thread%s: us = fork/join + max + c min + tiles * tile + call, with "
            "max and min of memory and compute time; c is 0 when the shorter hides behind the longer, "
            "1 when they add up",
            cells[0].set, cells[0].threads, ULB_S(cells[0].threads));
    struct ulb_table *table = n > 0 ? ulb_table_open(columns, sizeof columns / sizeof *columns) : NULL;
    for (size_t i = 0; i < n; i++)
        add_overlap(&cells[i], table);
    if (n > 0)
        ulb_table_print(table, out);
    ulb_overlaps_free(cells, n);
}

static void print_prediction(const struct ulb_record *record, FILE *out)
{
    double cells = ulb_record_number(record, "prediction.cells");
    double noisy = ulb_record_number(record, "prediction.noisy_cells");
    if (!(cells > 0)) {
        if (noisy > 0)
            ulb_print_wrapped_as(
                out, "", "prediction: not judged, the noise of each of the %.0f cells is beyond %.0f %%",
                noisy, 100 * ULB_NOISE_MAX);
        return;
    }
    ulb_print_wrapped_as(
        out, "", "prediction: |residual| %.1f %% median, %.1f %% at the 95th percentile of %.0f cells",
        100 * ulb_record_number(record, "prediction.median_abs_residual"),
        100 * ulb_record_number(record, "prediction.p95_abs_residual"), cells);
    ulb_print_wrapped_as(out, "", "  of the roofline alone: %.1f %% and %.1f %%",
                         100 * ulb_record_number(record, "prediction.median_abs_residual_plain"),
                         100 * ulb_record_number(record, "prediction.p95_abs_residual_plain"));
    if (noisy > 0)
        ulb_print_wrapped_as(out, "", "  %.0f cells left out: their own noise is beyond %.0f %%", noisy,
                             100 * ULB_NOISE_MAX);
}

static void print_noise_floor(const struct ulb_record *record, FILE *out)
{
    const char *method = ulb_record_text(record, "noise_floor.method");
    double median = ulb_record_number(record, "noise_floor.median");
    if (isfinite(median))
        ulb_print_wrapped_as(
            out, "", "noise floor (A/A): %.1f %% median, %.1f %% at the 95th percentile, of %s", 100 * median,
            100 * ulb_record_number(record, "noise_floor.p95"),
            method && strcmp(method, "passes") == 0 ? "two passes set up anew" : "halves of the rounds");
}

/* ---- cells ---- */

static bool same_run(const struct ulb_cell *a, const struct ulb_cell *b)
{
    return a->threads == b->threads && strcmp(a->mode, b->mode) == 0 && strcmp(a->set, b->set) == 0 &&
           strcmp(a->split, b->split) == 0;
}

static bool same_group(const struct ulb_cell *a, const struct ulb_cell *b)
{
    return a->m == b->m && a->k == b->k && a->n == b->n && same_run(a, b) &&
           strcmp(a->model, b->model) == 0 && strcmp(a->layer, b->layer) == 0;
}

static struct ulb_table *open_run(const struct ulb_cell *cell, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"kernel", false, false}, {"us", true, false},    {"GB/s", true, false},
        {"share", true, false},   {"read", true, false},  {"model", true, false},
        {"resid", true, false},   {"plain", true, false}, {"what bounds it", false, true},
    };
    ulb_print_wrapped_as(
        out, "",
        "GEMV, %s weights, %u thread%s of %s, %s split; share: of the yardstick beside a "
        "cell's samples; read: of a plain read of as many bytes, fork and join included; model, "
        "resid: with the kernel's overlap; plain: residual of the roofline without it",
        cell->mode, cell->threads, ULB_S(cell->threads), cell->set, cell->split);
    return ulb_table_open(columns, sizeof columns / sizeof *columns);
}

/* What a verdict says beyond the columns beside it. "compute-bound: gamma 2.40 allows 1.67 B/cycle" becomes
 * "gamma 2.40: 1.67 B/cycle". "memory-bound, 96 % of the yardstick" becomes "memory-bound". */
static const char *beyond_columns(const char *verdict, char out[128])
{
    static const char allows[] = " allows ";
    const char *detail = strstr(verdict, ": "), *limit = detail ? strstr(detail, allows) : NULL;
    if (limit)
        snprintf(out, 128, "%.*s: %s", (int)(limit - detail - 2), detail + 2, limit + sizeof allows - 1);
    else if (detail)
        snprintf(out, 128, "%s", detail + 2);
    else
        snprintf(out, 128, "%.*s", (int)strcspn(verdict, ","), verdict);
    return out;
}

static void add_cell(const struct ulb_cell *cell, struct ulb_table *table)
{
    char share[32], read[32], predicted[32], residual[32], plain[32], detail[128];
    ulb_table_add(table, "%s\t%.1f\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s%s", cell->kernel, cell->us, cell->gbps,
                  ulb_show_number(share, "%.0f%%", 100 * cell->efficiency),
                  ulb_show_number(read, "%.0f%%", 100 * cell->read_share),
                  ulb_show_number(predicted, "%.1f", cell->predicted_us),
                  ulb_show_number(residual, "%+.0f%%", 100 * cell->residual),
                  ulb_show_number(plain, "%+.0f%%", 100 * cell->residual_plain),
                  cell->verified ? "" : "not verified; ", beyond_columns(cell->verdict, detail));
}

/* Cells come in any order; they are shown shape by shape, in the order in which the shapes first appear. */
void ulb_report_cells(const struct ulb_record *record, FILE *out)
{
    struct ulb_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    const struct ulb_cell *run = NULL;
    struct ulb_table *table = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (!same_group(&cells[first], &cells[i]))
            first++;
        if (first < i)
            continue;
        if (!run || !same_run(run, &cells[i])) {
            if (run)
                ulb_table_print(table, out);
            table = open_run(&cells[i], out);
        }
        run = &cells[i];
        ulb_table_heading(table, " -- %s %s, %zu x %zu --", run->model, run->layer, run->m, run->k);
        for (size_t j = i; j < n; j++) {
            if (same_group(run, &cells[j]))
                add_cell(&cells[j], table);
        }
    }
    if (run)
        ulb_table_print(table, out);
    ulb_report_overlap(record, out);
    print_prediction(record, out);
    print_noise_floor(record, out);
    ulb_cells_free(cells, n);
}

/* ---- GEMM ---- */

static void print_peaks(const struct ulb_record *record, FILE *out)
{
    struct ulb_peak_cell *peaks;
    struct ulb_error err;
    size_t n;
    if (ulb_record_peaks(record, &peaks, &n, &err) != ULB_OK)
        return;
    for (size_t i = 0; i < n; i++)
        ulb_print_wrapped_as(
            out, "", " compute limit of %s, %u thread%s: %8.1f GOP/s, %s by %s", peaks[i].set,
            peaks[i].threads, ULB_S(peaks[i].threads), peaks[i].gops,
            strcmp(peaks[i].activation, "a8") == 0 ? "int8 dot products" : "single precision", peaks[i].isa);
    ulb_peaks_free(peaks, n);
}

static struct ulb_table *open_gemm(const struct ulb_cell *cell, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"kernel", false, false}, {"us", true, false},           {"GB/s", true, false},
        {"share", true, false},   {"read", true, false},         {"GOP/s", true, false},
        {"peak", true, false},    {"nearer limit", false, true},
    };
    ulb_print_wrapped_as(
        out, "",
        "GEMM, %s weights, %u thread%s of %s, %s split; share: of the yardstick beside a cell's samples; "
        "read: "
        "of a plain read of as many bytes; peak: of the best compute limit for the kernel's activations",
        cell->mode, cell->threads, ULB_S(cell->threads), cell->set, cell->split);
    return ulb_table_open(columns, sizeof columns / sizeof *columns);
}

static void add_gemm_cell(const struct ulb_cell *cell, struct ulb_table *table)
{
    char share[32], read[32], peak[32];
    ulb_table_add(table, "%s\t%.1f\t%.1f\t%s\t%s\t%.1f\t%s\t%s%s", cell->kernel, cell->us, cell->gbps,
                  ulb_show_number(share, "%.0f%%", 100 * cell->efficiency),
                  ulb_show_number(read, "%.0f%%", 100 * cell->read_share), cell->gops,
                  ulb_show_number(peak, "%.0f%%", 100 * cell->peak_share), cell->bound[0] ? cell->bound : "-",
                  cell->verified ? "" : "; not verified");
}

/* Value of a key as text or number, for the two lists below. */
static const char *text_of(const json_t *row, const char *key)
{
    return known(json_string_value(json_object_get(row, key)));
}

static void print_best(const json_t *best, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"model", false, false}, {"layer", false, false},  {"format", false, false},
        {"N", true, false},      {"kernel", false, false}, {"GOP/s", true, false},
    };
    size_t i;
    const json_t *row;
    if (json_array_size(best) == 0)
        return;
    ulb_print_wrapped_as(out, "", "Fastest kernel by format and number of tokens");
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(best, i, row)
        ulb_table_add(table, "%s\t%s\t%s\t%.0f\t%s\t%.1f", text_of(row, "model"), text_of(row, "layer"),
                      text_of(row, "format"), json_number_value(json_object_get(row, "n")),
                      text_of(row, "kernel"), json_number_value(json_object_get(row, "gops")));
    ulb_table_print(table, out);
}

static void print_crossover(const json_t *crossover, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"model", false, false}, {"layer", false, false}, {"format", false, false},
        {"from N", true, false}, {"on", false, false},    {"takes over from", false, false},
    };
    size_t i;
    const json_t *row;
    if (json_array_size(crossover) == 0)
        return;
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(crossover, i, row)
        ulb_table_add(table, "%s\t%s\t%s\t%.0f\t%s\t%s", text_of(row, "model"), text_of(row, "layer"),
                      text_of(row, "format"), json_number_value(json_object_get(row, "n")),
                      text_of(row, "to"), text_of(row, "from"));
    ulb_table_print(table, out);
}

static void print_tokens(const struct ulb_record *record, FILE *out)
{
    json_t *best = json_object_get(record->root, "best");
    json_t *crossover = json_object_get(record->root, "crossover");
    print_best(best, out);
    print_crossover(crossover, out);
}

void ulb_report_gemm(const struct ulb_record *record, FILE *out)
{
    struct ulb_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    print_peaks(record, out);
    struct ulb_table *table = n > 0 ? open_gemm(&cells[0], out) : NULL;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (!same_group(&cells[first], &cells[i]))
            first++;
        if (first < i)
            continue;
        ulb_table_heading(table, " -- %s %s, %zu x %zu, N = %zu --", cells[i].model, cells[i].layer,
                          cells[i].m, cells[i].k, cells[i].n);
        for (size_t j = i; j < n; j++) {
            if (same_group(&cells[i], &cells[j]))
                add_gemm_cell(&cells[j], table);
        }
    }
    if (n > 0)
        ulb_table_print(table, out);
    print_tokens(record, out);
    print_noise_floor(record, out);
    ulb_cells_free(cells, n);
}

/* ---- the whole ---- */

static void print_machine(const struct ulb_record *record, FILE *out)
{
    static const char *const classes[] = {"P", "E", "LP-E", "core"};
    const char *hypervisor = ulb_record_text(record, "machine.hypervisor");
    const char *reason = ulb_record_text(record, "clock.counters_reason");
    char cores[32], gib[32], frequencies[128] = "", team[32], openmp[32];
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++) {
        char place[32];
        size_t used = strlen(frequencies);
        snprintf(place, sizeof place, "clock.hz.%s", classes[c]);
        double hz = ulb_record_number(record, place);
        if (hz > 0)
            snprintf(frequencies + used, sizeof frequencies - used, ", %s %.2f GHz", classes[c], hz / 1e9);
    }
    ulb_print_wrapped_as(
        out, "", "%.48s, %s cores, %s GiB%s%s, Linux %s", known(ulb_record_text(record, "machine.cpu_model")),
        ulb_show_number(cores, "%.0f", ulb_record_number(record, "machine.cores")),
        ulb_show_number(gib, "%.1f", ulb_record_number(record, "machine.memory_bytes") / 1073741824.0),
        hypervisor ? ", guest of " : "", hypervisor ? hypervisor : "",
        known(ulb_record_text(record, "machine.kernel_release")));
    ulb_print_wrapped_as(out, "", "cycles by %s%s; fork/join %s us, OpenMP's own %s us",
                         known(ulb_record_text(record, "clock.cycles_source")), frequencies,
                         ulb_show_number(team, "%.2f", ulb_record_number(record, "fork_join.team_us")),
                         ulb_show_number(openmp, "%.2f", ulb_record_number(record, "fork_join.openmp_us")));
    if (reason)
        ulb_print_wrapped(out, "  because ", reason);
}

static void print_warnings(const struct ulb_record *record, FILE *out)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(json_object_get(record->root, "warnings"), i, warning)
        ulb_print_wrapped(out, "! ", json_string_value(warning));
}

void ulb_report_machine(const struct ulb_record *record, FILE *out)
{
    print_machine(record, out);
    print_warnings(record, out);
}

void ulb_report_print(const struct ulb_record *record, FILE *out)
{
    print_machine(record, out);
    fputc('\n', out);
    ulb_report_beta(record, out);
    fputc('\n', out);
    ulb_report_gamma(record, out);
    fputc('\n', out);
    ulb_report_cells(record, out);
    print_warnings(record, out);
}
