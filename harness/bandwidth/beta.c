#include "harness/bandwidth/beta.h"

#include "common/units.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/memory/cache_share.h"
#include "harness/counters/likwid.h"
#include "harness/session/checkpoint.h"
#include "harness/bandwidth/idle_penalty.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PAGES_MARGIN = 1.03;
enum { CURVE_ALL_UP_TO = 32 };

static struct ulb_read_plan plan_of(const struct ulb_session *session)
{
    return (struct ulb_read_plan){session->selection.isa, session->settings.quick, session->settings.seed};
}

static enum ulb_status add_cell(struct ulb_session *session, struct ulb_team *team, const char *set,
                                const char *level, size_t buffer_bytes, struct ulb_best_read *m,
                                struct ulb_error *err)
{
    size_t threads = ulb_team_size(team);
    for (size_t i = 0; i < m->n; i++)
        m->samples[i] /= ULB_GB;
    struct ulb_beta_cell cell = {
        .threads = (unsigned)threads,
        .gbps = m->stats.median / ULB_GB,
        .gbps_mad = m->stats.mad / ULB_GB,
        .bytes_per_cycle = m->stats.median / (double)threads / ulb_team_hz(team),
        .buffer_bytes = buffer_bytes,
        .n_samples = m->n,
        .gbps_samples = m->samples,
    };
    snprintf(cell.set, sizeof cell.set, "%s", set);
    snprintf(cell.level, sizeof cell.level, "%s", level);
    snprintf(cell.variant, sizeof cell.variant, "%s%s", m->reader->name,
             m->pages == ULB_PAGES_HUGE ? "+huge" : "");
    return ulb_record_add_beta(session->record, &cell, err);
}

/* The cell that the record got last, for the journal. */
static json_t *last_cell(const struct ulb_session *session)
{
    const json_t *cells = json_object_get(json_object_get(session->record->root, "beta"), "cells");
    return json_pack("{s:O}", "cell", json_array_get(cells, json_array_size(cells) - 1));
}

/* Puts a saved cell into the record. */
static enum ulb_status cell_from_json(struct ulb_session *session, const struct ulb_journal_entry *entry,
                                      const json_t *saved, struct ulb_error *err)
{
    json_t *cells = json_object_get(json_object_get(session->record->root, "beta"), "cells");
    json_t *cell = json_object_get(saved, "cell");
    if (!json_is_object(cell) || json_array_append(cells, cell) != 0)
        return ulb_entry_damaged(entry, err);
    return ULB_OK;
}

/* One level of one team's caches. */
static enum ulb_status measure_level(struct ulb_session *session, struct ulb_team *team, const char *set,
                                     const char *level, size_t bytes, struct ulb_error *err)
{
    const struct ulb_read_plan plan = plan_of(session);
    struct ulb_best_read best = {0};
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "beta %s %s", set, level);
    if (status != ULB_OK || saved)
        return status == ULB_OK ? cell_from_json(session, &entry, saved, err) : status;
    status = ulb_best_of_cache(&plan, team, session->arena.pages.data, bytes, &best, err);
    if (status == ULB_OK)
        status = add_cell(session, team, set, level, bytes, &best, err);
    if (status == ULB_OK)
        status = ulb_entry_end(session, &entry, last_cell(session), err);
    free(best.samples);
    return status;
}

/* L1, L2 and LLC of one team, on these PUs. A level whose size is unknown is left out: the record says only
 * what was measured. */
static enum ulb_status measure_caches(struct ulb_session *session, struct ulb_team *team, const char *set,
                                      const unsigned *pus, struct ulb_error *err)
{
    size_t levels[ULB_CACHE_LEVELS], threads = ulb_team_size(team);
    enum ulb_status status = ULB_OK;
    ulb_cache_levels(&session->machine.topology, pus, threads, levels);
    for (enum ulb_cache_level level = ULB_L1; level < ULB_CACHE_LEVELS && status == ULB_OK; level++) {
        size_t bytes = levels[level] / ULB_READER_GRAIN * ULB_READER_GRAIN;
        if (bytes > 0 && bytes * threads <= session->arena.pages.bytes)
            status = measure_level(session, team, set, ulb_cache_level_name(level), bytes, err);
    }
    return status;
}

