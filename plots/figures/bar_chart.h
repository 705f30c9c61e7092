/* Internal to plots/: groups of bars with the limits that belong to each bar. */
#ifndef ULB_PLOTS_FIGURES_BAR_CHART_H
#define ULB_PLOTS_FIGURES_BAR_CHART_H

#include "plots/draw/figure.h"

enum { ULB_BAR_TICKS = 2, ULB_BAR_GROUP = 88 };

struct ulb_bar {
    char group[ULB_BAR_GROUP], series[32]; /* under the axis; in the legend */
    double value;
    double ticks[ULB_BAR_TICKS]; /* horizontal lines on the bar; NAN: none */
    double point;                /* what somebody published; NAN: none */
    char hover[160];             /* said of the bar */
};

struct ulb_bar_chart {
    struct ulb_bar *bars;
    size_t n, room; /* n of bars, of which room are allocated */
    const char *x_label, *y_label;
    const char *tick_names[ULB_BAR_TICKS], *point_name;
    bool formats; /* the series are weight formats, and have their colours */
    bool lying;   /* names of groups are long, and lie */
};

/* Adds one bar; NULL when memory is short. ticks and point are NAN. */
struct ulb_bar *ulb_bar_add(struct ulb_bar_chart *chart, const char *group, const char *series, double value);
void ulb_bar_chart_free(struct ulb_bar_chart *chart);

/* Frame, axes and plot command of a chart with at least one bar; the title is the caller's. */
void ulb_put_bar_chart(struct ulb_canvas *canvas, const struct ulb_bar_chart *chart);

#endif
