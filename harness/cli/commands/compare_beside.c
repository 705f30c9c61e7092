#include "harness/cli/commands/compare_beside.h"

#include "common/filter.h"
#include "common/rng.h"
#include "common/stats.h"
#include "harness/cli/commands/turn_partner.h"
#include "harness/cli/interrupt.h"
#include "harness/session/interrupted.h"
#include "harness/timing/clock.h"
#include "results/compare/in_turn.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounds of a session, in pairs: the second of a pair has each cell's builds the other way round. */
enum { ROUNDS = 16, ROUNDS_LEAST = 4 };
/* Of one build in one turn: cells of one turn see the same state of the machine. */
static const double TURN_SECONDS = 0.5, FIRST_GUESS_SECONDS = 0.02;

enum side { BASE, FRESH, SIDES };

/* A cell of either build. */
struct beside_cell {
    struct ulb_turn_cell is;
    size_t place[SIDES]; /* in the builds' lists, of this session */
    bool here;           /* measured in this session */
    double effect[ROUNDS], us[SIDES][ROUNDS];
};

struct beside {
    const struct ulb_beside_request *request;
    struct ulb_turn_partner partners[SIDES];
    struct beside_cell *cells;
    size_t n;
    struct ulb_turn_cell *judged; /* n, the same for ulb_compare_in_turn() */
    size_t *order, n_order;       /* of the cells of this session */
    size_t *turn;                 /* room for one build's places */
    struct ulb_turn_samples *samples[SIDES];
    double cell_seconds; /* what a cell takes in a turn */
    double deadline;
    size_t sessions;
};

static enum ulb_status no_memory(struct ulb_error *err)
{
    return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to compare builds in turn");
}

/* ---- which cells ---- */

static int by_kernel(const void *a, const void *b)
{
    const struct beside_cell *x = a, *y = b;
    int order = strcmp(x->is.kernel, y->is.kernel);
    if (order == 0)
        order = (x->is.m > y->is.m) - (x->is.m < y->is.m);
    return order ? order : (x->is.k > y->is.k) - (x->is.k < y->is.k);
}

static struct beside_cell named(const json_t *cell)
{
    struct beside_cell named = {.is = {.m = (size_t)json_integer_value(json_object_get(cell, "m")),
                                       .k = (size_t)json_integer_value(json_object_get(cell, "k")),
                                       .base_us = NAN,
                                       .fresh_us = NAN}};
    snprintf(named.is.kernel, sizeof named.is.kernel, "%s",
             json_string_value(json_object_get(cell, "kernel")));
    return named;
}

static enum ulb_status is_wanted(const struct beside *beside, const struct beside_cell *cell, bool *wanted,
                                 struct ulb_error *err)
{
    char key[128];
    regex_t filter;
    *wanted = true;
    if (!beside->request->settings.cell)
        return ULB_OK;
    enum ulb_status status = ulb_filter_compile(&filter, "--cell", beside->request->settings.cell, err);
    if (status != ULB_OK)
        return status;
    snprintf(key, sizeof key, "%s %zux%zu", cell->is.kernel, cell->is.m, cell->is.k);
    status = ulb_filter_match(&filter, key, wanted, err);
    regfree(&filter);
    return status;
}

/* The cells that either build has, once. */
static enum ulb_status list_cells(struct beside *beside, struct ulb_error *err)
{
    size_t most = 0;
    for (int side = 0; side < SIDES; side++)
        most += json_array_size(beside->partners[side].cells);
    beside->cells = calloc(most, sizeof *beside->cells);
    beside->judged = calloc(most, sizeof *beside->judged);
    beside->order = calloc(most, sizeof *beside->order);
    beside->turn = calloc(most, sizeof *beside->turn);
    for (int side = 0; side < SIDES; side++)
        beside->samples[side] = calloc(most, sizeof *beside->samples[side]);
    if (!beside->cells || !beside->judged || !beside->order || !beside->turn || !beside->samples[BASE] ||
        !beside->samples[FRESH])
        return no_memory(err);
    enum ulb_status status = ULB_OK;
    for (int side = 0; side < SIDES; side++) {
        const json_t *cell;
        size_t i, known = beside->n;
        json_array_foreach(beside->partners[side].cells, i, cell)
        {
            struct beside_cell one = named(cell), *found = NULL;
            bool wanted;
            for (size_t c = 0; c < known && !found; c++)
                found = by_kernel(&one, &beside->cells[c]) == 0 ? &beside->cells[c] : NULL;
            if (status == ULB_OK && !found)
                status = is_wanted(beside, &one, &wanted, err);
            if (status != ULB_OK)
                return status;
            if (!found && !wanted)
                continue;
            if (!found)
                *(found = &beside->cells[beside->n++]) = one;
            *(side == BASE ? &found->is.in_base : &found->is.in_fresh) = true;
        }
    }
    qsort(beside->cells, beside->n, sizeof *beside->cells, by_kernel);
    return beside->n > 0 ? ULB_OK : ulb_fail(err, ULB_BAD_INPUT, "no cell matches --cell");
}

