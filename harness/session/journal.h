/* What a run has measured so far, on disk: one line of JSON for each entry, appended when the entry is done.
 * A process that is killed, or a disk that is full, loses the entry at work and nothing else. A later process
 * reads the lines back in their order instead of measuring these entries again.
 *
 * The first line is the header, which says what the run is. Lines are written with one call each and not
 * synced: they outlive the process, not a power cut. */
#ifndef ULB_HARNESS_SESSION_JOURNAL_H
#define ULB_HARNESS_SESSION_JOURNAL_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>

struct ulb_journal;

/* A new journal with this header. ULB_ENVIRONMENT names path and reason: one that is there is another run's.
 */
enum ulb_status ulb_journal_create(struct ulb_journal **journal, const char *path, const json_t *header,
                                   struct ulb_error *err);

/* Reads a journal and continues behind its last whole line. What a killed process left of a line is cut off.
 * *header is borrowed. ULB_BAD_INPUT: there is none or it is none. ULB_ENVIRONMENT: another process writes
 * it. */
enum ulb_status ulb_journal_open(struct ulb_journal **journal, const char *path, const json_t **header,
                                 struct ulb_error *err);

/* *value is what the journal holds of the entry that comes next, borrowed. NULL: everything was read, and the
 * entry must be measured and put. A journal of NULL holds nothing. ULB_BAD_INPUT: the journal continues with
 * another entry. */
enum ulb_status ulb_journal_take(struct ulb_journal *journal, const char *entry, const json_t **value,
                                 struct ulb_error *err);

/* Appends an entry; takes the reference of value, of which NULL is want of memory. ULB_ENVIRONMENT names path
 * and reason (full disk). Does nothing to a journal of NULL. */
enum ulb_status ulb_journal_put(struct ulb_journal *journal, const char *entry, json_t *value,
                                struct ulb_error *err);

/* Whether it holds any entry. */
bool ulb_journal_has_entries(const struct ulb_journal *journal);

/* NULL is allowed. */
void ulb_journal_close(struct ulb_journal *journal);

/* An array of numbers, NAN as null; and back into n numbers, false when it is no such array. */
json_t *ulb_journal_numbers(const double *values, size_t n);
bool ulb_journal_read_numbers(const json_t *array, double *values, size_t n);

#endif
