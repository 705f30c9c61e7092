#include "results/summary/verdict.h"

#include "common/stats.h"
#include "results/summary/chosen_cells.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* From this share of the yardstick on a format is said to reach the memory's limit. */
static const double AT_THE_LIMIT = 0.90;

/* --- shares of formats --- */

/* Whether no other cell of the same format and shape reads faster; of equals the first counts. */
static bool is_fastest(const struct ulb_cell_groups *groups, const struct ulb_cell *cell)
{
    const struct ulb_cell_groups like = ulb_cells_like(groups, cell->format, cell);
    for (size_t i = 0; i < like.n; i++) {
        const struct ulb_cell *other = like.cells[i];
        if (other != cell && (other->gbps > cell->gbps || (other->gbps == cell->gbps && other < cell)))
            return false;
    }
    return true;
}

static double share_of(const struct ulb_cell *cell)
{
    return isfinite(cell->efficiency) ? cell->efficiency : cell->gbps;
}

static int by_share(const void *a, const void *b)
{
    double left = share_of(*(const struct ulb_cell *const *)a);
    double right = share_of(*(const struct ulb_cell *const *)b);
    return (left > right) - (left < right);
}

static double efficiency_of(const struct ulb_cell *cell)
{
    return cell->efficiency;
}

static double gbps_of(const struct ulb_cell *cell)
{
    return cell->gbps;
}

/* Of the cells that have the figure; room is for n numbers. */
static double median_of(const struct ulb_cell *const *cells, size_t n,
                        double (*figure_of)(const struct ulb_cell *), double *room)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        double figure = figure_of(cells[i]);
        if (isfinite(figure))
            room[known++] = figure;
    }
    return ulb_median(room, known);
}

/* fastest and room are for n cells. Not true: the format has no fastest cell. */
static bool add_share(const struct ulb_cell *const *cells, size_t n, const struct ulb_cell_groups *groups,
                      const char *format, const struct ulb_cell **fastest, double *room,
                      struct ulb_format_share *share)
{
    size_t shapes = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i]->format, format) == 0 && is_fastest(groups, cells[i]))
            fastest[shapes++] = cells[i];
    }
    if (shapes > 0) {
        qsort(fastest, shapes, sizeof *fastest, by_share);
        const struct ulb_cell *const *of = (const struct ulb_cell *const *)fastest;
        *share = (struct ulb_format_share){.typical = fastest[shapes / 2],
                                           .share = median_of(of, shapes, efficiency_of, room),
                                           .gbps = median_of(of, shapes, gbps_of, room),
                                           .shapes = shapes};
        snprintf(share->format, sizeof share->format, "%s", format);
    }
    return shapes > 0;
}

enum ulb_status ulb_format_shares(const struct ulb_cell *const *cells, size_t n,
                                  struct ulb_format_share shares[ULB_FORMAT_SHARES], size_t *used,
                                  struct ulb_error *err)
{
    struct ulb_cell_groups groups = {0};
    const struct ulb_cell **fastest = calloc(n + 1, sizeof *fastest);
    double *room = calloc(n + 1, sizeof *room);
    enum ulb_status status = ULB_OK;
    *used = 0;
    if (!fastest || !room || !ulb_group_cells(&groups, cells, n)) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the formats' shares");
        goto done;
    }
    for (size_t i = 0; i < n && *used < ULB_FORMAT_SHARES; i++) {
        bool known = false;
        for (size_t f = 0; f < *used; f++)
            known |= strcmp(shares[f].format, cells[i]->format) == 0;
        if (!known)
            *used += add_share(cells, n, &groups, cells[i]->format, fastest, room, &shares[*used]);
    }
done:
    ulb_cell_groups_free(&groups);
    free(room);
    free(fastest);
    return status;
}

/* --- sentences --- */

static void say(struct ulb_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct ulb_verdict *verdict, const char *format, ...)
{
    va_list args;
    if (verdict->n == ULB_VERDICT_LINES)
        return;
    va_start(args, format);
    vsnprintf(verdict->lines[verdict->n++], ULB_VERDICT_BYTES, format, args);
    va_end(args);
}

/* What one core of a class can read while the whole set reads, bytes/cycle; NAN when unknown. */
static double beta_of(const struct ulb_record *record, const struct ulb_cell *cell, const char *class)
{
    char place[64];
    snprintf(place, sizeof place, "clock.hz.%s", class);
    double hz = ulb_record_number(record, place);
    return ulb_record_resolved_beta(record, cell->set).gbps * 1e9 / cell->threads / hz;
}

/* The classes on which the kernel computes longer than it reads; "" when there are none. */
static void compute_bound_on(const struct ulb_record *record, const struct ulb_cell *cell,
                             const struct ulb_gamma_cell *gammas, size_t n, char out[160])
{
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        double beta = beta_of(record, cell, gammas[i].cls);
        double ceiling = gammas[i].bytes_per_step / gammas[i].gamma_cycles;
        size_t used = strlen(out);
        if (strcmp(gammas[i].kernel, cell->kernel) != 0 || !(ceiling < beta))
            continue;
        bool named = strcmp(gammas[i].cls, "core") != 0;
        snprintf(out + used, 160 - used, "%s%s%s%s (gamma %.2f allows %.2f of %.2f bytes/cycle)",
                 used ? " and" : "", named ? " on " : "", named ? gammas[i].cls : "", named ? "-cores" : "",
                 gammas[i].gamma_cycles, ceiling, beta);
    }
}

