#include "harness/compute/format_table.h"

#include "harness/compute/gamma.h"
#include "common/rng.h"
#include "harness/bandwidth/beta.h"
#include "harness/compute/outlier_error.h"
#include "harness/session/json_number.h"
#include "harness/verify/test_case.h"
#include "kernels/gguf_block.h"
#include "kernels/quantise/quantise.h"
#include "models/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ERROR_ROWS = 32, ERROR_COLUMNS = 4096, PACK_ROWS = 512, PACK_COLUMNS = 4096, PACK_TIMES = 3 };

/* ---- errors ---- */

/* One row of normal weights through the format; room: weights, kept, then scales, k each; values: words of
 * weights, 2 k, then zeros, k. */
static void add_row_error(const struct ulb_format *format, struct ulb_rng *rng, size_t k, float *room,
                          int16_t *values, struct ulb_format_error *error)
{
    float *weights = room, *kept = room + k, *scales = room + 2 * k;
    for (size_t i = 0; i < k; i += 2)
        ulb_rng_normal(rng, weights + i);
    ulb_round_trip(format, weights, k, values, scales, values + 2 * k, kept);
    for (size_t i = 0; i < k; i++) {
        double e = (double)kept[i] - (double)weights[i];
        error->rmse += e * e;
        error->largest = fmax(error->largest, fabs(e));
    }
}

enum ulb_status ulb_format_error(const struct ulb_format *format, size_t rows, size_t k, uint64_t seed,
                                 struct ulb_format_error *error, struct ulb_error *err)
{
    struct ulb_rng rng = {seed};
    float *room = calloc(3 * k, sizeof *room);
    int16_t *values = calloc(3 * k, sizeof *values);
    *error = (struct ulb_format_error){0};
    for (size_t i = 0; i < rows && room && values; i++)
        add_row_error(format, &rng, k, room, values, error);
    error->rmse = sqrt(error->rmse / (double)(rows * k));
    bool whole = room && values;
    free(room);
    free(values);
    return whole ? ULB_OK : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu weights", 3 * k);
}

/* ---- repacking ---- */

/* Nanoseconds per weight of packing into the kernel's layout with the team, the fastest of some; NAN in
 * place.
 */
static enum ulb_status time_packing(struct ulb_session *session, const struct ulb_kernel *kernel, double *ns,
                                    struct ulb_error *err)
{
    struct ulb_test_case test_case;
    struct ulb_pages packed = {0};
    size_t bytes = ulb_layout_bytes(kernel->layout, PACK_ROWS, PACK_COLUMNS);
    *ns = NAN;
    enum ulb_status status = ulb_test_case_open(&test_case, kernel, PACK_ROWS, PACK_COLUMNS, ULB_FILL_RANDOM,
                                                session->settings.seed, session->machine.team, err);
    if (status == ULB_OK)
        status = ulb_pages_map(&packed, bytes, ULB_PAGES_SMALL, err);
    for (int i = 0; i < PACK_TIMES && status == ULB_OK; i++) {
        double begin = ulb_now();
        ulb_test_case_pack(&test_case, kernel->layout, packed.data, session->machine.team);
        *ns = fmin(isnan(*ns) ? INFINITY : *ns, 1e9 * (ulb_now() - begin) / (PACK_ROWS * PACK_COLUMNS));
    }
    ulb_pages_unmap(&packed);
    ulb_test_case_close(&test_case);
    return status;
}

/* ---- rows ---- */

/* The fastest of the kernels of one format, as measured. */
struct best {
    const struct ulb_kernel *kernel; /* NULL: none ran */
    double gamma, weights_per_cycle;
};

static bool is_of(const struct ulb_kernel *reference, const struct ulb_kernel *kernel)
{
    return kernel->layout->format == reference->layout->format && kernel->activation == reference->activation;
}

static bool is_in_place(const struct ulb_kernel *kernel)
{
    return strcmp(kernel->layout->name, "in-place") == 0;
}

/* By what it does per cycle with memory as it is: the fewest cycles count only where memory keeps up. */
static void consider(struct best *best, const struct ulb_kernel *kernel, double gamma, double beta)
{
    double cycles = fmax(gamma, kernel->bytes_per_step / beta), rate = ULB_STEP_WEIGHTS / cycles;
    bool faster = !best->kernel || rate > best->weights_per_cycle ||
                  (rate >= best->weights_per_cycle && gamma < best->gamma);
    if (faster)
        *best = (struct best){kernel, gamma, rate};
}

