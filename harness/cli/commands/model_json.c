#include "harness/cli/commands/model_json.h"

#include "common/units.h"
#include "harness/cli/commands/model_decode.h"
#include "harness/session/json_number.h"
#include "models/platform/platform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ULB_COUNT(array) (sizeof(array) / sizeof *(array))

static json_t *class_rows(const struct ulb_platform *platform)
{
    json_t *rows = json_array();
    for (size_t c = 0; c < platform->n_classes; c++) {
        const struct ulb_platform_class *class = &platform->classes[c];
        double beta = ulb_platform_beta(platform, c);
        json_array_append_new(
            rows, json_pack("{s:s, s:i, s:f, s:f, s:f, s:f}", "name", class->name, "cores", (int)class->cores,
                            "ghz", class->hz / 1e9, "beta_bytes_per_cycle", beta, "core_gibps",
                            beta * class->hz / ULB_GIB, "core_gbps", beta * class->hz / ULB_GB));
    }
    return rows;
}

/* One gamma of a class; gamma may be NAN, with the reason. */
static json_t *ceiling_row(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma,
                           size_t c, const char *from, const char *reason)
{
    double step = gamma->bytes_per_step, cycles = gamma->cycles[c], beta = ulb_platform_beta(platform, c);
    double core = ulb_platform_core_bandwidth(platform, gamma, c);
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:f}", "format", gamma->format, "sequence", gamma->sequence,
                            "class", platform->classes[c].name, "gamma_from", from, "bytes_per_step", step);
    ulb_set_figure(row, "gamma_cycles", cycles, reason);
    ulb_set_figure(row, "ceiling_bytes_per_cycle", ulb_compute_ceiling(step, cycles), reason);
    ulb_set_figure(row, "ebw_bytes_per_cycle", ulb_effective_bandwidth(beta, step, cycles), reason);
    ulb_set_text(row, "bound", isnan(cycles) ? NULL : ulb_bound_name(ulb_roofline_bound(beta, step, cycles)),
                 reason);
    ulb_set_figure(row, "core_gibps", core / ULB_GIB, reason);
    ulb_set_figure(row, "core_gbps", core / ULB_GB, reason);
    return row;
}

static json_t *ceiling_rows(const struct ulb_platform *platform, const char *from)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < platform->n_gammas; i++) {
        for (size_t c = 0; c < platform->n_classes; c++)
            json_array_append_new(rows, ceiling_row(platform, &platform->gammas[i], c, from, ""));
    }
    return rows;
}

static json_t *total_rows(const struct ulb_platform *platform, const char *from)
{
    static const char reason[] = "a class has no gamma";
    json_t *rows = json_array();
    for (size_t i = 0; i < platform->n_gammas; i++) {
        const struct ulb_platform_gamma *gamma = &platform->gammas[i];
        double total = ulb_platform_bandwidth(platform, gamma);
        json_t *row = json_pack("{s:s, s:s, s:s}", "format", gamma->format, "sequence", gamma->sequence,
                                "gamma_from", from);
        ulb_set_figure(row, "gibps", total / ULB_GIB, reason);
        ulb_set_figure(row, "gbps", total / ULB_GB, reason);
        ulb_set_figure(row, "bandwidth_percent", 100 * total / platform->bandwidth, reason);
        json_array_append_new(rows, row);
    }
    return rows;
}

static json_t *gemv_row(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma,
                        const struct ulb_model *model, const struct ulb_layer_shape *shape)
{
    double weights = (double)shape->m * (double)shape->k;
    double bytes = weights / ULB_STEP_WEIGHTS * gamma->bytes_per_step;
    double ideal_s = ulb_platform_gemv_seconds(platform, gamma, weights);
    json_t *row =
        json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:f, s:f}", "model", model->name, "layer", shape->layer,
                  "m", (json_int_t)shape->m, "k", (json_int_t)shape->k, "format", gamma->format, "sequence",
                  gamma->sequence, "weight_mb", bytes / 1e6, "ideal_us", ideal_s * 1e6);
    if (isnan(platform->fork_join_s)) {
        json_object_set_new(row, "predicted_us", json_null());
        json_object_set_new(row, "predicted_us_reason", json_string("fork/join is not known"));
        json_object_set_new(row, "gbps", json_null());
        json_object_set_new(row, "gbps_reason", json_string("fork/join is not known"));
    } else {
        double seconds = ideal_s + platform->fork_join_s;
        json_object_set_new(row, "predicted_us", json_real(seconds * 1e6));
        json_object_set_new(row, "gbps", json_real(bytes / seconds / ULB_GB));
    }
    return row;
}

