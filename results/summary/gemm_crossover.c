/* Which kernel is the fastest for how many tokens, from a record's cells alone. */
#include "results/record/record.h"

#include <stdbool.h>
#include <string.h>

struct cells {
    const struct ulb_cell *items;
    size_t n;
};

/* Cells that compete: one format at one shape, under the same conditions. */
static bool compete(const struct ulb_cell *a, const struct ulb_cell *b)
{
    return a->m == b->m && a->k == b->k && a->threads == b->threads && strcmp(a->format, b->format) == 0 &&
           strcmp(a->model, b->model) == 0 && strcmp(a->layer, b->layer) == 0 &&
           strcmp(a->set, b->set) == 0 && strcmp(a->split, b->split) == 0 && strcmp(a->mode, b->mode) == 0;
}

/* The next N above n among the competitors of a cell; 0 when there is none. */
static size_t next_tokens(const struct cells *cells, const struct ulb_cell *like, size_t n)
{
    size_t next = 0;
    for (size_t i = 0; i < cells->n; i++) {
        const struct ulb_cell *cell = &cells->items[i];
        if (compete(cell, like) && cell->n > n && (next == 0 || cell->n < next))
            next = cell->n;
    }
    return next;
}

/* The fastest competitor at n, or the one of that kernel; NULL when there is none. */
static const struct ulb_cell *fastest(const struct cells *cells, const struct ulb_cell *like, size_t n,
                                      const char *kernel)
{
    const struct ulb_cell *best = NULL;
    for (size_t i = 0; i < cells->n; i++) {
        const struct ulb_cell *cell = &cells->items[i];
        if (cell->n == n && (!kernel || strcmp(cell->kernel, kernel) == 0) && compete(cell, like) &&
            (!best || cell->us < best->us))
            best = cell;
    }
    return best;
}

static json_t *place_json(const struct ulb_cell *cell)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:s, s:I}", "model", cell->model, "layer", cell->layer, "m",
                     (json_int_t)cell->m, "k", (json_int_t)cell->k, "format", cell->format, "n",
                     (json_int_t)cell->n);
}

static int add_best(json_t *best, const struct ulb_cell *cell)
{
    json_t *row = place_json(cell);
    return json_object_set_new(row, "kernel", json_string(cell->kernel)) |
           json_object_set_new(row, "us", json_real(cell->us)) |
           json_object_set_new(row, "gops", json_real(cell->gops)) | json_array_append_new(best, row);
}

static int add_crossover(json_t *crossover, const struct ulb_cell *cell, const char *from)
{
    json_t *row = place_json(cell);
    return json_object_set_new(row, "from", json_string(from)) |
           json_object_set_new(row, "to", json_string(cell->kernel)) | json_array_append_new(crossover, row);
}

/* All N of the competition that a cell is in, from the smallest on. Who holds the lead keeps it while
 * nobody's interval lies below his. */
static int add_competition(const struct cells *cells, const struct ulb_cell *like, json_t *best,
                           json_t *crossover)
{
    const char *holder = NULL;
    int failed = 0;
    for (size_t n = 0; (n = next_tokens(cells, like, n)) > 0;) {
        const struct ulb_cell *winner = fastest(cells, like, n, NULL);
        const struct ulb_cell *held = holder ? fastest(cells, like, n, holder) : NULL;
        failed |= add_best(best, winner);
        if (held && winner->us_ci_hi >= held->us_ci_lo)
            continue;
        if (held && held != winner)
            failed |= add_crossover(crossover, winner, holder);
        holder = winner->kernel;
    }
    return failed;
}

enum ulb_status ulb_record_judge_tokens(struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_cell *items;
    size_t n;
    enum ulb_status status = ulb_record_cells(record, &items, &n, err);
    if (status != ULB_OK)
        return status;
    struct cells cells = {items, n};
    json_t *best = json_array(), *crossover = json_array();
    int failed = 0;
    for (size_t i = 0; i < n; i++) {
        size_t first = 0;
        while (!compete(&items[first], &items[i]))
            first++;
        if (first == i)
            failed |= add_competition(&cells, &items[i], best, crossover);
    }
    ulb_cells_free(items, n);
    failed |= json_object_set_new(record->root, "best", best) |
              json_object_set_new(record->root, "crossover", crossover);
    if (failed)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the best kernels by number of tokens");
    return ULB_OK;
}
