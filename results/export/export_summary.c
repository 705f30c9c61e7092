/* The dashboard of a record as the values that services follow. */
#include "results/export/export_formats.h"
#include "results/summary/dashboard.h"

#include <math.h>
#include <stdlib.h>

/* A value under the key "WHAT NAME" or "WHAT NAME FORMAT"; extra is that format, or "". */
static void add_value(struct ulb_value *out, const char *what, const char *name, const char *extra,
                      enum ulb_metric metric, double value)
{
    *out = (struct ulb_value){.metric = metric, .value = value, .lo = NAN, .hi = NAN};
    snprintf(out->key, sizeof out->key, "%s %s%s%s", what, name, *extra ? " " : "", extra);
}

enum ulb_status ulb_export_summary_values(const struct ulb_record *record, bool times,
                                          struct ulb_value **values, size_t *n, struct ulb_error *err)
{
    json_t *dashboard;
    *values = NULL;
    *n = 0;
    enum ulb_status status = ulb_dashboard_of(record, &dashboard, err);
    if (status != ULB_OK)
        return status;
    const json_t *formats = json_object_get(dashboard, "formats");
    const json_t *kernels = json_object_get(dashboard, "kernels");
    const json_t *models = json_object_get(dashboard, "models"), *row;
    struct ulb_value *list = calloc(
        json_array_size(formats) + json_array_size(kernels) + json_array_size(models) + 1, sizeof *list);
    if (!list) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the export");
        goto done;
    }
    size_t i;
    json_array_foreach(times ? NULL : formats, i, row)
        add_value(&list[(*n)++], "format", ulb_row_text(row, "format"), "", ULB_METRIC_EFFICIENCY,
                  ulb_row_number(row, "efficiency"));
    json_array_foreach(times ? NULL : kernels, i, row)
        add_value(&list[(*n)++], "kernel", ulb_row_text(row, "kernel"), "", ULB_METRIC_EFFICIENCY,
                  ulb_row_number(row, "efficiency"));
    json_array_foreach(models, i, row)
    {
        double rate = ulb_row_number(row, "tokens_per_s");
        add_value(&list[(*n)++], "model", ulb_row_text(row, "model"), ulb_row_text(row, "format"),
                  times ? ULB_METRIC_US : ULB_METRIC_TPS, times ? 1e6 / rate : rate);
    }
    *values = list;
done:
    json_decref(dashboard);
    return status;
}