/* Where the cells are in the builds' lists, and which are in both. */
static void find_places(struct beside *beside)
{
    beside->n_order = 0;
    for (size_t c = 0; c < beside->n; c++) {
        struct beside_cell *cell = &beside->cells[c];
        size_t found = 0;
        for (int side = 0; side < SIDES; side++) {
            const json_t *item;
            size_t i;
            json_array_foreach(beside->partners[side].cells, i, item)
            {
                struct beside_cell one = named(item);
                if (by_kernel(&one, cell) != 0)
                    continue;
                cell->place[side] = i;
                found++;
                break;
            }
        }
        cell->here = found == SIDES;
        if (cell->here)
            beside->order[beside->n_order++] = c;
    }
}

/* ---- a session ---- */

/* Kernels of which more is wanted, as a value of --kernels; NULL: all. To be freed. */
static enum ulb_status open_kernels(const struct beside *beside, const struct ulb_comparison *so_far,
                                    char **filter, struct ulb_error *err)
{
    *filter = NULL;
    if (beside->sessions < ULB_TURN_SESSIONS)
        return ULB_OK;
    size_t room = so_far->n_kernels * sizeof so_far->kernels[0].kernel + 4, used = 0;
    *filter = malloc(room);
    if (!*filter)
        return no_memory(err);
    for (size_t i = 0; i < so_far->n_kernels; i++) {
        if (so_far->kernels[i].open)
            used += (size_t)snprintf(*filter + used, room - used, "%s%s", used ? "|" : "^(",
                                     so_far->kernels[i].kernel);
    }
    snprintf(*filter + used, room - used, ")$");
    return ULB_OK;
}

/* Whether what is measured was named. */
static bool names_shapes(const struct ulb_beside_request *request)
{
    static const char *const names[] = {"--sh", "--mo", "-m"};
    bool named = false;
    for (size_t i = 0; i < request->n_options; i++) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            named |= strncmp(request->options[i], names[n], strlen(names[n])) == 0;
    }
    return named;
}

static void add_option(char **options, size_t *n, const char *name, const char *value)
{
    if (!value)
        return;
    options[(*n)++] = (char *)(uintptr_t)name;
    options[(*n)++] = (char *)(uintptr_t)value;
}

static enum ulb_status start(struct beside *beside, enum side side, const char *filter, struct ulb_error *err)
{
    enum { OWN = 8 };
    const struct ulb_beside_request *request = beside->request;
    char **options = calloc(request->n_options + OWN, sizeof *options);
    static char quick[] = "--quick";
    size_t n = 0;
    if (!options)
        return no_memory(err);
    options[n++] = quick;
    add_option(options, &n, "--shapes", names_shapes(request) ? NULL : "2048x2048,4096x4096");
    add_option(options, &n, "--kernel-library", request->libraries[side]);
    for (size_t i = 0; i < request->n_options; i++)
        options[n++] = request->options[i];
    add_option(options, &n, "--kernels", filter ? filter : request->settings.kernel);
    enum ulb_status status =
        ulb_turn_partner_start(&beside->partners[side], request->programs[side], options, err);
    free(options);
    return status;
}

/* One turn of each build over the same cells. */
static enum ulb_status take_turn(struct beside *beside, const size_t *cells, size_t n, size_t round,
                                 enum side first, struct ulb_error *err)
{
    double begin = ulb_now();
    for (int i = 0; i < SIDES; i++) {
        size_t side = ((size_t)first + (size_t)i) % SIDES;
        for (size_t c = 0; c < n; c++)
            beside->turn[c] = beside->cells[cells[c]].place[side];
        enum ulb_status status =
            ulb_turn_partner_measure(&beside->partners[side], beside->turn, n, beside->samples[side], err);
        if (status != ULB_OK)
            return status;
    }
    for (size_t c = 0; c < n; c++) {
        struct beside_cell *cell = &beside->cells[cells[c]];
        const struct ulb_turn_samples *base = &beside->samples[BASE][c], *fresh = &beside->samples[FRESH][c];
        bool alike =
            base->n == fresh->n; /* a call of 3 ms is sampled once by the one, more often by the other */
        cell->us[BASE][round] = alike ? base->best_us : base->first_us;
        cell->us[FRESH][round] = alike ? fresh->best_us : fresh->first_us;
        cell->effect[round] = log(cell->us[FRESH][round] / cell->us[BASE][round]);
    }
    beside->cell_seconds = (beside->cell_seconds + (ulb_now() - begin) / (double)(SIDES * n)) / 2;
    return ULB_OK;
}

/* Turns over all cells; A B, then B A. */
static enum ulb_status take_round(struct beside *beside, size_t round, struct ulb_error *err)
{
    enum ulb_status status = ulb_check_interrupted(err);
    size_t turns = 0;
    for (size_t at = 0, n; at < beside->n_order && status == ULB_OK; at += n, turns++) {
        double fit = TURN_SECONDS / beside->cell_seconds;
        n = fit < 1 ? 1 : fit < (double)(beside->n_order - at) ? (size_t)fit : beside->n_order - at;
        status = take_turn(beside, beside->order + at, n, round, (round + turns) % SIDES ? FRESH : BASE, err);
    }
    return status;
}

