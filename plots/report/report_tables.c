#include "plots/report/report_private.h"

#include "common/units.h"
#include "plots/draw/figure.h"
#include "plots/report/html.h"
#include "results/summary/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ulb_html_record_name(FILE *out, const struct ulb_report_record *records, size_t n, size_t i)
{
    const char *model = ulb_record_text(records[i].record, "machine.cpu_model");
    ulb_html_text(out, model ? model : "unnamed machine");
    if (n > 1) {
        fprintf(out, " <small>(");
        ulb_html_text(out, records[i].name);
        fprintf(out, ")</small>");
    }
}

static void put_head(FILE *out, const struct ulb_report_record *records, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "<th scope=col>");
        ulb_html_record_name(out, records, n, i);
    }
}

/* --- machines --- */

static void text_at(const struct ulb_record *record, const char *place, char *out, size_t bytes)
{
    char reason[96];
    const char *text = ulb_record_text(record, place), *why;
    snprintf(reason, sizeof reason, "%s_reason", place);
    why = ulb_record_text(record, reason);
    if (text)
        snprintf(out, bytes, "%s", text);
    else
        snprintf(out, bytes, "- %s%s%s", why ? "(" : "", why ? why : "", why ? ")" : "");
}

static void describe_cores(const struct ulb_record *record, char *out, size_t bytes)
{
    const json_t *classes = json_object_get(json_object_get(record->root, "topology"), "classes"), *class;
    size_t i;
    out[0] = '\0';
    json_array_foreach(classes, i, class)
    {
        const char *name = ulb_row_text(class, "name");
        char place[64];
        size_t used = strlen(out);
        double smt = ulb_row_number(class, "smt");
        snprintf(place, sizeof place, "clock.hz.%.40s", name);
        double hz = ulb_record_number(record, place);
        snprintf(out + used, bytes - used, "%s%.0f%s%s", used ? ", " : "", ulb_row_number(class, "cores"),
                 strcmp(name, "core") == 0 ? "" : " ", strcmp(name, "core") == 0 ? "" : name);
        used = strlen(out);
        if (hz > 0)
            snprintf(out + used, bytes - used, " at %.2f GHz", hz / 1e9);
        used = strlen(out);
        if (smt > 1)
            snprintf(out + used, bytes - used, ", SMT %.0f", smt);
    }
}

static void describe_pages(const struct ulb_record *record, char *out, size_t bytes)
{
    double got = ulb_record_number(record, "machine.huge_pages.got_bytes");
    const char *mode = ulb_record_text(record, "machine.huge_pages.mode");
    if (isfinite(got))
        snprintf(out, bytes, "%.1f GiB of the ring%s%s", got / ULB_GIB, mode ? ", mode " : "",
                 mode ? mode : "");
    else
        snprintf(out, bytes, "- (%s)", mode ? mode : "not known");
}

/* A record of decoding alone has one for each of its runs. */
static void describe_decode_yardsticks(const struct ulb_record *record, char *out, size_t bytes)
{
    double low, high;
    char most[24] = "";
    ulb_decode_yardsticks(record, &low, &high);
    if (high > low)
        snprintf(most, sizeof most, " to %.1f", high);
    if (isfinite(low))
        snprintf(out, bytes, "%.1f%s GB/s, beside the tokens", low, most);
    else
        snprintf(out, bytes, "- (not measured)");
}

static void describe_yardstick(const struct ulb_record *record, char *out, size_t bytes)
{
    const json_t *row =
        json_array_get(json_object_get(json_object_get(record->root, "beta"), "yardstick"), 0);
    double drift = ulb_row_number(row, "drift");
    if (!row) {
        describe_decode_yardsticks(record, out, bytes);
        return;
    }
    snprintf(out, bytes, "%.1f GB/s, %.0f threads of %s, reader %s", ulb_row_number(row, "gbps"),
             ulb_row_number(row, "threads"), ulb_row_text(row, "set"), ulb_row_text(row, "variant"));
    size_t used = strlen(out);
    if (isfinite(drift))
        snprintf(out + used, bytes - used, "; moved by %.0f %% during the run", 100 * drift);
}

static void describe_memory(const struct ulb_record *record, char *out, size_t bytes)
{
    double gib = ulb_record_number(record, "machine.memory_bytes") / ULB_GIB;
    if (gib > 0)
        snprintf(out, bytes, "%.1f GiB", gib);
    else
        snprintf(out, bytes, "unknown");
}

static void describe_build(const struct ulb_record *record, char *out, size_t bytes)
{
    char version[64], commit[64], compiler[64], flags[128];
    text_at(record, "build.version", version, sizeof version);
    text_at(record, "build.commit", commit, sizeof commit);
    text_at(record, "build.compiler", compiler, sizeof compiler);
    text_at(record, "build.flags", flags, sizeof flags);
    snprintf(out, bytes, "ulb-bench %s (%s), %s %s", version, commit, compiler, flags);
}

