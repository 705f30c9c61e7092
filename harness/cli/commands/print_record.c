#include "harness/cli/commands/print_record.h"

#include "common/units.h"
#include "harness/cli/table.h"
#include "harness/topology/topology.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { WIDTH = 100, NAME = 34 };

/* ---- lines ---- */

/* Printable ASCII: one '?' for each other character, so that bytes are columns and no text drives the
 * terminal. */
static void to_ascii(char *text)
{
    char *out = text;
    for (; *text; text++) {
        if ((*text & 0xC0) != 0x80)
            *out++ = *text >= ' ' && *text < 0x7F ? *text : '?';
    }
    *out = '\0';
}

/* One line of at most WIDTH columns; what does not fit is cut, which '~' shows. */
static void print_line(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_line(FILE *out, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    to_ascii(line);
    if (strlen(line) > WIDTH)
        strcpy(line + WIDTH - 1, "~");
    fprintf(out, "%s\n", line);
}

/* Ends a line whose first `used` columns are in head with text; what does not fit goes on below, between
 * words. */
static void print_wrapped(FILE *out, const char *head, size_t used, const char *text)
{
    size_t room = WIDTH - used;
    char words[1024];
    snprintf(words, sizeof words, "%s", text);
    to_ascii(words);
    const char *rest = words;
    while (strlen(rest) > room) {
        size_t cut = room;
        while (cut > 0 && rest[cut] != ' ')
            cut--;
        cut = cut > 0 ? cut : room;
        print_line(out, "%-*s%.*s", (int)used, head, (int)cut, rest);
        rest += cut + (rest[cut] == ' ');
        head = "";
    }
    print_line(out, "%-*s%s", (int)used, head, rest);
}

/* A name that is too long for its column gets a line of its own; returns what is left for the column. */
static const char *fit_name(FILE *out, const char *name)
{
    if (strlen(name) <= NAME)
        return name;
    print_line(out, " %s", name);
    return "";
}

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
        print_line(out, " yardstick of %s, %u thread%s: %.1f GB/s, +- %s, drift %s %%, %s", yardsticks[i].set,
                   yardsticks[i].threads, ULB_S(yardsticks[i].threads), yardsticks[i].gbps,
                   ulb_show_number(mad, "%.1f", yardsticks[i].gbps_mad),
                   ulb_show_number(drift, "%.1f", 100 * yardsticks[i].drift), yardsticks[i].variant);
    }
    ulb_yardsticks_free(yardsticks, n);
}

static void print_idle_penalty(const struct ulb_record *record, FILE *out)
{
    double lost = ulb_record_number(record, "beta.wake.lost_us");
    if (isfinite(lost))
        print_line(out, " after a rest of %.0f us: %.1f GB/s at first, %.1f awake; the rest costs %.0f us",
                   ulb_record_number(record, "beta.wake.rest_us"),
                   ulb_record_number(record, "beta.wake.first_gbps"),
                   ulb_record_number(record, "beta.wake.awake_gbps"), lost);
}