static enum ulb_status measure_memory(struct ulb_session *session, struct ulb_team *team, const char *set,
                                      const struct ulb_reader *only, struct ulb_error *err)
{
    const struct ulb_read_plan plan = plan_of(session);
    struct ulb_best_read best = {0};
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "beta %s mem", set);
    if (status != ULB_OK || saved)
        return status == ULB_OK ? cell_from_json(session, &entry, saved, err) : status;
    status = ulb_best_of_memory(&plan, team, &session->arena, ULB_PAGES_HUGE, only, &best, err);
    if (status == ULB_OK)
        status = add_cell(session, team, set, "mem", ULB_MEMORY_CHUNK, &best, err);
    if (status == ULB_OK)
        status = ulb_entry_end(session, &entry, last_cell(session), err);
    free(best.samples);
    return status;
}

/* beta at memory level of a set; NAN when it was not measured. */
static double beta_of_set(const struct ulb_record *record, const char *wanted)
{
    const json_t *cells = json_object_get(json_object_get(record->root, "beta"), "cells");
    size_t i;
    const json_t *cell;
    json_array_foreach(cells, i, cell)
    {
        const char *set = json_string_value(json_object_get(cell, "set"));
        const char *level = json_string_value(json_object_get(cell, "level"));
        const json_t *value = json_object_get(cell, "bytes_per_cycle");
        if (set && level && strcmp(set, wanted) == 0 && strcmp(level, "mem") == 0)
            return json_is_number(value) ? json_number_value(value) : NAN;
    }
    return NAN;
}

/* A team of another set than the session's, whose own team sleeps meanwhile. A set that the command line, a
 * class and the curve name alike is read once. */
static enum ulb_status measure_set(struct ulb_session *session, const char *set, const unsigned *pus,
                                   size_t n, bool caches, const struct ulb_reader *only,
                                   struct ulb_error *err)
{
    struct ulb_team *team = NULL;
    enum ulb_status status = ulb_team_start(&team, pus, n, err);
    if (status == ULB_OK && caches)
        status = measure_caches(session, team, set, pus, err);
    if (status == ULB_OK && isnan(beta_of_set(session->record, set)))
        status = measure_memory(session, team, set, only, err);
    ulb_team_stop(team);
    return status;
}

static enum ulb_status measure_classes(struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t c = 0; c < session->machine.topology.n_classes && status == ULB_OK; c++) {
        const struct ulb_core_class *cls = &session->machine.topology.classes[c];
        if (cls->leaders.n == 0)
            continue;
        char one[32];
        snprintf(one, sizeof one, "%s:1", cls->name);
        ulb_session_progress(session, "beta", (double)c / (double)(session->machine.topology.n_classes + 1));
        status = measure_set(session, one, cls->leaders.items, 1, true, NULL, err);
        if (status == ULB_OK && session->machine.topology.n_classes > 1)
            status = measure_set(session, cls->name, cls->leaders.items, cls->leaders.n, true, NULL, err);
    }
    return status;
}

/* What the set's PUs of one memory node read of its own memory: pages lie where they are first touched. */
static enum ulb_status measure_node(struct ulb_session *session, const struct ulb_numa_node *node,
                                    const unsigned *pus, size_t n, struct ulb_error *err)
{
    const struct ulb_read_plan plan = plan_of(session);
    struct ulb_team *team = NULL;
    struct ulb_arena arena = {0};
    struct ulb_best_read best = {0};
    char set[ULB_SET_BYTES];
    size_t ring = session->arena.ring_bytes / session->machine.topology.numa_nodes;
    struct ulb_journal_entry entry;
    const json_t *saved;
    snprintf(set, sizeof set, "node%u", node->node);
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "beta %s mem", set);
    if (status != ULB_OK || saved)
        return status == ULB_OK ? cell_from_json(session, &entry, saved, err) : status;
    status = ulb_team_start(&team, pus, n, err);
    if (status == ULB_OK)
        status = ulb_arena_open(&arena, ring, 0, session->yardstick_pages, team, err);
    if (status == ULB_OK)
        status =
            ulb_best_of_memory(&plan, team, &arena, session->yardstick_pages, session->yardstick, &best, err);
    if (status == ULB_OK)
        status = add_cell(session, team, set, "mem", ULB_MEMORY_CHUNK, &best, err);
    if (status == ULB_OK)
        status = ulb_entry_end(session, &entry, last_cell(session), err);
    free(best.samples);
    ulb_arena_close(&arena);
    ulb_team_stop(team);
    return status;
}