/* The first of the record, with the best reader's bandwidth and the launch of an empty kernel. */
static void describe_device(const struct ulb_record *record, char *out, size_t bytes)
{
    const json_t *device = json_array_get(json_object_get(record->root, "devices"), 0);
    const json_t *yardstick = json_array_get(json_object_get(device, "yardstick"), 0);
    double gbps = ulb_row_number(yardstick, "gbps"),
           launch = ulb_row_number(json_object_get(device, "launch"), "us_host");
    out[0] = '\0';
    if (device)
        snprintf(out, bytes, "%.32s %.96s, driver %.48s", ulb_row_text(device, "id"),
                 ulb_row_text(device, "name"), ulb_row_text(device, "driver"));
    size_t used = strlen(out);
    if (isfinite(gbps) && isfinite(launch))
        snprintf(out + used, bytes - used, "; %.1f GB/s read, %.1f us a launch", gbps, launch);
}

void ulb_html_machines(FILE *out, const struct ulb_report_record *records, size_t n)
{
    static const struct {
        const char *title, *place; /* a text of the record, or */
        void (*describe)(const struct ulb_record *record, char *out, size_t bytes);
    } rows[] = {
        {"cores", NULL, describe_cores},
        {"memory", NULL, describe_memory},
        {"yardstick", NULL, describe_yardstick},
        {"device", NULL, describe_device},
        {"cycles from", "clock.cycles_source", NULL},
        {"huge pages", NULL, describe_pages},
        {"governor", "machine.governor", NULL},
        {"microcode", "machine.microcode", NULL},
        {"hypervisor", "machine.hypervisor", NULL},
        {"Linux", "machine.kernel_release", NULL},
        {"measured", "created", NULL},
        {"by", NULL, describe_build},
    };
    fprintf(out, "<div class=scroll><table class=side><thead><tr><th>");
    put_head(out, records, n);
    fprintf(out, "</thead><tbody>\n");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        fprintf(out, "<tr><th scope=row>%s", rows[r].title);
        for (size_t i = 0; i < n; i++) {
            char text[320];
            if (rows[r].describe)
                rows[r].describe(records[i].record, text, sizeof text);
            else
                text_at(records[i].record, rows[r].place, text, sizeof text);
            ulb_html_cell(out, text);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "</tbody></table></div>\n");
}

/* --- comparison --- */

/* The GEMV cells of one record that figures show. */
struct chosen {
    struct ulb_cell *all;
    const struct ulb_cell **cells;
    size_t n_all, n;
    struct ulb_cell_groups groups; /* of cells */
    struct ulb_format_share shares[ULB_FORMAT_SHARES];
    size_t n_shares;
};

/* A record without GEMV results has none to choose. */
static enum ulb_status choose(const struct ulb_record *record, struct chosen *chosen, struct ulb_error *err)
{
    *chosen = (struct chosen){.n = 0};
    enum ulb_status status = ulb_record_cells(record, &chosen->all, &chosen->n_all, err);
    if (status != ULB_OK)
        return status;
    status = ulb_choose_cells(record, chosen->all, chosen->n_all, &chosen->cells, &chosen->n, err);
    if (status == ULB_OK &&
        !ulb_group_cells(&chosen->groups, (const struct ulb_cell *const *)chosen->cells, chosen->n))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the report");
    if (status == ULB_OK)
        status = ulb_format_shares((const struct ulb_cell *const *)chosen->cells, chosen->n, chosen->shares,
                                   &chosen->n_shares, err);
    return status == ULB_BAD_INPUT ? ULB_OK : status;
}

static void chosen_free(struct chosen *chosen, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        free(chosen[i].cells);
        ulb_cell_groups_free(&chosen[i].groups);
        ulb_cells_free(chosen[i].all, chosen[i].n_all);
    }
    free(chosen);
}

static const struct ulb_format_share *share_of(const struct chosen *chosen, const char *format)
{
    for (size_t i = 0; i < chosen->n_shares; i++) {
        if (strcmp(chosen->shares[i].format, format) == 0)
            return &chosen->shares[i];
    }
    return NULL;
}

/* The fastest cell of the format and shape of like; NULL when the record has none. */
static const struct ulb_cell *fastest_like(const struct chosen *chosen, const struct ulb_cell *like)
{
    const struct ulb_cell_groups group = ulb_cells_like(&chosen->groups, like->format, like);
    const struct ulb_cell *best = NULL;
    for (size_t i = 0; i < group.n; i++)
        best = !best || group.cells[i]->gbps > best->gbps ? group.cells[i] : best;
    return best;
}

