/* ulb-bench model: what the performance models say of a described machine, nothing being measured. */
#include "harness/cli/cli.h"
#include "harness/cli/model.h"
#include "harness/cli/table.h"
#include "common/units.h"
#include "harness/platform/platform.h"
#include "shapes/shapes.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
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

static json_t *ceiling_row(const struct ulb_platform *platform, const struct ulb_platform_gamma *gamma,
                           size_t c)
{
    double step = gamma->bytes_per_step, cycles = gamma->cycles[c], beta = ulb_platform_beta(platform, c);
    double core = ulb_platform_core_bandwidth(platform, gamma, c);
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:f, s:s, s:f, s:f}", "format", gamma->format,
                     "sequence", gamma->sequence, "class", platform->classes[c].name, "bytes_per_step", step,
                     "gamma_cycles", cycles, "ceiling_bytes_per_cycle", ulb_compute_ceiling(step, cycles),
                     "ebw_bytes_per_cycle", ulb_effective_bandwidth(beta, step, cycles), "bound",
                     ulb_bound_name(ulb_roofline_bound(beta, step, cycles)), "core_gibps", core / ULB_GIB,
                     "core_gbps", core / ULB_GB);
}

static json_t *ceiling_rows(const struct ulb_platform *platform)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < platform->n_gammas; i++) {
        for (size_t c = 0; c < platform->n_classes; c++)
            json_array_append_new(rows, ceiling_row(platform, &platform->gammas[i], c));
    }
    return rows;
}

static json_t *total_rows(const struct ulb_platform *platform)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < platform->n_gammas; i++) {
        const struct ulb_platform_gamma *gamma = &platform->gammas[i];
        double total = ulb_platform_bandwidth(platform, gamma);
        json_array_append_new(rows,
                              json_pack("{s:s, s:s, s:f, s:f, s:f}", "format", gamma->format, "sequence",
                                        gamma->sequence, "gibps", total / ULB_GIB, "gbps", total / ULB_GB,
                                        "bandwidth_percent", 100 * total / platform->bandwidth));
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

static json_t *gemv_rows(const struct ulb_platform *platform)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < platform->n_gammas; i++) {
        for (size_t m = 0; m < ulb_model_count; m++) {
            const struct ulb_model *model = &ulb_models[m];
            for (size_t s = 0; s < model->n_shapes; s++)
                json_array_append_new(rows,
                                      gemv_row(platform, &platform->gammas[i], model, &model->shapes[s]));
        }
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

static json_t *model_json(const struct ulb_platform *platform)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "platform", ulb_platform_json(platform), "classes",
                     class_rows(platform), "ceilings", ceiling_rows(platform), "totals", total_rows(platform),
                     "gemv", gemv_rows(platform), "amdahl", amdahl_rows());
}

static void print_limits(const json_t *document)
{
    static const struct ulb_column classes[] = {
        {"name", "class", 0},
        {"cores", "cores", 0},
        {"ghz", "GHz", 2},
        {"beta_bytes_per_cycle", "beta B/cycle", 3},
        {"core_gibps", "GiB/s a core", 2},
        {"core_gbps", "GB/s a core", 2},
    };
    static const struct ulb_column ceilings[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"class", "class", 0},
        {"bytes_per_step", "B", 0},
        {"gamma_cycles", "gamma", 3},
        {"ceiling_bytes_per_cycle", "B/gamma", 3},
        {"ebw_bytes_per_cycle", "e_bw", 3},
        {"bound", "bound by", 0},
        {"core_gibps", "GiB/s a core", 2},
        {"core_gbps", "GB/s a core", 2},
    };
    static const struct ulb_column totals[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"gibps", "GiB/s", 1},
        {"gbps", "GB/s", 1},
        {"bandwidth_percent", "% of read bandwidth", 0},
    };
    printf("\nRead bandwidth, shared equally by all cores\n");
    ulb_print_table(json_object_get(document, "classes"), classes, ULB_COUNT(classes));
    printf("\nRoofline per core: e_bw = min(beta, B/gamma) in bytes/cycle, gamma in cycles per 32 weights\n");
    ulb_print_table(json_object_get(document, "ceilings"), ceilings, ULB_COUNT(ceilings));
    printf("\nGEMV bandwidth of the chip, all cores (the paper's \"GB/s\" are GiB/s)\n");
    ulb_print_table(json_object_get(document, "totals"), totals, ULB_COUNT(totals));
}

