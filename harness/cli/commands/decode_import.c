#include "harness/cli/commands/decode_import.h"

#include "common/units.h"
#include "harness/cli/table.h"
#include "harness/session/json_number.h"
#include "models/models.h"
#include "results/reference/published_speeds.h"
#include "shapes/model.h"
#include "shapes/shapes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Norms, and what a file counts besides matrices, are well below this share of the weights. */
static const double SAME_WEIGHTS = 0.02;

/* The model that was decoded: all its weights and those that a token reads, which the embedding and experts
 * that are not active are not among; elements of keys and of values that a position has in the cache. */
struct sizes {
    const char *model;
    double weights, read, keys, values;
};

static void add_cache(const struct ulb_model *model, struct sizes *sizes)
{
    double layers = model->layers, heads = model->kv_heads;
    if (model->mla_kv_rank > 0) { /* one latent vector stands for both */
        sizes->keys = layers * (model->mla_kv_rank + model->mla_rope);
        return;
    }
    sizes->keys = layers * heads * model->head_dim;
    sizes->values = layers * heads * model->v_head_dim;
}

static enum ulb_status sizes_of(const char *name, struct sizes *sizes, struct ulb_error *err)
{
    struct ulb_model model = {0};
    struct ulb_shape_list shapes = {0};
    *sizes = (struct sizes){.model = name};
    enum ulb_status status = ulb_model_load(name, &model, err);
    if (status == ULB_OK)
        status = ulb_model_shapes(&model, ULB_FORM_FUSED, &shapes, err);
    for (size_t s = 0; s < shapes.n; s++) {
        const struct ulb_layer_shape *shape = &shapes.items[s];
        sizes->weights += (double)shape->m * (double)shape->k * shape->count;
        sizes->read += (double)shape->m * (double)shape->k * shape->active;
    }
    if (status == ULB_OK && !model.tied_head)
        sizes->weights += (double)model.vocab * model.hidden;
    if (status == ULB_OK)
        add_cache(&model, sizes);
    free(shapes.items);
    ulb_model_free(&model);
    return status;
}

/* Our run whose bits per weight are nearest, of those that were decoded now; and the best yardstick. */
static const struct ulb_decode_run *nearest(const struct ulb_decode_run *runs, size_t n, double bits)
{
    const struct ulb_decode_run *best = NULL;
    for (size_t i = 0; i < n; i++) {
        bool nearer =
            !best || fabs(log(16 / runs[i].bit_ratio / bits)) < fabs(log(16 / best->bit_ratio / bits));
        if (!best || runs[i].batch < best->batch || (runs[i].batch == best->batch && nearer))
            best = &runs[i];
    }
    return best;
}

/* What this machine is, and how fast our runs found it to read. */
struct machine {
    const char *cpu; /* NULL: its name is not known */
    size_t pus, cores;
    const struct ulb_decode_run *runs;
    size_t n;
};

static struct machine machine_of(const struct ulb_record *record, const struct ulb_decode_run *runs, size_t n)
{
    const json_t *classes = ulb_record_at(record, "topology.classes");
    struct machine machine = {.cpu = ulb_record_text(record, "machine.cpu_model"), .runs = runs, .n = n};
    for (size_t i = 0; i < json_array_size(classes); i++) {
        const json_t *class = json_array_get(classes, i);
        machine.pus += json_array_size(json_object_get(class, "pus"));
        machine.cores += (size_t)json_integer_value(json_object_get(class, "cores"));
    }
    return machine;
}

/* Whether one of the names that the file gives its devices is this machine's; where either is unknown, no
 * other machine is known of. */
static bool same_cpu(const char *file, const char *here)
{
    if (!*file || strcmp(file, "CPU") == 0 || !here || !*here)
        return true;
    for (size_t length; *file; file += length + strspn(file + length, ", ")) {
        length = strcspn(file, ",");
        while (length > 0 && file[length - 1] == ' ')
            length--;
        if (strlen(here) == length && strncasecmp(file, here, length) == 0)
            return true;
    }
    return false;
}

/* The best yardstick of the fewest threads of ours that read at least as fast as so many: as many, or more,
 * or one on each core; NAN: none do. */
static double bandwidth_of(const struct machine *machine, unsigned threads)
{
    unsigned fewest = 0;
    double gbps = NAN;
    for (size_t i = 0; i < machine->n; i++) {
        const struct ulb_decode_run *ours = &machine->runs[i];
        if (ours->threads < threads && ours->threads < machine->cores)
            continue;
        if (isnan(gbps) || ours->threads < fewest)
            gbps = ours->yardstick_gbps;
        else if (ours->threads == fewest)
            gbps = fmax(gbps, ours->yardstick_gbps);
        fewest = isnan(gbps) || fewest == 0 || ours->threads < fewest ? ours->threads : fewest;
    }
    return gbps * ULB_GB;
}

/* Why a run has no bound here; "": it has one. */
static void find_reason(const struct ulb_llama_run *run, const struct sizes *sizes,
                        const struct machine *machine, char *reason, size_t bytes)
{
    if (run->gpu)
        snprintf(reason, bytes, "layers were on a GPU, whose bandwidth is not known here");
    else if (!same_cpu(run->cpu, machine->cpu))
        snprintf(reason, bytes, "measured on another CPU, %.60s; import it there", run->cpu);
    else if (machine->pus > 0 && run->threads > machine->pus)
        snprintf(reason, bytes, "its %u threads are more than this machine's %zu: import it where it ran",
                 run->threads, machine->pus);
    else if (fabs(run->weights / sizes->weights - 1) > SAME_WEIGHTS)
        snprintf(reason, bytes, "the file has %.3g weights, %.31s %.3g: take its model with --model",
                 run->weights, sizes->model, sizes->weights);
    else if (isnan(bandwidth_of(machine, run->threads)))
        snprintf(reason, bytes, "its %u threads are more than ours: decode with as many, --set all",
                 run->threads);
}

