#include "harness/opencl/device_grid.h"

#include "common/stats.h"
#include "common/units.h"
#include "harness/opencl/device_check.h"
#include "harness/opencl/device_jobs.h"
#include "harness/opencl/devices.h"
#include "models/models.h"
#include "results/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a product as a cell of the record ---- */

/* 1e9 operations/s; NAN: not measured. */
static double peak_named(const json_t *device, const char *name)
{
    const json_t *peak;
    size_t i;
    json_array_foreach(json_object_get(device, "peaks"), i, peak)
    {
        if (strcmp(ulb_row_text(peak, "name"), name) == 0)
            return ulb_row_number(peak, "gops");
    }
    return NAN;
}

/* Of the instructions that a path is made of. */
static double peak_of(const json_t *device, const char *path, bool floating)
{
    static const char *const peaks[][2] = {
        {"dpas-int2", "i8xi2"}, {"dpas-int8", "i8xi8"}, {"dpas-bf16", "bf16"}, {"dp4a", "dp4a"}};
    const char *name = floating ? "fp32" : "int32";
    for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++) {
        if (strcmp(peaks[i][0], path) == 0)
            name = peaks[i][1];
    }
    return peak_named(device, name);
}

static void copy_text(const json_t *row, const char *key, char *to, size_t bytes)
{
    snprintf(to, bytes, "%s", ulb_row_text(row, key));
}

static void name_cell(const json_t *device, const json_t *row, struct ulb_cell *cell)
{
    copy_text(row, "kernel", cell->kernel, sizeof cell->kernel);
    copy_text(row, "layout", cell->layout, sizeof cell->layout);
    copy_text(row, "format", cell->format, sizeof cell->format);
    copy_text(row, "model", cell->model, sizeof cell->model);
    copy_text(row, "layer", cell->layer, sizeof cell->layer);
    copy_text(row, "path", cell->path, sizeof cell->path);
    copy_text(row, "tile", cell->tile, sizeof cell->tile);
    copy_text(row, "quantise", cell->quantise, sizeof cell->quantise);
    copy_text(device, "id", cell->device, sizeof cell->device);
    copy_text(device, "id", cell->set, sizeof cell->set);
    snprintf(cell->split, sizeof cell->split, "groups");
    snprintf(cell->mode, sizeof cell->mode, "cold");
    cell->m = (size_t)ulb_row_number(row, "m");
    cell->k = (size_t)ulb_row_number(row, "k");
    cell->n = (size_t)ulb_row_number(row, "n");
    cell->weight_bytes = (size_t)ulb_row_number(row, "weight_bytes");
    cell->ring_bytes = (size_t)ulb_row_number(row, "ring_bytes");
    cell->verified = true; /* one that differs is not told */
}

/* Vector operations that round an activation to int8: two a lane of the 118 instructions of 16 lanes that a
 * block of 8 tokens and 32 columns takes. docs/method/devices.md */
static const double ROUNDING_OPERATIONS = 2.0 * 118 * 16 / (8 * 32);

/* Of a product. In the kernel each sub-group rounds the activations of its rows anew. */
static double rounding_operations(const struct ulb_cell *cell)
{
    double rows = strtod(cell->tile, NULL), each = ROUNDING_OPERATIONS * (double)cell->k * (double)cell->n;
    if (strcmp(cell->quantise, "none") == 0)
        return 0;
    return strcmp(cell->quantise, "before") == 0 ? each : each * ceil((double)cell->m / rows);
}

static void predict(const json_t *device, struct ulb_cell *cell)
{
    const struct ulb_device_work work = {.bytes = (double)cell->weight_bytes,
                                         .operations = 1e3 * cell->gops * cell->us,
                                         .launch_s = 1e-6 * cell->launch_us,
                                         .beta = ULB_GB * cell->yardstick_gbps,
                                         .peak = 1e9 * cell->peak_gops,
                                         .quantise = rounding_operations(cell),
                                         .vector = 1e9 * peak_named(device, "fp32")};
    const struct ulb_device_prediction prediction = ulb_predict_device(&work);
    cell->gamma_cycles = NAN;
    cell->predicted_us = cell->predicted_plain_us = 1e6 * prediction.seconds;
    cell->residual = cell->residual_plain = cell->us / cell->predicted_us - 1;
    if (isnan(prediction.seconds)) {
        snprintf(cell->predicted_reason, sizeof cell->predicted_reason,
                 "the launch, the yardstick or the peak was not measured");
        snprintf(cell->verdict, sizeof cell->verdict, "no prediction");
        return;
    }
    snprintf(cell->predicted_reason, sizeof cell->predicted_reason, "a device has no gamma");
    snprintf(cell->bound, sizeof cell->bound, "%s", ulb_bound_name(prediction.bound));
    snprintf(cell->verdict, sizeof cell->verdict,
             "%s-bound: launch %.1f us, memory %.1f us, operations %.1f us, rounding %.1f us", cell->bound,
             cell->launch_us, 1e6 * prediction.memory_s, 1e6 * prediction.compute_s,
             1e6 * prediction.quantise_s);
}

