/* A grid that does not choose its order: it is measured in turn with another program's grid of the same
 * cells.
 */
#ifndef ULB_HARNESS_GRID_TAKE_TURNS_H
#define ULB_HARNESS_GRID_TAKE_TURNS_H

#include "harness/grid/grid.h"

/* Who gives the turns. */
struct ulb_turns {
    /* Once, before the first turn. cells: [{"kernel", "format", "m", "k", "bytes"}]. */
    enum ulb_status (*ready)(void *context, const json_t *cells, struct ulb_error *err);
    /* The cells of the next turn, by their places in that list, at most n_cells of them and none twice.
     * *n 0: there is no further turn. May wait as long as it likes. */
    enum ulb_status (*next)(void *context, size_t n_cells, size_t *cells, size_t *n, struct ulb_error *err);
    /* What one cell's samples were: {"us": [], "disturbed": [], "yardstick": bytes/s, "hz"}. */
    enum ulb_status (*measured)(void *context, size_t cell, const json_t *samples, struct ulb_error *err);
    void *context;
};

/* Measures the turns that the session's settings give, on a grid that is warm. */
enum ulb_status ulb_grid_take_turns(struct ulb_session *session, struct ulb_grid *grid,
                                    struct ulb_error *err);

#endif