static void put_share_row(FILE *out, const struct chosen *chosen, size_t n, const char *format)
{
    fprintf(out, "<tr><th scope=row>");
    ulb_html_text(out, format);
    for (size_t i = 0; i < n; i++) {
        const struct ulb_format_share *share = share_of(&chosen[i], format);
        ulb_html_number(out, "%.0f %%", share ? 100 * share->share : (double)NAN);
        ulb_html_number(out, "%.1f", share ? share->gbps : (double)NAN);
    }
    fprintf(out, "\n");
}

/* Head of a column of numbers, with the record's name where there are several. */
static void put_column(FILE *out, const char *what, const struct ulb_report_record *records, size_t n,
                       size_t i)
{
    fprintf(out, "<th data-type=number>%s", what);
    if (n > 1) {
        fprintf(out, ", ");
        ulb_html_record_name(out, records, n, i);
    }
}

static void put_shares(FILE *out, const struct ulb_report_record *records, const struct chosen *chosen,
                       size_t n)
{
    fprintf(out,
            "<p class=hint>Share of the yardstick and GB/s of each format's fastest kernel, median over the "
            "shapes</p><div class=scroll><table class=sortable><thead><tr><th>format");
    for (size_t i = 0; i < n; i++) {
        put_column(out, "share", records, n, i);
        put_column(out, "GB/s", records, n, i);
    }
    fprintf(out, "</thead><tbody>\n");
    for (size_t i = 0; i < n; i++) {
        for (size_t f = 0; f < chosen[i].n_shares; f++) {
            bool known = false;
            for (size_t j = 0; j < i; j++)
                known |= share_of(&chosen[j], chosen[i].shares[f].format) != NULL;
            if (!known)
                put_share_row(out, chosen, n, chosen[i].shares[f].format);
        }
    }
    fprintf(out, "</tbody></table></div>\n");
}

static void put_shape_row(FILE *out, const struct chosen *chosen, size_t n, const struct ulb_cell *like)
{
    const struct ulb_cell *first = fastest_like(&chosen[0], like);
    char shape[64];
    snprintf(shape, sizeof shape, "%zu x %zu", like->m, like->k);
    fprintf(out, "<tr>");
    ulb_html_cell(out, like->format);
    ulb_html_cell(out, like->model);
    ulb_html_cell(out, like->layer);
    ulb_html_cell(out, shape);
    for (size_t i = 0; i < n; i++) {
        const struct ulb_cell *cell = fastest_like(&chosen[i], like);
        ulb_html_number(out, "%.1f", cell ? cell->us : (double)NAN);
        if (i > 0)
            ulb_html_number(out, "%.2f", cell && first ? first->us / cell->us : (double)NAN);
    }
    fprintf(out, "\n");
}

static void put_shapes(FILE *out, const struct ulb_report_record *records, const struct chosen *chosen,
                       size_t n)
{
    fprintf(
        out,
        "<details><summary>By shape: time of the fastest kernel, and how many times faster than the first "
        "record</summary><div class=scroll><table class=sortable><thead><tr>"
        "<th>format<th>model<th>layer<th>M x K");
    for (size_t i = 0; i < n; i++) {
        put_column(out, "us", records, n, i);
        if (i > 0)
            fprintf(out, "<th data-type=number>faster");
    }
    fprintf(out, "</thead><tbody>\n");
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < chosen[i].n; c++) {
            const struct ulb_cell *cell = chosen[i].cells[c];
            bool known = fastest_like(&chosen[i], cell) != cell;
            for (size_t j = 0; j < i; j++)
                known |= fastest_like(&chosen[j], cell) != NULL;
            if (!known)
                put_shape_row(out, chosen, n, cell);
        }
    }
    fprintf(out, "</tbody></table></div></details>\n");
}

enum ulb_status ulb_html_comparison(FILE *out, const struct ulb_report_record *records, size_t n,
                                    struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    struct chosen *chosen = calloc(n, sizeof *chosen);
    if (!chosen)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the report");
    for (size_t i = 0; i < n && status == ULB_OK; i++)
        status = choose(records[i].record, &chosen[i], err);
    if (status == ULB_OK) {
        put_shares(out, records, chosen, n);
        if (n > 1)
            put_shapes(out, records, chosen, n);
    }
    chosen_free(chosen, n);
    return status;
}

/* --- all cells --- */

