/* What scales for groups of columns cost: speed of the fastest kernel over the size of the groups. */
#include "plots/figures/bar_chart.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* "int4g32" is int4 with one scale for 32 columns; returns 32. Returns 0 for one scale a row. *length is that
 * of the name without the group. */
static size_t group_of(const char *format, size_t *length)
{
    const char *g = strrchr(format, 'g');
    char *end;
    *length = strlen(format);
    if (!g || g == format || g[1] < '1' || g[1] > '9')
        return 0;
    unsigned long size = strtoul(g + 1, &end, 10);
    if (*end)
        return 0;
    *length = (size_t)(g - format);
    return size;
}

/* Whether both are one format but for the size of the groups. */
static bool same_base(const char *a, const char *b)
{
    size_t length_a, length_b;
    group_of(a, &length_a);
    group_of(b, &length_b);
    return length_a == length_b && strncmp(a, b, length_a) == 0;
}

static bool comes_in_groups(const struct ulb_cell *const *cells, size_t n, const char *format)
{
    for (size_t i = 0; i < n; i++) {
        size_t length;
        if (same_base(cells[i]->format, format) && group_of(cells[i]->format, &length) > 0)
            return true;
    }
    return false;
}

/* Weights a second, in 1e9: of the fastest kernel over all shapes together, and of the yardstick with so many
 * bytes a weight. */
struct speed {
    double attained, allowed, bits;
};

static struct speed speed_of(const struct ulb_cell_groups *cells, const char *format)
{
    double weights = 0, us = 0, bytes = 0, yardstick_us = 0;
    for (size_t i = 0; i < cells->n; i++) {
        const struct ulb_cell_groups like = ulb_cells_like(cells, format, cells->cells[i]);
        if (like.n == 0 || like.cells[0] != cells->cells[i])
            continue;
        const struct ulb_cell *best = like.cells[0];
        for (size_t j = 1; j < like.n; j++)
            best = like.cells[j]->us < best->us ? like.cells[j] : best;
        weights += (double)best->m * (double)best->k;
        us += best->us;
        bytes += (double)best->weight_bytes;
        yardstick_us += (double)best->weight_bytes / best->yardstick_gbps * 1e-3;
    }
    return (struct speed){weights / us * 1e-3, weights / yardstick_us * 1e-3, 8 * bytes / weights};
}

static enum ulb_status add_format(struct ulb_bar_chart *chart, const struct ulb_cell_groups *groups,
                                  const char *format, struct ulb_error *err)
{
    struct speed speed = speed_of(groups, format);
    char base[24], series[40];
    size_t length, group = group_of(format, &length);
    snprintf(base, sizeof base, "%.*s", (int)length, format);
    if (group)
        snprintf(series, sizeof series, "groups of %zu columns", group);
    else
        snprintf(series, sizeof series, "one scale a row");
    struct ulb_bar *bar = ulb_bar_add(chart, base, series, speed.attained);
    if (!bar)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    bar->ticks[0] = speed.allowed;
    snprintf(bar->hover, sizeof bar->hover,
             "%.2f bits a weight with scales\n%.2fe9 weights/s, the yardstick allows %.2fe9", speed.bits,
             speed.attained, speed.allowed);
    return ULB_OK;
}

static bool is_first(const struct ulb_cell *const *cells, size_t i)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(cells[j]->format, cells[i]->format) == 0)
            return false;
    }
    return true;
}

/* One scale a row first, then the larger groups before the smaller ones. */
static int by_size(const void *a, const void *b)
{
    const struct ulb_bar *left = a, *right = b;
    size_t sizes[2] = {SIZE_MAX, SIZE_MAX};
    sscanf(left->series, "groups of %zu", &sizes[0]);
    sscanf(right->series, "groups of %zu", &sizes[1]);
    int base = strcmp(left->group, right->group);
    return base ? base : (sizes[0] < sizes[1]) - (sizes[0] > sizes[1]);
}

enum ulb_status ulb_draw_groups(const struct ulb_record *record, struct ulb_canvas *canvas,
                                struct ulb_error *err)
{
    struct ulb_cell *all = NULL;
    const struct ulb_cell **cells = NULL;
    size_t n_all = 0, n = 0;
    struct ulb_bar_chart chart = {.x_label = "format",
                                  .y_label = "1e9 weights/s, all shapes together",
                                  .tick_names = {"what the yardstick allows", ""}};
    enum ulb_status status = ulb_record_cells(record, &all, &n_all, err);
    if (status == ULB_OK)
        status = ulb_choose_cells(record, all, n_all, &cells, &n, err);
    const struct ulb_cell *const *chosen = (const struct ulb_cell *const *)cells;
    struct ulb_cell_groups groups = {0};
    if (status == ULB_OK && !ulb_group_cells(&groups, chosen, n))
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        if (is_first(chosen, i) && comes_in_groups(chosen, n, cells[i]->format))
            status = add_format(&chart, &groups, cells[i]->format, err);
    }
    if (status == ULB_OK && chart.n == 0)
        status = ulb_fail(err, ULB_BAD_INPUT,
                          "the record has no formats with scales for groups; measure them with "
                          "--formats int4,int4g128,int4g64,int4g32");
    if (status == ULB_OK) {
        qsort(chart.bars, chart.n, sizeof *chart.bars, by_size);
        ulb_put_title(canvas, record, "What scales for groups of columns cost", cells[0]->set);
        ulb_put_bar_chart(canvas, &chart);
    }
    ulb_bar_chart_free(&chart);
    ulb_cell_groups_free(&groups);
    free(cells);
    ulb_cells_free(all, n_all);
    return status;
}
