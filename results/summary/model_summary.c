#include "results/summary/model_summary.h"

#include "common/units.h"
#include "results/summary/summary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FORMATS_MAX = 128 };

int ulb_summary_set(json_t *row, const char *key, double value, const char *reason)
{
    char why[96];
    snprintf(why, sizeof why, "%s_reason", key);
    if (isfinite(value))
        return json_object_set_new(row, key, json_real(value));
    return json_object_set_new(row, key, json_null()) | json_object_set_new(row, why, json_string(reason));
}

/* What one format makes of a model. */
struct choice {
    const char *format;
    const struct ulb_cell *slowest; /* of the matrix that takes the most of a token */
    double us, limit_us;            /* of a token */
    double weight_bytes, error;
};

struct context {
    const struct ulb_cell *const *cells;
    size_t n;
    const json_t *model;
    double memory_gbps;
};

static const struct ulb_cell *fastest_of(const struct context *c, const json_t *matrix, const char *format)
{
    const struct ulb_cell *best = NULL;
    for (size_t i = 0; i < c->n; i++) {
        const struct ulb_cell *cell = c->cells[i];
        if (strcmp(cell->format, format) == 0 && strcmp(cell->model, ulb_row_text(c->model, "model")) == 0 &&
            strcmp(cell->layer, ulb_row_text(matrix, "layer")) == 0 &&
            (double)cell->m == ulb_row_number(matrix, "m") &&
            (double)cell->k == ulb_row_number(matrix, "k") && (!best || cell->us < best->us))
            best = cell;
    }
    return best;
}

/* Bytes beside the blocks: the 16-bit head, and the cache at the described context. */
static double other_bytes(const struct context *c)
{
    const json_t *head = json_object_get(c->model, "head");
    double kv = ulb_row_number(c->model, "kv_bytes");
    double bytes = 2 * ulb_row_number(head, "m") * ulb_row_number(head, "k");
    return (isfinite(bytes) ? bytes : 0) + (isfinite(kv) ? kv : 0);
}

/* False where a matrix has no cell of the format. */
static bool choose(const struct context *c, const char *format, struct choice *choice)
{
    const json_t *matrix;
    double most = 0, other_us = 1e6 * other_bytes(c) / (c->memory_gbps * ULB_GB);
    size_t i;
    *choice = (struct choice){.format = format, .us = other_us, .limit_us = other_us, .error = NAN};
    json_array_foreach(json_object_get(c->model, "matrices"), i, matrix)
    {
        const struct ulb_cell *cell = fastest_of(c, matrix, format);
        if (!cell)
            return false;
        double us = ulb_row_number(matrix, "active") * cell->us;
        choice->us += us;
        choice->limit_us += us * cell->efficiency;
        choice->weight_bytes += ulb_row_number(matrix, "count") * (double)cell->weight_bytes;
        if (us > most) {
            most = us;
            choice->slowest = cell;
        }
    }
    const json_t *head = json_object_get(c->model, "head");
    if (json_is_object(head))
        choice->weight_bytes += 2 * ulb_row_number(head, "m") * ulb_row_number(head, "k");
    return choice->slowest && choice->us > 0 && isfinite(choice->us) && isfinite(choice->weight_bytes);
}

static double error_of(const struct ulb_record *record, const char *format)
{
    const json_t *row;
    size_t i;
    json_array_foreach(json_object_get(record->root, "format_errors"), i, row)
    {
        if (strcmp(ulb_row_text(row, "format"), format) == 0)
            return ulb_row_number(row, "rmse");
    }
    return NAN;
}

static int by_time(const void *a, const void *b)
{
    double left = ((const struct choice *)a)->us, right = ((const struct choice *)b)->us;
    return (left < right) - (left > right);
}

static size_t choose_all(const struct ulb_record *record, const struct context *c, struct choice *choices)
{
    size_t used = 0;
    for (size_t i = 0; i < c->n && used < FORMATS_MAX; i++) {
        bool known = false;
        for (size_t j = 0; j < i && !known; j++)
            known = strcmp(c->cells[j]->format, c->cells[i]->format) == 0;
        if (known || !choose(c, c->cells[i]->format, &choices[used]))
            continue;
        choices[used].error = error_of(record, choices[used].format);
        used++;
    }
    qsort(choices, used, sizeof *choices, by_time);
    return used;
}

