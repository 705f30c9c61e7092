/* Turns of a grid as values of the journal. */
#include "harness/grid/grid.h"
#include "harness/session/journal.h"

#include <math.h>
#include <stdlib.h>

/* What every turn ends with: the yardstick, how patient the watch still is, and the time spent. */
static json_t *turn_json(const struct ulb_grid *grid)
{
    const struct ulb_noise_retry *watch = &grid->watch;
    return json_pack("{s:f, s:f, s:b, s:I, s:I, s:f}", "yardstick", grid->yardstick[grid->n_yardstick - 1],
                     "elapsed", ulb_now() - grid->begin, "alone", watch->alone, "judged",
                     (json_int_t)watch->judged, "lost", (json_int_t)watch->disturbed, "patience",
                     watch->patience);
}

static bool read_number(const json_t *object, const char *key, double *value)
{
    const json_t *number = json_object_get(object, key);
    *value = json_number_value(number);
    return json_is_number(number);
}

static bool replay_turn(struct ulb_grid *grid, const json_t *kept)
{
    struct ulb_noise_retry *watch = &grid->watch;
    double yardstick, elapsed, judged, lost;
    if (!read_number(kept, "yardstick", &yardstick) || !read_number(kept, "elapsed", &elapsed) ||
        !read_number(kept, "judged", &judged) || !read_number(kept, "lost", &lost) ||
        !read_number(kept, "patience", &watch->patience) || judged < 0 || lost < 0)
        return false;
    watch->alone = json_is_true(json_object_get(kept, "alone"));
    watch->hz = NAN; /* the next sample has none before it in this process */
    watch->judged = (size_t)judged;
    watch->disturbed = (size_t)lost;
    grid->begin = ulb_now() - elapsed;
    ulb_grid_add_yardstick(grid, yardstick);
    return true;
}

void ulb_grid_add_yardstick(struct ulb_grid *grid, double value)
{
    grid->yardstick[grid->n_yardstick++] = value;
}

void ulb_grid_set_beside(struct ulb_grid *grid, struct ulb_grid_cell *cell)
{
    const double *last = grid->yardstick + grid->n_yardstick - 1;
    for (size_t c = 0; grid->gamma && c < grid->classes; c++)
        cell->loop_s[cell->n_beside * grid->classes + c] =
            ulb_team_gamma_loop_s(grid->gamma, cell->kernel_index, c);
    cell->beside[cell->n_beside++] = (last[-1] + last[0]) / 2;
}

json_t *ulb_grid_ready_kept(const struct ulb_grid_cell *cell)
{
    return json_pack("{s:I, s:I, s:o}", "batch", (json_int_t)cell->batch, "per_round",
                     (json_int_t)cell->per_round, "place_ratios",
                     ulb_journal_numbers(cell->place_ratios, ULB_PREFETCH_PLACES));
}

bool ulb_grid_ready_replay(const struct ulb_grid *grid, struct ulb_grid_cell *cell, const json_t *kept)
{
    double batch, per_round;
    if (!read_number(kept, "batch", &batch) || !(batch >= 1) || !read_number(kept, "per_round", &per_round) ||
        !(per_round >= 1) || per_round > (double)grid->plan.per_round ||
        !ulb_journal_read_numbers(json_object_get(kept, "place_ratios"), cell->place_ratios,
                                  ULB_PREFETCH_PLACES))
        return false;
    cell->batch = (size_t)batch;
    cell->per_round = (size_t)per_round;
    return true;
}

json_t *ulb_grid_limits_kept(const struct ulb_grid *grid)
{
    json_t *value = turn_json(grid);
    json_object_set_new(value, "peak", ulb_peak_kept(grid->peak));
    return value;
}

bool ulb_grid_limits_replay(struct ulb_grid *grid, const json_t *kept)
{
    return replay_turn(grid, kept) && ulb_peak_replay(grid->peak, json_object_get(kept, "peak"));
}

json_t *ulb_grid_cell_kept(const struct ulb_grid *grid, const struct ulb_grid_cell *cell, double hz)
{
    size_t first = cell->n_samples - cell->per_round, lost = cell->n_disturbed;
    json_t *value = turn_json(grid);
    while (lost > 0 && cell->disturbed[lost - 1] >= (double)first)
        lost--;
    if (grid->gamma)
        json_object_set_new(value, "gamma", ulb_team_gamma_kept(grid->gamma, cell->kernel_index));
    json_object_set_new(value, "us", ulb_journal_numbers(cell->us + first, cell->per_round));
    json_object_set_new(value, "peak", ulb_journal_numbers(cell->peak_beside + cell->n_beside - 1, 1));
    json_object_set_new(value, "read", ulb_journal_numbers(cell->read_us + cell->n_beside - 1, 1));
    json_object_set_new(value, "disturbed",
                        ulb_journal_numbers(cell->disturbed + lost, cell->n_disturbed - lost));
    json_object_set_new(value, "hz", isfinite(hz) ? json_real(hz) : json_null());
    return value;
}

bool ulb_grid_cell_replay(struct ulb_grid *grid, struct ulb_grid_cell *cell, const json_t *kept, double *hz)
{
    const json_t *us = json_object_get(kept, "us"), *disturbed = json_object_get(kept, "disturbed");
    size_t n = cell->per_round, lost = json_array_size(disturbed),
           room = grid->plan.rounds * grid->plan.per_round;
    if (lost > n || cell->n_samples + n > room ||
        (grid->gamma &&
         !ulb_team_gamma_replay(grid->gamma, cell->kernel_index, json_object_get(kept, "gamma"))) ||
        !ulb_journal_read_numbers(us, cell->us + cell->n_samples, n) ||
        !ulb_journal_read_numbers(disturbed, cell->disturbed + cell->n_disturbed, lost) ||
        !ulb_journal_read_numbers(json_object_get(kept, "peak"), cell->peak_beside + cell->n_beside, 1) ||
        !ulb_journal_read_numbers(json_object_get(kept, "read"), cell->read_us + cell->n_beside, 1) ||
        !replay_turn(grid, kept))
        return false;
    *hz = json_is_number(json_object_get(kept, "hz")) ? json_number_value(json_object_get(kept, "hz")) : NAN;
    cell->n_samples += n;
    cell->n_disturbed += lost;
    ulb_grid_set_beside(grid, cell);
    return true;
}
