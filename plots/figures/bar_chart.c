#include "plots/figures/bar_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Characters under all groups and, where they are many, under each at least; the same in a terminal. */
enum { MAX_NAMES = 32, CHARACTERS = 96, CHARACTERS_LEAST = 16, TEXT_CHARACTERS = 60, TEXT_LEAST = 10 };
/* Of names that lie: characters, the lines that they take below the axis, and the width of a group. */
enum { LYING_CHARACTERS = 48, LYING_LINES = 19, LYING_WIDTH = 52 };

static const char *const tick_colours[ULB_BAR_TICKS] = {"#000000", "#882255"};

struct names {
    const char *items[MAX_NAMES];
    size_t n;
};

struct ulb_bar *ulb_bar_add(struct ulb_bar_chart *chart, const char *group, const char *series, double value)
{
    if (chart->n == chart->room) {
        size_t room = chart->room ? 2 * chart->room : 32;
        struct ulb_bar *bars = realloc(chart->bars, room * sizeof *bars);
        if (!bars)
            return NULL;
        chart->bars = bars;
        chart->room = room;
    }
    struct ulb_bar *bar = &chart->bars[chart->n++];
    *bar = (struct ulb_bar){.value = value, .ticks = {NAN, NAN}, .point = NAN};
    snprintf(bar->group, sizeof bar->group, "%s", group);
    snprintf(bar->series, sizeof bar->series, "%s", series);
    return bar;
}

void ulb_bar_chart_free(struct ulb_bar_chart *chart)
{
    free(chart->bars);
    chart->bars = NULL;
    chart->n = chart->room = 0;
}

/* Index of a name, which is added when it is new; the last one stands for all that have no room. */
static size_t index_of(struct names *names, const char *name)
{
    size_t i = 0;
    while (i < names->n && strcmp(names->items[i], name) != 0)
        i++;
    if (i == names->n && i < MAX_NAMES)
        names->items[names->n++] = name;
    return i < MAX_NAMES ? i : MAX_NAMES - 1;
}

struct layout {
    struct names groups, series;
    double width; /* of a bar */
    double top;   /* of everything drawn */
};

static double middle(struct layout *layout, const struct ulb_bar *bar)
{
    double first = 0.5 * ((double)layout->series.n - 1);
    return (double)index_of(&layout->groups, bar->group) +
           layout->width * ((double)index_of(&layout->series, bar->series) - first);
}

static struct layout lay_out(const struct ulb_bar_chart *chart)
{
    struct layout layout = {.top = 0};
    for (size_t i = 0; i < chart->n; i++) {
        const struct ulb_bar *bar = &chart->bars[i];
        index_of(&layout.groups, bar->group);
        index_of(&layout.series, bar->series);
        layout.top = fmax(layout.top, fmax(bar->value, bar->point));
        for (size_t t = 0; t < ULB_BAR_TICKS; t++)
            layout.top = fmax(layout.top, bar->ticks[t]);
    }
    layout.width = 0.84 / (double)layout.series.n;
    return layout;
}

static bool has_tick(const struct ulb_bar_chart *chart, size_t t)
{
    for (size_t i = 0; i < chart->n; i++) {
        if (isfinite(chart->bars[i].ticks[t]))
            return true;
    }
    return false;
}

static bool has_point(const struct ulb_bar_chart *chart)
{
    for (size_t i = 0; i < chart->n; i++) {
        if (isfinite(chart->bars[i].point))
            return true;
    }
    return false;
}

static void put_data(FILE *script, const struct ulb_bar_chart *chart, struct layout *layout)
{
    for (size_t s = 0; s < layout->series.n; s++) {
        fprintf(script, "$series%zu << END\n", s);
        for (size_t i = 0; i < chart->n; i++) {
            if (index_of(&layout->series, chart->bars[i].series) == s)
                fprintf(script, "%g %g %g\n", middle(layout, &chart->bars[i]), chart->bars[i].value,
                        layout->width);
        }
        fprintf(script, "END\n");
    }
    for (size_t t = 0; t <= ULB_BAR_TICKS; t++) {
        fprintf(script, "$marks%zu << END\n", t);
        for (size_t i = 0; i < chart->n; i++) {
            double y = t < ULB_BAR_TICKS ? chart->bars[i].ticks[t] : chart->bars[i].point;
            if (isfinite(y))
                fprintf(script, "%g %g\n", middle(layout, &chart->bars[i]), y);
        }
        fprintf(script, "END\n");
    }
}

