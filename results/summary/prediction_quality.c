/* How good a record's predictions are, from its cells alone. */
#include "common/stats.h"
#include "results/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct errors {
    double *overlap, *plain; /* |residual| */
    size_t n, noisy;
};

static void collect(const struct ulb_cell *cells, size_t n, struct errors *errors)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(cells[i].residual) || !isfinite(cells[i].residual_plain))
            continue;
        if (cells[i].noise > ULB_NOISE_MAX) {
            errors->noisy++;
            continue;
        }
        errors->overlap[errors->n] = fabs(cells[i].residual);
        errors->plain[errors->n++] = fabs(cells[i].residual_plain);
    }
    ulb_sort(errors->overlap, errors->n);
    ulb_sort(errors->plain, errors->n);
}

static json_t *summary_json(const struct errors *errors)
{
    static const char *const keys[] = {"median_abs_residual", "p95_abs_residual", "median_abs_residual_plain",
                                       "p95_abs_residual_plain"};
    json_t *summary =
        json_pack("{s:I, s:I}", "cells", (json_int_t)errors->n, "noisy_cells", (json_int_t)errors->noisy);
    for (size_t i = 0; i < 4 && summary; i++) {
        const double *sorted = i < 2 ? errors->overlap : errors->plain;
        double share = i % 2 ? 0.95 : 0.5;
        char reason[48];
        snprintf(reason, sizeof reason, "%s_reason", keys[i]);
        int failed =
            errors->n > 0
                ? json_object_set_new(summary, keys[i], json_real(ulb_quantile(sorted, errors->n, share)))
                : json_object_set_new(summary, keys[i], json_null()) |
                      json_object_set_new(summary, reason, json_string("no cell with a prediction"));
        if (failed) {
            json_decref(summary);
            return NULL;
        }
    }
    return summary;
}

enum ulb_status ulb_record_judge_predictions(struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_cell *cells;
    size_t n;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    double *storage = calloc(2 * n + 1, sizeof *storage);
    struct errors errors = {.overlap = storage, .plain = storage ? storage + n : NULL};
    if (storage) {
        collect(cells, n, &errors);
        status = ulb_record_set(record, "prediction", summary_json(&errors), err);
    } else {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to judge %zu predictions", n);
    }
    free(storage);
    ulb_cells_free(cells, n);
    return status;
}