static enum ulb_status measure_nodes(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_topology *topology = &session->machine.topology;
    unsigned *pus = calloc(session->machine.pus.n, sizeof *pus);
    enum ulb_status status = ULB_OK;
    if (!pus)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the PUs of a node");
    for (size_t i = 0; i < topology->numa_nodes && status == ULB_OK; i++) {
        size_t n = 0;
        for (size_t p = 0; p < session->machine.pus.n; p++) {
            if (ulb_pu_list_has(&topology->numa[i].pus, session->machine.pus.items[p]))
                pus[n++] = session->machine.pus.items[p];
        }
        if (n > 0)
            status = measure_node(session, &topology->numa[i], pus, n, err);
    }
    free(pus);
    return status;
}

/* How far the L2 that some cores share feeds one core of it, two ... all, with the reader that won for the
 * whole set. A cluster is named by the PUs that are taken, one of each core. */
static enum ulb_status measure_cluster(struct ulb_session *session, const struct ulb_core_class *cls,
                                       const struct ulb_pu_list *cluster, unsigned *pus,
                                       struct ulb_error *err)
{
    char text[ULB_SET_MOST], set[ULB_SET_BYTES];
    unsigned n = 0;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < cls->leaders.n; i++) {
        if (ulb_pu_list_has(cluster, cls->leaders.items[i]))
            pus[n++] = cls->leaders.items[i];
    }
    ulb_pu_list_text(&(struct ulb_pu_list){pus, n}, text, sizeof text);
    for (unsigned i = 1; i <= n && n > 1 && status == ULB_OK; i++) {
        snprintf(set, sizeof set, i < n ? "%s:%u" : "%s", text, i);
        status = measure_set(session, set, pus, i, false, session->yardstick, err);
    }
    return status;
}

static enum ulb_status measure_clusters(struct ulb_session *session, struct ulb_error *err)
{
    unsigned *pus = calloc(session->machine.topology.all_pus.n, sizeof *pus);
    enum ulb_status status = ULB_OK;
    if (!pus)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the PUs of a cluster");
    for (size_t c = 0; c < session->machine.topology.n_classes; c++) {
        const struct ulb_core_class *cls = &session->machine.topology.classes[c];
        for (size_t i = 0; i < cls->n_l2_clusters && status == ULB_OK; i++)
            status = measure_cluster(session, cls, &cls->l2_clusters[i], pus, err);
    }
    free(pus);
    return status;
}

/* beta(n): the first n cores of the session's set, with the reader that won for the whole set. */
static enum ulb_status measure_curve(struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    size_t n = session->machine.pus.n;
    for (size_t i = 1; i < n && status == ULB_OK; i = i < CURVE_ALL_UP_TO ? i + 1 : i * 2) {
        char set[ULB_SET_BYTES];
        snprintf(set, sizeof set, "%s:%zu", session->settings.set ? session->settings.set : "all", i);
        status = measure_set(session, set, session->machine.pus.items, i, false, session->yardstick, err);
    }
    return status;
}

/* Whether small pages beat the ring's huge ones; then *best is theirs. */
static enum ulb_status try_small_pages(struct ulb_session *session, struct ulb_best_read *best,
                                       struct ulb_error *err)
{
    const struct ulb_read_plan plan = plan_of(session);
    struct ulb_arena arena;
    struct ulb_error refused;
    struct ulb_best_read small = {0};
    if (ulb_arena_open(&arena, session->arena.ring_bytes, 0, ULB_PAGES_SMALL, session->machine.team,
                       &refused) != ULB_OK)
        return ulb_record_warn(session->record, err, "yardstick tried with huge pages alone: %s",
                               refused.message);
    enum ulb_status status =
        ulb_best_of_memory(&plan, session->machine.team, &arena, ULB_PAGES_SMALL, NULL, &small, err);
    bool better = status == ULB_OK && ulb_read_duel(&plan, session->machine.team, small.reader, &arena,
                                                    &session->arena, best) > PAGES_MARGIN;
    ulb_arena_close(&arena);
    free(better ? best->samples : small.samples);
    if (better)
        *best = small;
    return status;
}

/* ---- the yardstick ---- */

/* Rare, but where small pages read faster kernels get them too. */
static enum ulb_status adopt_yardstick(struct ulb_session *session, const struct ulb_reader *reader,
                                       enum ulb_page_kind pages, struct ulb_error *err)
{
    session->yardstick = reader;
    session->yardstick_pages = pages;
    if (pages != ULB_PAGES_SMALL || session->arena.pages.asked == ULB_PAGES_SMALL)
        return ULB_OK;
    size_t ring = session->arena.ring_bytes, extra = session->arena.pages.bytes - ring;
    ulb_arena_close(&session->arena);
    return ulb_arena_open(&session->arena, ring, extra, ULB_PAGES_SMALL, session->machine.team, err);
}

