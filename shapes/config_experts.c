/* Experts of a config.json, and which layers are dense. */
#include "shapes/config_reader.h"
#include "shapes/load.h"
#include "shapes/shapes.h"

#include <string.h>

/* Llama 4 lists the layers with experts. */
static enum ulb_status read_moe_layers(struct ulb_config_reader *r, bool *found, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const json_t *list;
    enum ulb_status status = ulb_config_list(&r->config, ULB_KEY_MOE_LAYERS, &list, found, err);
    if (status != ULB_OK || !*found)
        return status;
    size_t n = json_array_size(list);
    if (n > model->layers)
        return ulb_fail(err, ULB_BAD_INPUT, "moe_layers names %zu of %u layers", n, model->layers);
    model->dense_layers = model->layers - (unsigned)n;
    return ULB_OK;
}

/* transformers 5: "dense" or "sparse" for each layer. */
static enum ulb_status read_mlp_types(struct ulb_config_reader *r, bool *found, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    const json_t *list, *item;
    size_t i;
    unsigned dense = 0;
    enum ulb_status status = ulb_config_list(&r->config, ULB_KEY_MLP_TYPES, &list, found, err);
    if (status != ULB_OK || !*found)
        return status;
    json_array_foreach((json_t *)list, i, item)
    {
        const char *word = json_string_value(item);
        if (!word || (strcmp(word, "dense") != 0 && strcmp(word, "sparse") != 0))
            return ulb_fail(err, ULB_BAD_INPUT, "mlp_layer_types: layer %zu is neither dense nor sparse", i);
        dense += strcmp(word, "dense") == 0;
    }
    if (json_array_size(list) != model->layers)
        return ulb_fail(err, ULB_BAD_INPUT, "mlp_layer_types names %zu layers, num_hidden_layers is %u",
                        json_array_size(list), model->layers);
    model->dense_layers = dense;
    return ULB_OK;
}

/* The numbers that say which layers have no experts. */
struct dense_rules {
    bool leading;             /* the first so many are dense */
    unsigned step, frequency; /* one in so many has experts */
    const json_t *list;       /* of dense layers; NULL: none */
    bool listed;              /* a list of layers gave them */
};

static enum ulb_status read_rules(struct ulb_config_reader *r, struct dense_rules *rules,
                                  struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    unsigned last = model->layers - 1;
    *rules = (struct dense_rules){.step = 1, .frequency = 1};
    enum ulb_status status =
        ulb_config_count(&r->config, ULB_KEY_DENSE_LAYERS, &model->dense_layers, &rules->leading, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_SPARSE_STEP, &rules->step, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_MOE_FREQUENCY, &rules->frequency, &found, err);
    if (status == ULB_OK)
        status = ulb_config_list(&r->config, ULB_KEY_DENSE_LIST, &rules->list, &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_MOE_LAST, &last, &found, err);
    if (status == ULB_OK && last != model->layers - 1)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "moe_layer_end_index is %u of %u layers: layers behind are not known", last,
                        model->layers);
    if (status == ULB_OK)
        status = read_moe_layers(r, &rules->listed, err);
    return status == ULB_OK && !rules->listed ? read_mlp_types(r, &rules->listed, err) : status;
}

/* Layers without experts: the first so many, those of a list, or all but every so-manieth. */
static enum ulb_status read_dense_layers(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    struct dense_rules rules;
    enum ulb_status status = read_rules(r, &rules, err);
    if (status != ULB_OK)
        return status;
    size_t dense = json_array_size(rules.list);
    if (model->mla_kv_rank > 0 && !rules.leading && !rules.listed)
        return ulb_config_missing(ULB_KEY_DENSE_LAYERS, err);
    if (rules.step == 0 || rules.frequency != 1)
        return ulb_fail(
            err, ULB_BAD_INPUT,
            "experts in every so-manieth layer (decoder_sparse_step %u, moe_layer_freq %u): which is "
            "not known",
            rules.step, rules.frequency);
    if (dense > 0 && (rules.step > 1 || rules.leading || rules.listed))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "mlp_only_layers beside another rule: which layers are dense is not known");
    if (dense > model->layers)
        return ulb_fail(err, ULB_BAD_INPUT, "mlp_only_layers names %zu of %u layers", dense, model->layers);
    if (rules.step > 1 && !rules.listed)
        model->dense_layers = model->layers - model->layers / rules.step;
    else if (!rules.leading && !rules.listed)
        model->dense_layers = (unsigned)dense;
    if (model->dense_layers > 0 && !rules.leading)
        ulb_model_note(model, "%u layers are dense, not all in front", model->dense_layers);
    return ULB_OK;
}