static void put_hover(const struct ulb_canvas *canvas, const struct ulb_bar_chart *chart,
                      struct layout *layout)
{
    ulb_hover_begin(canvas);
    for (size_t i = 0; i < chart->n; i++)
        ulb_hover(canvas, middle(layout, &chart->bars[i]), chart->bars[i].value, "%s, %s\n%s",
                  chart->bars[i].group, chart->bars[i].series, chart->bars[i].hover);
    ulb_hover_end(canvas);
}

static void put_axes(struct ulb_canvas *canvas, const struct ulb_bar_chart *chart,
                     const struct layout *layout)
{
    FILE *script = canvas->script;
    size_t least = canvas->text ? TEXT_LEAST : CHARACTERS_LEAST;
    size_t room = (canvas->text ? TEXT_CHARACTERS : CHARACTERS) / layout->groups.n;
    bool lying = chart->lying && !canvas->text; /* text cannot lie */
    if (lying)
        least = LYING_CHARACTERS;
    fprintf(script, "set xrange [-0.5:%g]\nset yrange [0:%g]\nset xtics scale 0 %s(",
            (double)layout->groups.n - 0.5, 1.08 * layout->top, lying ? "rotate by 90 right " : "");
    for (size_t g = 0; g < layout->groups.n; g++) {
        fprintf(script, "%s\"", g ? ", " : "");
        ulb_put_tic_text(script, layout->groups.items[g], room > least ? room : least);
        fprintf(script, "\" %zu", g);
    }
    fprintf(script, ")\nset xlabel \"%s\"\nset ylabel \"%s\"\n", chart->x_label, chart->y_label);
    fprintf(script, "set style fill solid 1.0 noborder\nset grid noxtics\n");
}

void ulb_put_bar_chart(struct ulb_canvas *canvas, const struct ulb_bar_chart *chart)
{
    FILE *script = canvas->script;
    struct layout layout = lay_out(chart);
    size_t longest = 0, entries = layout.series.n;
    for (size_t s = 0; s < layout.series.n; s++)
        longest = strlen(layout.series.items[s]) > longest ? strlen(layout.series.items[s]) : longest;
    for (size_t t = 0; t < ULB_BAR_TICKS; t++) {
        if (has_tick(chart, t)) {
            longest = strlen(chart->tick_names[t]) > longest ? strlen(chart->tick_names[t]) : longest;
            entries++;
        }
    }
    if (has_point(chart))
        longest = strlen(chart->point_name) > longest ? strlen(chart->point_name) : longest;
    bool lying = chart->lying && !canvas->text;
    unsigned width = 110 + (lying ? LYING_WIDTH : 100) * (unsigned)layout.groups.n;
    canvas->width = width > canvas->width ? width : canvas->width;
    ulb_put_frame(canvas, entries + has_point(chart), longest, lying ? LYING_LINES : 1);
    put_axes(canvas, chart, &layout);
    put_data(script, chart, &layout);
    put_hover(canvas, chart, &layout);
    fprintf(script, "plot ");
    for (size_t s = 0; s < layout.series.n; s++) {
        fprintf(script, "%s$series%zu using 1:2:3 with boxes linecolor rgb '%s' title \"", s ? ", " : "", s,
                chart->formats ? ulb_format_colour(layout.series.items[s]) : ulb_series_colour(s));
        ulb_put_text(script, layout.series.items[s]);
        fprintf(script, "\"");
    }
    for (size_t t = 0; t < ULB_BAR_TICKS; t++) {
        if (has_tick(chart, t))
            fprintf(
                script,
                ", $marks%zu using ($1-%g):2:(%g):(0) with vectors nohead linewidth 2.5 linecolor rgb '%s' "
                "notitle, keyentry with lines linewidth 2.5 linecolor rgb '%s' title \"%s\"",
                t, 0.48 * layout.width, 0.96 * layout.width, tick_colours[t], tick_colours[t],
                chart->tick_names[t]);
    }
    if (has_point(chart))
        fprintf(script,
                ", $marks%d using 1:2 with points pointtype 13 pointsize 1.6 linecolor rgb '#000000' title "
                "\"%s\"",
                ULB_BAR_TICKS, chart->point_name);
    ulb_hover_plot(canvas);
}
