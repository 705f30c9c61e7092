/* What rooflines of records and of models share: range, axes, vertical lines. */
#include "plots/canvas.h"

#include <math.h>

struct ulb_extent ulb_extent_empty(void)
{
    return (struct ulb_extent){INFINITY, 0};
}

void ulb_extent_add(struct ulb_extent *extent, double value)
{
    if (!(value > 0) || !isfinite(value))
        return;
    extent->lowest = fmin(extent->lowest, value);
    extent->highest = fmax(extent->highest, value);
}

/* With some room. */
void ulb_extent_close(struct ulb_extent *extent)
{
    extent->lowest = exp2(floor(log2(extent->lowest / 1.3)));
    extent->highest = exp2(ceil(log2(extent->highest * 1.3)));
}

void ulb_put_roof_axes(FILE *script, const struct ulb_extent *extent, size_t n_classes)
{
    bool two_rows = n_classes > 2; /* of labels above the frame */
    fprintf(script, "set title offset 0, %d\nset tmargin %d\n", two_rows ? 2 : 1, two_rows ? 6 : 5);
    fprintf(script, "set logscale xy 2\nset format xy \"%%g\"\nset xrange [%g:%g]\nset yrange [%g:%g]\n",
            extent->lowest, extent->highest, extent->lowest, extent->highest);
    fprintf(script, "set xlabel \"beta: available bandwidth of one core, bytes/cycle\"\n"
                    "set ylabel \"e_bw: effective bandwidth of one core, bytes/cycle\"\n");
}

static bool is_leftmost(const struct ulb_beta_line *classes, size_t n, const struct ulb_beta_line *class)
{
    for (size_t c = 0; c < n; c++) {
        if (classes[c].beta < class->beta)
            return false;
    }
    return true;
}

void ulb_put_betas(FILE *script, const struct ulb_beta_line *classes, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        const struct ulb_beta_line *class = &classes[c];
        if (!(class->beta > 0))
            continue;
        const char *placed = n == 1                           ? "center offset 0"
                             : is_leftmost(classes, n, class) ? "right offset 0.5"
                                                              : "left offset -0.5";
        fprintf(script,
                "set arrow from first %g, graph 0 to first %g, graph 1 nohead linecolor rgb '#882255' "
                "linewidth 2 "
                "dashtype %zu back\n",
                class->beta, class->beta, c + 1);
        fprintf(script, "set label \"beta ");
        ulb_put_text(script, class->cls);
        fprintf(script, " %.2f\" at first %g, graph 1 %s, %g textcolor rgb '#882255'\n", class->beta,
                class->beta, placed, c < 2 ? 0.6 : 1.6);
    }
}
