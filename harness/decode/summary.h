/* What decoding came to: from the samples of tokens to the figures of the record. */
#ifndef ULB_HARNESS_DECODE_SUMMARY_H
#define ULB_HARNESS_DECODE_SUMMARY_H

#include "harness/decode/attention_alone.h"
#include "harness/decode/weights.h"
#include "harness/energy/energy.h"
#include "harness/session/machine.h"
#include "results/record/record.h"

enum { ULB_TOKENS_WARM_UP = 2 }; /* before those that are timed */

/* A token of each sequence as run. */
struct ulb_token_sample {
    double seconds, parts[ULB_DECODE_PARTS]; /* parts: mean over the threads */
    double wait[4];                          /* mean over the threads of class P, E, LP-E, core; NAN: none */
    double joules; /* of one token, without what the machine takes at rest; NAN where energy is not read */
};

/* Reads what the decoder's last step left. */
void ulb_token_take(struct ulb_token_sample *sample, const struct ulb_machine *machine,
                    const struct ulb_decoder *decoder, double seconds);

/* What n tokens took, the repeated ones included. */
struct ulb_decode_energy {
    struct ulb_energy_use use;
    size_t n;
    const char *source, *reason; /* source NULL: none, for that reason */
};

struct ulb_decode_figures {
    const char *model, *format;
    enum ulb_split split;
    const struct ulb_decoder_shape *all, *shape; /* with all layers; with those that were run */
    const struct ulb_kernel_choice *choices;
    const enum ulb_choice_reason *reasons; /* of the layouts, with a prompt */
    const struct ulb_weight_store *store;
    size_t batch; /* sequences */
    size_t context, prompt;
    enum ulb_kv_type kv_type;
    struct ulb_prefill prefill;
    struct ulb_prompt_time *curve; /* [n_curve], by number of tokens; none unless there are several prompts */
    size_t n_curve;
    struct ulb_token_sample *samples; /* [n] */
    const uint32_t *decoded;          /* [n][batch] */
    size_t n;
    double bandwidth;           /* of the yardstick between the tokens, bytes/s */
    double cold_s[ULB_LINEARS]; /* of one product of each kind alone, weights cold */
    struct ulb_attention_alone attention;
    long long peak_bytes;
    struct ulb_decode_energy energy;
};

/* The 16-bit run of as many sequences that the others are compared with. */
struct ulb_decode_baseline {
    bool known;
    double token_s, blocks_s;       /* blocks: products of the matrices that are quantised */
    double parts[ULB_DECODE_PARTS]; /* all layers */
    double block_bytes;
    double bandwidth; /* of the yardstick beside it, bytes/s */
};

/* Appends a run to the record; that of the 16-bit format becomes the baseline. */
enum ulb_status ulb_decode_record(struct ulb_session *session, const struct ulb_decode_figures *figures,
                                  struct ulb_decode_baseline *baseline, struct ulb_error *err);

#endif
