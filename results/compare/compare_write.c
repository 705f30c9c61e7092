#include "results/compare/compare_write.h"

#include <math.h>
#include <string.h>

enum { ANNOTATIONS_MAX = 10, ROWS_MAX = 50 };

char *ulb_change_text(const struct ulb_compared *cell, char out[ULB_CHANGE_TEXT])
{
    double change = 100 * (cell->ratio - 1);
    if (isnan(change))
        snprintf(out, ULB_CHANGE_TEXT, "-");
    else if (!isfinite(cell->ci_lo) || !isfinite(cell->ci_hi))
        snprintf(out, ULB_CHANGE_TEXT, "%+.1f%%", change);
    else
        snprintf(out, ULB_CHANGE_TEXT, "%+.1f%% [%+.1f,%+.1f]", change, 100 * (cell->ci_lo - 1),
                 100 * (cell->ci_hi - 1));
    return out;
}

static size_t count_of(const struct ulb_compared_files *files, size_t n, enum ulb_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += files[i].comparison->count[verdict];
    return count;
}

void ulb_verdict_text(const struct ulb_compared_files *files, size_t n, char out[128])
{
    out[0] = '\0';
    for (int v = 0; v < ULB_VERDICTS; v++) {
        size_t used = strlen(out), count = count_of(files, n, (enum ulb_verdict)v);
        if (count > 0 || v <= ULB_SAME)
            snprintf(out + used, 128 - used, "%s%zu %s", used ? ", " : "", count,
                     ulb_verdict_name((enum ulb_verdict)v));
    }
}

static const char *metric_of(const struct ulb_compared_files *files)
{
    return ulb_metrics[files->comparison->metric].name;
}

/* ---- JSON ---- */

/* A number; NAN and the infinities are null, with the reason. */
static int set_number(json_t *object, const char *key, double value, const char *reason)
{
    char reason_key[64];
    snprintf(reason_key, sizeof reason_key, "%s_reason", key);
    if (isfinite(value))
        return json_object_set_new(object, key, json_real(value));
    return json_object_set_new(object, key, json_null()) |
           json_object_set_new(object, reason_key, json_string(reason));
}

static json_t *cell_json(const struct ulb_compared_files *file, const struct ulb_compared *cell)
{
    static const char one_alone[] = "one record alone has this figure", few[] = "too few rounds";
    bool alone = cell->verdict == ULB_MISSING || cell->verdict == ULB_NEW;
    const char *why = alone ? one_alone : few;
    json_t *object = json_pack("{s:s, s:s, s:s, s:s}", "key", cell->key, "kernel", cell->kernel, "record",
                               file->fresh, "verdict", ulb_verdict_name(cell->verdict));
    int failed =
        set_number(object, "base", cell->base, cell->verdict == ULB_NEW ? one_alone : "not in the record") |
        set_number(object, "new", cell->fresh,
                   cell->verdict == ULB_MISSING ? one_alone : "not in the record") |
        set_number(object, "ratio", cell->ratio, why) | set_number(object, "ci_lo", cell->ci_lo, why) |
        set_number(object, "ci_hi", cell->ci_hi, why) |
        set_number(object, "p_adjusted", cell->p_adjusted, why) |
        set_number(object, "threshold", cell->threshold, why) |
        set_number(object, "noise_floor", cell->noise_floor, why) |
        set_number(object, "machine", cell->machine, why) |
        json_object_set_new(object, "rounds", json_integer((json_int_t)cell->rounds)) |
        json_object_set_new(object, "rounds_needed", json_integer((json_int_t)cell->rounds_needed)) |
        json_object_set_new(object, "reason", json_string(cell->reason));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *kernel_json(const struct ulb_compared_files *file, const struct ulb_kernel_change *kernel)
{
    static const char few[] = "no round in one of the records";
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:I}", "kernel", kernel->kernel, "record", file->fresh, "verdict",
                  ulb_verdict_name(kernel->verdict), "cells", (json_int_t)kernel->cells);
    int failed = set_number(object, "change", kernel->change, few) |
                 set_number(object, "ci_lo", kernel->ci_lo, few) |
                 set_number(object, "ci_hi", kernel->ci_hi, few) |
                 set_number(object, "smallest_detectable", kernel->smallest_detectable, few);
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

