/* What a comparison keeps of a record, whose cells may be more than memory holds. */
#include "common/json.h"
#include "results/compare/compare.h"

#include <stdio.h>

/* A side while its record's cells pass. */
struct filling {
    struct ulb_compare_side *side;
    struct ulb_series_making making;
};

static enum ulb_status take_cell(struct ulb_cell *cell, const json_t *json, void *context,
                                 struct ulb_error *err)
{
    struct filling *filling = context;
    struct ulb_compare_side *side = filling->side;
    side->cells = ulb_json_hash_more(side->cells, json);
    if (!cell->verified && side->wrong++ == 0)
        snprintf(side->wrong_kernel, sizeof side->wrong_kernel, "%s", cell->kernel);
    return ulb_metric_is_of_cells(side->metric) ? ulb_series_add(&filling->making, cell, err) : ULB_OK;
}

static enum ulb_status make_series(struct filling *filling, const struct ulb_record *record,
                                   struct ulb_error *err)
{
    struct ulb_compare_side *side = filling->side;
    if (ulb_metric_is_of_cells(side->metric))
        return ulb_series_finish(&filling->making, record, &side->series, &side->n, err);
    return ulb_series_read(record, side->metric, &side->series, &side->n, err);
}

enum ulb_status ulb_compare_side_read(struct ulb_compare_side *side, const char *path, enum ulb_metric metric,
                                      struct ulb_error *err)
{
    struct filling filling = {side, {.metric = metric}};
    const struct ulb_cell_visitor visitor = {take_cell, &filling};
    *side = (struct ulb_compare_side){.metric = metric};
    enum ulb_status status = ulb_record_read_visiting(&side->record, path, &visitor, err);
    if (status == ULB_OK && (status = make_series(&filling, &side->record, err)) != ULB_OK)
        ulb_fail_prefix(err, status, "%s", path);
    ulb_series_making_free(&filling.making);
    if (status != ULB_OK)
        ulb_compare_side_free(side);
    return status;
}

enum ulb_status ulb_compare_side_of(struct ulb_compare_side *side, const struct ulb_record *record,
                                    enum ulb_metric metric, struct ulb_error *err)
{
    struct filling filling = {side, {.metric = metric}};
    const struct ulb_cell_visitor visitor = {take_cell, &filling};
    *side = (struct ulb_compare_side){.metric = metric};
    enum ulb_status status = ulb_record_visit_cells(record, &visitor, err);
    if (status == ULB_OK)
        status = make_series(&filling, record, err);
    ulb_series_making_free(&filling.making);
    side->record.root = json_incref(record->root);
    if (status != ULB_OK)
        ulb_compare_side_free(side);
    return status;
}

void ulb_compare_side_free(struct ulb_compare_side *side)
{
    ulb_series_free(side->series, side->n);
    ulb_record_free(&side->record);
    *side = (struct ulb_compare_side){0};
}
