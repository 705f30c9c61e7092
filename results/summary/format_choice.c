#include "results/summary/format_choice.h"

#include "common/units.h"
#include "results/summary/verdict.h"

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

/* Attention to fewer positions says nothing of what a byte of a long cache takes. */
enum { CONTEXT_LEAST = 1024 };

/* What decoded models of the record, on the cells' cores, say of a token beside its products: the least of
 * their runs, since disturbance only adds. */
struct token_rest {
    size_t runs;
    double layer_us;     /* norms, quantised activations, and waiting beyond that of products alone */
    double attention_us; /* of a byte of the cache, and of each query that it serves */
};

static struct token_rest rest_of(const struct ulb_choice_input *input)
{
    struct token_rest rest = {0, NAN, NAN};
    const json_t *run;
    size_t i;
    json_array_foreach(ulb_decode_runs(input->record), i, run)
    {
        const json_t *split = json_object_get(run, "split_ms");
        double waiting = ulb_row_number(split, "fork_join"), products = ulb_row_number(split, "gemv"),
               alone = ulb_row_number(run, "gemv_cold_ms"), layers = ulb_row_number(run, "layers"),
               attention = ulb_row_number(split, "attention"), kv = ulb_row_number(run, "kv_bytes_per_token"),
               beyond = fmin(fmax(products + waiting - alone, 0), waiting),
               other = ulb_row_number(split, "quantise") + ulb_row_number(split, "other");
        double queries = ulb_row_number(run, "queries_per_key"),
               attention_us = 1e3 * attention / (kv * (isfinite(queries) ? queries : 1));
        bool alike = input->n > 0 && strcmp(ulb_row_text(run, "set"), input->cells[0]->set) == 0 &&
                     ulb_row_number(run, "threads") == input->cells[0]->threads;
        /* A step of several sequences shares what a token alone takes. */
        if (!alike || ulb_row_number(run, "batch") > 1 || !isfinite(other + beyond + attention_us) ||
            !(layers > 0) || !(ulb_row_number(run, "context") >= CONTEXT_LEAST))
            continue;
        rest.layer_us = fmin(rest.layer_us, 1e3 * (other + beyond) / layers);
        rest.attention_us = fmin(rest.attention_us, attention_us);
        rest.runs++;
    }
    return rest;
}

static double read_us(const struct ulb_choice_input *input, double bytes)
{
    return 1e6 * bytes / (input->memory_gbps * ULB_GB);
}

enum ulb_status ulb_head_share(const struct ulb_cell *const *cells, size_t n, double *share,
                               struct ulb_error *err)
{
    struct ulb_format_share shares[ULB_FORMAT_SHARES];
    size_t used;
    *share = NAN;
    enum ulb_status status = ulb_format_shares(cells, n, shares, &used, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < used; i++) {
        if (strcmp(shares[i].format, "bf16") == 0)
            *share = shares[i].share;
    }
    return ULB_OK;
}

static double head_us(const struct ulb_choice_input *input)
{
    double share = isfinite(input->head_share) ? input->head_share : 1;
    return read_us(input, head_bytes(input->model)) / share;
}

/* As long as its bytes take at least, and as its arithmetic takes where that was decoded. */
double ulb_choice_cache_us(const struct ulb_choice_input *input)
{
    struct token_rest rest = rest_of(input);
    double bytes = known(ulb_row_number(input->model, "kv_bytes")),
           queries = ulb_row_number(input->model, "queries_per_key"), us = read_us(input, bytes);
    return rest.runs > 0 ? fmax(us, bytes * rest.attention_us * (isfinite(queries) ? queries : 1)) : us;
}

double ulb_choice_other_us(const struct ulb_choice_input *input)
{
    struct token_rest rest = rest_of(input);
    double layers = known(ulb_row_number(input->model, "layers"));
    return head_us(input) + ulb_choice_cache_us(input) + (rest.runs > 0 ? layers * rest.layer_us : 0);
}

