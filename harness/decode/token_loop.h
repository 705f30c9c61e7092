/* The tokens that are timed: one after the other, each the one that the last step gave; every split in its
 * turn takes the same step, so that all of them see the same spells of the machine. */
#ifndef ULB_HARNESS_DECODE_TOKEN_LOOP_H
#define ULB_HARNESS_DECODE_TOKEN_LOOP_H

#include "harness/decode/summary.h"

/* A split, and what stays with it over all formats. */
struct ulb_turn {
    enum ulb_split split;
    struct ulb_token_sample *samples; /* [tokens] */
    uint32_t *decoded;                /* [tokens][sequences] */
    struct ulb_energy *energy;        /* NULL: not to be had, for that reason */
    struct ulb_error no_energy;
};

/* With room for the samples of so many tokens of so many sequences, and the machine's power at rest taken
 * (nobody may be at work). root: see ulb_energy_open. Without energy decoding goes on. ULB_ENVIRONMENT when
 * memory is short. */
enum ulb_status ulb_turn_open(struct ulb_turn *turn, bool quick, enum ulb_split split, size_t tokens,
                              size_t sequences, const char *energy_root, struct ulb_error *err);
void ulb_turn_close(struct ulb_turn *turn);

/* Decodes ULB_TOKENS_WARM_UP tokens of each sequence of the figures' batch, all together, and then those that
 * are timed into the samples of the turns, and fills in the figures (one for each turn) with yardsticks,
 * products alone and energy. rates are the weighted split's. The session's arena are the weights themselves.
 * ULB_FINDING when two splits give different tokens. */
enum ulb_status ulb_tokens_decode(struct ulb_session *session, struct ulb_decoder *decoder,
                                  const struct ulb_turn *turns, size_t n_turns, const double *rates,
                                  struct ulb_decode_figures *figures, struct ulb_error *err);

#endif
