/* Decoding measured: tokens per second of a model in each weight format, where the time goes, and the bounds
 * beside it. */
#ifndef ULB_HARNESS_DECODE_MEASURE_DECODE_H
#define ULB_HARNESS_DECODE_MEASURE_DECODE_H

#include "harness/decode/decoder.h"
#include "results/record/record.h"

struct ulb_session; /* harness/session/session.h */

enum { ULB_LAYERS_AUTO = 0, ULB_UBATCH = 512, ULB_SIZES = 16 };

/* Numbers of tokens, ascending, each once. */
struct ulb_sizes {
    size_t n, items[ULB_SIZES];
};
size_t ulb_largest_size(const struct ulb_sizes *sizes); /* 0: there is none */

struct ulb_decode_settings {
    const char *model;   /* a name of the catalogue, or a file */
    const char *formats; /* comma list; the 16-bit one comes first, whatever its place */
    size_t tokens;       /* to decode; 0: 128, quick 24 */
    size_t context;      /* positions in the cache before the first of them */
    /* The largest are positions of the context that are computed in steps of many tokens; where that is more
     * than context, context is as many. The others are computed once the tokens are decoded. */
    struct ulb_sizes prompts;
    size_t ubatch; /* tokens of one such step; 0: ULB_UBATCH */
    /* Sequences that are decoded together, a run for each number; none: 1. Not with prompts. */
    struct ulb_sizes batches;
    enum ulb_kv_type kv_type;
    size_t layers;       /* ULB_LAYERS_AUTO: as many as fit; SIZE_MAX: all, or an error */
    const double *rates; /* of the weighted split, one for each thread; n_rates 0: as measured */
    size_t n_rates;
    size_t slow_thread, slow_times; /* see struct ulb_decoder_options */
    const char *energy_root;        /* see ulb_energy_open; NULL: this machine */
    const struct ulb_record *into;  /* that the runs will stand in: see ulb_check_part; NULL: none */
    /* Called with the record after each run that it got; what it returns ends the measurement. NULL: nobody.
     */
    enum ulb_status (*done)(void *context, const struct ulb_record *record, struct ulb_error *err);
    void *done_context;
};

/* Decodes with the session's team and appends a run per format and split to the record. ULB_FINDING when a
 * kernel or the whole step differs from its reference, or two splits give different tokens; ULB_ENVIRONMENT
 * when not even one layer fits. */
enum ulb_status ulb_decode_measure(struct ulb_session *session, const struct ulb_decode_settings *settings,
                                   struct ulb_error *err);

#endif
