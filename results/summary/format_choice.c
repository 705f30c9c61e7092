#include "results/summary/format_choice.h"

#include "common/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ulb_summary_set(json_t *row, const char *key, double value, const char *reason)
{
    char why[96];
    snprintf(why, sizeof why, "%s_reason", key);
    if (isfinite(value))
        return json_object_set_new(row, key, json_real(value));
    return json_object_set_new(row, key, json_null()) | json_object_set_new(row, why, json_string(reason));
}

/* ---- a token ---- */

static double known(double value)
{
    return isfinite(value) ? value : 0;
}

static double head_bytes(const json_t *model)
{
    const json_t *head = json_object_get(model, "head");
    return known(2 * ulb_row_number(head, "m") * ulb_row_number(head, "k"));
}

/* Milliseconds of a layer that no product and no cache takes, the least of the record's decoded models; NAN
 * without one. */
static double rest_ms_of_layer(const struct ulb_record *record)
{
    static const char *const parts[] = {"quantise", "other", "fork_join"};
    const json_t *run;
    double least = NAN;
    size_t i;
    json_array_foreach(ulb_decode_runs(record), i, run)
    {
        const json_t *split = json_object_get(run, "split_ms");
        double sum = 0;
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            sum += ulb_row_number(split, parts[p]);
        least = fmin(least, sum / ulb_row_number(run, "layers"));
    }
    return least;
}

double ulb_choice_other_us(const struct ulb_choice_input *input)
{
    double bytes = head_bytes(input->model) + known(ulb_row_number(input->model, "kv_bytes"));
    double rest_ms = known(rest_ms_of_layer(input->record)) * known(ulb_row_number(input->model, "layers"));
    return 1e6 * bytes / (input->memory_gbps * ULB_GB) + 1e3 * rest_ms;
}

const char *ulb_choice_basis(const struct ulb_choice_input *input)
{
    return isfinite(rest_ms_of_layer(input->record))
               ? "products; 16-bit head and cache at memory speed; rest as decoded"
               : "products only; 16-bit head and cache at memory speed";
}

/* How far a cell's size is from the matrix's: 0 for the same. */
static double distance(const struct ulb_cell *cell, double m, double k)
{
    if ((double)cell->m == m && (double)cell->k == k)
        return 0;
    return 1e-9 + fabs(log((double)cell->m * (double)cell->k / (m * k)));
}

/* The fastest cell of the format among those nearest in size. */
static const struct ulb_cell *nearest_cell(const struct ulb_choice_input *input, const char *format, double m,
                                           double k)
{
    const struct ulb_cell *best = NULL;
    double least = INFINITY;
    for (size_t i = 0; i < input->n; i++) {
        const struct ulb_cell *cell = input->cells[i];
        double d = strcmp(cell->format, format) == 0 ? distance(cell, m, k) : INFINITY;
        if (d < least || (d <= least && best && cell->us < best->us)) {
            best = cell;
            least = d;
        }
    }
    return best;
}

/* Adds one matrix; the cell's time and bytes in proportion to the weights. */
static void add_matrix(struct ulb_format_choice *choice, const struct ulb_choice_input *input,
                       const json_t *matrix, double *most_us)
{
    double m = ulb_row_number(matrix, "m"), k = ulb_row_number(matrix, "k");
    const struct ulb_cell *cell = nearest_cell(input, choice->format, m, k);
    double scale = cell ? m * k / ((double)cell->m * (double)cell->k) : NAN;
    double us = cell ? ulb_row_number(matrix, "active") * cell->us * scale : NAN;
    choice->us += us;
    choice->limit_us += cell ? us * cell->efficiency : NAN;
    choice->weight_bytes += cell ? ulb_row_number(matrix, "count") * (double)cell->weight_bytes * scale : NAN;
    if (us > *most_us) {
        *most_us = us;
        choice->slowest = cell;
    }
}

/* False for a model without matrices, or with numbers that are none. */
static bool choose(const struct ulb_choice_input *input, const char *format, struct ulb_format_choice *choice)
{
    const json_t *matrix;
    double most_us = 0, other_us = ulb_choice_other_us(input);
    size_t i;
    *choice = (struct ulb_format_choice){
        .format = format,
        .us = other_us,
        .limit_us = other_us,
        .weight_bytes = head_bytes(input->model),
        .kv_bytes = ulb_row_number(input->model, "kv_bytes"),
    };
    json_array_foreach(json_object_get(input->model, "matrices"), i, matrix)
        add_matrix(choice, input, matrix, &most_us);
    return choice->slowest && isfinite(choice->us) && isfinite(choice->weight_bytes);
}

/* ---- error ---- */

/* Formats that hold what a model was trained in as it is. */
static bool is_native(const char *trained_as, const char *format)
{
    static const char *const ternary[] = {"tern1.6", "tern2", "i2_s", "tl1", "tl2", "tq1_0", "tq2_0"};
    if (strcmp(trained_as, "binary") == 0)
        return strcmp(format, "int1") == 0;
    for (size_t i = 0; i < sizeof ternary / sizeof *ternary; i++) {
        if (strcmp(ternary[i], format) == 0)
            return true;
    }
    return false;
}

