/* Decode runs of a record (the form of the paper's figures 12 to 14): tokens per second with what Amdahl's
 * law and the memory allow. Also where the time of a token goes, its energy, and prompts by their length. */
#include "plots/figures/bar_chart.h"

#include <math.h>
#include <string.h>

/* Whether two runs differ in that word. */
static bool differs(const json_t *runs, const char *key)
{
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (strcmp(ulb_row_text(run, key), ulb_row_text(json_array_get(runs, 0), key)) != 0)
            return true;
    }
    return false;
}

/* Sequences of a run; older runs have one, and no number. */
static double batch_of(const json_t *run)
{
    return fmax(1, ulb_row_number(run, "batch"));
}

/* "batch 4", or "batch 1 to 16". */
static void put_batches(const json_t *runs, char *out, size_t bytes)
{
    double low = INFINITY, high = 0;
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        low = fmin(low, batch_of(run));
        high = fmax(high, batch_of(run));
    }
    if (low < high)
        snprintf(out, bytes, "batch %.0f to %.0f", low, high);
    else
        snprintf(out, bytes, "batch %.0f", high);
}

/* The model of a run, its sequences if several, its cores and split where the record has several; a star says
 * that some of its layers were extrapolated. */
static void put_group(const json_t *runs, const json_t *run, char out[ULB_BAR_GROUP])
{
    bool part = ulb_row_number(run, "layers_run") < ulb_row_number(run, "layers");
    bool sets = differs(runs, "set"), splits = differs(runs, "split");
    char batch[16] = "";
    if (batch_of(run) > 1)
        snprintf(batch, sizeof batch, " x%.0f", batch_of(run));
    snprintf(out, ULB_BAR_GROUP, "%.31s%s%s%s%.31s%s%.15s", ulb_row_text(run, "model"), part ? " *" : "",
             batch, sets ? ", " : "", sets ? ulb_row_text(run, "set") : "", splits ? ", " : "",
             splits ? ulb_row_text(run, "split") : "");
}

static const char *x_label_of(const json_t *runs)
{
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        if (ulb_row_number(run, "layers_run") < ulb_row_number(run, "layers"))
            return "model (* extrapolated from the layers that fit into memory)";
    }
    return "model";
}

static enum ulb_status no_runs(struct ulb_error *err, const char *what)
{
    return ulb_fail(err, ULB_BAD_INPUT, "the record has no decode runs%s to draw", what);
}

/* One bar for each run whose value is known, in the order of the record. */
static enum ulb_status collect(const json_t *runs, const char *key, struct ulb_bar_chart *chart,
                               struct ulb_error *err)
{
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        double value = ulb_row_number(run, key);
        char group[ULB_BAR_GROUP];
        if (!(value > 0))
            continue;
        put_group(runs, run, group);
        struct ulb_bar *bar = ulb_bar_add(chart, group, ulb_row_text(run, "format"), value);
        if (!bar)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        double tokens = ulb_row_number(run, "tokens_per_s");
        bar->ticks[0] = ulb_row_number(run, "roofline_tokens_per_s");
        bar->ticks[1] =
            tokens / ulb_row_number(run, "observed_speedup") * ulb_row_number(run, "amdahl_speedup");
        snprintf(bar->hover, sizeof bar->hover,
                 "%.2f tokens/s, speed-up %.2f of at most %.2f\nmemory allows %.2f tokens/s\n%.3g J/token",
                 tokens, ulb_row_number(run, "observed_speedup"), ulb_row_number(run, "amdahl_speedup"),
                 bar->ticks[0], ulb_row_number(run, "joule_per_token"));
    }
    return chart->n ? ULB_OK : no_runs(err, strcmp(key, "joule_per_token") == 0 ? " with their energy" : "");
}