/* NULL without memory. */
static json_t *gemv_rows(const struct ulb_platform *platform, const struct ulb_model_list *models)
{
    json_t *rows = json_array();
    struct ulb_error unused;
    for (size_t i = 0; i < platform->n_gammas * models->n; i++) {
        const struct ulb_model *model = &models->items[i % models->n];
        struct ulb_shape_list shapes;
        if (ulb_model_shapes(model, ULB_FORM_FUSED, &shapes, &unused) != ULB_OK) {
            json_decref(rows);
            return NULL;
        }
        for (size_t s = 0; s < shapes.n; s++) {
            const struct ulb_layer_shape *shape = &shapes.items[s];
            if (!ulb_shape_is_head(shape))
                json_array_append_new(rows,
                                      gemv_row(platform, &platform->gammas[i / models->n], model, shape));
        }
        free(shapes.items);
    }
    return rows;
}

/* 0.87 and 0.96 are the shares that the paper gives for a 1B and an 8B model on ARL. */
static json_t *amdahl_rows(void)
{
    static const double alphas[] = {0.80, 0.87, 0.90, 0.96, 0.99};
    json_t *rows = json_array();
    for (size_t i = 0; i < ULB_COUNT(alphas); i++)
        json_array_append_new(rows,
                              json_pack("{s:f, s:f, s:f}", "alpha", alphas[i], "speedup_x8",
                                        ulb_amdahl(alphas[i], 8), "speedup_x16", ulb_amdahl(alphas[i], 16)));
    return rows;
}

/* --- the port bounds of the real cores --- */

static void add_origin(json_t *row, const struct ulb_gamma_origin *origin)
{
    char name[ULB_KERNEL_NAME_MAX];
    ulb_set_text(row, "core", origin->core ? origin->core->name : NULL, origin->reason);
    ulb_set_text(row, "kernel", origin->kernel ? ulb_kernel_name(origin->kernel, name) : NULL,
                 origin->reason);
    ulb_set_text(row, "decided_by", origin->kernel ? ulb_limit_name(origin->decides) : NULL, origin->reason);
    ulb_set_text(row, "source", origin->core ? origin->core->source : NULL, origin->reason);
    if (origin->core && origin->core->inferred)
        json_object_set_new(row, "note", json_string("pipes inferred from throughput"));
}

/* A class whose share of the bandwidth and clock nobody gives: gamma and ceiling alone. */
static json_t *idle_row(const struct ulb_platform_gammas *ports, size_t i, size_t c)
{
    static const char idle[] = "the platform's source leaves these cores idle";
    const struct ulb_platform_gamma *gamma = &ports->platform.gammas[i];
    const struct ulb_gamma_origin *origin = &ports->origins[i][ports->platform.n_classes + c];
    double cycles = ports->idle_cycles[i][c];
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:f}", "format", gamma->format, "sequence", gamma->sequence,
                            "class", ports->platform.unused[c].name, "gamma_from", "port bound",
                            "bytes_per_step", gamma->bytes_per_step);
    ulb_set_figure(row, "gamma_cycles", cycles, origin->reason);
    ulb_set_figure(row, "ceiling_bytes_per_cycle", ulb_compute_ceiling(gamma->bytes_per_step, cycles),
                   origin->reason);
    ulb_set_figure(row, "ebw_bytes_per_cycle", NAN, idle);
    ulb_set_text(row, "bound", NULL, idle);
    ulb_set_figure(row, "core_gibps", NAN, idle);
    ulb_set_figure(row, "core_gbps", NAN, idle);
    add_origin(row, origin);
    return row;
}

