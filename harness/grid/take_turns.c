#include "harness/grid/take_turns.h"

#include "harness/session/journal.h"
#include "harness/session/session.h"

#include <math.h>
#include <stdlib.h>

/* What one turn may spend on samples that something disturbed, seconds. */
static const double RETRY_BUDGET = 0.3;

static json_t *list_cells(const struct ulb_grid *grid)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < grid->judged; i++) {
        const struct ulb_grid_cell *cell = &grid->cells[i];
        char name[ULB_KERNEL_NAME_MAX];
        json_array_append_new(cells, json_pack("{s:s, s:s, s:I, s:I, s:I}", "kernel",
                                               ulb_kernel_name(cell->kernel, name), "format",
                                               cell->kernel->layout->format->name, "m", (json_int_t)cell->m,
                                               "k", (json_int_t)cell->k, "bytes", (json_int_t)cell->bytes));
    }
    return cells;
}

static json_t *samples_of(const struct ulb_grid_cell *cell, double hz)
{
    return json_pack("{s:o, s:o, s:f, s:o}", "us", ulb_journal_numbers(cell->us, cell->n_samples),
                     "disturbed", ulb_journal_numbers(cell->disturbed, cell->n_disturbed), "yardstick",
                     cell->round_yardstick[0], "hz", isfinite(hz) ? json_real(hz) : json_null());
}

static enum ulb_status time_turn(struct ulb_session *session, struct ulb_grid *grid, size_t at,
                                 struct ulb_error *err)
{
    const struct ulb_turns *turns = session->settings.turns;
    struct ulb_grid_cell *cell = &grid->cells[at];
    double hz;
    cell->n_samples = cell->n_disturbed = cell->n_rounds = 0;
    enum ulb_status status = ulb_grid_time_cell(session, grid, cell, &hz, err);
    if (status != ULB_OK)
        return status;
    json_t *samples = samples_of(cell, hz);
    status = samples ? turns->measured(turns->context, at, samples, err)
                     : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of a turn");
    json_decref(samples);
    return status == ULB_OK ? ulb_session_check(session, err) : status;
}

/* The program was idle since its last turn: memory and clock are woken by a read that does not count. */
static void begin_turn(struct ulb_session *session, struct ulb_grid *grid)
{
    grid->retry.retry_budget_s = RETRY_BUDGET;
    grid->retry.hz = NAN;
    for (int i = 0; i < 2; i++) {
        grid->n_yardstick = 0;
        ulb_grid_take_yardstick(session, grid);
    }
}

enum ulb_status ulb_grid_take_turns(struct ulb_session *session, struct ulb_grid *grid, struct ulb_error *err)
{
    const struct ulb_turns *turns = session->settings.turns;
    json_t *cells = list_cells(grid);
    size_t *turn = calloc(grid->judged + 1, sizeof *turn), n = 0;
    enum ulb_status status = cells && turn
                                 ? turns->ready(turns->context, cells, err)
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to list the cells");
    while (status == ULB_OK) {
        status = turns->next(turns->context, grid->judged, turn, &n, err);
        if (status != ULB_OK || n == 0)
            break;
        begin_turn(session, grid);
        for (size_t i = 0; i < n && status == ULB_OK; i++)
            status = time_turn(session, grid, turn[i], err);
    }
    json_decref(cells);
    free(turn);
    return status;
}
