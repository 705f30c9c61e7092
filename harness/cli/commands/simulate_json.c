#include "harness/analysis/platform_gammas.h"
#include "harness/cli/commands/simulate_rows.h"

#include "common/units.h"
#include "common/words.h"
#include "harness/session/json_number.h"
#include "models/platform/platform.h"
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The paper's example, a square one and the largest of an 8B model. */
static const char DEFAULT_SHAPES[] = "1600x1600,4096x4096,28672x4096";

/* So many rows that beginning and end of a call do not count. */
static const struct ulb_shape STREAM = {1 << 20, 4096};

enum { TILE_UNKNOWN = 32 };

const char *const ulb_sim_sharing_names[2] = {"equal", "fair"};

static struct ulb_sim_plan plan_of(const struct ulb_simulate_request *request,
                                   const struct ulb_platform *platform,
                                   const struct ulb_platform_gamma *gamma)
{
    return (struct ulb_sim_plan){
        .platform = platform,
        .gamma = gamma,
        .sharing = request->sharing,
        .tile = request->tile ? request->tile : ulb_tile_rows_of(gamma, TILE_UNKNOWN),
        .chunk = request->chunk,
        .take_s = request->take_s,
    };
}

/* --- one shape under the three splits --- */

static enum ulb_status make_row(const struct ulb_simulate_request *request, const struct ulb_sim_plan *plan,
                                size_t m, size_t k, json_t **out, struct ulb_error *err)
{
    static const char unknown[] = "fork/join is not known; give --fork-join";
    const struct ulb_platform *platform = plan->platform;
    double bytes = (double)m * (double)k / ULB_STEP_WEIGHTS * plan->gamma->bytes_per_step;
    double seconds[ULB_SPLIT_WEIGHTED + 1];
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:f}", "platform", platform->name, "format",
                            plan->gamma->format, "sequence", plan->gamma->sequence, "m", (json_int_t)m, "k",
                            (json_int_t)k, "tile_rows", (json_int_t)plan->tile, "ideal_us",
                            1e6 * ulb_platform_gemv_seconds(platform, plan->gamma, (double)m * (double)k));
    for (int split = 0; split < ULB_SPLITS; split++) {
        struct ulb_simulated result;
        char key[32];
        enum ulb_status status = ulb_simulate(plan, (enum ulb_split)split, m, k, &result, err);
        if (status != ULB_OK) {
            json_decref(row);
            return status;
        }
        seconds[split] = result.seconds;
        snprintf(key, sizeof key, "%s_us", ulb_split_name((enum ulb_split)split));
        ulb_set_figure(row, key, 1e6 * result.seconds, "");
        snprintf(key, sizeof key, "%s_gibps", ulb_split_name((enum ulb_split)split));
        ulb_set_figure(row, key, bytes / result.seconds / ULB_GIB, "");
        snprintf(key, sizeof key, "%s_idle_share", ulb_split_name((enum ulb_split)split));
        ulb_set_figure(row, key, result.idle_share, "");
    }
    double fork_join = isnan(request->fork_join_s) ? platform->fork_join_s : request->fork_join_s;
    double predicted = seconds[request->split] + fork_join;
    ulb_set_figure(row, "speedup", seconds[ULB_SPLIT_STATIC] / seconds[ULB_SPLIT_DYNAMIC], "");
    ulb_set_figure(row, "implied_speedup", ulb_sim_implied_speedup(plan), "");
    ulb_set_figure(row, "fork_join_us", 1e6 * fork_join, unknown);
    ulb_set_text(row, "split", ulb_split_name(request->split), "");
    ulb_set_figure(row, "predicted_us", 1e6 * predicted, unknown);
    ulb_set_figure(row, "gbps", bytes / predicted / ULB_GB, unknown);
    *out = row;
    return ULB_OK;
}

static enum ulb_status add_row(const struct ulb_simulate_request *request, const struct ulb_sim_plan *plan,
                               const char *model, const char *layer, struct ulb_shape shape, json_t *rows,
                               struct ulb_error *err)
{
    static const char given[] = "a shape without a model";
    json_t *row;
    enum ulb_status status = make_row(request, plan, shape.m, shape.k, &row, err);
    if (status != ULB_OK)
        return status;
    ulb_set_text(row, "model", model, given);
    ulb_set_text(row, "layer", layer, given);
    json_array_append_new(rows, row);
    return ULB_OK;
}

