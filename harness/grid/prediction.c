#include "harness/grid/prediction.h"

#include "common/mem.h"
#include "common/stats.h"

#include <math.h>

/* The whole of a cell's work, as if one class did it: its gamma and frequency. */
static struct ulb_gemv_work work_of(const struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                    double yardstick, struct ulb_core_rate rate)
{
    const struct ulb_layout *layout = cell->kernel->layout;
    double threads = (double)grid->plan.machine->pus.n;
    size_t columns = ulb_layout_columns(layout, cell->k);
    double padded = (double)ulb_round_up(cell->m, layout->tile_m) * (double)columns;
    return (struct ulb_gemv_work){
        .bytes = grid->plan.settings->warm ? 0 : (double)cell->bytes, /* that come from memory */
        .steps = padded / ULB_STEP_WEIGHTS,
        .threads = (unsigned)grid->plan.machine->pus.n,
        .slowest_share = 1,
        .hz = rate.hz,
        .beta = yardstick / threads / rate.hz,
        .gamma = rate.gamma,
    };
}

static size_t threads_of(const struct ulb_grid *grid, size_t cls)
{
    size_t n = 0;
    for (size_t t = 0; t < grid->plan.machine->pus.n; t++)
        n += ulb_topology_class_of(&grid->plan.machine->topology, grid->plan.machine->pus.items[t]) ==
             &grid->plan.machine->topology.classes[cls];
    return n;
}

/* Equal parts: the team's slowest class decides. NAN seconds where no gamma is known. */
static void predict_equal_parts(struct ulb_grid *grid, const struct ulb_grid_cell *cell, double yardstick,
                                const struct ulb_core_rate *rates, struct ulb_prediction *prediction)
{
    struct ulb_row_split split = ulb_grid_split(grid, cell);
    double share = ulb_split_slowest(&split);
    for (size_t c = 0; c < grid->plan.machine->topology.n_classes; c++) {
        struct ulb_gemv_work part = work_of(grid, cell, yardstick, rates[c]);
        part.slowest_share = share;
        part.fork_join_s = grid->plan.machine->fork_join_s;
        struct ulb_gemv_prediction now = ulb_predict_gemv(&part);
        if (!isnan(now.seconds) && !(now.seconds <= prediction->plain.seconds)) {
            prediction->plain = now;
            prediction->gamma = rates[c].gamma;
        }
    }
    prediction->tiles = ceil((double)cell->m / cell->kernel->mr) * share;
}

/* Parts in proportion to what each core gets done. The rates of all threads add up, and so do those at which
 * the shorter terms alone would be done. What bounds the class that does most of the work is called the
 * bound. */
static void predict_by_rate(const struct ulb_grid *grid, const struct ulb_grid_cell *cell, double yardstick,
                            const struct ulb_core_rate *rates, struct ulb_prediction *prediction)
{
    double rate = 0, shorter_rate = 0, largest = 0;
    for (size_t c = 0; c < grid->plan.machine->topology.n_classes; c++) {
        struct ulb_gemv_work alone = work_of(grid, cell, yardstick, rates[c]);
        struct ulb_gemv_prediction now = ulb_predict_gemv(&alone);
        if (isnan(now.seconds))
            continue;
        double share = (double)threads_of(grid, c) / now.seconds;
        rate += share;
        shorter_rate += (double)threads_of(grid, c) / now.shorter_s;
        if (share > largest) {
            largest = share;
            prediction->plain = now;
            prediction->gamma = rates[c].gamma;
        }
    }
    prediction->tiles = ceil((double)cell->m / cell->kernel->mr) / (double)grid->plan.machine->pus.n;
    if (rate > 0) {
        prediction->plain.seconds = grid->plan.machine->fork_join_s + 1 / rate;
        prediction->plain.shorter_s = 1 / shorter_rate;
        if (grid->plan.machine->fork_join_s > 1 / rate)
            prediction->plain.bound = ULB_BOUND_OVERHEAD;
    }
}

struct ulb_prediction ulb_predict_cell(struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                       double yardstick, const struct ulb_core_rate *rates)
{
    struct ulb_prediction prediction = {.plain = {NAN, NAN, NAN, NAN, ULB_BOUND_MEMORY}, .gamma = NAN};
    if (grid->plan.settings->splits[0] == ULB_SPLIT_STATIC)
        predict_equal_parts(grid, cell, yardstick, rates, &prediction);
    else
        predict_by_rate(grid, cell, yardstick, rates, &prediction);
    return prediction;
}

struct ulb_prediction ulb_predict_cell_mostly(struct ulb_grid *grid, const struct ulb_grid_cell *cell)
{
    return ulb_predict_cell(grid, cell, ulb_median_of(cell->round_yardstick, cell->n_rounds),
                            &grid->rates[cell->kernel_index * grid->plan.machine->topology.n_classes]);
}

struct ulb_prediction ulb_predict_cell_round(struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                                             size_t round)
{
    struct ulb_core_rate rates[ULB_MAX_CLASSES];
    size_t classes = grid->plan.machine->topology.n_classes;
    for (size_t c = 0; c < classes; c++) {
        rates[c] = grid->rates[cell->kernel_index * classes + c];
        rates[c].gamma *= cell->loop_s[round * classes + c] / rates[c].loop_s;
    }
    return ulb_predict_cell(grid, cell, cell->round_yardstick[round], rates);
}

double ulb_prediction_seconds(const struct ulb_grid *grid, const struct ulb_grid_cell *cell,
                              const struct ulb_prediction *prediction)
{
    return ulb_predict_overlap(&prediction->plain, prediction->tiles, (double)cell->k,
                               &grid->overlaps[cell->kernel_index]);
}

double ulb_cell_round_seconds(const struct ulb_grid_cell *cell, size_t round)
{
    return 1e-6 * ulb_median_of(cell->us + round * cell->per_round, cell->per_round);
}
