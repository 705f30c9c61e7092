/* What rooflines of records and of models share: range, axes, vertical lines. */
#include "plots/draw/figure.h"
#include "results/reference/paper_values.h"

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
        fprintf(
            script,
            "set arrow from first %g, graph 0 to first %g, graph 1 nohead linecolor rgb '#%06X' linewidth 2 "
            "dashtype %zu back\n",
            class->beta, class->beta, ULB_BETA_RGB + (unsigned)c, c + 1);
        fprintf(script, "set label \"beta ");
        ulb_put_text(script, class->cls);
        fprintf(script, " %.2f\" at first %g, graph 1 %s, %g textcolor rgb '#%06X'\n", class->beta,
                class->beta, placed, c < 2 ? 0.6 : 1.6, ULB_BETA_RGB);
    }
}

static const struct {
    const char *id, *name;
    int dashes; /* gnuplot's dashtype */
} paper_betas[] = {
    {"arl.beta.p", "ARL P", 1},   {"arl.beta.e", "ARL E", 2}, {"arlh.beta.p", "ARLH P", 1},
    {"arlh.beta.e", "ARLH E", 2}, {"lnl.beta.p", "LNL P", 1}, {"lnl.beta.e", "LNL E", 2},
};
enum { PAPER_BETAS = sizeof paper_betas / sizeof *paper_betas };

void ulb_extent_add_paper_betas(const struct ulb_canvas *canvas, struct ulb_extent *extent)
{
    for (size_t i = 0; i < PAPER_BETAS && !canvas->text; i++)
        ulb_extent_add(extent, ulb_paper_value(paper_betas[i].id));
}

void ulb_put_paper_betas(const struct ulb_canvas *canvas)
{
    for (size_t i = 0; i < PAPER_BETAS && !canvas->text; i++) {
        double beta = ulb_paper_value(paper_betas[i].id);
        fprintf(
            canvas->script,
            "set arrow from first %g, graph 0 to first %g, graph 1 nohead linecolor rgb '#%06X' linewidth 1 "
            "dashtype %d back\nset label \"%s %.4g\" at first %g, graph 0.985 right rotate by 90 offset %g, "
            "0 "
            "textcolor rgb '#%06X' font ',10'\n",
            beta, beta, ULB_PAPER_BETAS_RGB + (unsigned)i % 2, paper_betas[i].dashes, paper_betas[i].name,
            beta, beta, i % 2 ? 1.7 : -1.0, ULB_PAPER_BETAS_RGB);
    }
}