/* LIKWID's opinion of the memory level, or why there is none. */
static void print_likwid(const struct ulb_record *record, FILE *out)
{
    double gbps = ulb_record_number(record, "likwid_bench.gbps");
    const char *reason = ulb_record_text(record, "likwid_bench.gbps_reason");
    if (isfinite(gbps))
        print_line(out, " likwid-bench, one plain stream on the same cores: %.1f GB/s", gbps);
    else if (reason)
        print_wrapped(out, " no cross-check by likwid-bench: ", 33, reason);
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
        print_line(out,
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
    print_line(out, "Read bandwidth (beta), 1e9 bytes/s; cycles by %s",
               known(ulb_record_text(record, "beta.cycles_source")));
    print_line(out, " %-12s %7s %-5s %9s %7s %12s  %s", "set", "threads", "level", "GB/s", "+-",
               "B/cycle/core", "best reader");
    for (size_t i = 0; i < n; i++) {
        char mad[32], per_cycle[32];
        print_line(out, " %-12s %7u %-5s %9.1f %7s %12s  %s", cells[i].set, cells[i].threads, cells[i].level,
                   cells[i].gbps, ulb_show_number(mad, "%.1f", cells[i].gbps_mad),
                   ulb_show_number(per_cycle, "%.2f", cells[i].bytes_per_cycle), cells[i].variant);
    }
    print_clusters(record, cells, n, out);
    ulb_beta_cells_free(cells, n);
    print_yardsticks(record, out);
    print_idle_penalty(record, out);
    print_likwid(record, out);
}

/* ---- gamma ---- */

static void print_gamma(const struct ulb_gamma_cell *cell, FILE *out)
{
    char median[32], min[32], mad[32], ceiling[32], ebw[32];
    print_line(out, " %-*s %-5s %7s %7s %7s %5.4g %8s %8s%s", NAME, fit_name(out, cell->kernel), cell->cls,
               ulb_show_number(median, "%.3f", cell->gamma_cycles),
               ulb_show_number(min, "%.3f", cell->gamma_min_cycles),
               ulb_show_number(mad, "%.3f", cell->gamma_mad_cycles), cell->bytes_per_step,
               ulb_show_number(ceiling, "%.2f", cell->bytes_per_step / cell->gamma_cycles),
               ulb_show_number(ebw, "%.2f", cell->ebw_bytes_per_cycle), cell->verified ? "" : "  differs");
    if (!isfinite(cell->gamma_cycles))
        print_wrapped(out, "   not measured: ", 17, cell->reason);
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
    print_line(out, "Embedding look-up, core cycles per 32 weights to floats in L1; B in bytes");
    print_line(out, " %-10s %-8s %-5s %7s %7s %7s %5s", "format", "isa", "class", "gamma", "min", "+-", "B");
    json_array_foreach(rows, i, row)
    {
        print_line(out, " %-10s %-8s %-5s %7s %7s %7s %5.4g%s", word_of(row, "format"), word_of(row, "isa"),
                   word_of(row, "class"), ulb_show_number(gamma, "%.3f", figure_of(row, "gamma_cycles")),
                   ulb_show_number(min, "%.3f", figure_of(row, "gamma_min_cycles")),
                   ulb_show_number(mad, "%.3f", figure_of(row, "gamma_mad_cycles")),
                   figure_of(row, "bytes_per_step"),
                   json_is_true(json_object_get(row, "verified")) ? "" : "  differs");
    }
}

void ulb_report_gamma(const struct ulb_record *record, FILE *out)
{
    struct ulb_gamma_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_gamma_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    print_line(
        out, "Compute cost (gamma), core cycles per 32 weights in L1; B in bytes, e_bw = min(beta, B/gamma)");
    print_line(out, " %-*s %-5s %7s %7s %7s %5s %8s %8s", NAME, "kernel", "class", "gamma", "min", "+-", "B",
               "B/gamma", "e_bw");
    for (size_t i = 0; i < n; i++)
        print_gamma(&cells[i], out);
    ulb_gamma_cells_free(cells, n);
    print_look_ups(record, out);
}

/* ---- overlap ---- */

static void print_overlap(const struct ulb_overlap_cell *cell, FILE *out)
{
    char c[32], mad[32], tile[32], call[32];
    /* What tables cost per input feature, for a row of 4096. */
    double call_us = cell->call_us + 4.096 * cell->column_ns;
    print_line(out, " %-*s %8s %7s %9s %9s", NAME, fit_name(out, cell->kernel),
               ulb_show_number(c, "%.2f", cell->overlap), ulb_show_number(mad, "%.2f", cell->overlap_mad),
               ulb_show_number(tile, "%.3f", cell->tile_us), ulb_show_number(call, "%.2f", call_us));
    if (!isfinite(cell->overlap))
        print_wrapped(out, "   not measured: ", 17, cell->reason);
}

void ulb_report_overlap(const struct ulb_record *record, FILE *out)
{
    struct ulb_overlap_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_overlaps(record, &cells, &n, &err) != ULB_OK)
        return;
    if (n > 0) {
        print_line(out,
                   "Overlap on %s, %u thread%s: us = fork/join + max + c min + tiles * tile + call, with "
                   "max and min",
                   cells[0].set, cells[0].threads, ULB_S(cells[0].threads));
        print_line(out, "of memory and compute time; c is 0 when the shorter hides behind the longer, 1 when "
                        "they add up");
        print_line(out, " %-*s %8s %7s %9s %9s", NAME, "kernel", "c", "+-", "us/tile", "us/call");
    }
    for (size_t i = 0; i < n; i++)
        print_overlap(&cells[i], out);
    ulb_overlaps_free(cells, n);
}

