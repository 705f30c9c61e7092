#include "harness/cli/commands/draw_figures.h"

#include "common/file.h"
#include "harness/cli/terminal.h"
#include "plots/draw/figure.h"

#include <stdio.h>
#include <stdlib.h>

void ulb_draw_all_figures(const struct ulb_record *record, const char *stem, bool named)
{
    static const char *const formats[] = {"svg", "png"};
    char path[4200];
    struct ulb_error why;
    for (size_t i = 0; i < 2 * ulb_figure_count; i++) {
        const char *figure = ulb_figures[i / 2].name;
        if (ulb_figure_check(record, figure, &why) != ULB_OK)
            continue;
        if (ulb_figure_draw(record, figure, formats[i % 2], stem, path, sizeof path, &why) != ULB_OK) {
            ulb_print_note("the figures are left out: %s", why.message);
            return;
        }
        if (named)
            fprintf(stderr, "figure: %s\n", path);
    }
}

enum ulb_status ulb_write_report(const struct ulb_report_record *records, size_t n, const char *path,
                                 size_t *bytes, struct ulb_error *err)
{
    struct ulb_error no_figures;
    char *html;
    enum ulb_status status = ulb_html_report(records, n, &html, bytes, &no_figures, err);
    if (status == ULB_OK && no_figures.message[0])
        ulb_print_note("the report has no figures: %s", no_figures.message);
    if (status == ULB_OK)
        status = ulb_write_file(path, html, *bytes, err);
    free(html);
    return status;
}
