/* What every measurement needs, opened once: topology, the set of PUs, the team on it, the clock, the cold
 * ring. */
#ifndef ULB_HARNESS_SESSION_SESSION_H
#define ULB_HARNESS_SESSION_SESSION_H

#include "harness/memory/cold_ring.h"
#include "harness/timing/clock.h"
#include "harness/threads/split.h"
#include "harness/threads/team.h"
#include "harness/topology/topology.h"
#include "kernels/kernel.h"
#include "results/record/record.h"

#include <stdbool.h>
#include <stdint.h>

/* Given to the caller while a measurement goes on: stage, and the share done so far (0..1). */
typedef void ulb_progress_fn(void *context, const char *stage, double done);

struct ulb_decode_settings; /* harness/decode/measure_decode.h */
struct ulb_journal;         /* harness/session/journal.h */

/* Where a run keeps what it has measured so far (harness/session/checkpoint.h). */
struct ulb_keeping {
    char *record; /* the file, the caller's; NULL: nothing is kept. A new run changes a name that is taken */
    size_t record_bytes; /* room for it */
    const char *pass;    /* "" or "-aa": which journal of the record */
    bool resume;         /* go on with the record that is there */
};

struct ulb_settings {
    const char *set;       /* "P", "E", "LP-E", "all" or a PU list */
    const char *models;    /* comma list, NULL: the default three */
    const char *shapes;    /* comma list of MxK, NULL: none; with models NULL these alone */
    const char *tokens;    /* comma list of N of the GEMMs, NULL: the default */
    const char *formats;   /* comma list, NULL: all */
    const char *libraries; /* of further kernels, comma list, as loaded; said in the record; NULL: none */
    const char *kernels;   /* regular expression on the kernel's name, NULL: all but the scalar truth */
    enum ulb_split
        splits[ULB_SPLITS]; /* decode alone takes several, in turn at every token; others the first */
    size_t n_splits; /* 0: static on a homogeneous machine, dynamic on a hybrid one; the session makes it 1 */
    bool quick, warm;
    bool best_kernels;   /* of a whole run: of each format the fastest alone; else all */
    bool aa;             /* the grid is measured a second time; said in the record */
    const char *command; /* "run", "gemv"...; said in the record; NULL: nothing */
    struct ulb_keeping keep;
    ulb_isa_set isa_mask;  /* bits not to be used */
    double call_timeout_s; /* of one call of a kernel of others; 0: by the scalar truth's */
    uint64_t seed;
    size_t ring_bytes;                        /* 0: max(2 GiB, 4 x LLC) */
    const struct ulb_decode_settings *decode; /* of ULB_STAGE_DECODE */
    ulb_progress_fn *progress;
    void *progress_context;
};

struct ulb_session {
    struct ulb_settings settings;
    struct ulb_topology topology;
    struct ulb_pu_list pus; /* of the set, one per thread */
    ulb_isa_set isa;        /* detected and not masked */
    bool *matched;          /* [ulb_kernel_count]: whose names --kernels matches; NULL without it */
    struct ulb_team *team;
    struct ulb_clock_source clock;
    struct ulb_arena arena;
    double slept_before; /* seconds that the system had been suspended when the session began */
    double fork_join_s;  /* empty job of the team */
    const struct ulb_reader *yardstick; /* NULL until one was chosen (harness/bandwidth/beta.h) */
    enum ulb_page_kind yardstick_pages;
    struct ulb_record *record;
    struct ulb_journal *journal; /* NULL: nothing is kept; see harness/session/checkpoint.h */
};

/* Set by SIGINT or SIGTERM (the command line installs the handler); every loop looks at it. */
extern volatile int ulb_interrupted;

/* Opens topology, set, filter, team and clock; not the arena (ulb_session_arena). The caller fills in
 * settings first; record must outlive the session. */
enum ulb_status ulb_session_open(struct ulb_session *session, struct ulb_record *record,
                                 struct ulb_error *err);
/* The part of it that chooses rows: filter and instruction sets, without topology, team and clock. Closed the
 * same way. */
enum ulb_status ulb_session_open_rows(struct ulb_session *session, struct ulb_error *err);
void ulb_session_close(struct ulb_session *session);

/* Bytes of the cold ring: the user's, else max(2 GiB, 4 x LLC), else what fits beside the largest copy, of
 * which the record then warns. */
enum ulb_status ulb_session_ring(struct ulb_session *session, size_t largest_copy, size_t *ring,
                                 struct ulb_error *err);

/* Maps the ring with room for the largest matrix that the settings will need; a second call does nothing. */
enum ulb_status ulb_session_arena(struct ulb_session *session, size_t largest_copy, struct ulb_error *err);

/* Whether the CPU and the mask allow the row, and the filters ask for it. */
bool ulb_session_can_run(const struct ulb_session *session, ulb_isa_set needs);
bool ulb_session_wants(const struct ulb_session *session, const struct ulb_kernel *kernel);

/* The rows that are wanted and can run, in table order; *n of them. The array has room for ulb_kernel_count.
 * ULB_BAD_INPUT when the filters match nothing, ULB_ENVIRONMENT when what they match cannot run here (the
 * message names the missing bits): a fast kernel never silently gives way to another. */
enum ulb_status ulb_session_kernels(const struct ulb_session *session, const struct ulb_kernel **kernels,
                                    size_t *n, struct ulb_error *err);

/* ULB_BAD_INPUT for a word of that length that is no format, with the one it may mean: "q4_k" of "q4_k_m". */
enum ulb_status ulb_refuse_format(const char *word, size_t length, struct ulb_error *err);

void ulb_session_progress(const struct ulb_session *session, const char *stage, double done);

/* ULB_INTERRUPTED with its message when a signal came, else ULB_OK. */
enum ulb_status ulb_check_interrupted(struct ulb_error *err);

/* The same, and ULB_ENVIRONMENT when the team has lost a PU. */
enum ulb_status ulb_session_check(const struct ulb_session *session, struct ulb_error *err);

/* Whether it is one of those that the settings name. */
bool ulb_takes_split(const struct ulb_settings *settings, enum ulb_split split);

#endif