/* The kernels of all comparisons; NULL without memory. */
static json_t *kernels_json(const struct ulb_compared_files *files, size_t n)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < files[i].comparison->n_kernels; k++) {
            if (json_array_append_new(kernels, kernel_json(&files[i], &files[i].comparison->kernels[k])) !=
                0) {
                json_decref(kernels);
                return NULL;
            }
        }
    }
    return kernels;
}

json_t *ulb_comparison_json(const struct ulb_compared_files *files, size_t n)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < files[i].comparison->n && cells; c++) {
            if (json_array_append_new(cells, cell_json(&files[i], &files[i].comparison->cells[c])) != 0) {
                json_decref(cells);
                return NULL;
            }
        }
    }
    size_t wrong = 0, missing = 0, blind = 0;
    for (size_t i = 0; i < n; i++) {
        wrong += files[i].comparison->wrong;
        missing += files[i].comparison->missing;
        blind += files[i].comparison->blind;
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:O, s:f}",
                     "metric", metric_of(files), "base", files->base, "cells", cells, "kernels",
                     kernels_json(files, n), "regressions", (json_int_t)count_of(files, n, ULB_REGRESSED),
                     "improvements", (json_int_t)count_of(files, n, ULB_IMPROVED), "unsure",
                     (json_int_t)count_of(files, n, ULB_INCONCLUSIVE), "same",
                     (json_int_t)count_of(files, n, ULB_SAME), "missing", (json_int_t)missing, "new",
                     (json_int_t)count_of(files, n, ULB_NEW), "wrong", (json_int_t)wrong, "blind",
                     (json_int_t)blind, "sessions", (json_int_t)files[0].comparison->sessions, "identical",
                     n == 1 && files[0].comparison->identical, "changed_fields",
                     files[0].comparison->changed_fields, "common_change", files[0].comparison->common);
}

/* ---- text with marks of its own ---- */

/* What stands for a character in one of the formats; NULL: itself. */
typedef const char *escape_fn(char c);

static void put_escaped(const char *text, escape_fn *escape, FILE *out)
{
    for (; *text; text++) {
        const char *instead = escape(*text);
        if (instead)
            fputs(instead, out);
        else
            putc(*text, out);
    }
}

static const char *in_markdown(char c)
{
    static const char marks[] = "\\`*_{}[]<>#|~", *const escaped[] = {"\\\\", "\\`", "\\*", "\\_",  "\\{",
                                                                      "\\}",  "\\[", "\\]", "&lt;", "&gt;",
                                                                      "\\#",  "\\|", "\\~"};
    const char *at = c ? strchr(marks, c) : NULL;
    return at ? escaped[at - marks] : (unsigned char)c < ' ' ? " " : NULL;
}

/* U+FFFE and U+FFFF in UTF-8, which XML 1.0 forbids. */
static bool is_noncharacter(const char *at)
{
    return (unsigned char)at[0] == 0xEF && (unsigned char)at[1] == 0xBF &&
           ((unsigned char)at[2] & 0xFE) == 0xBE;
}

/* XML 1.0 has no way to write most control characters. */
static const char *escape_in_xml(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    default:
        return (unsigned char)c < ' ' || c == 0x7F ? "?" : NULL;
    }
}

static void put_in_xml(const char *text, FILE *out)
{
    for (; *text; text++) {
        char one[] = {*text, '\0'};
        if (is_noncharacter(text)) {
            putc('?', out);
            text += 2;
        } else
            put_escaped(one, escape_in_xml, out);
    }
}

/* Of a workflow command: what it says. */
static const char *in_message(char c)
{
    switch (c) {
    case '%':
        return "%25";
    case '\r':
        return "%0D";
    case '\n':
        return "%0A";
    default:
        return NULL;
    }
}

/* And its properties, which the runner decodes further. */
static const char *in_property(char c)
{
    return c == ':' ? "%3A" : c == ',' ? "%2C" : in_message(c);
}

/* ---- Markdown ---- */