static json_t *ports_json(const struct ulb_platform *platform, const struct ulb_core_list *cores,
                          const struct ulb_gamma_ratio *ratio)
{
    struct ulb_platform_gammas ports;
    json_t *ceilings = json_array();
    ulb_platform_gammas_from_ports(platform, cores, ratio, &ports);
    for (size_t i = 0; i < ports.platform.n_gammas; i++) {
        for (size_t c = 0; c < platform->n_classes; c++) {
            json_t *row = ceiling_row(&ports.platform, &ports.platform.gammas[i], c, "port bound",
                                      ports.origins[i][c].reason);
            add_origin(row, &ports.origins[i][c]);
            json_array_append_new(ceilings, row);
        }
        for (size_t c = 0; c < platform->n_unused; c++)
            json_array_append_new(ceilings, idle_row(&ports, i, c));
    }
    return json_pack("{s:s, s:o, s:o}", "label",
                     "port bounds of the chip's real cores: lower limits of gamma", "ceilings", ceilings,
                     "totals", total_rows(&ports.platform, "port bound"));
}

/* --- the 1-bit kernel that the paper does not have --- */

static json_t *ratio_rows(const struct ulb_gamma_ratio *ratio)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < ratio->n_classes; i++) {
        double gamma = ratio->classes[i].gamma, paper = ratio->classes[i].paper_gamma;
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f}", "class", ratio->classes[i].name,
                                              "gamma_cycles", gamma, "paper_gamma_cycles", paper, "ratio",
                                              gamma / paper));
    }
    return rows;
}

static json_t *int1_json(const struct ulb_platform *platform, const struct ulb_gamma_ratio_source *source,
                         const struct ulb_model_list *models, struct ulb_error *err)
{
    const struct ulb_gamma_ratio *ratio = source->ratio;
    struct ulb_platform_gammas scaled;
    char kernel[ULB_KERNEL_NAME_MAX], paper[ULB_KERNEL_NAME_MAX];
    if (ulb_platform_gammas_scaled(platform, ratio, &scaled, err) != ULB_OK)
        return NULL;
    json_t *ceilings = ceiling_rows(&scaled.platform, "modelled"), *row;
    size_t c;
    json_array_foreach(ceilings, c, row)
    {
        size_t like = scaled.origins[0][c].like;
        json_object_set_new(row, "ratio",
                            json_real(ratio->classes[like].gamma / ratio->classes[like].paper_gamma));
        json_object_set_new(row, "ratio_class", json_string(ratio->classes[like].name));
    }
    json_t *measurement =
        json_pack("{s:s, s:s?, s:s?, s:o}", "from", source->record ? "record" : "measured now", "cpu_model",
                  source->cpu_model, "created", source->created, "ratios", ratio_rows(ratio));
    ulb_set_text(measurement, "record", source->record, "measured now");
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "label", "modelled", "kernel",
                     ulb_kernel_name(ratio->kernel, kernel), "paper_kernel",
                     ulb_kernel_name(ratio->paper, paper), "measurement", measurement, "ceilings", ceilings,
                     "totals", total_rows(&scaled.platform, "modelled"), "gemv",
                     gemv_rows(&scaled.platform, models));
}

enum ulb_status ulb_model_json(const struct ulb_platform *platform, const char *from,
                               const struct ulb_gamma_ratio_source *source,
                               const struct ulb_model_list *models, json_t **out, struct ulb_error *err)
{
    struct ulb_core_list cores;
    struct ulb_error why = {""};
    *out = NULL;
    enum ulb_status status = ulb_core_list_load(&cores, err);
    if (status == ULB_OK) {
        json_t *int1 = source->ratio ? int1_json(platform, source, models, &why) : NULL;
        bool published = strcmp(from, "paper") == 0;
        *out = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", "model",
                         "platform", ulb_platform_json(platform), "classes", class_rows(platform), "ceilings",
                         ceiling_rows(platform, from), "totals", total_rows(platform, from), "gemv",
                         gemv_rows(platform, models), "decode", ulb_model_decode_json(platform, models),
                         "published", ulb_model_published_json(published ? platform->name : ""), "amdahl",
                         amdahl_rows(), "port_bounds", ports_json(platform, &cores, source->ratio),
                         "modelled_int1", int1 ? int1 : json_null());
        if (*out && !int1)
            json_object_set_new(*out, "modelled_int1_reason",
                                json_string(source->ratio ? why.message : source->reason));
        if (!*out)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the models");
    }
    ulb_core_list_free(&cores);
    return status;
}
