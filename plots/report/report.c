#include "plots/report/report.h"

#include "common/file.h"
#include "common/text.h"
#include "plots/draw/figure.h"
#include "plots/report/html.h"
#include "plots/report/report_private.h"
#include "results/summary/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* plots/report/report.css, report.js and report-method.html, which ulb_embed() ends with a zero byte. */
extern const unsigned char ulb_report_css[], ulb_report_js[], ulb_report_method_html[];

static const char *text_of(const unsigned char *embedded)
{
    return (const char *)embedded;
}

/* --- verdicts and warnings --- */

static enum ulb_status put_verdicts(FILE *out, const struct ulb_report_record *records, size_t n,
                                    struct ulb_error *err)
{
    for (size_t i = 0; i < n; i++) {
        struct ulb_verdict verdict;
        enum ulb_status status = ulb_verdict_of(records[i].record, &verdict, err);
        if (status != ULB_OK)
            return status;
        fprintf(out, "<section class=verdict>\n<h2>");
        ulb_html_record_name(out, records, n, i);
        fprintf(out, "</h2>\n<p class=headline>");
        ulb_html_text(out, verdict.lines[0]);
        fprintf(out, "</p>\n<ul>\n");
        for (size_t line = 1; line < verdict.n; line++) {
            fprintf(out, "<li>");
            ulb_html_text(out, verdict.lines[line]);
            fprintf(out, "\n");
        }
        fprintf(out, "</ul>\n</section>\n");
    }
    return ULB_OK;
}

static bool says(const json_t *warnings, const char *word)
{
    const json_t *warning;
    size_t i;
    json_array_foreach(warnings, i, warning)
    {
        if (json_is_string(warning) && strstr(json_string_value(warning), word))
            return true;
    }
    return false;
}

static size_t put_warning(FILE *out, const char *text)
{
    fprintf(out, "<li>");
    ulb_html_text(out, text);
    fprintf(out, "\n");
    return 1;
}

/* Conditions that the record holds and that its own warnings do not name. */
static size_t put_conditions(FILE *out, const struct ulb_record *record, const json_t *warnings)
{
    const json_t *classes = json_object_get(json_object_get(record->root, "topology"), "classes"), *class;
    const char *governor = ulb_record_text(record, "machine.governor");
    const char *source = ulb_record_text(record, "clock.cycles_source");
    double got = ulb_record_number(record, "machine.huge_pages.got_bytes");
    size_t i, said = 0;
    char text[192];
    bool smt = false;
    json_array_foreach(classes, i, class) smt |= ulb_row_number(class, "smt") > 1;
    if (smt)
        said += put_warning(out,
                            says(warnings, "are one core")
                                ? "SMT is on: siblings share a core's execution slots, and some were used"
                                : "SMT is on: siblings share a core's execution slots, one thread a core was "
                                  "used");
    if (governor && strcmp(governor, "performance") != 0 && !says(warnings, "governor")) {
        snprintf(text, sizeof text, "cpufreq governor is %.64s: clocks may ramp during the run", governor);
        said += put_warning(out, text);
    }
    if (got <= 0 && !says(warnings, "huge pages")) /* NAN: nothing was read from memory, or it is not known */
        said +=
            put_warning(out, "no huge pages: reading walks page tables, and the yardstick is lower for it");
    if (source && strcmp(source, "tsc") == 0)
        said += put_warning(out, "cycles are ticks of the time-stamp counter, which are not core cycles");
    return said;
}

static void put_warnings(FILE *out, const struct ulb_report_record *records, size_t n)
{
    fprintf(out, "<section id=warnings>\n<h2>Warnings</h2>\n");
    for (size_t i = 0; i < n; i++) {
        const json_t *warnings = json_object_get(records[i].record->root, "warnings"), *warning;
        size_t w, said = 0;
        if (n > 1) {
            fprintf(out, "<h3>");
            ulb_html_record_name(out, records, n, i);
            fprintf(out, "</h3>\n");
        }
        fprintf(out, "<ul>\n");
        json_array_foreach(warnings, w, warning)
        {
            if (json_is_string(warning))
                said += put_warning(out, json_string_value(warning));
        }
        said += put_conditions(out, records[i].record, warnings);
        fprintf(out, "%s</ul>\n", said ? "" : "<li>none\n");
    }
    fprintf(out, "</section>\n");
}

/* --- figures --- */