static void print_prediction(const struct ulb_record *record, FILE *out)
{
    double cells = ulb_record_number(record, "prediction.cells");
    double noisy = ulb_record_number(record, "prediction.noisy_cells");
    if (!(cells > 0)) {
        if (noisy > 0)
            print_line(out, "prediction: not judged, the noise of each of the %.0f cells is beyond %.0f %%",
                       noisy, 100 * ULB_NOISE_MAX);
        return;
    }
    print_line(out, "prediction: |residual| %.1f %% median, %.1f %% at the 95th percentile of %.0f cells",
               100 * ulb_record_number(record, "prediction.median_abs_residual"),
               100 * ulb_record_number(record, "prediction.p95_abs_residual"), cells);
    print_line(out, "  of the roofline alone: %.1f %% and %.1f %%",
               100 * ulb_record_number(record, "prediction.median_abs_residual_plain"),
               100 * ulb_record_number(record, "prediction.p95_abs_residual_plain"));
    if (noisy > 0)
        print_line(out, "  %.0f cells left out: their own noise is beyond %.0f %%", noisy,
                   100 * ULB_NOISE_MAX);
}

static void print_noise_floor(const struct ulb_record *record, FILE *out)
{
    const char *method = ulb_record_text(record, "noise_floor.method");
    double median = ulb_record_number(record, "noise_floor.median");
    if (isfinite(median))
        print_line(out, "noise floor (A/A): %.1f %% median, %.1f %% at the 95th percentile, of %s",
                   100 * median, 100 * ulb_record_number(record, "noise_floor.p95"),
                   method && strcmp(method, "passes") == 0 ? "two passes set up anew"
                                                           : "halves of the rounds");
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

static void print_run(const struct ulb_cell *cell, FILE *out)
{
    char yardstick[32];
    print_line(out, "GEMV, %s weights, %u thread%s of %s, %s split; share is of the yardstick, %s GB/s",
               cell->mode, cell->threads, ULB_S(cell->threads), cell->set, cell->split,
               ulb_show_number(yardstick, "%.1f", cell->yardstick_gbps));
    print_line(out, "read: of what a plain read of as many bytes reaches, fork and join included");
    print_line(out, "model and resid are with the kernel's overlap, plain is the residual of the roofline "
                    "without it");
    print_line(out, "%-*s %7s %5s %5s %4s %7s %5s %5s %s", NAME, "kernel", "us", "GB/s", "share", "read",
               "model", "resid", "plain", "what bounds it");
}

/* What a verdict says beyond the columns beside it: "compute-bound: gamma 2.40 allows 1.67 B/cycle" becomes
 * "gamma 2.40: 1.67 B/cycle", "memory-bound, 96 % of the yardstick" becomes "memory-bound". */
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

static void print_cell(const struct ulb_cell *cell, FILE *out)
{
    char share[32], read[32], predicted[32], residual[32], plain[32], head[256], detail[128], verdict[160];
    int used = snprintf(head, sizeof head, "%-*s %7.1f %5.1f %5s %4s %7s %5s %5s ", NAME,
                        fit_name(out, cell->kernel), cell->us, cell->gbps,
                        ulb_show_number(share, "%.0f%%", 100 * cell->efficiency),
                        ulb_show_number(read, "%.0f%%", 100 * cell->read_share),
                        ulb_show_number(predicted, "%.1f", cell->predicted_us),
                        ulb_show_number(residual, "%+.0f%%", 100 * cell->residual),
                        ulb_show_number(plain, "%+.0f%%", 100 * cell->residual_plain));
    snprintf(verdict, sizeof verdict, "%s%s", cell->verified ? "" : "not verified; ",
             beyond_columns(cell->verdict, detail));
    if (used > WIDTH - 20) { /* figures larger than their columns */
        print_line(out, "%s", head);
        snprintf(head, sizeof head, "%s", "");
        used = NAME;
    }
    print_wrapped(out, head, (size_t)used, verdict);
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
    ulb_report_overlap(record, out);
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (!same_group(&cells[first], &cells[i]))
            first++;
        if (first < i)
            continue;
        if (!run || !same_run(run, &cells[i]))
            print_run(&cells[i], out);
        run = &cells[i];
        print_line(out, " -- %s %s, %zu x %zu --", run->model, run->layer, run->m, run->k);
        for (size_t j = i; j < n; j++) {
            if (same_group(run, &cells[j]))
                print_cell(&cells[j], out);
        }
    }
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
        print_line(out, " compute limit of %s, %u thread%s: %8.1f GOP/s, %s by %s", peaks[i].set,
                   peaks[i].threads, ULB_S(peaks[i].threads), peaks[i].gops,
                   strcmp(peaks[i].activation, "a8") == 0 ? "int8 dot products" : "single precision",
                   peaks[i].isa);
    ulb_peaks_free(peaks, n);
}