static enum ulb_status yardstick_from_json(struct ulb_session *session, const struct ulb_journal_entry *entry,
                                           const json_t *saved, struct ulb_error *err)
{
    const char *name = json_string_value(json_object_get(saved, "reader"));
    bool small = json_is_true(json_object_get(saved, "small_pages"));
    const struct ulb_reader *reader;
    for (size_t i = 0; name && (reader = ulb_reader_at(i)); i++) {
        if (strcmp(reader->name, name) == 0 && ulb_selection_can_run(&session->selection, reader->needs))
            return adopt_yardstick(session, reader, small ? ULB_PAGES_SMALL : ULB_PAGES_HUGE, err);
    }
    return ulb_entry_damaged(entry, err);
}

static json_t *yardstick_json(const struct ulb_session *session)
{
    return json_pack("{s:s, s:b}", "reader", session->yardstick->name, "small_pages",
                     session->yardstick_pages == ULB_PAGES_SMALL);
}

enum ulb_status ulb_beta_choose(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_read_plan plan = plan_of(session);
    struct ulb_journal_entry entry;
    struct ulb_best_read best = {0};
    const json_t *saved;
    if (session->yardstick)
        return ULB_OK;
    enum ulb_status status = ulb_session_arena(session, 0, err);
    if (status == ULB_OK)
        status = ulb_entry_begin(session, &entry, &saved, err, "yardstick");
    if (status != ULB_OK || saved)
        return status == ULB_OK ? yardstick_from_json(session, &entry, saved, err) : status;
    status =
        ulb_best_of_memory(&plan, session->machine.team, &session->arena, ULB_PAGES_HUGE, NULL, &best, err);
    session->yardstick = best.reader;
    session->yardstick_pages = best.pages;
    if (status == ULB_OK)
        status = ulb_entry_end(session, &entry, yardstick_json(session), err);
    free(best.samples);
    return status;
}

/* LIKWID's own reader as a second opinion; when it cannot be had, the record says why. */
static enum ulb_status likwid_cross_check(struct ulb_session *session, struct ulb_error *err)
{
    double gbps = NAN;
    struct ulb_error why;
    struct ulb_journal_entry entry;
    const json_t *saved;
    enum ulb_status status = ulb_entry_begin(session, &entry, &saved, err, "likwid-bench");
    if (status != ULB_OK)
        return status;
    if (saved)
        return ulb_record_set(session->record, "likwid_bench", json_incref(json_object_get(saved, "value")),
                              err);
    status = ulb_likwid_bench_bandwidth(session->machine.pus.items, session->machine.pus.n,
                                        session->arena.ring_bytes / 2, &gbps, &why);
    if (ulb_check_interrupted(err) != ULB_OK) /* Ctrl-C ends the child too: that is no finding */
        return ULB_INTERRUPTED;
    json_t *value = status == ULB_OK ? json_pack("{s:f}", "gbps", gbps)
                                     : json_pack("{s:n, s:s}", "gbps", "gbps_reason", why.message);
    status = ulb_record_set(session->record, "likwid_bench", value, err);
    return status == ULB_OK ? ulb_entry_end(session, &entry, json_pack("{s:O}", "value", value), err)
                            : status;
}

static enum ulb_status measure_whole_set(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_read_plan plan = plan_of(session);
    const char *set = session->settings.set ? session->settings.set : "all";
    struct ulb_best_read best = {0};
    struct ulb_journal_entry entry;
    const json_t *saved = NULL;
    ulb_session_progress(session, "beta", 0.5);
    enum ulb_status status =
        measure_caches(session, session->machine.team, set, session->machine.pus.items, err);
    if (status == ULB_OK)
        status = ulb_entry_begin(session, &entry, &saved, err, "beta %s mem, yardstick", set);
    if (status == ULB_OK && saved)
        status = cell_from_json(session, &entry, saved, err);
    if (status != ULB_OK || saved)
        return status == ULB_OK ? yardstick_from_json(session, &entry, saved, err) : status;
    status =
        ulb_best_of_memory(&plan, session->machine.team, &session->arena, ULB_PAGES_HUGE, NULL, &best, err);
    if (status == ULB_OK)
        status = try_small_pages(session, &best, err);
    if (status == ULB_OK)
        status = adopt_yardstick(session, best.reader, best.pages, err);
    if (status == ULB_OK)
        session->most_gbps = best.stats.median / ULB_GB;
    if (status == ULB_OK)
        status = add_cell(session, session->machine.team, set, "mem", ULB_MEMORY_CHUNK, &best, err);
    if (status == ULB_OK) {
        json_t *value = last_cell(session), *more = yardstick_json(session);
        json_object_update(value, more);
        json_decref(more);
        status = ulb_entry_end(session, &entry, value, err);
    }
    free(best.samples);
    return status;
}

