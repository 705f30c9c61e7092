#include "harness/cli/report.h"

#include <math.h>
#include <string.h>

/* ---- beta ---- */

void ulb_report_beta(const struct ulb_record *record, FILE *out)
{
    struct ulb_beta_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_beta_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    fprintf(out, "Read bandwidth (beta), cycles by %s\n", ulb_record_text(record, "beta.cycles_source"));
    fprintf(out, "  %-12s %7s %-5s %9s %7s %13s  %s\n", "set", "threads", "level", "GB/s", "+-",
            "B/cycle/core", "best reader");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "  %-12s %7u %-5s %9.1f %7.1f %13.2f  %s\n", cells[i].set, cells[i].threads,
                cells[i].level, cells[i].gbps, cells[i].gbps_mad, cells[i].bytes_per_cycle, cells[i].variant);
    ulb_beta_cells_free(cells, n);
}

/* ---- gamma ---- */

void ulb_report_gamma(const struct ulb_record *record, FILE *out)
{
    struct ulb_gamma_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_gamma_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    fprintf(out, "Compute cost (gamma), core cycles per 32 weights in L1, cycles by %s\n",
            ulb_record_text(record, "gamma.cycles_source"));
    fprintf(out, "  %-37s %-6s %7s %7s %7s %5s %9s %9s\n", "kernel", "class", "gamma", "min", "+-", "B",
            "B/gamma", "e_bw");
    for (size_t i = 0; i < n; i++) {
        const struct ulb_gamma_cell *cell = &cells[i];
        char ebw[16] = "-";
        if (!isnan(cell->ebw_bytes_per_cycle))
            snprintf(ebw, sizeof ebw, "%.2f", cell->ebw_bytes_per_cycle);
        fprintf(out, "  %-37s %-6s %7.3f %7.3f %7.3f %5.4g %9.2f %9s\n", cell->kernel, cell->cls,
                cell->gamma_cycles, cell->gamma_min_cycles, cell->gamma_mad_cycles, cell->bytes_per_step,
                cell->bytes_per_step / cell->gamma_cycles, ebw);
    }
    ulb_gamma_cells_free(cells, n);
}

/* ---- cells ---- */

/* The part of a verdict that the columns beside it do not say: "compute-bound: gamma 2.40 allows 1.67
 * B/cycle" becomes "gamma 2.40 allows 1.67 B/cycle", "memory-bound, 96 % of beta" becomes "memory-bound". */
static const char *verdict_in_short(const char *verdict, char out[40])
{
    const char *detail = strstr(verdict, ": ");
    if (detail)
        snprintf(out, 40, "%s", detail + 2);
    else
        snprintf(out, 40, "%.*s", (int)strcspn(verdict, ","), verdict);
    return out;
}

static bool same_shape(const struct ulb_cell *a, const struct ulb_cell *b)
{
    return a->m == b->m && a->k == b->k && strcmp(a->model, b->model) == 0 && strcmp(a->layer, b->layer) == 0;
}

static void print_cell(const struct ulb_cell *cell, FILE *out)
{
    char predicted[16] = "-", residual[16] = "-", verdict[40];
    if (!isnan(cell->predicted_us))
        snprintf(predicted, sizeof predicted, "%.1f", cell->predicted_us);
    if (!isnan(cell->residual))
        snprintf(residual, sizeof residual, "%+.0f%%", 100 * cell->residual);
    fprintf(out, "  %-35s %8.1f %8s %6s %6.1f %5.0f%% %.31s\n", cell->kernel, cell->us, predicted, residual,
            cell->gbps, 100 * cell->efficiency, verdict_in_short(cell->verdict, verdict));
}

void ulb_report_cells(const struct ulb_record *record, FILE *out)
{
    struct ulb_cell *cells;
    struct ulb_error err;
    size_t n;
    if (ulb_record_cells(record, &cells, &n, &err) != ULB_OK)
        return;
    if (n > 0)
        fprintf(out, "GEMV, %s weights, %u threads (%s, %s), yardstick %.1f GB/s\n", cells[0].mode,
                cells[0].threads, cells[0].set, cells[0].split, cells[0].yardstick_gbps);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || !same_shape(&cells[i], &cells[i - 1])) {
            char shape[80];
            snprintf(shape, sizeof shape, "%s %s %zux%zu", cells[i].model, cells[i].layer, cells[i].m,
                     cells[i].k);
            fprintf(out, "  %-35.35s %8s %8s %6s %6s %6s\n", shape, "us", "expected", "resid", "GB/s",
                    "beta");
        }
        print_cell(&cells[i], out);
    }
    ulb_cells_free(cells, n);
}

/* ---- the whole ---- */

static void print_machine(const struct ulb_record *record, FILE *out)
{
    const char *cpu = ulb_record_text(record, "machine.cpu_model"),
               *source = ulb_record_text(record, "clock.cycles_source");
    const char *hypervisor = ulb_record_text(record, "machine.hypervisor");
    fprintf(out, "%.60s, %.0f cores%s%s\n", cpu ? cpu : "unknown CPU",
            ulb_record_number(record, "machine.cores"), hypervisor ? ", guest of " : "",
            hypervisor ? hypervisor : "");
    fprintf(out, "cycles: %s; fork/join %.2f us (OpenMP region %.2f us)\n\n", source ? source : "unknown",
            ulb_record_number(record, "fork_join.team_us"), ulb_record_number(record, "fork_join.openmp_us"));
}

/* Words that do not fit a line of 100 columns go on the next. */
static void print_wrapped(const char *text, FILE *out)
{
    enum { WIDTH = 96 };
    while (strlen(text) > WIDTH) {
        int cut = WIDTH;
        while (cut > 0 && text[cut] != ' ')
            cut--;
        cut = cut > 0 ? cut : WIDTH;
        fprintf(out, "%.*s\n    ", cut, text);
        text += cut + (text[cut] == ' ');
    }
    fprintf(out, "%s\n", text);
}

static void print_warnings(const struct ulb_record *record, FILE *out)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(json_object_get(record->root, "warnings"), i, warning)
    {
        fputs("! ", out);
        print_wrapped(json_string_value(warning), out);
    }
}

void ulb_report_print(const struct ulb_record *record, FILE *out)
{
    print_machine(record, out);
    ulb_report_beta(record, out);
    fputc('\n', out);
    ulb_report_gamma(record, out);
    fputc('\n', out);
    ulb_report_cells(record, out);
    print_warnings(record, out);
}