enum ulb_status ulb_draw_tokens(const struct ulb_record *record, struct ulb_canvas *canvas,
                                struct ulb_error *err)
{
    const json_t *runs = ulb_decode_runs(record);
    struct ulb_bar_chart chart = {
        .x_label = x_label_of(runs),
        .y_label = "tokens/s",
        .tick_names = {"roofline: bandwidth / bytes a token", "Amdahl's bound over the 16-bit run"},
        .formats = true};
    enum ulb_status status = collect(runs, "tokens_per_s", &chart, err);
    if (status == ULB_OK) {
        char what[96], batches[48];
        const json_t *first = json_array_get(runs, 0);
        put_batches(runs, batches, sizeof batches);
        snprintf(what, sizeof what, "Decoding, %s, %.0f tokens, context %.0f", batches,
                 ulb_row_number(first, "tokens"), ulb_row_number(first, "context"));
        ulb_put_title(canvas, record, what, "all");
        ulb_put_bar_chart(canvas, &chart);
    }
    ulb_bar_chart_free(&chart);
    return status;
}

enum ulb_status ulb_draw_energy(const struct ulb_record *record, struct ulb_canvas *canvas,
                                struct ulb_error *err)
{
    const json_t *runs = ulb_decode_runs(record);
    struct ulb_bar_chart chart = {.x_label = x_label_of(runs), .y_label = "energy, J/token", .formats = true};
    enum ulb_status status = collect(runs, "joule_per_token", &chart, err);
    for (size_t i = 0; i < chart.n; i++)
        chart.bars[i].ticks[0] = chart.bars[i].ticks[1] = NAN;
    if (status == ULB_OK) {
        char what[96], batches[48];
        put_batches(runs, batches, sizeof batches);
        snprintf(what, sizeof what, "Energy of one token, %s", batches);
        ulb_put_title(canvas, record, what, "all");
        ulb_put_bar_chart(canvas, &chart);
    }
    ulb_bar_chart_free(&chart);
    return status;
}

/* --- where the time of a token goes --- */

struct part {
    const char *key, *title, *colour;
};
enum { PARTS = 5 };

/* Bars of parts that add up. */
struct stack {
    const char *title, *label;
    bool prompt; /* the run's prefill has them */
    struct part parts[PARTS];
};

static const struct stack token_stack = {"Where the time of a token goes",
                                         "time of one token, ms",
                                         false,
                                         {{"gemv", "GEMV", "#0072B2"},
                                          {"attention", "attention", "#E69F00"},
                                          {"other", "norms and the rest", "#009E73"},
                                          {"quantise", "quantisation of activations", "#CC79A7"},
                                          {"fork_join", "fork/join", "#D55E00"}}};
static const struct stack prompt_stack = {"Where the time of a prompt goes",
                                          "time to the first token, ms",
                                          true,
                                          {{"gemm", "GEMM", "#0072B2"},
                                           {"attention", "attention", "#E69F00"},
                                           {"norms", "norms and the rest", "#009E73"},
                                           {"quantise", "quantisation of activations", "#CC79A7"},
                                           {"wait", "waiting", "#D55E00"}}};

/* NULL when the run has none. */
static const json_t *split_of(const struct stack *stack, const json_t *run)
{
    const json_t *holder = stack->prompt ? json_object_get(run, "prefill") : run;
    const json_t *split = json_object_get(holder, "split_ms");
    return json_is_number(json_object_get(split, stack->parts[0].key)) ? split : NULL;
}

/* Box of part p of run number x, from the parts below it; false when the run has no split. */
static bool part_box(const struct stack *stack, const json_t *run, size_t p, double *low, double *high)
{
    const json_t *split = split_of(stack, run);
    *low = 0;
    for (size_t i = 0; i < p; i++)
        *low += fmax(ulb_row_number(split, stack->parts[i].key), 0);
    *high = *low + fmax(ulb_row_number(split, stack->parts[p].key), 0);
    return split != NULL;
}

static size_t put_boxes(const struct ulb_canvas *canvas, const struct stack *stack, const json_t *runs)
{
    FILE *script = canvas->script;
    size_t drawn = 0;
    for (size_t p = 0; p < PARTS; p++) {
        double low, high;
        fprintf(script, "$part%zu << END\n", p);
        drawn = 0;
        for (size_t i = 0; i < json_array_size(runs); i++) {
            if (!part_box(stack, json_array_get(runs, i), p, &low, &high))
                continue;
            fprintf(script, "%g %g %zu\n", low, high, drawn);
            drawn++;
        }
        fprintf(script, "END\n");
    }
    return drawn;
}