/* Whether a is to be preferred: the smaller error among those that are fast enough; else the faster one. */
static bool is_better(const struct choice *a, const struct choice *b)
{
    double wanted_us = 1e6 / ULB_SUGGESTED_TPS;
    if ((a->us <= wanted_us) != (b->us <= wanted_us))
        return a->us <= wanted_us;
    return a->us <= wanted_us ? a->error < b->error || (a->error <= b->error && a->us < b->us)
                              : a->us < b->us;
}

static const struct choice *suggest(const struct choice *choices, size_t n, double memory_bytes)
{
    const struct choice *best = NULL;
    for (size_t i = 0; i < n; i++) {
        bool fits = !(choices[i].weight_bytes > memory_bytes);
        if (fits && choices[i].error <= ULB_SUGGESTED_ERROR && (!best || is_better(&choices[i], best)))
            best = &choices[i];
    }
    return best;
}

static json_t *choice_json(const struct choice *choice)
{
    const struct ulb_cell *cell = choice->slowest;
    json_t *row = json_pack("{s:s, s:s, s:f, s:f, s:s}", "format", choice->format, "kernel", cell->kernel,
                            "tokens_per_s", 1e6 / choice->us, "weight_bytes", choice->weight_bytes, "bound",
                            cell->bound);
    static const char none[] = "the record has no yardstick";
    int bad = !row || ulb_summary_set(row, "tokens_per_s_limit", 1e6 / choice->limit_us, none) |
                          ulb_summary_set(row, "share_of_limit", choice->limit_us / choice->us, none) |
                          ulb_summary_set(row, "gamma_cycles", cell->gamma_cycles, "not measured") |
                          ulb_summary_set(row, "error_rmse", choice->error, "the record does not hold it");
    return bad ? NULL : row;
}

static void write_reason(const struct choice *suggested, size_t n, char out[192])
{
    if (n == 0)
        strcpy(out, "no format has a cell for each of the model's matrices");
    else if (!suggested)
        snprintf(out, 192, "no format that fits memory has an error of at most %.2f", ULB_SUGGESTED_ERROR);
    else if (1e6 / suggested->us >= ULB_SUGGESTED_TPS)
        snprintf(out, 192, "the least error at %.0f tokens/s or more", ULB_SUGGESTED_TPS);
    else
        snprintf(out, 192, "none of error %.2f or less reaches %.0f tokens/s; this is the fastest",
                 ULB_SUGGESTED_ERROR, ULB_SUGGESTED_TPS);
}

static json_t *model_json(const struct ulb_record *record, const struct context *c, struct choice *choices)
{
    size_t n = choose_all(record, c, choices);
    const struct choice *suggested = suggest(choices, n, ulb_record_number(record, "machine.memory_bytes"));
    json_t *formats = json_array();
    char reason[192];
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= json_array_append_new(formats, choice_json(&choices[i]));
    write_reason(suggested, n, reason);
    json_t *row =
        json_pack("{s:s, s:O?, s:f, s:o, s:s?, s:s, s:s}", "model", ulb_row_text(c->model, "model"),
                  "context", json_object_get(c->model, "context"), "other_bytes", other_bytes(c), "formats",
                  formats, "suggested", suggested ? suggested->format : NULL, "reason", reason, "basis",
                  "measured products of the blocks; 16-bit head and cache at memory speed");
    return bad ? NULL : row;
}

enum ulb_status ulb_summarise_models(const struct ulb_record *record, const struct ulb_cell *const *cells,
                                     size_t n, double memory_gbps, json_t *models, struct ulb_error *err)
{
    struct context c = {cells, n, NULL, memory_gbps};
    struct choice *choices = calloc(FORMATS_MAX, sizeof *choices);
    const json_t *model;
    int bad = !choices;
    size_t i;
    json_array_foreach(json_object_get(record->root, "models"), i, model)
    {
        c.model = model;
        if (!bad)
            bad |= json_array_append_new(models, model_json(record, &c, choices));
    }
    free(choices);
    return bad ? ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the summary of the models") : ULB_OK;
}