static void set_figures(const json_t *device, const json_t *row, const struct ulb_stats *us,
                        struct ulb_cell *cell)
{
    const double operations = 2.0 * (double)cell->m * (double)cell->k * (double)cell->n;
    cell->us = us->median;
    cell->us_mad = us->mad;
    cell->us_min = us->min;
    cell->us_ci_lo = us->ci_lo;
    cell->us_ci_hi = us->ci_hi;
    cell->noise = (us->ci_hi - us->ci_lo) / 2 / us->median;
    cell->noise_floor = NAN;
    cell->us_event = ulb_row_number(row, "us_event");
    cell->launch_us = ulb_row_number(json_object_get(device, "launch"), "us_host");
    cell->gbps = 1e6 * (double)cell->weight_bytes / cell->us / ULB_GB;
    cell->gops = 1e-3 * operations / cell->us;
    cell->yardstick_gbps = ulb_row_number(row, "yardstick_gbps");
    cell->efficiency = cell->gbps / cell->yardstick_gbps;
    cell->read_share = NAN;
    snprintf(cell->yardstick_reason, sizeof cell->yardstick_reason,
             "the clock of the device's events stands still");
    cell->peak_gops = peak_of(device, cell->path, strcmp(cell->quantise, "none") == 0);
    cell->peak_share = cell->gops / cell->peak_gops;
    snprintf(cell->peak_reason, sizeof cell->peak_reason, "the peak of these instructions was not measured");
}

struct taking {
    struct ulb_record *record;
    uint64_t seed;
};

static enum ulb_status take_product(void *context, const json_t *device, const json_t *product,
                                    struct ulb_error *err)
{
    const struct taking *taking = context;
    const json_t *samples = json_object_get(product, "us_samples"), *sample;
    struct ulb_cell cell = {.n_samples = json_array_size(samples)};
    size_t i;
    cell.us_samples = calloc(cell.n_samples + 1, sizeof *cell.us_samples);
    if (!cell.us_samples)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of a device");
    json_array_foreach(samples, i, sample) cell.us_samples[i] = json_number_value(sample);
    const struct ulb_stats us = ulb_stats_of(cell.us_samples, cell.n_samples, taking->seed);
    name_cell(device, product, &cell);
    set_figures(device, product, &us, &cell);
    predict(device, &cell);
    enum ulb_status status = ulb_record_add_cell(taking->record, &cell, err);
    free(cell.us_samples);
    return status;
}

/* ---- shapes ---- */

/* The shapes that a grid of the CPU has: of one kernel, so that each stands there once. layers: room for the
 * names of those without one. */
static enum ulb_status list_shapes(const struct ulb_grid *grid, struct ulb_device_shape **shapes,
                                   char (**layers)[32], struct ulb_error *err)
{
    *shapes = calloc(grid->judged, sizeof **shapes);
    *layers = calloc(grid->judged, sizeof **layers);
    if (!*shapes || !*layers)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu shapes", grid->judged);
    for (size_t i = 0; i < grid->judged; i++) {
        const struct ulb_grid_cell *cell = &grid->cells[i];
        snprintf((*layers)[i], sizeof **layers, "%zux%zu", cell->m, cell->k);
        (*shapes)[i] = (struct ulb_device_shape){cell->model, cell->layer ? cell->layer : (*layers)[i],
                                                 cell->m, cell->k, cell->n};
    }
    return ULB_OK;
}

static enum ulb_status measure(const struct ulb_settings *settings, const struct ulb_grid *grid,
                               const struct ulb_device_selection *selection, struct ulb_record *record,
                               struct ulb_error *err)
{
    struct ulb_device_shape *shapes = NULL;
    char(*layers)[32] = NULL;
    struct taking taking = {record, settings->seed};
    enum ulb_status status = list_shapes(grid, &shapes, &layers, err);
    const struct ulb_device_products_wish wish = {
        {settings->device, settings->quick, settings->ring_bytes, settings->call_timeout_s},
        selection,
        shapes,
        grid->judged,
        settings->seed};
    const struct ulb_device_more more = {ulb_device_products_job, &wish, take_product, &taking};
    if (status == ULB_OK)
        status = ulb_device_limits(settings, &more, record, err);
    free(shapes);
    free(layers);
    return status;
}

enum ulb_status ulb_device_grid(const struct ulb_settings *settings, enum ulb_product product,
                                struct ulb_record *record, struct ulb_error *err)
{
    struct ulb_device_selection selection;
    struct ulb_grid grid = {0};
    struct ulb_grid_plan plan = ulb_grid_plan_of(settings, product);
    plan.predicts = false;
    enum ulb_status status = ulb_device_select(&selection, settings->formats, settings->kernels, err);
    const struct ulb_kernel *any =
        status == ULB_OK ? ulb_device_reference(selection.choices[0].kernel) : NULL;
    if (status == ULB_OK && !any)
        status =
            ulb_fail(err, ULB_ENVIRONMENT,
                     "this build has no scalar kernel of %s to hold others against; let ULB_ONLY leave it "
                     "in",
                     selection.choices[0].kernel->layout->format->name);
    if (status == ULB_OK)
        status = ulb_grid_list(&grid, &plan, &any, 1, err);
    if (status == ULB_OK)
        status = measure(settings, &grid, &selection, record, err);
    ulb_grid_close(&grid);
    ulb_device_selection_close(&selection);
    return status;
}
