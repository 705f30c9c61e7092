#include "results/summary/dashboard.h"

#include "results/summary/chosen_cells.h"
#include "results/summary/record_summary.h"
#include "results/summary/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the summary");
}

/* The cells of that kernel; returns how many. */
static size_t cells_of(const struct ulb_cell *const *cells, size_t n, const char *kernel,
                       const struct ulb_cell **out)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(cells[i]->kernel, kernel) == 0)
            out[found++] = cells[i];
    }
    return found;
}

/* Shares without a yardstick are not known; kernel NULL: rows of formats. */
static enum ulb_status add_shares(json_t *rows, const char *kernel, const struct ulb_cell *const *cells,
                                  size_t n, struct ulb_format_share *shares, struct ulb_error *err)
{
    size_t formats;
    int bad = 0;
    enum ulb_status status = ulb_format_shares(cells, n, shares, &formats, err);
    if (status != ULB_OK)
        return status;
    for (size_t f = 0; f < formats; f++) {
        if (!isfinite(shares[f].share))
            continue;
        json_t *row = json_pack("{s:s, s:f}", "format", shares[f].format, "efficiency", shares[f].share);
        if (kernel)
            bad |= json_object_set_new(row, "kernel", json_string(kernel));
        bad |= json_array_append_new(rows, row);
    }
    return bad ? no_memory(err) : ULB_OK;
}

static enum ulb_status add_kernels(json_t *rows, const struct ulb_cell *const *cells, size_t n,
                                   struct ulb_format_share *shares, struct ulb_error *err)
{
    const struct ulb_cell **own = calloc(n, sizeof *own);
    enum ulb_status status = n > 0 && !own ? no_memory(err) : ULB_OK;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        if (cells_of(cells, i, cells[i]->kernel, own) > 0)
            continue;
        size_t found = cells_of(cells, n, cells[i]->kernel, own);
        status = add_shares(rows, cells[i]->kernel, (const struct ulb_cell *const *)own, found, shares, err);
    }
    free(own);
    return status;
}

/* From the cells of one token; a record without them has no rows. */
static enum ulb_status add_efficiencies(const struct ulb_record *record, json_t *formats, json_t *kernels,
                                        struct ulb_error *err)
{
    struct ulb_cell *cells;
    const struct ulb_cell **chosen = NULL;
    size_t n, n_chosen = 0;
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    status = ulb_choose_cells(record, cells, n, &chosen, &n_chosen, err);
    if (status == ULB_BAD_INPUT)
        status = ULB_OK;
    const struct ulb_cell *const *of = (const struct ulb_cell *const *)chosen;
    struct ulb_format_share *shares = calloc(ULB_FORMAT_SHARES, sizeof *shares);
    if (status == ULB_OK)
        status = shares ? add_shares(formats, NULL, of, n_chosen, shares, err) : no_memory(err);
    if (status == ULB_OK)
        status = add_kernels(kernels, of, n_chosen, shares, err);
    free(shares);
    free(chosen);
    ulb_cells_free(cells, n);
    return status;
}

static enum ulb_status add_models(const struct ulb_record *record, json_t *rows, struct ulb_error *err)
{
    json_t *summary;
    enum ulb_status status = ulb_summary_of(record, &summary, err);
    if (status != ULB_OK)
        return status;
    size_t m, f;
    const json_t *model, *format;
    int bad = 0;
    json_array_foreach(json_object_get(summary, "models"), m, model)
    {
        json_array_foreach(json_object_get(model, "formats"), f, format)
        {
            bad |= json_array_append_new(rows,
                                         json_pack("{s:s, s:s, s:f}", "model", ulb_row_text(model, "model"),
                                                   "format", ulb_row_text(format, "format"), "tokens_per_s",
                                                   ulb_row_number(format, "tokens_per_s")));
        }
    }
    json_decref(summary);
    return bad ? no_memory(err) : ULB_OK;
}

enum ulb_status ulb_dashboard_of(const struct ulb_record *record, json_t **out, struct ulb_error *err)
{
    json_t *dashboard = json_pack("{s:[], s:[], s:[]}", "formats", "kernels", "models");
    enum ulb_status status = dashboard ? ULB_OK : no_memory(err);
    if (status == ULB_OK)
        status = add_efficiencies(record, json_object_get(dashboard, "formats"),
                                  json_object_get(dashboard, "kernels"), err);
    if (status == ULB_OK)
        status = add_models(record, json_object_get(dashboard, "models"), err);
    if (status != ULB_OK) {
        json_decref(dashboard);
        return status;
    }
    *out = dashboard;
    return ULB_OK;
}
