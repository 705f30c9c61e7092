/* The weighted split of a grid: rows by the measured e_bw of each class under each kernel. */
#include "common/units.h"
#include "harness/compute/core_class_rates.h"
#include "harness/grid/grid.h"
#include "harness/session/json_number.h"
#include "harness/session/checkpoint.h"

#include <math.h>
#include <stdlib.h>

static json_t *rates_to_json(const struct ulb_grid *grid, size_t classes)
{
    json_t *gammas = json_array();
    for (size_t i = 0; i < grid->n_kernels; i++)
        json_array_append_new(gammas,
                              json_pack("[o, o]", ulb_journal_numbers(grid->class_gammas[i].cycles, classes),
                                        ulb_journal_numbers(grid->class_gammas[i].hz, classes)));
    return json_pack("{s:o, s:o}", "beta", ulb_journal_numbers(grid->class_beta, classes), "gammas", gammas);
}

static bool rates_from_json(struct ulb_grid *grid, const json_t *saved, size_t classes)
{
    const json_t *gammas = json_object_get(saved, "gammas");
    bool fits = json_array_size(gammas) == grid->n_kernels &&
                ulb_journal_read_numbers(json_object_get(saved, "beta"), grid->class_beta, classes);
    for (size_t i = 0; i < grid->n_kernels && fits; i++) {
        const json_t *pair = json_array_get(gammas, i);
        fits = ulb_journal_read_numbers(json_array_get(pair, 0), grid->class_gammas[i].cycles, classes) &&
               ulb_journal_read_numbers(json_array_get(pair, 1), grid->class_gammas[i].hz, classes);
    }
    return fits;
}

/* What rows are shared out by, for one token. */
static json_t *rows_json(const struct ulb_grid *grid, const struct ulb_kernel *const *kernels)
{
    static const char none[] = "no thread of this class in the set";
    json_t *rows = json_array();
    for (size_t i = 0; i < grid->n_kernels; i++) {
        for (size_t c = 0; c < grid->plan.machine->topology.n_classes; c++) {
            char name[ULB_KERNEL_NAME_MAX];
            const struct ulb_class_gamma *gamma = &grid->class_gammas[i];
            json_t *row = json_pack("{s:s, s:s}", "kernel", ulb_kernel_name(kernels[i], name), "class",
                                    grid->plan.machine->topology.classes[c].name);
            ulb_set_figure(row, "beta_gbps", grid->class_beta[c] / ULB_GB, none);
            ulb_set_figure(row, "gamma_cycles", gamma->cycles[c],
                           isnan(grid->class_beta[c]) ? none : "lost in noise: rows are shared out by beta");
            ulb_set_figure(row, "ebw_gbps",
                           ulb_class_rate(kernels[i], gamma, grid->class_beta, c, 1) / ULB_GB, none);
            json_array_append_new(rows, row);
        }
    }
    return rows;
}

enum ulb_status ulb_grid_measure_shares(struct ulb_session *session, struct ulb_grid *grid,
                                        const struct ulb_kernel *const *kernels, struct ulb_error *err)
{
    size_t classes = session->machine.topology.n_classes;
    struct ulb_journal_entry entry;
    const json_t *saved;
    if (session->settings.splits[0] != ULB_SPLIT_WEIGHTED || classes == 1)
        return ULB_OK;
    grid->class_gammas = calloc(grid->n_kernels, sizeof *grid->class_gammas);
    if (!grid->class_gammas)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the rates of %zu kernels",
                        grid->n_kernels);
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "class shares");
    if (status == ULB_OK && saved) {
        if (!rates_from_json(grid, saved, classes))
            return ulb_entry_damaged(&entry, err);
    } else if (status == ULB_OK) {
        status = ulb_class_beta(&session->machine, session->yardstick, &session->arena,
                                session->settings.quick, grid->class_beta, err);
        if (status == ULB_OK)
            status = ulb_class_gammas(&session->machine, &session->settings, kernels, grid->n_kernels,
                                      grid->class_gammas, err);
        if (status == ULB_OK)
            status = ulb_entry_end(session, &entry, rates_to_json(grid, classes), err);
    }
    return status == ULB_OK ? ulb_record_set(session->record, "class_shares", rows_json(grid, kernels), err)
                            : status;
}

void ulb_grid_set_thread_shares(struct ulb_grid *grid, const struct ulb_grid_cell *cell)
{
    if (grid->class_gammas) {
        ulb_class_thread_rates(grid->plan.machine, cell->kernel, &grid->class_gammas[cell->kernel_index],
                               grid->class_beta, cell->n, grid->thread_shares);
        return;
    }
    for (size_t t = 0; t < grid->plan.machine->pus.n; t++)
        grid->thread_shares[t] = 1;
}
