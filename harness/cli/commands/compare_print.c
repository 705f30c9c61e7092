#include "harness/cli/commands/compare_print.h"

#include "common/text.h"
#include "harness/cli/table.h"

#include <math.h>
#include <string.h>

enum { KERNEL_WIDTH = 34, PLACE_WIDTH = 18, INCONCLUSIVE_ROWS = 10, REASONS = 3, KERNEL_ROWS = 10 };

/* At most width columns; what does not fit is cut, which '~' shows. */
static void fit(char *text, size_t width)
{
    if (strlen(text) <= width)
        return;
    text[width - 1] = '\0';
    ulb_text_mend(text);
    strcat(text, "~");
}

/* What tells the figures of one kernel apart: model, layer and N of a cell's key (its words 3 and 5), else
 * all behind the first word. */
static void name_place(const char *key, char out[64])
{
    char words[ULB_CELL_KEY_MAX], *word[9] = {NULL}, *rest = NULL;
    size_t n = 0;
    snprintf(words, sizeof words, "%s", key);
    for (char *at = strtok_r(words, " ", &rest); at && n < 9; at = strtok_r(NULL, " ", &rest))
        word[n++] = at;
    if (n < 9)
        snprintf(out, 64, "%.63s", strchr(key, ' ') ? strchr(key, ' ') + 1 : "");
    else if (strcmp(word[4], "n1") == 0)
        snprintf(out, 64, "%.63s", word[2]);
    else
        snprintf(out, 64, "%.50s %.12s", word[2], word[4]);
    fit(out, PLACE_WIDTH);
}

static json_t *row_json(const struct ulb_compared *cell)
{
    char kernel[64], place[64], change[ULB_CHANGE_TEXT], base[32] = "-", fresh[32] = "-";
    snprintf(kernel, sizeof kernel, "%.*s", (int)strcspn(cell->key, " "), cell->key);
    fit(kernel, KERNEL_WIDTH);
    name_place(cell->key, place);
    if (isfinite(cell->base))
        snprintf(base, sizeof base, "%.3g", cell->base);
    if (isfinite(cell->fresh))
        snprintf(fresh, sizeof fresh, "%.3g", cell->fresh);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "verdict", ulb_verdict_name(cell->verdict), "kernel",
                     kernel, "place", place, "base", base, "new", fresh, "change",
                     ulb_change_text(cell, change));
}

static bool is_among(const char *const *texts, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(texts[i], text) == 0)
            return true;
    }
    return false;
}

/* Why figures are unsure: how many rounds would tell, and some of the other reasons. */
static void print_inconclusive(const struct ulb_comparison *comparison)
{
    const char *reasons[REASONS];
    size_t least = 0, most = 0, told = 0;
    for (size_t i = 0; i < comparison->n; i++) {
        const struct ulb_compared *cell = &comparison->cells[i];
        size_t needed = cell->rounds_needed;
        if (cell->verdict != ULB_INCONCLUSIVE)
            continue;
        if (needed == 0 && told < REASONS && !is_among(reasons, told, cell->reason)) {
            ulb_print_wrapped(stdout, "unsure: ", cell->reason);
            reasons[told++] = cell->reason;
        }
        least = needed > 0 && (least == 0 || needed < least) ? needed : least;
        most = needed > most ? needed : most;
    }
    if (most > 0)
        ulb_print_wrapped_as(stdout, "unsure: ",
                             "too noisy; %zu to %zu rounds would tell (a quick run has up to 21, a full one "
                             "31)",
                             least, most);
}

/* Whether a figure gets a line: what stayed the same and most of what is unsure does only with all. */
static bool is_listed(const struct ulb_compared *cell, bool all, size_t *inconclusive)
{
    if (cell->verdict == ULB_INCONCLUSIVE)
        return all || ++*inconclusive <= INCONCLUSIVE_ROWS;
    return all || cell->verdict != ULB_SAME;
}

static json_t *kernel_row(const struct ulb_kernel_change *kernel)
{
    char change[48] = "-", seen[16] = "-";
    if (isfinite(kernel->change))
        snprintf(change, sizeof change, "%+.1f%% [%+.1f,%+.1f]", 100 * kernel->change, 100 * kernel->ci_lo,
                 100 * kernel->ci_hi);
    if (isfinite(kernel->smallest_detectable))
        snprintf(seen, sizeof seen, "%.0f%%", 100 * kernel->smallest_detectable);
    return json_pack("{s:s, s:s, s:s, s:s, s:I}", "verdict", ulb_verdict_name(kernel->verdict), "change",
                     change, "seen", seen, "kernel", kernel->kernel, "cells", (json_int_t)kernel->cells);
}