static void print_predictions(const json_t *document, double fork_join_s)
{
    static const struct ulb_column gemv[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"model", "model", 0},
        {"layer", "layer", 0},
        {"m", "M", 0},
        {"k", "K", 0},
        {"weight_mb", "MB", 2},
        {"ideal_us", "ideal us", 1},
        {"predicted_us", "predicted us", 1},
        {"gbps", "GB/s", 1},
    };
    static const struct ulb_column amdahl[] = {
        {"alpha", "alpha", 2},
        {"speedup_x8", "x = 8 (16 to 2 bit)", 2},
        {"speedup_x16", "x = 16 (16 to 1 bit)", 2},
    };
    printf("\nGEMV times: rows shared out by the rate of each core, weights without scales; predicted = "
           "ideal\n");
    if (isnan(fork_join_s))
        printf("+ fork/join, which is not known for this platform\n");
    else
        printf("+ %.2f us of fork/join\n", fork_join_s * 1e6);
    ulb_print_table(json_object_get(document, "gemv"), gemv, ULB_COUNT(gemv));
    printf("\nAmdahl: speed-up of a 16-bit run whose GEMVs take the share alpha and get x times faster\n");
    ulb_print_table(json_object_get(document, "amdahl"), amdahl, ULB_COUNT(amdahl));
}

enum ulb_status ulb_print_model(const char *name_or_file, bool json, struct ulb_error *err)
{
    if (strcmp(name_or_file, "auto") == 0)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "the platform 'auto' is this machine, which must be measured: "
                        "use ulb-bench run --platform auto");
    struct ulb_platform platform;
    enum ulb_status status = ulb_platform_load(name_or_file, &platform, err);
    if (status != ULB_OK)
        return status;
    json_t *document = model_json(&platform);
    if (json || !document)
        return ulb_print_json(document, err);
    printf("%s: %s\n", platform.name, platform.title);
    ulb_print_wrapped("source: ", platform.source);
    printf("read bandwidth %.1f GiB/s = %.1f GB/s; nothing here was measured by this run\n",
           platform.bandwidth / ULB_GIB, platform.bandwidth / ULB_GB);
    print_limits(document);
    print_predictions(document, platform.fork_join_s);
    json_decref(document);
    return ULB_OK;
}

struct options {
    const char *platform;
    bool check_paper, json;
};

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    switch (key) {
    case 'p':
        options->platform = argument;
        return 0;
    case 'c':
        options->check_paper = true;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case ARGP_KEY_ARG:
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option argp_options[] = {
        {"platform", 'p', "NAME|FILE", 0, "a built-in platform (see list platforms) or a platform file", 0},
        {"check-paper", 'c', NULL, 0, "compare with the published values; exit 1 if one is outside", 0},
        {"json", 'j', NULL, 0, "print one JSON document", 0},
        {0},
    };
    static const struct argp parser = {
        argp_options, parse_option,
        NULL,         "Runs the performance models on a described machine, without measuring.",
        NULL,         NULL,
        NULL};
    struct options options = {0};
    bool done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &options, &done, err);
    if (status != ULB_OK || done)
        return status;
    if (options.check_paper == (options.platform != NULL))
        return ulb_fail(err, ULB_BAD_INPUT,
                        "give either --platform NAME|FILE or --check-paper; "
                        "'ulb-bench list platforms' names the platforms");
    return options.check_paper ? ulb_print_paper_check(options.json, err)
                               : ulb_print_model(options.platform, options.json, err);
}

const struct ulb_command ulb_command_model = {"model", "performance models of a described machine", run};
