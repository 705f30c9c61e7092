#include "harness/session/session.h"

#include "common/isa.h"
#include "common/units.h"

#include <string.h>

static const size_t RING_GRAIN = (size_t)2 << 20, RING_LEAST = (size_t)64 << 20;

void ulb_session_progress(const struct ulb_session *session, const char *stage, double done)
{
    if (session->settings.progress)
        session->settings.progress(session->settings.progress_context, stage, done, session->most_gbps);
}

enum ulb_status ulb_session_check(const struct ulb_session *session, struct ulb_error *err)
{
    enum ulb_status status = ulb_check_interrupted(err);
    return status == ULB_OK ? ulb_team_check(session->machine.team, err) : status;
}

static enum ulb_status open_parts(struct ulb_session *session, struct ulb_error *err)
{
    struct ulb_settings *settings = &session->settings;
    enum ulb_status status = ulb_selection_open(&session->selection, settings->formats, settings->kernels,
                                                ulb_isa_detect() & ~settings->isa_mask, err);
    if (status == ULB_OK && settings->set && strlen(settings->set) > ULB_SET_MOST)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "set '%.64s...' has %zu characters and %d are kept; write ranges such as 0-3,8",
                        settings->set, strlen(settings->set), ULB_SET_MOST);
    if (status == ULB_OK)
        status = ulb_machine_open(&session->machine, settings->set, err);
    if (status != ULB_OK)
        return status;
    if (settings->n_splits == 0)
        settings->splits[settings->n_splits++] =
            session->machine.topology.hybrid ? ULB_SPLIT_DYNAMIC : ULB_SPLIT_STATIC;
    return ULB_OK;
}

enum ulb_status ulb_session_open(struct ulb_session *session, struct ulb_record *record,
                                 struct ulb_error *err)
{
    *session = (struct ulb_session){.settings = session->settings, .record = record};
    enum ulb_status status = open_parts(session, err);
    if (status != ULB_OK)
        ulb_session_close(session);
    return status;
}

void ulb_session_close(struct ulb_session *session)
{
    ulb_arena_close(&session->arena);
    ulb_selection_close(&session->selection);
    ulb_machine_close(&session->machine);
}

/* A ring that fits, at least four times the LLC; said where it is smaller than it should be. */
static enum ulb_status shrink_ring(struct ulb_session *session, size_t largest_copy, size_t *ring,
                                   struct ulb_error *err)
{
    long long available = ulb_memory_available();
    size_t wanted = *ring, least = 4 * session->machine.topology.llc_bytes;
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
    size_t llc = session->machine.topology.llc_bytes;
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
        status =
            ulb_arena_open(&session->arena, ring, largest_copy, ULB_PAGES_HUGE, session->machine.team, err);
    ulb_session_progress(session, "memory", 1.0);
    return status;
}