enum ulb_status ulb_beta_measure(struct ulb_session *session, struct ulb_error *err)
{
    ulb_session_progress(session, "beta", 0.0);
    enum ulb_status status = ulb_session_arena(session, 0, err);
    if (status == ULB_OK)
        status = measure_whole_set(session, err);
    if (status == ULB_OK)
        status = ulb_idle_penalty_measure(session, err);
    if (status == ULB_OK)
        status = measure_classes(session, err);
    if (status == ULB_OK)
        status = measure_curve(session, err);
    if (status == ULB_OK && session->machine.topology.numa_nodes > 1)
        status = measure_nodes(session, err);
    if (status == ULB_OK)
        status = measure_clusters(session, err);
    if (status == ULB_OK && !session->settings.quick)
        status = likwid_cross_check(session, err);
    ulb_session_progress(session, "beta", 1.0);
    return status;
}

/* What the whole set read of memory, with the reader that is its yardstick. */
static enum ulb_status record_yardstick(struct ulb_session *session, const struct ulb_beta_cell *cells,
                                        size_t n, struct ulb_error *err)
{
    const char *set = session->settings.set ? session->settings.set : "all";
    size_t i = 0;
    while (i < n && (strcmp(cells[i].set, set) != 0 || strcmp(cells[i].level, "mem") != 0))
        i++;
    if (i == n)
        return ULB_OK;
    struct ulb_yardstick yardstick = {.threads = cells[i].threads,
                                      .gbps = cells[i].gbps,
                                      .gbps_mad = cells[i].gbps_mad,
                                      .drift = NAN,
                                      .n_samples = cells[i].n_samples,
                                      .gbps_samples = cells[i].gbps_samples};
    snprintf(yardstick.set, sizeof yardstick.set, "%s", set);
    snprintf(yardstick.variant, sizeof yardstick.variant, "%s", cells[i].variant);
    return ulb_record_add_yardstick(session->record, &yardstick, err);
}

enum ulb_status ulb_beta_measure_alone(struct ulb_session *session, struct ulb_error *err)
{
    struct ulb_beta_cell *cells;
    size_t n;
    enum ulb_status status = ulb_beta_measure(session, err);
    if (status == ULB_OK)
        status = ulb_record_beta_cells(session->record, &cells, &n, err);
    if (status != ULB_OK)
        return status;
    status = record_yardstick(session, cells, n, err);
    ulb_beta_cells_free(cells, n);
    return status;
}

enum ulb_status ulb_beta_measure_memory(struct ulb_session *session, struct ulb_error *err)
{
    const struct ulb_topology *topology = &session->machine.topology;
    const char *set = session->settings.set ? session->settings.set : "all";
    ulb_session_progress(session, "beta", 0.0);
    enum ulb_status status = ulb_session_arena(session, 0, err);
    if (status == ULB_OK)
        status = measure_memory(session, session->machine.team, set, NULL, err);
    for (size_t c = 0; c < topology->n_classes && topology->n_classes > 1 && status == ULB_OK; c++) {
        const struct ulb_core_class *cls = &topology->classes[c];
        ulb_session_progress(session, "beta", (double)(c + 1) / (double)(topology->n_classes + 1));
        if (cls->leaders.n > 0)
            status = measure_set(session, cls->name, cls->leaders.items, cls->leaders.n, false, NULL, err);
    }
    ulb_session_progress(session, "beta", 1.0);
    return status;
}

double ulb_beta_of_class(const struct ulb_record *record, const char *class_name)
{
    const json_t *classes = json_object_get(json_object_get(record->root, "topology"), "classes");
    const char *given = ulb_record_text(record, "settings.set"), *set = given ? given : "all";
    if (json_array_size(classes) > 1)
        return beta_of_set(record, class_name);
    struct ulb_resolved_beta resolved = ulb_record_resolved_beta(record, set);
    return beta_of_set(record, set) * resolved.gbps / resolved.stage_gbps;
}