static int set_best(json_t *row, const char *prefix, const struct best *best, const char *reason)
{
    char key[64], name[ULB_KERNEL_NAME_MAX];
    double b = best->kernel ? best->kernel->bytes_per_step : NAN;
    int bad = 0;
    snprintf(key, sizeof key, "%skernel", prefix);
    bad |= json_object_set_new(row, key,
                               best->kernel ? json_string(ulb_kernel_name(best->kernel, name)) : json_null());
    if (!best->kernel) {
        snprintf(key, sizeof key, "%skernel_reason", prefix);
        return bad | json_object_set_new(row, key, json_string(reason));
    }
    snprintf(key, sizeof key, "%sgamma_cycles", prefix);
    bad |= json_object_set_new(row, key, json_real(best->gamma));
    snprintf(key, sizeof key, "%sbytes_per_step", prefix);
    bad |= json_object_set_new(row, key, json_real(b));
    snprintf(key, sizeof key, "%sweights_per_cycle", prefix);
    return bad | json_object_set_new(row, key, json_real(best->weights_per_cycle));
}

/* Bits of a weight with its scales, rows of ERROR_COLUMNS; as a file of the format holds them, or with
 * single-precision scales. */
static double bits_per_weight(const struct ulb_format *format)
{
    if (format->block || format->floating)
        return format->bits;
    double each = 8.0 * sizeof(float) + (format->zeros ? format->bits : 0);
    return format->bits + each * (double)ulb_groups(format, ERROR_COLUMNS) / ERROR_COLUMNS;
}

/* Columns that share a scale, or 0 for a whole row. */
static unsigned columns_of(const struct ulb_format *format)
{
    return format->block ? format->block->group : format->group;
}

/* Every kernel adds up integers and scales once: nothing is lost beside what the format itself rounds. */
static bool is_lossless(const struct ulb_kernel *reference)
{
    bool exact = !reference->layout->format->floating;
    for (size_t i = 0; i < ulb_kernel_count; i++)
        exact &= !is_of(reference, ulb_kernels[i]) || ulb_kernels[i]->tolerance <= 0;
    return exact;
}

static enum ulb_status add_row(struct ulb_session *session, json_t *rows, const struct ulb_kernel *reference,
                               const struct best *best, const struct best *in_place, struct ulb_error *err)
{
    const struct ulb_format *format = reference->layout->format;
    struct ulb_format_error error;
    struct ulb_outlier_error outliers = {NAN, NAN};
    double pack_ns = NAN;
    enum ulb_status status =
        ulb_format_error(format, ERROR_ROWS, ERROR_COLUMNS, session->settings.seed, &error, err);
    if (status == ULB_OK && !ulb_activation_is_floating(reference->activation))
        status = ulb_outlier_error(format, reference->activation, session->settings.seed, &outliers, err);
    if (status == ULB_OK && best->kernel)
        status = time_packing(session, best->kernel, &pack_ns, err);
    if (status != ULB_OK)
        return status;
    json_t *row =
        json_pack("{s:s, s:s, s:s, s:f, s:i, s:b, s:f, s:f}", "format", format->name, "activation",
                  ulb_activation_name(reference->activation), "summary", format->summary, "bits_per_weight",
                  bits_per_weight(format), "scale_columns", (int)columns_of(format), "lossless",
                  is_lossless(reference), "rmse", error.rmse, "max_error", error.largest);
    int bad = !row || set_best(row, "", best, "no kernel of its repacked weights runs here") ||
              set_best(row, "in_place_", in_place, "no kernel of it reads file order here");
    if (row) {
        ulb_set_figure(row, "error_outliers", outliers.plain, "its activations are not int8");
        ulb_set_figure(row, "error_smoothed", outliers.smoothed, "its activations are not int8");
        ulb_set_figure(row, "repack_ns_per_weight", pack_ns, "nothing to repack");
    }
    bad |= json_array_append_new(rows, row);
    return bad ? ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the table of formats") : ULB_OK;
}