/* One figure of one record; a record without its data has none. */
static enum ulb_status put_svg(FILE *out, const struct ulb_report_record *records, size_t n, size_t i,
                               const char *figure, struct ulb_error *err)
{
    char id[64], *svg;
    size_t bytes;
    snprintf(id, sizeof id, "r%zu-%s", i, figure);
    enum ulb_status status = ulb_figure_text(records[i].record, figure, "svg", id, &svg, &bytes, err);
    if (status != ULB_OK)
        return status;
    /* The XML declaration has no place inside of HTML. */
    const char *start = memmem(svg, bytes, "<svg", 4);
    size_t skipped = start ? (size_t)(start - svg) : 0;
    if (n > 1) {
        fprintf(out, "<h4>");
        ulb_html_record_name(out, records, n, i);
        fprintf(out, "</h4>");
    }
    fprintf(out, "<div class=\"scroll svg\" role=img aria-label=\"figure %s\">", figure);
    fwrite(svg + skipped, 1, bytes - skipped, out);
    fprintf(out, "</div>\n");
    free(svg);
    return ULB_OK;
}

/* Whether a record has the figure's data: ULB_BAD_INPUT when none has, another failure when that cannot be
 * shown.
 */
static enum ulb_status any_has(const struct ulb_report_record *records, size_t n, const char *figure,
                               struct ulb_error *err)
{
    enum ulb_status status = ULB_BAD_INPUT;
    for (size_t i = 0; i < n && status == ULB_BAD_INPUT; i++)
        status = ulb_figure_check(records[i].record, figure, err);
    return status;
}

/* A line in the place of a figure that would have more marks than anyone can tell apart. */
static void note_crowded(FILE *out, const struct ulb_report_record *records, size_t n,
                         const struct ulb_figure *figure)
{
    bool crowded = false;
    for (size_t i = 0; i < n; i++)
        crowded |= ulb_figure_is_crowded(records[i].record, figure->name);
    if (crowded)
        fprintf(out, "<p class=hint><b>%s</b> is left out: more than %d cells.</p>\n", figure->name,
                ULB_FIGURE_CELLS);
}

static enum ulb_status put_figure(FILE *out, const struct ulb_report_record *records, size_t n,
                                  const struct ulb_figure *figure, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    fprintf(out, "<figure id=\"figure-%s\">\n<figcaption>", figure->name);
    fprintf(out, "<b>%s</b>: ", figure->name);
    ulb_html_text(out, figure->summary);
    if (figure->paper[0])
        fprintf(out, " (the form of the paper's figure %s)", figure->paper);
    fprintf(out, "</figcaption>\n");
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        status = ulb_figure_check(records[i].record, figure->name, err);
        if (status == ULB_OK)
            status = put_svg(out, records, n, i, figure->name, err);
        else if (status == ULB_BAD_INPUT)
            status = ULB_OK;
    }
    fprintf(out, "</figure>\n");
    return status;
}

/* Without gnuplot the page says so and is whole otherwise. The first figure of one record, the roofline, is
 * open and the others are folded. */
static void put_figures(FILE *out, const struct ulb_report_record *records, size_t n,
                        struct ulb_error *no_figures)
{
    enum ulb_status status = ULB_OK;
    struct ulb_error why;
    bool folded = false;
    no_figures->message[0] = '\0';
    fprintf(out, "<section id=figures>\n<h2>Figures</h2>\n<p class=hint>Point at a mark, or touch it, to see "
                 "its values.</p>\n");
    for (size_t f = 0; f < ulb_figure_count && status == ULB_OK; f++) {
        status = any_has(records, n, ulb_figures[f].name, &why);
        if (status == ULB_OK && n == 1 && f > 0 && !folded) {
            fprintf(out, "<details><summary>More figures</summary>\n");
            folded = true;
        }
        if (status == ULB_OK)
            status = put_figure(out, records, n, &ulb_figures[f], &why);
        else if (status == ULB_BAD_INPUT) {
            note_crowded(out, records, n, &ulb_figures[f]);
            status = ULB_OK;
        }
    }
    fprintf(out, "%s", folded ? "</details>\n" : "");
    if (status != ULB_OK) {
        *no_figures = why;
        fprintf(out, "<p>The figures are left out: ");
        ulb_html_text(out, no_figures->message);
        fprintf(out, "</p>\n");
    }
    fprintf(out, "</section>\n");
}

/* --- the page --- */

