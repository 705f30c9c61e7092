#include "harness/session/session.h"

#include "common/filter.h"
#include "common/units.h"
#include "common/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

volatile int ulb_interrupted;

static const size_t RING_GRAIN = (size_t)2 << 20, RING_LEAST = (size_t)64 << 20;

bool ulb_takes_split(const struct ulb_settings *settings, enum ulb_split split)
{
    for (size_t i = 0; i < settings->n_splits; i++) {
        if (settings->splits[i] == split)
            return true;
    }
    return false;
}

void ulb_session_progress(const struct ulb_session *session, const char *stage, double done)
{
    if (session->settings.progress)
        session->settings.progress(session->settings.progress_context, stage, done);
}

enum ulb_status ulb_check_interrupted(struct ulb_error *err)
{
    if (ulb_interrupted)
        return ulb_fail(err, ULB_INTERRUPTED, "interrupted; what was measured so far is kept");
    return ULB_OK;
}

enum ulb_status ulb_session_check(const struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ulb_check_interrupted(err);
    return status == ULB_OK ? ulb_team_check(session->team, err) : status;
}

static enum ulb_status match_kernels(struct ulb_session *session, struct ulb_error *err)
{
    regex_t filter;
    char name[ULB_KERNEL_NAME_MAX];
    if (!session->settings.kernels)
        return ULB_OK;
    if (session->settings.kernels[0] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--kernels names no kernel; see 'ulb-bench list kernels'");
    enum ulb_status status = ulb_filter_compile(&filter, "--kernels", session->settings.kernels, err);
    if (status != ULB_OK)
        return status;
    session->matched = calloc(ulb_kernel_count, sizeof *session->matched);
    if (!session->matched)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    for (size_t i = 0; i < ulb_kernel_count && status == ULB_OK; i++)
        status = ulb_filter_match(&filter, ulb_kernel_name(ulb_kernels[i], name), &session->matched[i], err);
    regfree(&filter);
    return status;
}

enum ulb_status ulb_refuse_format(const char *word, size_t length, struct ulb_error *err)
{
    const char *nearest = NULL;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const char *name = ulb_kernels[i]->layout->format->name;
        bool begins = strlen(name) < length && strncmp(name, word, strlen(name)) == 0;
        if (begins && (!nearest || strlen(name) > strlen(nearest)))
            nearest = name;
    }
    if (nearest)
        return ulb_fail(err, ULB_BAD_INPUT, "unknown format '%.*s'; did you mean %s?", (int)length, word,
                        nearest);
    return ulb_fail(err, ULB_BAD_INPUT, "unknown format '%.*s'; see 'ulb-bench list formats'", (int)length,
                    word);
}

/* Every name in a comma list must be a format of some kernel, and none may come twice; empty words are
 * skipped. */
static enum ulb_status check_formats(const char *list, struct ulb_error *err)
{
    if (list && list[strspn(list, ",")] == '\0')
        return ulb_fail(err, ULB_BAD_INPUT, "--formats names no format; see 'ulb-bench list formats'");
    for (const char *word = list; word && *word;) {
        size_t length = strcspn(word, ",");
        bool found = length == 0;
        for (size_t i = 0; i < ulb_kernel_count && !found; i++) {
            const char *name = ulb_kernels[i]->layout->format->name;
            found = strlen(name) == length && strncmp(name, word, length) == 0;
        }
        if (!found)
            return ulb_refuse_format(word, length, err);
        word += length + (word[length] == ',');
    }
    return list ? ulb_words_differ("format", list, err) : ULB_OK;
}

static bool in_list(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *word = list; *word;) {
        size_t n = strcspn(word, ",");
        if (n == length && strncmp(word, name, n) == 0)
            return true;
        word += n + (word[n] == ',');
    }
    return false;
}

/* Unpinned threads are still one per core of a homogeneous machine, more or less; which core of several kinds
 * they are on, or whether one that was asked for, nobody knows. */
