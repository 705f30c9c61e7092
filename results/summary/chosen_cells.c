#include "results/summary/chosen_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t keep(const struct ulb_cell *cells, size_t n, const char *mode, const char *set,
                   const struct ulb_cell **chosen)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct ulb_cell *cell = &cells[i];
        if (cell->n == 1 && strcmp(cell->mode, mode) == 0 && (!set || strcmp(cell->set, set) == 0))
            chosen[kept++] = cell;
    }
    return kept;
}

enum ulb_status ulb_choose_cells(const struct ulb_record *record, const struct ulb_cell *cells, size_t n,
                                 const struct ulb_cell ***chosen, size_t *n_chosen, struct ulb_error *err)
{
    struct ulb_yardstick *yardsticks;
    size_t n_yardsticks;
    enum ulb_status status = ulb_record_yardsticks(record, &yardsticks, &n_yardsticks, err);
    if (status != ULB_OK)
        return status;
    *chosen = calloc(n ? n : 1, sizeof **chosen);
    if (!*chosen) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the figure");
        goto done;
    }
    const char *mode = keep(cells, n, "cold", NULL, *chosen) ? "cold" : "warm";
    *n_chosen = n_yardsticks ? keep(cells, n, mode, yardsticks[0].set, *chosen) : 0;
    if (*n_chosen == 0 && keep(cells, n, mode, NULL, *chosen) > 0)
        *n_chosen = keep(cells, n, mode, (*chosen)[0]->set, *chosen);
    if (*n_chosen == 0) {
        free(*chosen);
        *chosen = NULL;
        status = ulb_fail(err, ULB_BAD_INPUT, "the record has no GEMV results to draw");
    }
done:
    ulb_yardsticks_free(yardsticks, n_yardsticks);
    return status;
}

double ulb_kernel_share(const struct ulb_cell *const *cells, size_t n, const char *kernel)
{
    double sum = 0;
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i]->kernel, kernel) != 0 || !isfinite(cells[i]->efficiency))
            continue;
        sum += cells[i]->efficiency;
        known++;
    }
    return known > 0 ? sum / (double)known : NAN;
}

bool ulb_same_shape(const struct ulb_cell *a, const struct ulb_cell *b)
{
    return a->m == b->m && a->k == b->k && strcmp(a->model, b->model) == 0 && strcmp(a->layer, b->layer) == 0;
}

/* ---- groups ---- */

static int by_size_and_name(const struct ulb_cell *a, const struct ulb_cell *b)
{
    int order = (a->m > b->m) - (a->m < b->m);
    order = order ? order : (a->k > b->k) - (a->k < b->k);
    order = order ? order : strcmp(a->layer, b->layer);
    return order ? order : strcmp(a->model, b->model);
}

static int by_group(const void *a, const void *b)
{
    const struct ulb_cell *x = *(const struct ulb_cell *const *)a, *y = *(const struct ulb_cell *const *)b;
    int order = by_size_and_name(x, y);
    order = order ? order : strcmp(x->format, y->format);
    return order ? order : (x > y) - (x < y);
}

bool ulb_group_cells(struct ulb_cell_groups *groups, const struct ulb_cell *const *cells, size_t n)
{
    *groups = (struct ulb_cell_groups){calloc(n + 1, sizeof *groups->cells), n};
    if (!groups->cells)
        return false;
    for (size_t i = 0; i < n; i++)
        groups->cells[i] = cells[i];
    qsort(groups->cells, n, sizeof *groups->cells, by_group);
    return true;
}

void ulb_cell_groups_free(struct ulb_cell_groups *groups)
{
    free(groups->cells);
    *groups = (struct ulb_cell_groups){0};
}

struct ulb_cell_groups ulb_cells_like(const struct ulb_cell_groups *groups, const char *format,
                                      const struct ulb_cell *shape)
{
    size_t begin = 0, end = groups->n;
    while (begin < end) { /* the first that is not before the group */
        size_t middle = begin + (end - begin) / 2;
        int order = by_size_and_name(groups->cells[middle], shape);
        order = order ? order : strcmp(groups->cells[middle]->format, format);
        begin = order < 0 ? middle + 1 : begin;
        end = order < 0 ? end : middle;
    }
    for (end = begin; end < groups->n && by_size_and_name(groups->cells[end], shape) == 0 &&
                      strcmp(groups->cells[end]->format, format) == 0;)
        end++;
    return (struct ulb_cell_groups){groups->cells + begin, end - begin};
}
