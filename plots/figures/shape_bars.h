/* Internal to plots/: bandwidth of each format over the shapes of models. */
#ifndef ULB_PLOTS_FIGURES_SHAPE_BARS_H
#define ULB_PLOTS_FIGURES_SHAPE_BARS_H

#include "plots/draw/canvas.h"

/* What somebody published of a format at one shape; m 0: at every shape. */
struct ulb_bar_mark {
    const char *format, *title;
    size_t m, k;
    double gbps;
    int point_type; /* gnuplot's */
};

struct ulb_shape_bars {
    const struct ulb_cell *const *cells; /* at least one; the fastest of each format and shape is drawn */
    size_t n;
    double limit; /* GB/s, a line across; NAN when unknown */
    const char *limit_name;
    bool shares; /* a bar is the cell's share of the yardstick beside it, times the limit; else its GB/s */
    const struct ulb_bar_mark *marks;
    size_t n_marks;
};

/* Frame, axes and plot command; the title is the caller's. ULB_BAD_INPUT: more formats than fit. */
enum ulb_status ulb_put_shape_bars(struct ulb_canvas *canvas, const struct ulb_shape_bars *bars,
                                   struct ulb_error *err);

#endif