/* Kernels that changed or could not be judged; with details all. */
static void print_kernels(const struct ulb_comparison *comparison, enum ulb_compare_detail detail)
{
    static const struct ulb_column columns[] = {
        {"verdict", "kernel is", 0}, {"change", "change [95%]", 0}, {"kernel", "kernel", 0},
        {"seen", "seen from", 0},    {"cells", "cells", 0},
    };
    json_t *rows = json_array();
    size_t listed = 0, more = 0;
    for (size_t i = 0; i < comparison->n_kernels; i++) {
        const struct ulb_kernel_change *kernel = &comparison->kernels[i];
        if (detail == ULB_COMPARE_SUMMARY && kernel->verdict == ULB_SAME)
            continue;
        if (detail == ULB_COMPARE_SUMMARY && listed == KERNEL_ROWS)
            more++;
        else if (json_array_append_new(rows, kernel_row(kernel)) == 0)
            listed++;
    }
    if (listed > 0)
        ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    json_decref(rows);
    if (more > 0)
        printf("and %zu more kernels; -v lists them\n", more);
}

static void print_answer(const struct ulb_comparison *comparison)
{
    struct ulb_error why;
    char text[256];
    const struct ulb_kernel_change *worst = ulb_blindest(comparison);
    if (comparison->identical && comparison->wrong == 0)
        puts("answer: both records hold one and the same measurement");
    else if (ulb_comparison_status(comparison, &why) != ULB_OK)
        ulb_print_wrapped(stdout, "answer: ", why.message);
    else if (worst && isfinite(worst->smallest_detectable)) {
        snprintf(text, sizeof text, "nothing regressed; a kernel slower by %.0f %% would have been seen (%s)",
                 100 * worst->smallest_detectable, worst->kernel);
        ulb_print_wrapped(stdout, "answer: ", text);
    } else
        puts("answer: nothing regressed");
}

static void print_changed_fields(const struct ulb_comparison *comparison)
{
    const json_t *field;
    size_t i;
    json_array_foreach(comparison->changed_fields, i, field)
    {
        char text[256];
        snprintf(text, sizeof text, "%s %s -> %s", json_string_value(json_object_get(field, "field")),
                 json_string_value(json_object_get(field, "base")),
                 json_string_value(json_object_get(field, "new")));
        ulb_print_wrapped(stdout, "differs: ", text);
    }
}

static void print_cells(const struct ulb_comparison *comparison, bool all)
{
    static const struct ulb_column columns[] = {
        {"verdict", "verdict", 0}, {"change", "change [95%]", 0}, {"kernel", "kernel", 0},
        {"place", "what", 0},      {"base", "base, raw", 0},      {"new", "new, raw", 0},
    };
    json_t *rows = json_array();
    size_t inconclusive = 0;
    for (size_t i = 0; i < comparison->n; i++) {
        if (is_listed(&comparison->cells[i], all, &inconclusive))
            json_array_append_new(rows, row_json(&comparison->cells[i]));
    }
    if (json_array_size(rows) > 0)
        ulb_print_table(rows, columns, sizeof columns / sizeof *columns);
    json_decref(rows);
    if (inconclusive > INCONCLUSIVE_ROWS)
        printf("and %zu more that are unsure; --all lists them\n", inconclusive - INCONCLUSIVE_ROWS);
    print_inconclusive(comparison);
}

static void print_one(const struct ulb_compared_files *file, enum ulb_compare_detail detail)
{
    const struct ulb_comparison *comparison = file->comparison;
    char verdicts[128];
    print_answer(comparison);
    ulb_print_wrapped(stdout, "base: ", file->base);
    ulb_print_wrapped(stdout, "new:  ", file->fresh);
    ulb_verdict_text(file, 1, verdicts);
    ulb_print_wrapped_as(stdout, "", "%s: %s", ulb_metrics[comparison->metric].name, verdicts);
    if (comparison->sessions > 0)
        ulb_print_wrapped_as(
            stdout, "", "all kernels together: %+.1f %%; one counts from %.0f %% on; up to %zu sessions",
            100 * comparison->common, 100 * comparison->kernel_threshold, comparison->sessions);
    else if (comparison->n_kernels > 0)
        ulb_print_wrapped_as(
            stdout, "", "all kernels together: %+.1f %%, which is taken off each; one counts from %.0f %% on",
            100 * comparison->common, 100 * comparison->kernel_threshold);
    if (isfinite(comparison->base_gbps) && isfinite(comparison->fresh_gbps))
        ulb_print_wrapped_as(stdout, "", "memory ran at %.1f and %.1f GB/s; changes are corrected for that",
                             comparison->base_gbps, comparison->fresh_gbps);
    print_changed_fields(comparison);
    print_kernels(comparison, detail);
    /* Metrics without kernels have no other table. */
    if (detail != ULB_COMPARE_SUMMARY || comparison->n_kernels == 0)
        print_cells(comparison, detail == ULB_COMPARE_ALL);
}

void ulb_compare_print(const struct ulb_compared_files *files, size_t n, enum ulb_compare_detail detail)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            putchar('\n');
        print_one(&files[i], detail);
    }
}