static enum ulb_status keep_effects(struct beside *beside, size_t rounds, struct ulb_error *err)
{
    for (size_t c = 0; c < beside->n; c++) {
        struct beside_cell *cell = &beside->cells[c];
        if (!cell->here)
            continue;
        double *more = realloc(cell->is.effects, (cell->is.n_sessions + 1) * sizeof *more);
        if (!more)
            return no_memory(err);
        double median = ulb_median_of(cell->effect, rounds), before = (double)cell->is.n_sessions;
        cell->is.effects = more;
        cell->is.effects[cell->is.n_sessions++] = median;
        cell->is.session_error +=
            (ulb_session_error(cell->effect, rounds) - cell->is.session_error) / (before + 1);
        cell->is.base_us = ulb_median_of(cell->us[BASE], rounds);
        cell->is.fresh_us = ulb_median_of(cell->us[FRESH], rounds);
        cell->is.rounds += rounds;
    }
    beside->sessions++;
    return ULB_OK;
}

static enum ulb_status take_rounds(struct beside *beside, struct ulb_error *err)
{
    struct ulb_rng rng = {beside->sessions + 1};
    enum ulb_status status = ULB_OK;
    size_t round = 0;
    find_places(beside);
    if (beside->n_order == 0)
        return ulb_fail(err, ULB_ENVIRONMENT,
                        "the two builds have no kernel and shape in common; choose others behind --");
    while (round < ROUNDS && status == ULB_OK) {
        if (round % 2 == 0)
            ulb_rng_shuffle(&rng, beside->order, beside->n_order);
        status = take_round(beside, round, err);
        round += status == ULB_OK;
        if (round >= ROUNDS_LEAST && round % 2 == 0 && ulb_now() > beside->deadline)
            break;
    }
    return status == ULB_OK ? keep_effects(beside, round, err) : status;
}

static enum ulb_status run_session(struct beside *beside, const char *filter, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    /* One warms up while the other is not there yet, or sleeps; who is first changes. */
    for (size_t i = 0; i < SIDES && status == ULB_OK; i++)
        status = start(beside, (beside->sessions + i) % SIDES ? FRESH : BASE, filter, err);
    if (status == ULB_OK && !beside->cells)
        status = list_cells(beside, err);
    if (status == ULB_OK)
        status = take_rounds(beside, err);
    for (int side = 0; side < SIDES; side++)
        ulb_turn_partner_stop(&beside->partners[side]);
    return status;
}

/* ---- until it is told ---- */

static enum ulb_status judge(struct beside *beside, struct ulb_comparison *comparison, struct ulb_error *err)
{
    ulb_comparison_free(comparison);
    for (size_t c = 0; c < beside->n; c++)
        beside->judged[c] = beside->cells[c].is;
    return ulb_compare_in_turn(beside->judged, beside->n, &beside->request->settings, comparison, err);
}

/* Returns how many kernels are open. */
static size_t note_progress(const struct beside *beside, const struct ulb_comparison *comparison)
{
    size_t open = 0, slower = 0;
    for (size_t i = 0; i < comparison->n_kernels; i++) {
        open += comparison->kernels[i].open;
        slower += comparison->kernels[i].verdict == ULB_REGRESSED;
    }
    double left = (beside->deadline - ulb_now()) / 60;
    fprintf(stderr, "session %zu: %zu of %zu kernels open, %zu slower so far; %.0f min left at most\n",
            beside->sessions, open, comparison->n_kernels, slower, fmax(0, left));
    return open;
}

static enum ulb_status run_sessions(struct beside *beside, struct ulb_comparison *comparison,
                                    struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    size_t open = 1;
    while (status == ULB_OK && open > 0 && (beside->sessions == 0 || ulb_now() < beside->deadline)) {
        char *filter;
        status = open_kernels(beside, comparison, &filter, err);
        if (status == ULB_OK)
            status = run_session(beside, filter, err);
        free(filter);
        if (status == ULB_OK)
            status = judge(beside, comparison, err);
        if (status == ULB_OK)
            open = note_progress(beside, comparison);
    }
    return status;
}

enum ulb_status ulb_compare_beside(const struct ulb_beside_request *request,
                                   struct ulb_comparison *comparison, struct ulb_error *err)
{
    struct beside beside = {.request = request,
                            .cell_seconds = FIRST_GUESS_SECONDS,
                            .deadline = ulb_now() + 60 * request->max_minutes};
    *comparison = (struct ulb_comparison){.metric = ULB_METRIC_US};
    ulb_catch_signals();
    signal(SIGPIPE, SIG_IGN);
    enum ulb_status status = run_sessions(&beside, comparison, err);
    for (size_t c = 0; c < beside.n; c++)
        free(beside.cells[c].is.effects);
    free(beside.cells);
    free(beside.judged);
    free(beside.order);
    free(beside.turn);
    for (int side = 0; side < SIDES; side++)
        free(beside.samples[side]);
    return status;
}
