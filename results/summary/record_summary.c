#include "results/summary/record_summary.h"

#include "common/stats.h"
#include "results/summary/chosen_cells.h"
#include "results/summary/format_choice.h"
#include "results/summary/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 256 };

/* A format whose share, its own noise added, reaches this runs at memory speed. */
static const double MEMORY_SPEED = 0.90;

/* Shares of disturbed samples, and medians of the cells' noise, up to which a run is good and fair. */
static const double GOOD_DISTURBED = 0.10, GOOD_NOISE = 0.03, FAIR_DISTURBED = 0.50, FAIR_NOISE = 0.08;

/* ---- memory ---- */

/* What one core of the machine reads, GB/s: the best of the cells of one thread. */
static double one_core_gbps(const struct ulb_record *record)
{
    const json_t *cells = json_object_get(json_object_get(record->root, "beta"), "cells"), *cell;
    double most = NAN;
    size_t i;
    json_array_foreach(cells, i, cell)
    {
        if (strcmp(ulb_row_text(cell, "level"), "mem") == 0 && ulb_row_number(cell, "threads") < 2)
            most = fmax(most, ulb_row_number(cell, "gbps"));
    }
    return most;
}

static int set_memory(json_t *summary, const struct ulb_record *record, const struct ulb_cell *cell)
{
    struct ulb_resolved_beta beta = {.gbps = NAN, .other_gbps = NAN};
    if (cell)
        beta = ulb_record_resolved_beta(record, cell->set);
    int bad = ulb_summary_set(summary, "memory_gbps", beta.gbps, "the record has no cells of one token");
    if (isfinite(beta.other_gbps))
        bad |= json_object_set_new(summary, "memory_other_gbps", json_real(beta.other_gbps));
    if (beta.other_created)
        bad |= json_object_set_new(summary, "memory_other_created", json_string(beta.other_created));
    bad |= json_object_set_new(summary, "memory_threads",
                               cell ? json_integer((json_int_t)cell->threads) : json_null());
    return bad | ulb_summary_set(summary, "memory_one_core_gbps", one_core_gbps(record),
                                 "no core's memory bandwidth was measured alone");
}

/* ---- trust ---- */

static double disturbed_share(const struct ulb_cell *const *cells, size_t n)
{
    double disturbed = 0, samples = 0;
    for (size_t i = 0; i < n; i++) {
        disturbed += (double)cells[i]->n_disturbed;
        samples += (double)cells[i]->n_samples;
    }
    return disturbed / samples;
}

/* NAN when no cell tells its noise; room is for n numbers. */
static double median_noise(const struct ulb_cell *const *cells, size_t n, double *room)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(cells[i]->noise))
            room[known++] = cells[i]->noise;
    }
    return known > 0 ? ulb_median(room, known) : NAN;
}

/* What makes limits and tokens/s of two runs differ beyond the noise of a cell; NULL: nothing. */
static const char *why_too_loud(const json_t *summary, const struct ulb_record *record, bool fair)
{
    if (json_object_get(summary, "memory_other_gbps"))
        return "memory has two speeds here, too loud to tell limits and tok/s";
    if (ulb_decoded_noise(record) > ULB_DECODED_NOISY)
        return "decoded tokens differ, too loud to tell tok/s";
    return fair ? NULL : "too loud to tell close formats apart";
}

static int set_trust(json_t *summary, const struct ulb_record *record, const struct ulb_cell *const *cells,
                     size_t n, double noise)
{
    double disturbed = disturbed_share(cells, n);
    bool good = disturbed <= GOOD_DISTURBED && noise <= GOOD_NOISE;
    const char *loud = why_too_loud(summary, record, disturbed <= FAIR_DISTURBED && noise <= FAIR_NOISE);
    const char *trust = loud ? "poor" : good ? "good" : "fair";
    char reason[TEXT_BYTES];
    int bad = ulb_summary_set(summary, "disturbed_share", disturbed, "no samples");
    bad |= ulb_summary_set(summary, "noise", noise, "the cells do not tell their noise");
    if (!isfinite(noise))
        snprintf(reason, sizeof reason, "the cells do not tell their noise; measure again");
    else
        snprintf(
            reason, sizeof reason,
            "%s%s%.0f %% of samples disturbed, a cell is known to %.1f %%; differences under %.0f %% need a "
            "%s repeat",
            loud ? loud : "", loud ? "; " : "", 100 * disturbed, 100 * noise, ceil(200 * noise),
            good ? "second" : "quiet");
    bad |= json_object_set_new(summary, "trust", json_string(trust));
    return bad | json_object_set_new(summary, "trust_reason", json_string(reason));
}

/* ---- what limits ---- */

static void add_name(char *list, size_t bytes, const char *name)
{
    size_t used = strlen(list);
    snprintf(list + used, bytes - used, "%s%s", used ? ", " : "", name);
}

static bool at_memory_speed(const struct ulb_format_share *share)
{
    double noise = isfinite(share->typical->noise) ? share->typical->noise : 0;
    return share->share + noise >= MEMORY_SPEED;
}