static enum ulb_status read_shared_experts(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found = false, said;
    unsigned shared = 0;
    enum ulb_status status = ULB_OK;
    if (r->family->shared_size)
        status =
            ulb_config_count(&r->config, ULB_KEY_SHARED_ABSOLUTE, &model->shared_intermediate, &found, err);
    if (status == ULB_OK && !found)
        status = ulb_config_count(&r->config, ULB_KEY_SHARED_INTERMEDIATE, &model->shared_intermediate,
                                  &found, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_EXPERTS_SHARED, &shared, &said, err);
    if (status == ULB_OK && found && said && shared > 1 &&
        (double)shared * model->expert_intermediate != model->shared_intermediate)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%u shared experts and a shared size of %u: whether it is that of each is not known",
                        shared, model->shared_intermediate);
    if (status != ULB_OK || found || !said)
        return status;
    if ((double)shared * model->expert_intermediate > ULB_SIZE_MAX)
        return ulb_fail(err, ULB_BAD_INPUT, "%u shared experts of %u cannot be", shared,
                        model->expert_intermediate);
    model->shared_intermediate = shared * model->expert_intermediate;
    return ULB_OK;
}

/* Llama 4: dense layers have a size of their own, experts and the shared one the usual key's. */
static enum ulb_status read_mlp_size(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    unsigned size = 0;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_MLP_SIZE, &size, &found, err);
    if (status != ULB_OK || !found)
        return status;
    model->shared_intermediate = model->expert_intermediate = model->intermediate;
    model->intermediate = size;
    return ULB_OK;
}

/* Granite 4 without experts: the shared network is the only one. */
static enum ulb_status read_shared_alone(struct ulb_config_reader *r, struct ulb_error *err)
{
    bool found;
    unsigned size = 0;
    if (!r->family->shared_size)
        return ULB_OK;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_SHARED_ABSOLUTE, &size, &found, err);
    if (status == ULB_OK && found) {
        r->model->intermediate = size;
        r->config.read[ULB_KEY_EXPERTS_ACTIVE] = true;
    }
    return status;
}

enum ulb_status ulb_config_read_experts(struct ulb_config_reader *r, struct ulb_error *err)
{
    struct ulb_model *model = r->model;
    bool found;
    enum ulb_status status = ulb_config_count(&r->config, ULB_KEY_EXPERTS, &model->experts, &found, err);
    if (status == ULB_OK && model->experts == 0)
        return read_shared_alone(r, err);
    if (status == ULB_OK)
        status = ulb_config_take(r, ULB_KEY_EXPERTS_ACTIVE, 0, &model->experts_active, err);
    if (status == ULB_OK)
        status = ulb_config_count(&r->config, ULB_KEY_EXPERT_INTERMEDIATE, &model->expert_intermediate,
                                  &found, err);
    if (status == ULB_OK && !found && r->family->experts_own_size)
        return ulb_config_missing(ULB_KEY_EXPERT_INTERMEDIATE, err);
    if (status == ULB_OK && !found)
        model->expert_intermediate = model->intermediate;
    if (status == ULB_OK)
        status = read_mlp_size(r, err);
    if (status == ULB_OK)
        status = read_shared_experts(r, err);
    return status == ULB_OK && !r->family->one_part_a_layer ? read_dense_layers(r, err) : status;
}
