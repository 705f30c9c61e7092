#include "harness/cli/figures.h"

#include "plots/figure.h"

#include <stdio.h>

void ulb_draw_all_figures(const struct ulb_record *record, const char *stem)
{
    static const char *const formats[] = {"svg", "png"};
    char path[4200];
    struct ulb_error why;
    for (size_t i = 0; i < 2 * ulb_figure_count; i++) {
        const char *figure = ulb_figures[i / 2].name;
        if (ulb_figure_check(record, figure, &why) != ULB_OK)
            continue;
        if (ulb_figure_draw(record, figure, formats[i % 2], stem, path, sizeof path, &why) != ULB_OK) {
            fprintf(stderr, "note: the figures are left out: %s\n", why.message);
            return;
        }
        fprintf(stderr, "figure: %s\n", path);
    }
}
