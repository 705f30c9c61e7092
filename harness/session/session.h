/* What every measurement needs, opened once: settings, machine, kernels, the cold ring, record and journal.
 */
#ifndef ULB_HARNESS_SESSION_SESSION_H
#define ULB_HARNESS_SESSION_SESSION_H

#include "harness/memory/cold_ring.h"
#include "harness/session/interrupted.h"
#include "harness/session/machine.h"
#include "harness/session/selection.h"
#include "harness/session/settings.h"
#include "results/record/record.h"

struct ulb_journal; /* harness/session/journal.h */

struct ulb_session {
    struct ulb_settings settings;
    struct ulb_machine machine;
    struct ulb_selection selection;
    struct ulb_arena arena;
    const struct ulb_reader *yardstick; /* NULL until one was chosen (harness/bandwidth/beta.h) */
    enum ulb_page_kind yardstick_pages;
    double most_gbps; /* that its set read of memory so far, a median or a sample; 0: nothing yet */
    struct ulb_record *record;
    struct ulb_journal *journal; /* NULL: no checkpoint; see harness/session/checkpoint.h */
};

/* Opens kernels and machine; not the arena (ulb_session_arena). The caller fills in settings first; record
 * must outlive the session. */
enum ulb_status ulb_session_open(struct ulb_session *session, struct ulb_record *record,
                                 struct ulb_error *err);
void ulb_session_close(struct ulb_session *session);

/* Bytes of the cold ring: the user's, else max(2 GiB, 4 x LLC). If neither fits, what fits beside the largest
 * copy, of which the record then warns. */
enum ulb_status ulb_session_ring(struct ulb_session *session, size_t largest_copy, size_t *ring,
                                 struct ulb_error *err);

/* Maps the ring with room for the largest matrix that the settings will need; a second call does nothing. */
enum ulb_status ulb_session_arena(struct ulb_session *session, size_t largest_copy, struct ulb_error *err);

void ulb_session_progress(const struct ulb_session *session, const char *stage, double done);

/* As ulb_check_interrupted(), and ULB_ENVIRONMENT when the team has lost a PU. */
enum ulb_status ulb_session_check(const struct ulb_session *session, struct ulb_error *err);

#endif
