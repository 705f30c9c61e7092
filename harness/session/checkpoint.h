/* A run that can be resumed: its record and its journal on disk from the beginning.
 *
 * The record file holds what the run is (machine, build, settings) and a warning that it is not finished. The
 * journal is beside it, RECORD with .journal for .json, and has every entry that is done. --resume takes over
 * the record's description, after comparing it with what it finds itself. It replays the journal through the
 * code that measures: figures are the same as if nobody had interrupted the run. */
#ifndef ULB_HARNESS_SESSION_CHECKPOINT_H
#define ULB_HARNESS_SESSION_CHECKPOINT_H

#include "harness/session/journal.h"
#include "harness/session/session.h"

/* Where the journal of a record lies: the record's name without .json, then pass ("" or "-aa"), then
 * .journal.
 */
void ulb_checkpoint_journal_path(const char *record, const char *pass, char *path, size_t bytes);

/* ULB_BAD_INPUT for a record beside which its journal lies. Resuming the run replaces the record, and with it
 * whatever was added to it or taken from it. */
enum ulb_status ulb_checkpoint_refuse_unfinished(const char *record, struct ulb_error *err);

/* After the record was described, before anything is measured: opens or creates the session's journal. Does
 * nothing when settings.checkpoint.record is NULL. ULB_BAD_INPUT names the first field in which a run that is
 * to go on differs from the record. */
enum ulb_status ulb_checkpoint_begin(struct ulb_session *session, struct ulb_error *err);

/* Closes the journal; a run in which nothing was measured leaves no files behind. */
void ulb_checkpoint_end(struct ulb_session *session);

/* One entry of the journal, with the warnings that it gives. */
struct ulb_journal_entry {
    char name[ULB_SET_BYTES + 112];
    size_t warnings;
};

/* *saved is what the journal holds of it, NULL: it must be measured. Warnings of a saved entry are the
 * record's from then on. */
enum ulb_status ulb_entry_begin(struct ulb_session *session, struct ulb_journal_entry *entry,
                                const json_t **saved, struct ulb_error *err, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* The entry is measured: its value, whose reference is taken, goes into the journal. */
enum ulb_status ulb_entry_end(struct ulb_session *session, const struct ulb_journal_entry *entry,
                              json_t *value, struct ulb_error *err);

/* What a saved entry is refused with when its value is not what the code writes. */
enum ulb_status ulb_entry_damaged(const struct ulb_journal_entry *entry, struct ulb_error *err);

#endif