/* The error on normal weights says nothing of weights that take two or three values. */
static void set_error(const struct ulb_choice_input *input, struct ulb_format_choice *choice)
{
    const char *trained_as = ulb_row_text(input->model, "trained_as");
    const json_t *row;
    size_t i;
    choice->error = choice->bits = NAN;
    json_array_foreach(json_object_get(input->record->root, "format_errors"), i, row)
    {
        if (strcmp(ulb_row_text(row, "format"), choice->format) == 0) {
            choice->error = ulb_row_number(row, "rmse");
            choice->bits = ulb_row_number(row, "bits_per_weight");
        }
    }
    if (trained_as[0])
        choice->error = is_native(trained_as, choice->format) ? 0 : NAN;
}

/* ---- all formats ---- */

static int by_time(const void *a, const void *b)
{
    double left = ((const struct ulb_format_choice *)a)->us,
           right = ((const struct ulb_format_choice *)b)->us;
    return (left < right) - (left > right);
}

static bool is_on_front(const struct ulb_format_choice *choices, size_t n,
                        const struct ulb_format_choice *one)
{
    for (size_t i = 0; i < n; i++) {
        bool as_good = choices[i].us <= one->us && choices[i].error <= one->error;
        if (as_good && (choices[i].us < one->us || choices[i].error < one->error))
            return false;
    }
    return isfinite(one->error);
}

size_t ulb_format_choices(const struct ulb_choice_input *input, const struct ulb_wants *wants,
                          struct ulb_format_choice choices[ULB_FORMAT_CHOICES])
{
    size_t used = 0;
    for (size_t i = 0; i < input->n && used < ULB_FORMAT_CHOICES; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = strcmp(input->cells[j]->format, input->cells[i]->format) == 0;
        if (seen || !choose(input, input->cells[i]->format, &choices[used]))
            continue;
        set_error(input, &choices[used]);
        choices[used].fits =
            !(choices[used].weight_bytes + known(choices[used].kv_bytes) > wants->available_bytes);
        used++;
    }
    qsort(choices, used, sizeof *choices, by_time);
    for (size_t i = 0; i < used; i++)
        choices[i].pareto = is_on_front(choices, used, &choices[i]);
    return used;
}

/* ---- suggestion ---- */

/* The smaller error among those that are fast enough; else the faster one. */
static bool is_better(const struct ulb_format_choice *a, const struct ulb_format_choice *b, double wanted_us)
{
    bool fast = a->us <= wanted_us;
    if (fast != (b->us <= wanted_us))
        return fast;
    return fast ? a->error < b->error || (a->error <= b->error && a->us < b->us) : a->us < b->us;
}

const struct ulb_format_choice *ulb_suggest_format(const struct ulb_format_choice *choices, size_t n,
                                                   const struct ulb_wants *wants,
                                                   char reason[ULB_CHOICE_REASON])
{
    const struct ulb_format_choice *best = NULL;
    double wanted_us = 1e6 / wants->min_tps;
    bool any_fits = false;
    for (size_t i = 0; i < n; i++) {
        bool can = choices[i].fits && choices[i].error <= wants->max_error &&
                   !(wants->needs_tps && choices[i].us > wanted_us);
        any_fits |= choices[i].fits;
        if (can && (!best || is_better(&choices[i], best, wanted_us)))
            best = &choices[i];
    }
    if (n == 0)
        strcpy(reason, "the record has no cells to make tokens of");
    else if (!any_fits)
        snprintf(reason, ULB_CHOICE_REASON, "no format fits: %.1f GiB are available",
                 wants->available_bytes / ULB_GIB);
    else if (!best && wants->needs_tps)
        snprintf(reason, ULB_CHOICE_REASON,
                 "no format that fits, with an error of at most %.2f, reaches %.4g tokens/s",
                 wants->max_error, wants->min_tps);
    else if (!best)
        snprintf(reason, ULB_CHOICE_REASON, "no format that fits has an error of at most %.2f",
                 wants->max_error);
    else if (best->us <= wanted_us)
        snprintf(reason, ULB_CHOICE_REASON, "the least error at %.4g tokens/s or more", wants->min_tps);
    else
        snprintf(reason, ULB_CHOICE_REASON, "the fastest: none of error %.2f or less reaches %.4g tokens/s",
                 wants->max_error, wants->min_tps);
    return best;
}

json_t *ulb_choice_json(const struct ulb_format_choice *choice)
{
    static const char no_yardstick[] = "the record has no yardstick", none[] = "the record does not hold it";
    const struct ulb_cell *cell = choice->slowest;
    json_t *row =
        json_pack("{s:s, s:s, s:f, s:f, s:b, s:b, s:s}", "format", choice->format, "kernel", cell->kernel,
                  "tokens_per_s", 1e6 / choice->us, "weight_bytes", choice->weight_bytes, "fits",
                  choice->fits, "pareto", choice->pareto, "bound", cell->bound);
    int bad =
        !row || ulb_summary_set(row, "tokens_per_s_limit", 1e6 / choice->limit_us, no_yardstick) |
                    ulb_summary_set(row, "share_of_limit", choice->limit_us / choice->us, no_yardstick) |
                    ulb_summary_set(row, "gamma_cycles", cell->gamma_cycles, "not measured") |
                    ulb_summary_set(row, "bits", choice->bits, none) |
                    ulb_summary_set(row, "kv_bytes", choice->kv_bytes, "not known of this model") |
                    ulb_summary_set(row, "error_rmse", choice->error, none);
    return bad ? NULL : row;
}
