/* Series of the token loop: time and energy of the tokens of one model in one format. */
#include "results/compare/series_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *text_of(const json_t *run, const char *key)
{
    const char *text = json_string_value(json_object_get(run, key));
    return text && *text ? text : "?";
}

static long long whole_of(const json_t *run, const char *key)
{
    return (long long)json_integer_value(json_object_get(run, key));
}

/* "MODEL FORMAT cCONTEXT SET:THREADS SPLIT", " lLAYERS" where not all layers were run, " bBATCH" of several
 * sequences. Samples are of the layers that were run, so that a run of more or fewer is another figure. */
static void write_key(const json_t *run, char out[ULB_CELL_KEY_MAX])
{
    char layers[32] = "", batch[32] = "";
    if (whole_of(run, "layers_run") < whole_of(run, "layers"))
        snprintf(layers, sizeof layers, " l%lld", whole_of(run, "layers_run"));
    if (whole_of(run, "batch") > 1)
        snprintf(batch, sizeof batch, " b%lld", whole_of(run, "batch"));
    snprintf(out, ULB_CELL_KEY_MAX, "%.64s %.64s c%lld %.255s:%lld %.64s%s%s", text_of(run, "model"),
             text_of(run, "format"), whole_of(run, "context"), text_of(run, "set"), whole_of(run, "threads"),
             text_of(run, "split"), layers, batch);
}

static double number_of(const json_t *run, const char *key)
{
    const json_t *value = json_object_get(run, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Whether every sample is a cost. Tokens that take less than the energy's counters need for a step have some
 * of none, and what is left of them without those would be too much. */
static bool are_costs(const json_t *samples)
{
    const json_t *value;
    size_t i;
    json_array_foreach(samples, i, value)
    {
        if (!(json_number_value(value) > 0))
            return false;
    }
    return true;
}

/* Milliseconds or joules of each token, or the one figure that there is. */
static size_t costs_of(const json_t *run, enum ulb_metric metric, double **out)
{
    const json_t *samples = json_object_get(run, metric == ULB_METRIC_TPS ? "ms_samples" : "joule_samples");
    double single =
        metric == ULB_METRIC_TPS ? 1e3 / number_of(run, "tokens_per_s") : number_of(run, "joule_per_token");
    size_t n = are_costs(samples) ? json_array_size(samples) : 0, used = 0;
    double *costs = malloc((n + 1) * sizeof *costs);
    for (size_t i = 0; costs && i < n; i++)
        costs[used++] = json_number_value(json_array_get(samples, i));
    if (costs && used == 0)
        costs[used++] = single;
    *out = costs;
    return used;
}

enum ulb_status ulb_series_read_decode(const struct ulb_record *record, enum ulb_metric metric,
                                       struct ulb_series **out, size_t *n, struct ulb_error *err)
{
    const json_t *runs = json_object_get(json_object_get(record->root, "decode"), "runs"), *run;
    size_t i;
    *out = calloc(json_array_size(runs) + 1, sizeof **out);
    if (!*out)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the record");
    json_array_foreach(runs, i, run)
    {
        if (metric == ULB_METRIC_JOULE && isnan(number_of(run, "joule_per_token")))
            continue; /* no counter could be read */
        double *costs;
        size_t count = costs_of(run, metric, &costs);
        struct ulb_series *series = &(*out)[(*n)++];
        write_key(run, series->key);
        series->value = number_of(run, metric == ULB_METRIC_TPS ? "tokens_per_s" : "joule_per_token");
        enum ulb_status status = costs ? ulb_series_from_costs(series, costs, count, err) : ULB_ENVIRONMENT;
        free(costs);
        if (status != ULB_OK)
            return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the record");
    }
    return ULB_OK;
}
