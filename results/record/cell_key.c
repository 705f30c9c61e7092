#include "results/record/cell_key.h"

#include <stdio.h>
#include <string.h>

static const char *known(const char *text)
{
    return text && *text ? text : "?";
}

char *ulb_cell_place(const struct ulb_cell *cell, char out[ULB_CELL_KEY_MAX])
{
    snprintf(out, ULB_CELL_KEY_MAX, "%s %s %s/%s %zux%zu n%zu %s:%u %s %s", cell->kernel, known(cell->layout),
             cell->model, cell->layer, cell->m, cell->k, cell->n, cell->set, cell->threads, cell->split,
             cell->mode);
    return out;
}

char *ulb_place_key(char place[ULB_CELL_KEY_MAX], const char *cycles)
{
    size_t used = strlen(place);
    snprintf(place + used, ULB_CELL_KEY_MAX - used, " %s", known(cycles));
    return place;
}

char *ulb_cell_key(const struct ulb_cell *cell, const char *cycles, char out[ULB_CELL_KEY_MAX])
{
    return ulb_place_key(ulb_cell_place(cell, out), cycles);
}

char *ulb_gamma_key(const struct ulb_gamma_cell *cell, const char *cycles, char out[ULB_CELL_KEY_MAX])
{
    snprintf(out, ULB_CELL_KEY_MAX, "%s %s %s", cell->kernel, cell->cls, known(cycles));
    return out;
}

char *ulb_count_key(const struct ulb_count_cell *cell, char out[ULB_CELL_KEY_MAX])
{
    snprintf(out, ULB_CELL_KEY_MAX, "%s %s", cell->kernel, known(cell->source));
    return out;
}
