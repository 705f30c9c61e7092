/* The top of the report: how fast memory is, how close to the limit, which format, how many tokens per
 * second. */
#include "common/units.h"
#include "plots/report/html.h"
#include "plots/report/report_private.h"
#include "results/summary/format_choice.h"
#include "results/summary/record_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_chip(FILE *out, const char *id, const char *value, const char *of)
{
    fprintf(out, "<div class=chip><b id=\"%s\">", id);
    ulb_html_text(out, value);
    fprintf(out, "</b><span id=\"%s-of\">", id);
    ulb_html_text(out, of);
    fprintf(out, "</span></div>\n");
}

static void put_chips(FILE *out, const json_t *summary, const json_t *model)
{
    const json_t *best = ulb_suggested_row(model);
    double gbps = ulb_row_number(summary, "memory_gbps"),
           other = ulb_row_number(summary, "memory_other_gbps"),
           threads = ulb_row_number(summary, "memory_threads"),
           share = ulb_row_number(best, "share_of_limit"), tps = ulb_row_number(best, "tokens_per_s");
    char value[48], of[160], spells[48] = "";
    if (isfinite(other))
        snprintf(spells, sizeof spells, "; in %s %.1f",
                 ulb_row_text(summary, "memory_other_created")[0] ? "an earlier run" : "other spells", other);
    snprintf(value, sizeof value, isfinite(gbps) ? "%.1f GB/s" : "-", gbps);
    if (threads == 0)
        snprintf(of, sizeof of, "memory of the CPU: its products were not measured; the device's is below");
    else if (isfinite(threads))
        snprintf(of, sizeof of, "memory, read by %.0f core%s%s", threads, ULB_S(threads), spells);
    else
        snprintf(of, sizeof of, "memory: no product of one token was measured");
    put_chip(out, "chip-memory", value, of);
    snprintf(value, sizeof value, isfinite(share) ? "%.0f %%" : "-", 100 * share);
    snprintf(of, sizeof of, "of the limit at %.32s", best ? ulb_row_text(best, "format") : "no format");
    put_chip(out, "chip-share", value, of);
    snprintf(value, sizeof value, isfinite(tps) ? "%.1f tokens/s" : "-", tps);
    snprintf(of, sizeof of, "%.64s in %.32s", ulb_row_text(model, "model"),
             best ? ulb_row_text(best, "format") : "no format");
    put_chip(out, "chip-tokens", value, of);
}

static void put_controls(FILE *out, const json_t *models)
{
    const json_t *model;
    size_t i;
    fprintf(out, "<form id=controls onsubmit=\"return false\"><label>Model <select id=model>");
    json_array_foreach(models, i, model)
    {
        fprintf(out, "<option>");
        ulb_html_text(out, ulb_row_text(model, "model"));
    }
    fprintf(
        out,
        "</select></label>\n<label>Context <input id=context type=number min=0 max=1048576 "
        "value=\"%.0f\"></label>\n"
        "<label>Wanted tokens/s <input id=wanted type=number min=0.1 step=any value=\"%.0f\"></label>\n"
        "<label>Largest error <input id=error type=number min=0 step=0.01 value=\"%.2f\"></label></form>\n"
        "<p id=suggestion aria-live=polite></p>\n<div id=chart></div>\n",
        ulb_row_number(json_array_get(models, 0), "context"), ULB_SUGGESTED_TPS, ULB_SUGGESTED_ERROR);
}

/* What would make a token faster, by what bounds it. */
static const char *help_for(const char *bound)
{
    return strcmp(bound, "compute") == 0    ? "fewer instructions per weight"
           : strcmp(bound, "memory") == 0   ? "fewer bytes per weight"
           : strcmp(bound, "overhead") == 0 ? "fewer, larger products"
                                            : "";
}

/* "9.9", or "9.9/13.4" with that at memory's other speed. */
static void put_speed(FILE *out, const json_t *format)
{
    double tps = ulb_row_number(format, "tokens_per_s"), other = ulb_row_number(format, "tokens_per_s_other");
    char text[64];
    if (!isfinite(other)) {
        ulb_html_number(out, "%.1f", tps);
        return;
    }
    snprintf(text, sizeof text, "%.1f/%.1f", tps, other);
    fprintf(out, "<td class=n>%s", text);
}