enum ulb_status ulb_format_errors_record(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                         size_t n, struct ulb_error *err)
{
    json_t *rows = json_array();
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        const struct ulb_format *format = kernels[i]->layout->format;
        struct ulb_format_error error;
        bool again = false;
        for (size_t j = 0; j < i; j++)
            again |= kernels[j]->layout->format == format;
        if (again)
            continue;
        status = ulb_format_error(format, ERROR_ROWS, ERROR_COLUMNS, session->settings.seed, &error, err);
        if (status == ULB_OK &&
            json_array_append_new(rows,
                                  json_pack("{s:s, s:f, s:f}", "format", format->name, "bits_per_weight",
                                            bits_per_weight(format), "rmse", error.rmse)) != 0)
            status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the errors of formats");
    }
    if (status == ULB_OK)
        return ulb_record_set(session->record, "format_errors", rows, err);
    json_decref(rows);
    return status;
}

/* The row of the scalar kernel's format, from those kernels of it that were measured. */
static enum ulb_status measure_format(struct ulb_session *session, json_t *rows,
                                      const struct ulb_kernel *reference,
                                      const struct ulb_kernel *const *kernels, size_t n,
                                      struct ulb_error *err)
{
    const char *cls = session->machine.topology.classes[0].name;
    double beta = ulb_beta_of_class(session->record, cls);
    struct best best = {0}, in_place = {0};
    bool asked = false;
    for (size_t i = 0; i < ulb_kernel_count && !asked; i++)
        asked = is_of(reference, ulb_kernels[i]) && ulb_selection_wants(&session->selection, ulb_kernels[i]);
    for (size_t i = 0; i < n; i++) {
        double gamma =
            is_of(reference, kernels[i]) ? ulb_measured_gamma(session->record, kernels[i], cls) : NAN;
        if (kernels[i] != reference && !isnan(gamma))
            consider(is_in_place(kernels[i]) ? &in_place : &best, kernels[i], gamma, beta);
    }
    return asked ? add_row(session, rows, reference, &best, &in_place, err) : ULB_OK;
}

/* ---- groups ---- */

/* Formats whose scales are shared by fewer and fewer columns, with scales of half precision. */
static enum ulb_status measure_groups(const struct ulb_session *session, json_t *groups,
                                      struct ulb_error *err)
{
    static const char *const names[] = {"int8", "int4", "int3", "int2"};
    static const unsigned columns[] = {32, 64, 128, 256, ERROR_COLUMNS};
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        struct ulb_format format = *ulb_kernels[i]->layout->format;
        bool wanted = false;
        for (size_t f = 0; f < sizeof names / sizeof *names; f++)
            wanted |= strcmp(format.name, names[f]) == 0 && strcmp(ulb_kernels[i]->isa, "ref") == 0;
        for (size_t c = 0; c < sizeof columns / sizeof *columns && wanted; c++) {
            struct ulb_format_error error;
            format.group = columns[c];
            enum ulb_status status =
                ulb_format_error(&format, ERROR_ROWS, ERROR_COLUMNS, session->settings.seed, &error, err);
            if (status != ULB_OK)
                return status;
            json_t *row = json_pack("{s:s, s:i, s:f, s:f, s:f}", "format", format.name, "columns",
                                    (int)columns[c], "bits_per_weight", format.bits + 16.0 / columns[c],
                                    "rmse", error.rmse, "max_error", error.largest);
            if (!row || json_array_append_new(groups, row) != 0)
                return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the table of groups");
        }
    }
    return ULB_OK;
}

enum ulb_status ulb_formats_measure(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                    size_t n, struct ulb_error *err)
{
    json_t *rows = json_array(), *groups = json_array();
    json_t *formats =
        json_pack("{s:o, s:o, s:s, s:o}", "rows", rows, "groups", groups, "error_of",
                  "normally distributed weights, in standard deviations", "outliers", ulb_outlier_rule());
    if (!formats || json_object_set_new(session->record->root, "formats", formats) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the table of formats");
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++) {
        ulb_session_progress(session, "formats", (double)i / (double)ulb_kernel_count);
        if (strcmp(ulb_kernels[i]->isa, "ref") == 0)
            status = measure_format(session, rows, ulb_kernels[i], kernels, n, err);
        if (status == ULB_OK)
            status = ulb_check_interrupted(err);
    }
    return status == ULB_OK ? measure_groups(session, groups, err) : status;
}