static void put_cell(FILE *out, const struct ulb_cell *cell, const char *record)
{
    fprintf(out, "<tr%s>", cell->verified ? "" : " class=bad");
    if (record)
        ulb_html_cell(out, record);
    ulb_html_cell(out, cell->kernel);
    ulb_html_cell(out, cell->format);
    ulb_html_cell(out, cell->model);
    ulb_html_cell(out, cell->layer);
    fprintf(out, "<td class=n>%zu<td class=n>%zu<td class=n>%zu", cell->m, cell->k, cell->n);
    ulb_html_number(out, "%.2f", cell->us);
    ulb_html_number(out, "%.1f", cell->gbps);
    ulb_html_number(out, "%.0f %%", 100 * cell->efficiency);
    ulb_html_number(out, "%.2f", cell->predicted_us);
    ulb_html_number(out, "%+.1f %%", 100 * cell->residual);
    ulb_html_number(out, "%+.1f %%", 100 * cell->residual_plain);
    ulb_html_number(out, "%.1f %%", 100 * cell->noise);
    ulb_html_number(out, "%.1f", cell->gops);
    ulb_html_cell(out, cell->mode);
    fprintf(out, "<td>");
    ulb_html_text(out, cell->set);
    if (cell->threads > 0) /* a device has none */
        fprintf(out, ":%u", cell->threads);
    ulb_html_cell(out, cell->verified ? cell->verdict : "differs from the reference");
    fprintf(out, "\n");
}

enum ulb_status ulb_html_cells(FILE *out, const struct ulb_report_record *records, size_t n,
                               struct ulb_error *err)
{
    fprintf(
        out,
        "<div class=scroll><table class=sortable id=cells><thead><tr>%s"
        "<th>kernel<th>format<th>model<th>layer<th data-type=number>M<th data-type=number>K<th "
        "data-type=number>N"
        "<th data-type=number>us<th data-type=number>GB/s<th data-type=number>share"
        "<th data-type=number>predicted us<th data-type=number>residual<th data-type=number>of the roofline"
        "<th data-type=number>noise<th data-type=number>GOP/s<th>weights<th>cores"
        "<th>what bounds it</thead><tbody>\n",
        n > 1 ? "<th>record" : "");
    for (size_t i = 0; i < n; i++) {
        struct ulb_cell *cells;
        size_t n_cells;
        enum ulb_status status = ulb_record_cells(records[i].record, &cells, &n_cells, err);
        if (status != ULB_OK)
            return status;
        for (size_t c = 0; c < n_cells; c++)
            put_cell(out, &cells[c], n > 1 ? records[i].name : NULL);
        ulb_cells_free(cells, n_cells);
    }
    fprintf(out, "</tbody></table></div>\n");
    return ULB_OK;
}

static const json_t *imported_of(const struct ulb_record *record)
{
    return json_object_get(json_object_get(record->root, "decode"), "imported");
}

static void put_imported(FILE *out, const json_t *row, const char *name)
{
    const char *reason = ulb_row_text(row, "possible_reason");
    fprintf(out, "<tr>");
    if (name)
        ulb_html_cell(out, name);
    ulb_html_cell(out, ulb_row_text(row, "model"));
    ulb_html_cell(out, ulb_row_text(row, "build"));
    ulb_html_number(out, "%.1f", ulb_row_number(row, "bits"));
    ulb_html_number(out, "%.0f", ulb_row_number(row, "threads"));
    ulb_html_number(out, "%.2f", ulb_row_number(row, "tokens_per_s"));
    ulb_html_number(out, "%.2f", ulb_row_number(row, "roofline_tokens_per_s"));
    ulb_html_number(out, "%.2f", ulb_row_number(row, "roofline_share"));
    ulb_html_cell(out, ulb_row_text(row, "our_format"));
    ulb_html_number(out, "%.2f", ulb_row_number(row, "our_tokens_per_s"));
    ulb_html_cell(out, json_is_false(json_object_get(row, "possible")) ? "impossible" : reason);
    fprintf(out, "\n");
}

void ulb_html_imported(FILE *out, const struct ulb_report_record *records, size_t n)
{
    size_t all = 0, r;
    json_t *row;
    for (size_t i = 0; i < n; i++)
        all += json_array_size(imported_of(records[i].record));
    if (all == 0)
        return;
    fprintf(out,
            "<section id=imported>\n<h2>Runs of llama-bench</h2>\n<div class=scroll><table "
            "class=sortable><thead><tr>%s"
            "<th>model<th>build<th data-type=number>bits<th data-type=number>threads<th "
            "data-type=number>tokens/s<th data-type=number>roofline<th data-type=number>share<th>ours"
            "<th data-type=number>tokens/s<th>note</thead><tbody>\n",
            n > 1 ? "<th>record" : "");
    for (size_t i = 0; i < n; i++) {
        json_array_foreach(imported_of(records[i].record), r, row)
            put_imported(out, row, n > 1 ? records[i].name : NULL);
    }
    fprintf(out, "</tbody></table></div>\n</section>\n");
}