static void put_head(FILE *out, const struct ulb_report_record *records, size_t n)
{
    fprintf(out, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n<meta name=generator "
                 "content=\"" ULB_FILE_MARK "\">\n"
                 "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
                 /* Nothing is loaded, by nobody. */
                 "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
                 "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
                 "<link rel=icon href=\"data:,\">\n<title>ulb-bench: ");
    const char *model = ulb_record_text(records[0].record, "machine.cpu_model");
    ulb_html_text(out, model ? model : "unnamed machine");
    if (n > 1)
        fprintf(out, " and %zu more", n - 1);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", text_of(ulb_report_css));
    fprintf(out,
            "<header><h1>ulb-bench: how close to its own limit</h1>"
            "<button type=button id=theme aria-label=\"light or dark\">light / "
            "dark</button></header>\n<main%s>\n",
            n == 1 ? " class=one" : "");
}

static void put_links(FILE *out, size_t n)
{
    fprintf(out,
            "<nav><a href=\"#figures\">Figures</a> <a href=\"#table\">All cells</a> <a "
            "href=\"#warnings\">Warnings</a> "
            "<a href=\"#machine\">%s</a> <a href=\"#shares\">%s</a> <a href=\"#method\">Method</a>%s</nav>\n",
            n > 1 ? "Machines" : "Machine", n > 1 ? "Side by side" : "Formats",
            n > 1 ? "" : " <a href=\"#download\">Record</a>");
}

static enum ulb_status put_cells(FILE *out, const struct ulb_report_record *records, size_t n,
                                 struct ulb_error *err)
{
    fprintf(
        out,
        "<section id=table>\n<h2>All cells</h2>\n<details%s><summary>Every kernel at every shape</summary>\n"
        "<div class=filter><label>Filter <input type=search id=filter "
        "placeholder=\"int2 llama3 down\" autocomplete=off></label> <output id=count></output></div>\n",
        n > 1 ? " open" : "");
    enum ulb_status status = ulb_html_cells(out, records, n, err);
    fprintf(out, "</details>\n</section>\n");
    return status;
}

static enum ulb_status put_machines(FILE *out, const struct ulb_report_record *records, size_t n,
                                    struct ulb_error *err)
{
    put_warnings(out, records, n);
    fprintf(out, "<section id=machine>\n<h2>%s</h2>\n", n > 1 ? "Machines" : "Machine");
    ulb_html_machines(out, records, n);
    fprintf(out, "</section>\n<section id=shares>\n<h2>%s</h2>\n", n > 1 ? "Side by side" : "Formats");
    enum ulb_status status = ulb_html_comparison(out, records, n, err);
    fprintf(out, "</section>\n");
    return status;
}

/* The answer first: of one record what to take, of several how they compare. */
static enum ulb_status put_page(FILE *out, const struct ulb_report_record *records, size_t n,
                                struct ulb_error *no_figures, struct ulb_error *err)
{
    put_head(out, records, n);
    enum ulb_status status = n == 1 ? ulb_html_answer(out, records, err) : put_verdicts(out, records, n, err);
    if (status != ULB_OK)
        return status;
    put_links(out, n);
    if (n > 1)
        status = put_machines(out, records, n, err);
    put_figures(out, records, n, no_figures);
    if (status == ULB_OK)
        status = put_cells(out, records, n, err);
    if (status == ULB_OK && n == 1)
        status = put_verdicts(out, records, n, err);
    if (status == ULB_OK && n == 1)
        status = put_machines(out, records, n, err);
    if (status != ULB_OK)
        return status;
    ulb_html_imported(out, records, n);
    fprintf(out, "%s", text_of(ulb_report_method_html));
    if (n == 1)
        status = ulb_html_download(out, records, err);
    fprintf(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", text_of(ulb_report_js));
    return status;
}

enum ulb_status ulb_html_report(const struct ulb_report_record *records, size_t n, char **html, size_t *bytes,
                                struct ulb_error *no_figures, struct ulb_error *err)
{
    struct ulb_text page;
    *html = NULL;
    if (!ulb_text_open(&page))
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the report");
    enum ulb_status status = put_page(page.out, records, n, no_figures, err);
    if (!ulb_text_close(&page) && status == ULB_OK)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the report");
    if (status != ULB_OK) {
        free(page.data);
        return status;
    }
    *html = page.data;
    *bytes = page.bytes;
    return ULB_OK;
}