const char *ulb_choice_basis(const struct ulb_choice_input *input)
{
    bool decoded = rest_of(input).runs > 0;
    if (isfinite(input->head_share))
        return decoded ? "products, with a bf16 head; attention and the rest as decoded"
                       : "products only, with a bf16 head; cache at memory speed";
    return decoded ? "products; 16-bit head at memory speed; attention and the rest as decoded"
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
    choice->memory_us += cell && strcmp(cell->bound, "memory") == 0 ? us : 0;
    choice->weight_bytes += cell ? ulb_row_number(matrix, "count") * (double)cell->weight_bytes * scale : NAN;
    if (us > *most_us) {
        *most_us = us;
        choice->slowest = cell;
    }
}

/* At the slower speed of memory: what is suggested is fast enough at both. */
static double slower_us(const struct ulb_format_choice *choice)
{
    return fmax(choice->us, choice->other_us);
}

/* False for a model without matrices, or with numbers that are none. */
static bool choose(const struct ulb_choice_input *input, const char *format, struct ulb_format_choice *choice)
{
    const json_t *matrix;
    double most_us = 0, cache = read_us(input, known(ulb_row_number(input->model, "kv_bytes")));
    size_t i;
    *choice = (struct ulb_format_choice){
        .format = format,
        .us = ulb_choice_other_us(input),
        .limit_us = read_us(input, head_bytes(input->model)) + cache,
        .memory_us = head_us(input) + cache,
        .weight_bytes = head_bytes(input->model),
        .kv_bytes = ulb_row_number(input->model, "kv_bytes"),
    };
    json_array_foreach(json_object_get(input->model, "matrices"), i, matrix)
        add_matrix(choice, input, matrix, &most_us);
    choice->other_us = choice->us + choice->memory_us * (input->memory_gbps / input->other_gbps - 1);
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
    double a_us = slower_us(a), b_us = slower_us(b);
    bool fast = a_us <= wanted_us;
    if (fast != (b_us <= wanted_us))
        return fast;
    return fast ? a->error < b->error || (a->error <= b->error && a_us < b_us) : a_us < b_us;
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
                   !(wants->needs_tps && slower_us(&choices[i]) > wanted_us);
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
    else if (slower_us(best) <= wanted_us)
        snprintf(reason, ULB_CHOICE_REASON, "the least error at %.4g tokens/s or more%s", wants->min_tps,
                 isfinite(best->other_us) ? ", at both speeds of memory" : "");
    else
        snprintf(reason, ULB_CHOICE_REASON, "the fastest: none of error %.2f or less reaches %.4g tokens/s",
                 wants->max_error, wants->min_tps);
    return best;
}

static json_t *choice_json(const struct ulb_format_choice *choice)
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
    if (isfinite(choice->other_us))
        bad |= ulb_summary_set(row, "tokens_per_s_other", 1e6 / choice->other_us, none);
    return bad ? NULL : row;
}

json_t *ulb_choices_json(const struct ulb_choice_input *input, const struct ulb_wants *wants)
{
    struct ulb_format_choice *choices = calloc(ULB_FORMAT_CHOICES, sizeof *choices);
    char reason[ULB_CHOICE_REASON];
    json_t *formats = json_array();
    if (!choices || !formats) {
        json_decref(formats);
        free(choices);
        return NULL;
    }
    size_t n = ulb_format_choices(input, wants, choices);
    const struct ulb_format_choice *suggested = ulb_suggest_format(choices, n, wants, reason);
    int bad = 0;
    for (size_t i = 0; i < n; i++)
        bad |= json_array_append_new(formats, choice_json(&choices[i]));
    json_t *document =
        json_pack("{s:s, s:O?, s:o, s:s?, s:s, s:s}", "model", ulb_row_text(input->model, "model"), "context",
                  json_object_get(input->model, "context"), "formats", formats, "suggested",
                  suggested ? suggested->format : NULL, "reason", reason, "basis", ulb_choice_basis(input));
    free(choices);
    json_t *scales = json_object_get(input->model, "cache_scales");
    if (document && scales)
        bad |= json_object_set(document, "cache_scales", scales);
    if (bad) {
        json_decref(document);
        return NULL;
    }
    return document;
}

const json_t *ulb_suggested_row(const json_t *model)
{
    const json_t *format;
    size_t i;
    json_array_foreach(json_object_get(model, "formats"), i, format)
    {
        if (strcmp(ulb_row_text(format, "format"), ulb_row_text(model, "suggested")) == 0)
            return format;
    }
    return NULL;
}
