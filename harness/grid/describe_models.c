#include "harness/grid/describe_models.h"

#include "harness/session/json_number.h"

static json_t *matrix_json(const struct ulb_layer_shape *shape)
{
    return json_pack("{s:s, s:I, s:I, s:i, s:i}", "layer", shape->layer, "m", (json_int_t)shape->m, "k",
                     (json_int_t)shape->k, "count", (int)shape->count, "active", (int)shape->active);
}

json_t *ulb_describe_model(const struct ulb_model *model, const struct ulb_shape_list *shapes,
                           unsigned context)
{
    enum { BYTES_PER_ELEMENT = 2 };
    json_t *matrices = json_array(), *head = json_null();
    int bad = 0;
    for (size_t i = 0; i < shapes->n; i++) {
        if (ulb_shape_is_head(&shapes->items[i]))
            head = matrix_json(&shapes->items[i]);
        else
            bad |= json_array_append_new(matrices, matrix_json(&shapes->items[i]));
    }
    /* All heads read a latent cache. */
    double queries = model->mla_kv_rank > 0 ? model->heads
                     : model->kv_heads > 0  ? (double)model->heads / model->kv_heads
                                            : 1;
    json_t *row =
        json_pack("{s:s, s:s, s:i, s:o, s:o, s:i, s:s, s:f, s:b}", "model", model->name, "title",
                  model->title, "layers", (int)model->layers, "matrices", matrices, "head", head, "context",
                  (int)context, "trained_as", ulb_model_trained_as(model), "queries_per_key",
                  queries > 0 ? queries : 1, "cache_scales", model->windowed == 0);
    if (row && !bad)
        ulb_set_figure(row, "kv_bytes", ulb_model_kv_bytes(model, context, BYTES_PER_ELEMENT),
                       "the model's numbers do not give the size of its cache");
    return bad ? NULL : row;
}

enum ulb_status ulb_grid_describe_models(struct ulb_record *record, const struct ulb_grid *grid,
                                         struct ulb_error *err)
{
    json_t *rows = json_array();
    int bad = 0;
    for (size_t i = 0; i < grid->models.n; i++)
        bad |= json_array_append_new(
            rows, ulb_describe_model(&grid->models.items[i], &grid->shapes[i], ULB_DESCRIBED_CONTEXT));
    if (bad) {
        json_decref(rows);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to describe %zu models", grid->models.n);
    }
    return ulb_record_set(record, "models", rows, err);
}
