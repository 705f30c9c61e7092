/* Records as a real run would write them, made with the record's own API: the input of tests. */
#ifndef ULB_TESTS_RESULTS_SAMPLE_RECORD_H
#define ULB_TESTS_RESULTS_SAMPLE_RECORD_H

#include "results/record/record.h"

enum sample_kind {
    SAMPLE_SERVER,  /* one class, AVX-512, two cores */
    SAMPLE_HYBRID,  /* P and E cores */
    SAMPLE_ABSENT,  /* everything that may be absent is */
    SAMPLE_LONGEST, /* every text as long as its field */
    SAMPLE_KINDS,
};

/* Fills a new record, to be freed with ulb_record_free. */
enum ulb_status sample_record(struct ulb_record *record, enum sample_kind kind, struct ulb_error *err);

/* Adds what runs of other commands leave: port bounds, cells of many tokens and of formats with groups,
 * decode runs. */
enum ulb_status sample_add_rest(struct ulb_record *record, struct ulb_error *err);

/* A path below a fresh temporary folder; the folder is the caller's to remove. Aborts when none can be made.
 */
void sample_folder(char path[64]);

#endif