/* --- what is asked for --- */

static enum ulb_status add_model(const struct ulb_simulate_request *request, const struct ulb_sim_plan *plan,
                                 const struct ulb_model *model, json_t *rows, struct ulb_error *err)
{
    struct ulb_shape_list shapes;
    enum ulb_status status = ulb_model_shapes(model, ULB_FORM_FUSED, &shapes, err);
    if (status != ULB_OK)
        return status;
    for (size_t s = 0; s < shapes.n && status == ULB_OK; s++) {
        const struct ulb_layer_shape *shape = &shapes.items[s];
        if (!ulb_shape_is_head(shape))
            status = add_row(request, plan, model->name, shape->layer, (struct ulb_shape){shape->m, shape->k},
                             rows, err);
    }
    free(shapes.items);
    return status;
}

static enum ulb_status add_shapes(const struct ulb_simulate_request *request, const struct ulb_sim_plan *plan,
                                  const struct ulb_model_list *models, json_t *rows, struct ulb_error *err)
{
    const char *list = request->shapes ? request->shapes : models->n ? NULL : DEFAULT_SHAPES;
    enum ulb_status status = ULB_OK;
    if (list && list[strspn(list, ",")] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--shapes names no shape; MxK is needed, e.g. 4096x14336");
    for (size_t i = 0; i < models->n && status == ULB_OK; i++)
        status = add_model(request, plan, &models->items[i], rows, err);
    for (bool found = list != NULL; found && status == ULB_OK;) {
        struct ulb_shape shape;
        status = ulb_shape_next(&list, &shape, &found, err);
        if (status == ULB_OK && found)
            status = add_row(request, plan, NULL, NULL, shape, rows, err);
    }
    return status;
}

static bool in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = list; word && *word;) {
        size_t n = strcspn(word, ",");
        if (n == length && strncmp(word, name, n) == 0)
            return true;
        word += n + (word[n] == ',');
    }
    return !list;
}

/* The rate of one core of each class, and cores that are not simulated. */
static void describe(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma, json_t *row)
{
    json_t *rates = json_array(), *idle = json_array();
    for (size_t c = 0; c < platform->n_classes; c++)
        json_array_append_new(rates, json_pack("{s:s, s:i, s:f}", "class", platform->classes[c].name, "cores",
                                               (int)platform->classes[c].cores, "core_gibps",
                                               ulb_platform_core_bandwidth(platform, gamma, c) / ULB_GIB));
    for (size_t c = 0; c < platform->n_unused; c++)
        json_array_append_new(idle, json_string(platform->unused[c].name));
    json_object_set_new(row, "classes", rates);
    json_object_set_new(row, "idle_classes", idle);
}