static enum ulb_status check_pinning(const struct ulb_session *session, struct ulb_error *err)
{
    int refused = ulb_team_pin_refused(session->team);
    const char *set = session->settings.set;
    if (!refused || (!session->topology.hybrid && (!set || strcmp(set, "all") == 0)))
        return ULB_OK;
    return ulb_fail(
        err, ULB_ENVIRONMENT,
        "cannot pin threads (%s), which %s needs; allow sched_setaffinity in the container's seccomp profile",
        strerror(refused), session->topology.hybrid ? "a hybrid machine" : "--set");
}

static enum ulb_status open_machine(struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ulb_topology_load(&session->topology, err);
    if (status != ULB_OK)
        return status;
    if (!session->topology.this_system)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s describes another machine; unset it to measure, or use 'ulb-bench topology'",
                        ulb_topology_variable());
    session->isa = session->topology.isa & ~session->settings.isa_mask;
    if (session->settings.set && strlen(session->settings.set) > ULB_SET_MOST)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "set '%.64s...' has %zu characters and %d are kept; write ranges such as 0-3,8",
                        session->settings.set, strlen(session->settings.set), ULB_SET_MOST);
    status = ulb_topology_select(&session->topology, session->settings.set ? session->settings.set : "all",
                                 &session->pus, err);
    if (status != ULB_OK)
        return status;
    struct ulb_settings *settings = &session->settings;
    if (settings->n_splits == 0)
        settings->splits[settings->n_splits++] =
            session->topology.hybrid ? ULB_SPLIT_DYNAMIC : ULB_SPLIT_STATIC;
    status = ulb_team_start(&session->team, session->pus.items, session->pus.n, err);
    return status == ULB_OK ? check_pinning(session, err) : status;
}

enum ulb_status ulb_session_open_rows(struct ulb_session *session, struct ulb_error *err)
{
    struct ulb_settings settings = session->settings;
    *session = (struct ulb_session){.settings = settings, .isa = ulb_isa_detect() & ~settings.isa_mask};
    enum ulb_status status = match_kernels(session, err);
    if (status == ULB_OK)
        status = check_formats(settings.formats, err);
    if (status != ULB_OK)
        ulb_session_close(session);
    return status;
}

enum ulb_status ulb_session_open(struct ulb_session *session, struct ulb_record *record,
                                 struct ulb_error *err)
{
    enum ulb_status status = ulb_session_open_rows(session, err);
    if (status != ULB_OK)
        return status;
    session->record = record;
    status = open_machine(session, err);
    if (status != ULB_OK) {
        ulb_session_close(session);
        return status;
    }
    session->slept_before = ulb_slept();
    session->fork_join_s = ulb_team_fork_join(session->team);
    session->clock = ulb_clock_probe();
    return ULB_OK;
}

void ulb_session_close(struct ulb_session *session)
{
    ulb_arena_close(&session->arena);
    ulb_team_stop(session->team);
    session->team = NULL;
    free(session->matched);
    session->matched = NULL;
    ulb_pu_list_free(&session->pus);
    ulb_topology_free(&session->topology);
}

/* A ring that fits, at least four times the LLC; said where it is smaller than it should be. */
static enum ulb_status shrink_ring(struct ulb_session *session, size_t largest_copy, size_t *ring,
                                   struct ulb_error *err)
{
    long long available = ulb_memory_available();
    size_t wanted = *ring, least = 4 * session->topology.llc_bytes;
    /* What is left over is for the shapes' own weights while they are verified. */
    if (available < 0 ||
        ulb_arena_needs(wanted, largest_copy) <= (unsigned long long)(available - available / 8))
        return ULB_OK;
    size_t fits = (size_t)available / 2 / RING_GRAIN * RING_GRAIN;
    if (fits < least || fits < RING_LEAST || fits < largest_copy ||
        ulb_arena_needs(fits, largest_copy) > (unsigned long long)available)
        return ULB_OK; /* the refusal says what is needed */
    *ring = fits;
    return ulb_record_warn(
        session->record, err,
        "memory: the cold ring has %zu MiB instead of %zu, because %.0f MiB can be used; free memory "
        "or raise the limit (ulimit -v, cgroup)",
        fits >> 20, wanted >> 20, (double)available / ULB_MIB);
}