static void say_of_format(const struct ulb_record *record, const struct ulb_format_share *share,
                          const struct ulb_gamma_cell *gammas, size_t n_gammas, struct ulb_verdict *verdict)
{
    char classes[160];
    if (share->share >= AT_THE_LIMIT) {
        say(verdict, "%s reaches %.0f %% (%.1f GB/s): the memory is its limit, only fewer bytes would help.",
            share->format, 100 * share->share, share->gbps);
        return;
    }
    compute_bound_on(record, share->typical, gammas, n_gammas, classes);
    if (classes[0])
        say(verdict, "%s reaches %.0f %% (%.1f GB/s): its fastest kernel is compute-bound%s.", share->format,
            100 * share->share, share->gbps, classes);
    else
        say(verdict, "%s reaches %.0f %% (%.1f GB/s): %s.", share->format, 100 * share->share, share->gbps,
            share->typical->verdict);
}

/* The format with the fewest bytes of those at the limit, else the one that comes closest. */
static const struct ulb_format_share *headline_of(const struct ulb_format_share *shares, size_t n)
{
    const struct ulb_format_share *best = &shares[0];
    for (size_t i = 1; i < n; i++) {
        double bytes = (double)shares[i].typical->weight_bytes /
                       ((double)shares[i].typical->m * (double)shares[i].typical->k);
        double least =
            (double)best->typical->weight_bytes / ((double)best->typical->m * (double)best->typical->k);
        bool both = shares[i].share >= AT_THE_LIMIT && best->share >= AT_THE_LIMIT;
        if (both ? bytes < least : shares[i].share > best->share)
            best = &shares[i];
    }
    return best;
}

static void say_of_results(const struct ulb_record *record, const struct ulb_format_share *shares, size_t n,
                           const struct ulb_gamma_cell *gammas, size_t n_gammas, struct ulb_verdict *verdict)
{
    const struct ulb_format_share *best = headline_of(shares, n);
    const char *who =
        best->typical->threads > 0 ? "This CPU" : best->typical->set; /* a device has no threads */
    if (isfinite(best->share))
        say(verdict, "%s reaches %.0f %% of its memory limit with %s (%.1f of %.1f GB/s, %s weights).", who,
            100 * best->share, best->format, best->gbps, best->typical->yardstick_gbps, best->typical->mode);
    else
        say(verdict, "%s reads %.1f GB/s with %s; the record has no yardstick to compare with.", who,
            best->gbps, best->format);
    for (size_t i = 0; i < n; i++) {
        if (&shares[i] != best && isfinite(shares[i].share))
            say_of_format(record, &shares[i], gammas, n_gammas, verdict);
    }
}

static void say_of_noise(const struct ulb_record *record, struct ulb_verdict *verdict)
{
    const json_t *warnings = json_object_get(record->root, "warnings"), *warning;
    size_t i;
    json_array_foreach(warnings, i, warning)
    {
        const char *text = json_string_value(warning);
        if (text && (strncmp(text, "noisy", 5) == 0 || strstr(text, ": noisy"))) {
            say(verdict, "The run was noisy, as the warnings say: measure again before you build on small "
                         "differences.");
            return;
        }
    }
}

static void say_of_model(const struct ulb_record *record, struct ulb_verdict *verdict)
{
    double median = ulb_record_number(record, "prediction.median_abs_residual");
    double p95 = ulb_record_number(record, "prediction.p95_abs_residual");
    if (isfinite(median) && isfinite(p95))
        say(verdict,
            "The model's times are off by %.1f %% (median) and %.1f %% (95th percentile): what is said here "
            "of "
            "limits holds that closely.",
            100 * median, 100 * p95);
}

static void say_of_decoding(const struct ulb_record *record, struct ulb_verdict *verdict)
{
    const json_t *runs = ulb_decode_runs(record), *run;
    size_t i;
    json_array_foreach(runs, i, run)
    {
        double tokens = ulb_row_number(run, "tokens_per_s"), bound = ulb_row_number(run, "amdahl_speedup");
        double speedup = ulb_row_number(run, "observed_speedup");
        if (tokens > 0 && speedup > 0 && bound > 0 && strcmp(ulb_row_text(run, "format"), "bf16") != 0)
            say(verdict,
                "%s decodes %.1f tokens/s with %s: %.1f times the 16-bit run, Amdahl's law allows %.1f.",
                ulb_row_text(run, "model"), tokens, ulb_row_text(run, "format"), speedup, bound);
    }
}

enum ulb_status ulb_verdict_of(const struct ulb_record *record, struct ulb_verdict *verdict,
                               struct ulb_error *err)
{
    struct ulb_cell *cells = NULL;
    struct ulb_gamma_cell *gammas = NULL;
    const struct ulb_cell **chosen = NULL;
    struct ulb_format_share shares[ULB_FORMAT_SHARES];
    size_t n = 0, n_gammas = 0, n_chosen = 0;
    verdict->n = 0;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status == ULB_OK)
        status = ulb_record_gamma_cells(record, &gammas, &n_gammas, err);
    if (status != ULB_OK)
        goto done;
    status = ulb_choose_cells(record, cells, n, &chosen, &n_chosen, err);
    if (status != ULB_OK && status != ULB_BAD_INPUT)
        goto done;
    size_t formats = 0;
    if (status == ULB_OK)
        status = ulb_format_shares((const struct ulb_cell *const *)chosen, n_chosen, shares, &formats, err);
    if (status == ULB_ENVIRONMENT)
        goto done;
    if (formats > 0)
        say_of_results(record, shares, formats, gammas, n_gammas, verdict);
    status = ULB_OK;
    say_of_decoding(record, verdict);
    say_of_model(record, verdict);
    if (verdict->n > 0)
        say_of_noise(record, verdict);
    if (verdict->n == 0)
        say(verdict, "This record holds limits, but no products of matrices: run ulb-bench to measure them.");
done:
    free(chosen);
    ulb_gamma_cells_free(gammas, n_gammas);
    ulb_cells_free(cells, n);
    return status;
}