static void put_rows(const struct ulb_comparison *comparison, enum ulb_verdict verdict, FILE *out)
{
    size_t rows = 0;
    for (size_t i = 0; i < comparison->n && rows < ROWS_MAX; i++) {
        const struct ulb_compared *cell = &comparison->cells[i];
        char change[ULB_CHANGE_TEXT];
        if (cell->verdict != verdict)
            continue;
        if (rows++ == 0)
            fprintf(out,
                    "\n| %s | base | new | change, 95 %% interval | counts from |\n|---|---|---|---|---|\n",
                    ulb_verdict_name(verdict));
        fputs("| ", out);
        put_escaped(cell->key, in_markdown, out);
        fprintf(out, " | %.4g | %.4g | ", cell->base, cell->fresh);
        put_escaped(ulb_change_text(cell, change), in_markdown, out);
        fprintf(out, " | %.1f %% |\n", 100 * cell->threshold);
    }
    if (comparison->count[verdict] > rows)
        fprintf(out, "\n%zu more.\n", comparison->count[verdict] - rows);
}

/* Kernels that changed or could not be judged. */
static void put_kernels(const struct ulb_comparison *comparison, FILE *out)
{
    size_t rows = 0;
    for (size_t i = 0; i < comparison->n_kernels && rows < ROWS_MAX; i++) {
        const struct ulb_kernel_change *kernel = &comparison->kernels[i];
        if (kernel->verdict == ULB_SAME || isnan(kernel->change))
            continue;
        if (rows++ == 0)
            fprintf(out, "\n| kernel | is | change, 95 %% interval | seen from |\n|---|---|---|---|\n");
        fputs("| ", out);
        put_escaped(kernel->kernel, in_markdown, out);
        fprintf(out, " | %s | %+.1f %% [%+.1f,%+.1f] | %.0f %% |\n", ulb_verdict_name(kernel->verdict),
                100 * kernel->change, 100 * kernel->ci_lo, 100 * kernel->ci_hi,
                100 * kernel->smallest_detectable);
    }
}

void ulb_comparison_markdown(const struct ulb_compared_files *files, size_t n, FILE *out)
{
    for (size_t i = 0; i < n; i++) {
        const struct ulb_comparison *comparison = files[i].comparison;
        char verdicts[128];
        ulb_verdict_text(&files[i], 1, verdicts);
        fprintf(out, "%s### ulb-bench, %s: %s\n\n", i ? "\n" : "", metric_of(files), verdicts);
        put_escaped(files[i].fresh, in_markdown, out);
        fputs(" against ", out);
        put_escaped(files[i].base, in_markdown, out);
        fputs(".\n", out);
        struct ulb_error why;
        if (ulb_comparison_status(comparison, &why) != ULB_OK) {
            fputs("\n**", out);
            put_escaped(why.message, in_markdown, out);
            fputs("**\n", out);
        }
        put_kernels(comparison, out);
        put_rows(comparison, ULB_REGRESSED, out);
        put_rows(comparison, ULB_IMPROVED, out);
        if (comparison->count[ULB_INCONCLUSIVE] > 0)
            fprintf(out, "\n%zu figure%s too noisy to say.\n", comparison->count[ULB_INCONCLUSIVE],
                    comparison->count[ULB_INCONCLUSIVE] == 1 ? " is" : "s are");
        if (isfinite(comparison->base_gbps) && isfinite(comparison->fresh_gbps))
            fprintf(out, "\nThe memory ran at %.1f and %.1f GB/s; changes are corrected for that.\n",
                    comparison->base_gbps, comparison->fresh_gbps);
    }
}

/* ---- JUnit ---- */

/* Missing, and nothing says why that is fine. */
static bool is_gone(const struct ulb_compared *cell)
{
    return cell->verdict == ULB_MISSING && !cell->reason[0];
}