enum ulb_status ulb_session_ring(struct ulb_session *session, size_t largest_copy, size_t *ring,
                                 struct ulb_error *err)
{
    size_t llc = session->topology.llc_bytes;
    *ring = session->settings.ring_bytes;
    if (*ring >= 4 * llc && *ring > 0)
        return ULB_OK;
    if (*ring > 0)
        return ulb_record_warn(session->record, err,
                               "memory: the ring of %zu MiB is less than four times the last-level cache's "
                               "%.0f MiB, from which part of %s may come; leave out --ring-mib, or take a "
                               "larger one",
                               *ring >> 20, (double)llc / ULB_MIB,
                               session->settings.warm ? "what the yardstick reads"
                                                      : "the weights called cold");
    *ring = ulb_arena_ring_bytes(llc);
    return shrink_ring(session, largest_copy, ring, err);
}

enum ulb_status ulb_session_arena(struct ulb_session *session, size_t largest_copy, struct ulb_error *err)
{
    if (session->arena.pages.data)
        return ULB_OK;
    size_t ring;
    ulb_session_progress(session, "memory", 0.0);
    enum ulb_status status = ulb_session_ring(session, largest_copy, &ring, err);
    if (status == ULB_OK)
        status = ulb_arena_open(&session->arena, ring, largest_copy, ULB_PAGES_HUGE, session->team, err);
    ulb_session_progress(session, "memory", 1.0);
    return status;
}

bool ulb_session_can_run(const struct ulb_session *session, ulb_isa_set needs)
{
    return (needs & ~session->isa) == 0;
}

bool ulb_session_wants(const struct ulb_session *session, const struct ulb_kernel *kernel)
{
    if (session->settings.formats && !in_list(session->settings.formats, kernel->layout->format->name))
        return false;
    if (!session->matched) {
        /* Scalar rows are slow, groups and blocks multiply the formats, and EVEX rows are their VEX twins
         * where both run: only when named. */
        const struct ulb_format *format = kernel->layout->format;
        bool named = session->settings.formats != NULL ||
                     (!format->on_request && format->group == 0 && !format->block);
        bool twin = strcmp(kernel->isa, "avx512vnni256") == 0 && (session->isa & ULB_ISA_AVXVNNI) != 0;
        return named && !twin && strcmp(kernel->isa, "ref") != 0;
    }
    size_t i = 0;
    while (i < ulb_kernel_count && ulb_kernels[i] != kernel)
        i++;
    return i < ulb_kernel_count && session->matched[i];
}

/* What none of the rows that were asked for can run without; the one that lacks least says it for all. */
static enum ulb_status refuse_rows(const struct ulb_session *session, const struct ulb_kernel *least,
                                   size_t others, struct ulb_error *err)
{
    char name[ULB_KERNEL_NAME_MAX], missing[128], more[32] = "";
    if (others > 0)
        snprintf(more, sizeof more, " and %zu more", others);
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "kernel %s%s cannot run here: missing %s; --kernels '-ref-' takes the scalar ones",
                    ulb_kernel_name(least, name), more,
                    ulb_isa_names(least->needs & ~session->isa, missing, sizeof missing));
}

enum ulb_status ulb_session_kernels(const struct ulb_session *session, const struct ulb_kernel **kernels,
                                    size_t *n, struct ulb_error *err)
{
    const struct ulb_kernel *least = NULL;
    size_t unable = 0;
    *n = 0;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        if (!ulb_session_wants(session, kernel))
            continue;
        if (ulb_session_can_run(session, kernel->needs)) {
            kernels[(*n)++] = kernel;
            continue;
        }
        unable++;
        if (!least || __builtin_popcountll(kernel->needs & ~session->isa) <
                          __builtin_popcountll(least->needs & ~session->isa))
            least = kernel;
    }
    if (*n > 0)
        return ULB_OK;
    if (unable > 0)
        return refuse_rows(session, least, unable - 1, err);
    const char *formats = session->settings.formats, *regex = session->settings.kernels;
    return ulb_fail(err, ULB_BAD_INPUT, "no kernel %s%s%smatches '%.200s'; see 'ulb-bench list kernels'%s",
                    formats && regex ? "of " : "", formats && regex ? formats : "",
                    formats && regex ? " " : "",
                    regex     ? regex
                    : formats ? formats
                              : "*",
                    ulb_left_out_hint());
}