/* Those below memory speed that are bound so: "int1 80 %: compute", or of many "12 formats at 68 to 83 %". */
static void add_slow(char *list, size_t bytes, const struct ulb_format_share *shares, size_t n,
                     const char *bound)
{
    enum { NAMED = 3 };
    char names[TEXT_BYTES] = "", text[TEXT_BYTES + 64];
    double lowest = INFINITY, highest = 0;
    size_t slow = 0;
    for (size_t i = 0; i < n; i++) {
        char one[64];
        if (at_memory_speed(&shares[i]) || !isfinite(shares[i].share) ||
            strcmp(shares[i].typical->bound, bound) != 0)
            continue;
        snprintf(one, sizeof one, "%s %.0f %%", shares[i].format, 100 * shares[i].share);
        if (++slow <= NAMED)
            add_name(names, sizeof names, one);
        lowest = fmin(lowest, shares[i].share);
        highest = fmax(highest, shares[i].share);
    }
    if (slow == 0)
        return;
    if (slow > NAMED)
        snprintf(names, sizeof names, "%zu at %.0f to %.0f %%", slow, 100 * lowest, 100 * highest);
    snprintf(text, sizeof text, "%s%s%s", names, bound[0] ? ": " : "", bound);
    size_t used = strlen(list);
    snprintf(list + used, bytes - used, "%s%s", used ? "; " : "", text);
}

/* "bf16, int8, int4 at memory speed; int1 80 %: compute"; where many are, how many. */
static int set_limit(json_t *summary, const struct ulb_format_share *shares, size_t n)
{
    enum { NAMED = 6 };
    static const char *const bounds[] = {"memory", "compute", "overhead", ""};
    char limit[2 * TEXT_BYTES] = "";
    size_t at_speed = 0;
    for (size_t i = 0; i < n; i++) {
        if (at_memory_speed(&shares[i]) && ++at_speed <= NAMED)
            add_name(limit, sizeof limit, shares[i].format);
    }
    if (at_speed > NAMED)
        snprintf(limit, sizeof limit, "%zu of %zu formats", at_speed, n);
    if (at_speed > 0)
        strcat(limit, " at memory speed");
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        add_slow(limit, sizeof limit, shares, n, bounds[b]);
    return json_object_set_new(summary, "limit", limit[0] ? json_string(limit) : json_null());
}

/* ---- models ---- */

static json_t *model_json(const struct ulb_choice_input *input)
{
    const struct ulb_wants wants = {.min_tps = ULB_SUGGESTED_TPS,
                                    .max_error = ULB_SUGGESTED_ERROR,
                                    .available_bytes =
                                        ulb_record_number(input->record, "machine.memory_bytes")};
    static const char unknown[] = "the record does not say how fast memory is";
    json_t *row = ulb_choices_json(input, &wants);
    if (row && (ulb_summary_set(row, "other_us", ulb_choice_other_us(input), unknown) |
                ulb_summary_set(row, "cache_us", ulb_choice_cache_us(input), unknown)) != 0) {
        json_decref(row);
        return NULL;
    }
    return row;
}

static int add_models(json_t *models, struct ulb_choice_input input)
{
    int bad = 0;
    size_t i;
    json_array_foreach(json_object_get(input.record->root, "models"), i, input.model) bad =
        bad || json_array_append_new(models, model_json(&input));
    return bad;
}

/* ---- the whole ---- */

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the summary");
}

/* Of at least one cell. */
static enum ulb_status set_results(json_t *summary, json_t *models, const struct ulb_record *record,
                                   const struct ulb_cell *const *cells, size_t n, struct ulb_error *err)
{
    struct ulb_format_share *shares = calloc(ULB_FORMAT_SHARES, sizeof *shares);
    double *room = calloc(n, sizeof *room), head_share;
    size_t used;
    enum ulb_status status = shares && room ? ULB_OK : no_memory(err);
    if (status == ULB_OK)
        status = ulb_format_shares(cells, n, shares, &used, err);
    if (status == ULB_OK)
        status = ulb_head_share(cells, n, &head_share, err);
    if (status == ULB_OK) {
        int bad = set_trust(summary, record, cells, n, median_noise(cells, n, room));
        bad |= set_limit(summary, shares, used);
        bad |= add_models(models, (struct ulb_choice_input){
                                      record, cells, n, ulb_row_number(summary, "memory_gbps"),
                                      ulb_row_number(summary, "memory_other_gbps"), head_share, NULL});
        status = bad ? no_memory(err) : ULB_OK;
    }
    free(room);
    free(shares);
    return status;
}

static enum ulb_status set_all(json_t *summary, const struct ulb_record *record,
                               const struct ulb_cell *const *cells, size_t n, struct ulb_error *err)
{
    json_t *models = json_array();
    int bad = set_memory(summary, record, n > 0 ? cells[0] : NULL);
    enum ulb_status status = bad ? no_memory(err) : ULB_OK;
    if (status == ULB_OK && n > 0)
        status = set_results(summary, models, record, cells, n, err);
    bad |= json_object_set_new(summary, "models", models) |
           json_object_set_new(summary, "wanted_tokens_per_s", json_real(ULB_SUGGESTED_TPS)) |
           json_object_set_new(summary, "largest_error", json_real(ULB_SUGGESTED_ERROR));
    return bad && status == ULB_OK ? no_memory(err) : status;
}

enum ulb_status ulb_summary_of(const struct ulb_record *record, json_t **out, struct ulb_error *err)
{
    struct ulb_cell *cells = NULL;
    const struct ulb_cell **chosen = NULL;
    size_t n = 0, n_chosen = 0;
    json_t *summary = json_object();
    enum ulb_status status = ulb_record_cells(record, &cells, &n, err);
    if (status == ULB_OK && n > 0) {
        status = ulb_choose_cells(record, cells, n, &chosen, &n_chosen, err);
        if (status == ULB_BAD_INPUT) /* none of one token: a run of GEMMs */
            status = ULB_OK;
    }
    if (status == ULB_OK)
        status = set_all(summary, record, (const struct ulb_cell *const *)chosen, n_chosen, err);
    free(chosen);
    ulb_cells_free(cells, n);
    if (status != ULB_OK) {
        json_decref(summary);
        return status;
    }
    *out = summary;
    return ULB_OK;
}
