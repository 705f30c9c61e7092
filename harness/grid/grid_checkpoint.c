/* Turns of a grid as values of the journal. */
#include "harness/grid/grid.h"
#include "harness/session/journal.h"

#include <math.h>
#include <stdlib.h>

/* What every turn ends with: the yardstick, the retry budget that is left, and the time spent. */
static json_t *turn_to_json(const struct ulb_grid *grid)
{
    const struct ulb_noise_retry *retry = &grid->retry;
    size_t last = grid->n_yardstick - 1;
    return json_pack("{s:f, s:b, s:f, s:b, s:I, s:I, s:f}", "yardstick", grid->yardstick[last],
                     "yardstick_disturbed", grid->yardstick_disturbed[last], "elapsed",
                     ulb_now() - grid->begin, "interference_free", retry->interference_free, "judged",
                     (json_int_t)retry->judged, "lost", (json_int_t)retry->disturbed, "retry_budget_s",
                     retry->retry_budget_s);
}

static bool read_number(const json_t *object, const char *key, double *value)
{
    const json_t *number = json_object_get(object, key);
    *value = json_number_value(number);
    return json_is_number(number);
}

static bool turn_from_json(struct ulb_grid *grid, const json_t *saved)
{
    struct ulb_noise_retry *retry = &grid->retry;
    double yardstick, elapsed, judged, lost;
    if (!read_number(saved, "yardstick", &yardstick) || !read_number(saved, "elapsed", &elapsed) ||
        !read_number(saved, "judged", &judged) || !read_number(saved, "lost", &lost) ||
        !read_number(saved, "retry_budget_s", &retry->retry_budget_s) || judged < 0 || lost < 0)
        return false;
    retry->interference_free = json_is_true(json_object_get(saved, "interference_free"));
    retry->hz = NAN; /* the next sample has none before it in this process */
    retry->judged = (size_t)judged;
    retry->disturbed = (size_t)lost;
    grid->begin = ulb_now() - elapsed;
    ulb_grid_add_yardstick(grid, yardstick, json_is_true(json_object_get(saved, "yardstick_disturbed")));
    return true;
}

void ulb_grid_add_yardstick(struct ulb_grid *grid, double value, bool disturbed)
{
    grid->yardstick_disturbed[grid->n_yardstick] = disturbed;
    grid->yardstick[grid->n_yardstick++] = value;
}

void ulb_grid_end_cell_round(struct ulb_grid *grid, struct ulb_grid_cell *cell)
{
    const double *last = grid->yardstick + grid->n_yardstick - 1;
    for (size_t c = 0; grid->gamma && c < grid->classes; c++)
        cell->loop_s[cell->n_rounds * grid->classes + c] =
            ulb_team_gamma_loop_s(grid->gamma, cell->kernel_index, c);
    cell->round_yardstick[cell->n_rounds++] = (last[-1] + last[0]) / 2;
}

json_t *ulb_grid_warm_up_to_json(const struct ulb_grid_cell *cell)
{
    return json_pack("{s:I, s:I, s:o}", "batch", (json_int_t)cell->batch, "per_round",
                     (json_int_t)cell->per_round, "candidate_ratios",
                     ulb_journal_numbers(cell->candidate_ratios, ULB_PREFETCH_CANDIDATES));
}

bool ulb_grid_warm_up_from_json(const struct ulb_grid *grid, struct ulb_grid_cell *cell, const json_t *saved)
{
    double batch, per_round;
    if (!read_number(saved, "batch", &batch) || !(batch >= 1) ||
        !read_number(saved, "per_round", &per_round) || !(per_round >= 1) ||
        per_round > (double)grid->plan.per_round ||
        !ulb_journal_read_numbers(json_object_get(saved, "candidate_ratios"), cell->candidate_ratios,
                                  ULB_PREFETCH_CANDIDATES))
        return false;
    cell->batch = (size_t)batch;
    cell->per_round = (size_t)per_round;
    return true;
}

json_t *ulb_grid_limits_to_json(const struct ulb_grid *grid)
{
    json_t *value = turn_to_json(grid);
    json_object_set_new(value, "peak", ulb_peak_to_json(grid->peak));
    return value;
}

bool ulb_grid_limits_from_json(struct ulb_grid *grid, const json_t *saved)
{
    return turn_from_json(grid, saved) && ulb_peak_from_json(grid->peak, json_object_get(saved, "peak"));
}

json_t *ulb_grid_cell_to_json(const struct ulb_grid *grid, const struct ulb_grid_cell *cell, double hz)
{
    size_t first = cell->n_samples - cell->per_round, lost = cell->n_disturbed;
    json_t *value = turn_to_json(grid);
    while (lost > 0 && cell->disturbed[lost - 1] >= (double)first)
        lost--;
    if (grid->gamma)
        json_object_set_new(value, "gamma", ulb_team_gamma_to_json(grid->gamma, cell->kernel_index));
    json_object_set_new(value, "us", ulb_journal_numbers(cell->us + first, cell->per_round));
    json_object_set_new(value, "peak", ulb_journal_numbers(cell->round_peak + cell->n_rounds - 1, 1));
    json_object_set_new(value, "read", ulb_journal_numbers(cell->read_us + cell->n_rounds - 1, 1));
    json_object_set_new(value, "disturbed",
                        ulb_journal_numbers(cell->disturbed + lost, cell->n_disturbed - lost));
    json_object_set_new(value, "hz", isfinite(hz) ? json_real(hz) : json_null());
    return value;
}

bool ulb_grid_cell_from_json(struct ulb_grid *grid, struct ulb_grid_cell *cell, const json_t *saved,
                             double *hz)
{
    const json_t *us = json_object_get(saved, "us"), *disturbed = json_object_get(saved, "disturbed");
    size_t n = cell->per_round, lost = json_array_size(disturbed),
           room = grid->plan.rounds * grid->plan.per_round;
    if (lost > n || cell->n_samples + n > room ||
        (grid->gamma &&
         !ulb_team_gamma_from_json(grid->gamma, cell->kernel_index, json_object_get(saved, "gamma"))) ||
        !ulb_journal_read_numbers(us, cell->us + cell->n_samples, n) ||
        !ulb_journal_read_numbers(disturbed, cell->disturbed + cell->n_disturbed, lost) ||
        !ulb_journal_read_numbers(json_object_get(saved, "peak"), cell->round_peak + cell->n_rounds, 1) ||
        !ulb_journal_read_numbers(json_object_get(saved, "read"), cell->read_us + cell->n_rounds, 1) ||
        !turn_from_json(grid, saved))
        return false;
    *hz =
        json_is_number(json_object_get(saved, "hz")) ? json_number_value(json_object_get(saved, "hz")) : NAN;
    cell->n_samples += n;
    cell->n_disturbed += lost;
    ulb_grid_end_cell_round(grid, cell);
    return true;
}