/* Every format that was asked for has a gamma. */
static enum ulb_status check_formats(const struct ulb_platform *platform, const char *list, const char *name,
                                     struct ulb_error *err)
{
    for (const char *word = list; word && *word;) {
        size_t length = strcspn(word, ","), i = 0;
        while (i < platform->n_gammas && (strlen(platform->gammas[i].format) != length ||
                                          strncmp(word, platform->gammas[i].format, length) != 0))
            i++;
        if (length > 0 && i == platform->n_gammas)
            return ulb_fail(err, ULB_BAD_INPUT,
                            "platform %s has no gamma of format '%.*s'; its file lists those it has", name,
                            (int)length, word);
        word += length + (word[length] == ',');
    }
    if (list && list[strspn(list, ",")] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--formats names no format");
    return list ? ulb_words_differ("format", list, err) : ULB_OK;
}

static enum ulb_status add_platform(const struct ulb_simulate_request *request, const char *name,
                                    const struct ulb_model_list *models, json_t *totals, json_t *gemv,
                                    struct ulb_error *err)
{
    struct ulb_platform platform;
    enum ulb_status status = ulb_platform_load(name, &platform, err);
    if (status == ULB_OK)
        status = check_formats(&platform, request->formats, name, err);
    for (size_t i = 0; status == ULB_OK && i < platform.n_gammas; i++) {
        struct ulb_sim_plan plan = plan_of(request, &platform, &platform.gammas[i]);
        if (!in_list(request->formats, platform.gammas[i].format))
            continue;
        status = add_row(request, &plan, NULL, NULL, STREAM, totals, err);
        if (status == ULB_OK) {
            describe(&platform, plan.gamma, json_array_get(totals, json_array_size(totals) - 1));
            status = add_shapes(request, &plan, models, gemv, err);
        }
    }
    return status;
}

enum ulb_status ulb_simulate_json(const struct ulb_simulate_request *request, json_t **out,
                                  struct ulb_error *err)
{
    struct ulb_model_list models = {NULL, 0};
    json_t *totals = json_array(), *gemv = json_array();
    enum ulb_status status = request->models ? ulb_model_list_load(request->models, &models, err) : ULB_OK;
    if (status == ULB_OK && request->platform)
        status = add_platform(request, request->platform, &models, totals, gemv, err);
    for (size_t i = 0; status == ULB_OK && !request->platform && ulb_platform_builtin(i); i++)
        status = add_platform(request, ulb_platform_builtin(i), &models, totals, gemv, err);
    ulb_model_list_free(&models);
    *out = json_pack("{s:s, s:I, s:f, s:s, s:o, s:o}", "sharing", ulb_sim_sharing_names[request->sharing],
                     "chunk_tiles", (json_int_t)request->chunk, "take_ns", 1e9 * request->take_s, "split",
                     ulb_split_name(request->split), "totals", totals, "gemv", gemv);
    if (status == ULB_OK && !*out)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the simulation's rows");
    if (status != ULB_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}

/* --- what is published --- */

/* A stream under the dynamic split, in the suite's own tiles. Or the paper's "ideal" time of one small
 * matrix: row by row and without fork/join. */
struct published {
    const char *id, *platform, *format;
    struct ulb_shape shape;
    size_t tile; /* 0: the suite's own */
    bool is_time;
};

static enum ulb_status simulate_published(const struct published *value, double *simulated,
                                          struct ulb_error *err)
{
    const struct ulb_simulate_request request = {.tile = value->tile, .chunk = 1};
    struct ulb_platform platform;
    struct ulb_simulated result;
    enum ulb_status status = ulb_platform_load(value->platform, &platform, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_platform_gamma *gamma = ulb_platform_gamma_find(&platform, value->format, NULL);
    struct ulb_sim_plan plan = plan_of(&request, &platform, gamma);
    status = ulb_simulate(&plan, ULB_SPLIT_DYNAMIC, value->shape.m, value->shape.k, &result, err);
    double bytes = (double)value->shape.m * (double)value->shape.k / ULB_STEP_WEIGHTS * gamma->bytes_per_step;
    *simulated = value->is_time ? 1e6 * result.seconds : bytes / result.seconds / ULB_GIB;
    return status;
}

enum ulb_status ulb_simulate_paper_json(json_t **out, size_t *outside, struct ulb_error *err)
{
    static const struct published values[] = {
        {"arl.small.ideal", "arl", "int2", {1600, 1600}, 1, true},
        {"arlh.int1.total", "arlh", "int1", {1 << 20, 4096}, 0, false},
        {"lnl.int1.total", "lnl", "int1", {1 << 20, 4096}, 0, false},
    };
    static struct ulb_paper_check check;
    size_t bytes;
    const char *csv = ulb_paper_values(&bytes);
    json_t *rows = json_array();
    enum ulb_status status = ulb_paper_parse(csv, bytes, "paper-values.csv", &check, err);
    *outside = 0;
    for (size_t i = 0; status == ULB_OK && i < sizeof values / sizeof *values; i++) {
        const struct ulb_paper_row *row = ulb_paper_find(&check, values[i].id);
        double simulated = NAN;
        status = row ? simulate_published(&values[i], &simulated, err)
                     : ulb_fail(err, ULB_BAD_INPUT, "published values: row %s is missing; restore it",
                                values[i].id);
        if (status != ULB_OK)
            break;
        bool inside = simulated >= row->lo && simulated <= row->hi;
        *outside += !inside;
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:b}", "id", row->id, "quantity",
                                        row->quantity, "unit", row->unit, "published", row->published, "lo",
                                        row->lo, "hi", row->hi, "simulated", simulated, "inside", inside));
    }
    *out = json_pack("{s:o, s:I}", "rows", rows, "outside", (json_int_t)*outside);
    if (status == ULB_OK && !*out)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the simulation's rows");
    if (status != ULB_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}