/* What no figure shows: wrong results fail, and what could not have been seen is said. */
static void put_answer_case(const struct ulb_comparison *comparison, FILE *out)
{
    struct ulb_error why;
    enum ulb_status status = ulb_comparison_status(comparison, &why);
    fputs("    <testcase classname=\"compare\" name=\"answer\" time=\"0\"", out);
    if (status == ULB_OK || (status == ULB_FINDING && comparison->wrong == 0)) {
        fputs("/>\n", out);
        return;
    }
    fputs(status == ULB_FINDING ? ">\n      <failure type=\"wrong\" message=\""
                                : ">\n      <skipped message=\"",
          out);
    put_in_xml(why.message, out);
    fputs("\"/>\n    </testcase>\n", out);
}

static void put_case(const struct ulb_compared_files *file, const struct ulb_compared *cell, FILE *out)
{
    char change[ULB_CHANGE_TEXT];
    fputs("    <testcase classname=\"", out);
    put_in_xml(cell->kernel[0] ? cell->kernel : metric_of(file), out);
    fputs("\" name=\"", out);
    put_in_xml(cell->key, out);
    fputs("\" time=\"0\"", out);
    if (cell->verdict == ULB_REGRESSED)
        fprintf(
            out,
            ">\n      <failure type=\"regression\" message=\"%s %.4g, was %.4g: %s\"/>\n    </testcase>\n",
            metric_of(file), cell->fresh, cell->base, ulb_change_text(cell, change));
    else if (is_gone(cell))
        fputs(">\n      <failure type=\"missing\" message=\"the base alone has it\"/>\n    </testcase>\n",
              out);
    else if (cell->verdict == ULB_IMPROVED || cell->verdict == ULB_SAME)
        fputs("/>\n", out);
    else {
        fprintf(out, ">\n      <skipped message=\"%s", ulb_verdict_name(cell->verdict));
        fputs(cell->reason[0] ? ": " : "", out);
        put_in_xml(cell->reason, out);
        fputs("\"/>\n    </testcase>\n", out);
    }
}

void ulb_comparison_junit(const struct ulb_compared_files *files, size_t n, FILE *out)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct ulb_comparison *comparison = files[i].comparison;
        const size_t *count = comparison->count;
        struct ulb_error why;
        enum ulb_status status = ulb_comparison_status(comparison, &why);
        fprintf(out, "  <testsuite name=\"ulb-bench %s, ", metric_of(files));
        put_in_xml(files[i].fresh, out);
        fprintf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n",
                comparison->n + 1, count[ULB_REGRESSED] + comparison->missing + (comparison->wrong > 0),
                count[ULB_INCONCLUSIVE] + count[ULB_MISSING] - comparison->missing + count[ULB_NEW] +
                    (status == ULB_UNDECIDED));
        put_answer_case(comparison, out);
        for (size_t c = 0; c < comparison->n; c++)
            put_case(&files[i], &comparison->cells[c], out);
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}

/* ---- GitHub ---- */

void ulb_comparison_github(const struct ulb_compared_files *files, size_t n, FILE *out)
{
    size_t shown = 0;
    char text[ULB_CELL_KEY_MAX + 512], change[ULB_CHANGE_TEXT];
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < files[i].comparison->n && shown < ANNOTATIONS_MAX; c++) {
            const struct ulb_compared *cell = &files[i].comparison->cells[c];
            if (cell->verdict != ULB_REGRESSED)
                continue;
            shown++;
            fputs("::error title=slower ", out);
            put_escaped(cell->kernel[0] ? cell->kernel : metric_of(files), in_property, out);
            snprintf(text, sizeof text, "%s: %s %.4g, was %.4g: %s", cell->key, metric_of(files), cell->fresh,
                     cell->base, ulb_change_text(cell, change));
            fputs("::", out);
            put_escaped(text, in_message, out);
            putc('\n', out);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct ulb_error why;
        enum ulb_status status = ulb_comparison_status(files[i].comparison, &why);
        if (status == ULB_OK || (status == ULB_FINDING && files[i].comparison->count[ULB_REGRESSED] > 0))
            continue;
        fprintf(out, "::%s title=ulb-bench compare::", status == ULB_FINDING ? "error" : "warning");
        put_escaped(why.message, in_message, out);
        putc('\n', out);
    }
    ulb_verdict_text(files, n, text);
    fputs("::notice title=ulb-bench compare::", out);
    put_escaped(text, in_message, out);
    putc('\n', out);
}