static void put_split_hover(const struct ulb_canvas *canvas, const struct stack *stack, const json_t *runs)
{
    size_t row = 0;
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        double low, high, total;
        if (!part_box(stack, run, PARTS - 1, &low, &total))
            continue;
        for (size_t p = 0; p < PARTS; p++) {
            part_box(stack, run, p, &low, &high);
            if (high > low)
                ulb_hover(canvas, (low + high) / 2, (double)row, "%s, %s\n%s: %.3f ms, %.1f %%",
                          ulb_row_text(run, "model"), ulb_row_text(run, "format"), stack->parts[p].title,
                          high - low, 100 * (high - low) / total);
        }
        row++;
    }
    ulb_hover_end(canvas);
}

static void put_split_axes(const struct ulb_canvas *canvas, const struct stack *stack, const json_t *runs)
{
    FILE *script = canvas->script;
    size_t row = 0;
    fprintf(script, "set ytics scale 0 (");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        char group[ULB_BAR_GROUP];
        if (!split_of(stack, run))
            continue;
        put_group(runs, run, group);
        fprintf(script, "%s\"", row ? ", " : "");
        ulb_put_text(script, group);
        fprintf(script, ", ");
        ulb_put_text(script, ulb_row_text(run, "format"));
        fprintf(script, "\" %zu", row++);
    }
    fprintf(script, ")\nset yrange [%zu.6:-0.6]\nset xrange [0:*]\nset xlabel \"%s\"\n", row - 1,
            stack->label);
}

static enum ulb_status draw_stack(const struct ulb_record *record, const struct stack *stack,
                                  struct ulb_canvas *canvas, struct ulb_error *err)
{
    FILE *script = canvas->script;
    const json_t *runs = ulb_decode_runs(record);
    size_t n = put_boxes(canvas, stack, runs);
    if (n == 0)
        return no_runs(err, stack->prompt ? " with a prompt" : " with their split");
    canvas->height = 190 + 30 * (unsigned)n;
    ulb_put_title(canvas, record, stack->title, "all");
    ulb_put_frame(canvas, PARTS, 30, 1);
    put_split_axes(canvas, stack, runs);
    put_split_hover(canvas, stack, runs);
    fprintf(script, "set style fill solid 1.0 noborder\nset grid noytics\nplot ");
    for (size_t p = 0; p < PARTS; p++)
        fprintf(script,
                "%s$part%zu using ($1+$2)/2.:3:1:2:($3-0.36):($3+0.36) with boxxyerror linecolor rgb '%s' "
                "title \"%s\"",
                p ? ", " : "", p, stack->parts[p].colour, stack->parts[p].title);
    ulb_hover_plot(canvas);
    return ULB_OK;
}

enum ulb_status ulb_draw_split(const struct ulb_record *record, struct ulb_canvas *canvas,
                               struct ulb_error *err)
{
    return draw_stack(record, &token_stack, canvas, err);
}

enum ulb_status ulb_draw_prefill(const struct ulb_record *record, struct ulb_canvas *canvas,
                                 struct ulb_error *err)
{
    return draw_stack(record, &prompt_stack, canvas, err);
}

/* --- prompts by their length --- */

enum { CURVES = 12 };

/* Runs with several prompts: the first that there is room for. */
struct curves {
    const json_t *runs, *drawn[CURVES];
    size_t n;
    bool further;
};

static struct curves find_curves(const json_t *runs)
{
    struct curves curves = {.runs = runs};
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        const json_t *points = json_object_get(run, "prefill_curve");
        if (json_array_size(points) < 2 || !(ulb_row_number(json_array_get(points, 0), "tokens_per_s") > 0))
            continue;
        curves.further = curves.n == CURVES;
        if (!curves.further)
            curves.drawn[curves.n++] = run;
    }
    return curves;
}

/* The prompt's speed, and what weights read once a step and what the compute limit would allow. Memory's
 * limit of long prompts, far above all else, has no room. */