static void put_format(FILE *out, const json_t *format, bool suggested)
{
    const char *bound = ulb_row_text(format, "bound");
    fprintf(out, "<tr%s><th scope=row>", suggested ? " class=suggested" : "");
    ulb_html_text(out, ulb_row_text(format, "format"));
    ulb_html_number(out, "%.2f", ulb_row_number(format, "bits"));
    ulb_html_number(out, "%.2f", ulb_row_number(format, "weight_bytes") / ULB_GB);
    ulb_html_number(out, "%.3f", ulb_row_number(format, "error_rmse"));
    put_speed(out, format);
    ulb_html_number(out, "%.1f", ulb_row_number(format, "tokens_per_s_limit"));
    ulb_html_number(out, "%.0f %%", 100 * ulb_row_number(format, "share_of_limit"));
    ulb_html_cell(out, bound);
    ulb_html_cell(out, help_for(bound));
    fprintf(out, "\n");
}

static void put_formats(FILE *out, const json_t *model)
{
    const json_t *format, *best = ulb_suggested_row(model);
    size_t i;
    fprintf(out, "<div class=scroll><table class=sortable id=formats><thead><tr><th>format"
                 "<th data-type=number>bits<th data-type=number>GB<th data-type=number>error"
                 "<th data-type=number>tokens/s<th data-type=number>at the limit<th data-type=number>share"
                 "<th>bound by<th>what would help</thead><tbody>\n");
    json_array_foreach(json_object_get(model, "formats"), i, format) put_format(out, format, format == best);
    fprintf(out, "</tbody></table></div>\n<p class=hint>tokens/s: <span id=basis>");
    ulb_html_text(out, ulb_row_text(model, "basis"));
    fprintf(out,
            "</span>. error: RMS on normal weights, not model quality; 0 where the model was trained in the "
            "format's own values.</p>\n");
}

/* JSON inside of HTML: no text in it can end the element. */
static enum ulb_status put_json(FILE *out, const char *id, const json_t *value, struct ulb_error *err)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(9));
    if (!text)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the report");
    fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
    for (const char *at = text; *at; at++) {
        if (*at == '<')
            fputs("\\u003c", out);
        else
            fputc(*at, out);
    }
    fprintf(out, "</script>\n");
    free(text);
    return ULB_OK;
}

static enum ulb_status put_models(FILE *out, const struct ulb_record *record, const json_t *summary,
                                  struct ulb_error *err)
{
    const json_t *models = json_object_get(summary, "models"), *first = json_array_get(models, 0);
    double memory = ulb_record_number(record, "machine.memory_bytes"),
           gbps = ulb_row_number(summary, "memory_gbps");
    if (!first)
        return ULB_OK;
    put_controls(out, models);
    put_formats(out, first);
    json_t *data = json_pack("{s:O, s:f, s:f}", "models", models, "memory_bytes",
                             isfinite(memory) ? memory : 0, "memory_gbps", isfinite(gbps) ? gbps : 0);
    enum ulb_status status = put_json(out, "answer-data", data, err);
    json_decref(data);
    return status;
}

enum ulb_status ulb_html_answer(FILE *out, const struct ulb_report_record *report, struct ulb_error *err)
{
    json_t *summary;
    enum ulb_status status = ulb_summary_of(report->record, &summary, err);
    if (status != ULB_OK)
        return status;
    const char *limit = ulb_row_text(summary, "limit"), *trust = ulb_row_text(summary, "trust");
    fprintf(out, "<section id=answer>\n<h2>");
    ulb_html_record_name(out, report, 1, 0);
    fprintf(out, "</h2>\n<div class=chips>\n");
    put_chips(out, summary, json_array_get(json_object_get(summary, "models"), 0));
    fprintf(out, "</div>\n");
    if (limit[0]) {
        fprintf(out, "<p id=limit>");
        ulb_html_text(out, limit);
        fprintf(out, "</p>\n");
    }
    if (trust[0]) {
        fprintf(out, "<p id=trust class=\"%s\">Quality of this run: ",
                strcmp(trust, "good") == 0 ? "good" : "doubt");
        ulb_html_text(out, trust);
        fprintf(out, ". ");
        ulb_html_text(out, ulb_row_text(summary, "trust_reason"));
        fprintf(out, "</p>\n");
    }
    status = put_models(out, report->record, summary, err);
    fprintf(out, "</section>\n");
    json_decref(summary);
    return status;
}

enum ulb_status ulb_html_download(FILE *out, const struct ulb_report_record *report, struct ulb_error *err)
{
    fprintf(out, "<section id=download>\n<h2>Record</h2>\n<p><button type=button id=save data-name=\"");
    ulb_html_text(out, report->name);
    fprintf(out, "\">Download the record</button> holds every number of this page.</p>\n");
    enum ulb_status status = put_json(out, "record", report->record->root, err);
    fprintf(out, "</section>\n");
    return status;
}