static void print_gemm_head(const struct ulb_cell *cell, FILE *out)
{
    char yardstick[32];
    print_line(out, "GEMM, %s weights, %u thread%s of %s, %s split; share is of the yardstick, %s GB/s,",
               cell->mode, cell->threads, ULB_S(cell->threads), cell->set, cell->split,
               ulb_show_number(yardstick, "%.1f", cell->yardstick_gbps));
    print_line(out, "read of a plain read of as many bytes, peak of the best compute limit for the kernel's "
                    "activations");
    print_line(out, "%-*s %10s %6s %5s %4s %8s %5s  %s", NAME, "kernel", "us", "GB/s", "share", "read",
               "GOP/s", "peak", "nearer limit");
}

static void print_gemm_cell(const struct ulb_cell *cell, FILE *out)
{
    char share[32], read[32], peak[32];
    print_line(out, "%-*s %10.1f %6.1f %5s %4s %8.1f %5s  %s%s", NAME, fit_name(out, cell->kernel), cell->us,
               cell->gbps, ulb_show_number(share, "%.0f%%", 100 * cell->efficiency),
               ulb_show_number(read, "%.0f%%", 100 * cell->read_share), cell->gops,
               ulb_show_number(peak, "%.0f%%", 100 * cell->peak_share), cell->bound[0] ? cell->bound : "-",
               cell->verified ? "" : "; not verified");
}

/* Value of a key as text or number, for the two lists below. */
static const char *text_of(const json_t *row, const char *key)
{
    return known(json_string_value(json_object_get(row, key)));
}

static void print_tokens(const struct ulb_record *record, FILE *out)
{
    size_t i;
    const json_t *row;
    json_t *best = json_object_get(record->root, "best");
    json_t *crossover = json_object_get(record->root, "crossover");
    if (json_array_size(best) > 0)
        print_line(out, "Fastest kernel by format and number of tokens");
    json_array_foreach(best, i, row) print_line(
        out, " %-14s %-12s %-8s N = %-5.0f %-*s %8.1f GOP/s", text_of(row, "model"), text_of(row, "layer"),
        text_of(row, "format"), json_number_value(json_object_get(row, "n")), NAME, text_of(row, "kernel"),
        json_number_value(json_object_get(row, "gops")));
    json_array_foreach(crossover, i, row)
    {
        print_line(out, " %-14s %-12s %-8s from N = %.0f on %s", text_of(row, "model"), text_of(row, "layer"),
                   text_of(row, "format"), json_number_value(json_object_get(row, "n")), text_of(row, "to"));
        print_line(out, "   takes over from %s", text_of(row, "from"));
    }
}

void ulb_report_gemm(const struct ulb_record *record, FILE *out)
{
    struct ulb_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    print_peaks(record, out);
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (!same_group(&cells[first], &cells[i]))
            first++;
        if (first < i)
            continue;
        if (i == 0)
            print_gemm_head(&cells[0], out);
        print_line(out, " -- %s %s, %zu x %zu, N = %zu --", cells[i].model, cells[i].layer, cells[i].m,
                   cells[i].k, cells[i].n);
        for (size_t j = i; j < n; j++) {
            if (same_group(&cells[i], &cells[j]))
                print_gemm_cell(&cells[j], out);
        }
    }
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
    print_line(out, "%.48s, %s cores, %s GiB%s%s, Linux %s",
               known(ulb_record_text(record, "machine.cpu_model")),
               ulb_show_number(cores, "%.0f", ulb_record_number(record, "machine.cores")),
               ulb_show_number(gib, "%.1f", ulb_record_number(record, "machine.memory_bytes") / 1073741824.0),
               hypervisor ? ", guest of " : "", hypervisor ? hypervisor : "",
               known(ulb_record_text(record, "machine.kernel_release")));
    print_line(out, "cycles by %s%s; fork/join %s us, OpenMP's own %s us",
               known(ulb_record_text(record, "clock.cycles_source")), frequencies,
               ulb_show_number(team, "%.2f", ulb_record_number(record, "fork_join.team_us")),
               ulb_show_number(openmp, "%.2f", ulb_record_number(record, "fork_join.openmp_us")));
    if (reason)
        print_wrapped(out, "  because ", 10, reason);
}

static void print_warnings(const struct ulb_record *record, FILE *out)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(json_object_get(record->root, "warnings"), i, warning)
        print_wrapped(out, "! ", 2, json_string_value(warning));
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