static void put_curve_data(const struct ulb_canvas *canvas, const struct curves *curves)
{
    double low = INFINITY, high = 0;
    for (size_t c = 0; c < curves->n; c++) {
        size_t i;
        const json_t *point;
        fprintf(canvas->script, "$curve%zu << END\n", c);
        json_array_foreach(json_object_get(curves->drawn[c], "prefill_curve"), i, point)
        {
            double speed = ulb_row_number(point, "tokens_per_s");
            double memory = speed / ulb_row_number(point, "memory_share"),
                   peak = speed / ulb_row_number(point, "peak_share");
            fprintf(canvas->script, "%g %g %g %g\n", ulb_row_number(point, "tokens"), speed, memory, peak);
            low = fmin(low, speed);
            high = fmax(high, fmax(speed, isfinite(peak) ? peak : memory));
        }
        fprintf(canvas->script, "END\n");
    }
    fprintf(canvas->script, "set yrange [%g:%g]\n", low / 1.5, high * 1.6);
}

static void put_curve_hover(const struct ulb_canvas *canvas, const struct curves *curves)
{
    ulb_hover_begin(canvas);
    for (size_t c = 0; c < curves->n; c++) {
        size_t i;
        const json_t *point;
        json_array_foreach(json_object_get(curves->drawn[c], "prefill_curve"), i, point)
            ulb_hover(canvas, ulb_row_number(point, "tokens"), ulb_row_number(point, "tokens_per_s"),
                      "%s, prompt of %.0f\n%.1f tokens/s, %.0f GOP/s, %.1f ms\n%.0f %% of the compute limit, "
                      "%.0f %% of the yardstick: %s",
                      ulb_row_text(curves->drawn[c], "format"), ulb_row_number(point, "tokens"),
                      ulb_row_number(point, "tokens_per_s"), ulb_row_number(point, "gops"),
                      ulb_row_number(point, "ms"), 100 * ulb_row_number(point, "peak_share"),
                      100 * ulb_row_number(point, "memory_share"), ulb_row_text(point, "bound"));
    }
    ulb_hover_end(canvas);
}

static void put_curve_plot(const struct ulb_canvas *canvas, const struct curves *curves)
{
    FILE *script = canvas->script;
    fprintf(script, "plot ");
    for (size_t c = 0; c < curves->n; c++) {
        char group[ULB_BAR_GROUP];
        const char *format = ulb_row_text(curves->drawn[c], "format"), *colour = ulb_format_colour(format);
        put_group(curves->runs, curves->drawn[c], group);
        for (size_t limit = 0; limit < 2; limit++)
            fprintf(script,
                    "$curve%zu using 1:%zu with lines linewidth 1 dashtype %d linecolor rgb '%s' notitle, ",
                    c, limit + 3, limit ? 2 : 3, colour);
        fprintf(
            script,
            "$curve%zu using 1:2 with linespoints linewidth 2 pointtype %zu pointsize 1 linecolor rgb '%s' "
            "title \"",
            c, 4 + c % 10, colour);
        ulb_put_text(script, group);
        fprintf(script, ", ");
        ulb_put_text(script, format);
        fprintf(script, "\", ");
    }
    fprintf(script,
            "keyentry with lines dashtype 3 linecolor rgb '#000000' title \"weights read once a step\", "
            "keyentry with lines dashtype 2 linecolor rgb '#000000' title \"compute limit\"");
    if (curves->further)
        fprintf(script, ", keyentry with points pointtype 0 linecolor rgb '#000000' title "
                        "\"further runs are left out\"");
    ulb_hover_plot(canvas);
}

enum ulb_status ulb_draw_prompts(const struct ulb_record *record, struct ulb_canvas *canvas,
                                 struct ulb_error *err)
{
    const struct curves curves = find_curves(ulb_decode_runs(record));
    if (curves.n == 0)
        return no_runs(err, " with several prompts ('ulb-bench decode --prompt 1,8,64,512' measures them)");
    ulb_put_title(canvas, record, "Prefill over the length of the prompt", "all");
    ulb_put_frame(canvas, curves.n + 2 + curves.further, 40, 1);
    fprintf(canvas->script, "set logscale xy\nset logscale x 2\nset offsets graph 0.03, graph 0.03\n"
                            "set xlabel \"tokens of the prompt\"\nset ylabel \"tokens/s\"\n");
    put_curve_data(canvas, &curves);
    put_curve_hover(canvas, &curves);
    put_curve_plot(canvas, &curves);
    return ULB_OK;
}