/* Bytes of the cache that a token reads, mean over the tokens generated. */
static double cache_bytes(const struct ulb_llama_run *run, const struct sizes *sizes)
{
    double positions = run->depth + (run->tokens - 1) / 2.0;
    double values = sizes->values > 0 ? sizes->values * run->value_bytes : 0;
    return positions * (sizes->keys * run->key_bytes + values);
}

static json_t *run_json(const struct ulb_llama_run *run, const struct sizes *sizes,
                        const struct ulb_decode_run *ours, const struct machine *machine)
{
    char reason[128] = "";
    double bits = 8 * run->weight_bytes / run->weights;
    double weights = run->weight_bytes * sizes->read / sizes->weights, cache = cache_bytes(run, sizes);
    find_reason(run, sizes, machine, reason, sizeof reason);
    double bandwidth = *reason ? (double)NAN : bandwidth_of(machine, run->threads);
    double bytes = *reason ? (double)NAN : weights + (isnan(cache) ? 0 : cache);
    double bound = ulb_decode_roofline(bandwidth, bytes);
    json_t *row = json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:f, s:f, s:s, s:f}", "model", run->model,
                            "build", run->build, "cpu", run->cpu, "threads", (json_int_t)run->threads,
                            "tokens", (json_int_t)run->tokens, "context", (json_int_t)run->depth, "bits",
                            bits, "tokens_per_s", run->tokens_per_s, "our_format", ours->format,
                            "our_tokens_per_s", ours->tokens_per_s / fmax(1, (double)ours->batch));
    ulb_set_figure(row, "tokens_per_s_stddev", run->stddev, "llama-bench wrote none");
    ulb_set_figure(row, "kv_bytes_per_token", *reason ? (double)NAN : cache,
                   *reason ? reason : "the cache's type is not known");
    ulb_set_figure(row, "bytes_per_token", bytes, reason);
    ulb_set_figure(row, "roofline_tokens_per_s", bound, reason);
    ulb_set_figure(row, "roofline_share", run->tokens_per_s / bound, reason);
    /* A model may look at a window of the cache alone: what is beyond the bound of the weights is not true.
     */
    bool possible = ulb_speed_possible(run->tokens_per_s, ulb_decode_roofline(bandwidth, weights),
                                       ULB_BANDWIDTH_MEASURED);
    json_object_set_new(row, "possible", *reason ? json_null() : json_boolean(possible));
    if (*reason)
        json_object_set_new(row, "possible_reason", json_string(reason));
    return row;
}

enum ulb_status ulb_decode_import(struct ulb_record *record, const struct ulb_llama_runs *runs,
                                  const char *model, struct ulb_error *err)
{
    struct sizes sizes;
    struct ulb_decode_run *ours = NULL;
    size_t n = 0;
    enum ulb_status status = sizes_of(model, &sizes, err);
    if (status == ULB_OK)
        status = ulb_record_decode_runs(record, &ours, &n, err);
    if (status != ULB_OK || n == 0) {
        ulb_decode_runs_free(ours, n);
        return status;
    }
    const struct machine machine = machine_of(record, ours, n);
    json_t *imported = json_array();
    for (size_t i = 0; i < runs->n; i++) {
        double bits = 8 * runs->items[i].weight_bytes / runs->items[i].weights;
        json_array_append_new(imported, run_json(&runs->items[i], &sizes, nearest(ours, n, bits), &machine));
    }
    ulb_decode_runs_free(ours, n);
    if (json_object_set_new(json_object_get(record->root, "decode"), "imported", imported) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the imported runs");
    return ULB_OK;
}

static void add_row(const json_t *row, struct ulb_table *table)
{
    const char *reason = json_string_value(json_object_get(row, "possible_reason"));
    const json_t *deviation = json_object_get(row, "tokens_per_s_stddev");
    char beside[32], roof[32], share[32];
    const double none = reason ? NAN : 1;
    ulb_table_add(
        table, "%.26s\t%.1f\t%lld\t%.2f\t%s\t%s\t%s\t%s\t%.2f",
        json_string_value(json_object_get(row, "model")), json_number_value(json_object_get(row, "bits")),
        (long long)json_integer_value(json_object_get(row, "threads")),
        json_number_value(json_object_get(row, "tokens_per_s")),
        ulb_show_number(beside, "%.2f", json_is_number(deviation) ? json_number_value(deviation) : NAN),
        ulb_show_number(roof, "%.2f", none * ulb_row_number(row, "roofline_tokens_per_s")),
        json_is_false(json_object_get(row, "possible"))
            ? "impossible"
            : ulb_show_number(share, "%.0f%%", none * 100 * ulb_row_number(row, "roofline_share")),
        json_string_value(json_object_get(row, "our_format")),
        json_number_value(json_object_get(row, "our_tokens_per_s")));
    if (reason)
        ulb_table_heading(table, "   no bound: %s", reason);
}

void ulb_print_imported(const struct ulb_record *record, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"model", false, true},    {"bits", true, false},  {"threads", true, false},
        {"tokens/s", true, false}, {"+-", true, false},    {"roof", true, false},
        {"share", true, false},    {"ours", false, false}, {"its t/s", true, false},
    };
    const json_t *rows = json_object_get(json_object_get(record->root, "decode"), "imported");
    size_t i;
    json_t *row;
    if (json_array_size(rows) == 0)
        return;
    ulb_print_wrapped(out, "",
                      "llama-bench, beside the bandwidth's bound on what a token reads and our run of the "
                      "nearest bits");
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    json_array_foreach(rows, i, row) add_row(row, table);
    ulb_table_print(table, out);
}
