/* Which kernel of a format runs the products of a decoder. */
#ifndef ULB_HARNESS_DECODE_CHOOSE_H
#define ULB_HARNESS_DECODE_CHOOSE_H

#include "harness/session/selection.h"
#include "kernels/kernel.h"

struct ulb_session; /* harness/session/session.h */

struct ulb_kernel_choice {
    const struct ulb_kernel *kernel;
    double seconds;               /* of one product as tried, weights cold */
    double ratio, spread;         /* to the fastest kernel of the same round: median, its relative MAD */
    struct ulb_prefetch prefetch; /* as was faster */
};

/* What decided between layouts that hold the same weights. */
enum ulb_choice_reason {
    ULB_CHOICE_ONE_TOKEN,   /* no other is as fast with one token */
    ULB_CHOICE_MANY_TOKENS, /* others are as fast with one token, none with many */
    ULB_CHOICE_ORDER,       /* nor with many: the wider instruction set, then fewer bytes */
    ULB_CHOICE_REASONS
};
const char *ulb_choice_reason_name(enum ulb_choice_reason reason);

/* Random tokens of k columns, given to g; the memory returned is to be freed. NULL when it is short. */
void *ulb_random_tokens(enum ulb_activation kind, size_t n, size_t k, struct ulb_gemm *g);

/* The weight format of that name; NULL when no kernel has it. */
const struct ulb_format *ulb_kernel_format(const char *name);

/* Whether the user's filters let any kernel of the format pass; those that let none do not concern it. */
bool ulb_kernel_filtered(const struct ulb_selection *selection, const char *format);

/* ULB_ENVIRONMENT when no kernel of the format that the filters let pass runs here; the message names the
 * missing instruction sets. */
enum ulb_status ulb_kernel_check(const struct ulb_selection *selection, const char *format,
                                 struct ulb_error *err);

/* What a kernel is tried on. */
struct ulb_trial_shape {
    const char *format;
    size_t m, k, n;
    const struct ulb_layout *layout; /* kernels that read this one alone; NULL: any */
    bool tune; /* each with its prefetches where they serve it better; else all with their own */
};

/* The kernels of a format in *choices (freed by the caller), with the session's team and split: every kernel
 * that the filters let pass (all but the scalar reference where they let none of this format pass). All run
 * on pieces of the session's ring in turn, round after round. ULB_ENVIRONMENT when no kernel of the format
 * runs here. */
enum ulb_status ulb_kernel_try(struct ulb_session *session, const struct ulb_trial_shape *shape,
                               const double *rates, struct ulb_kernel_choice **choices, size_t *n,
                               struct ulb_error *err);

/* Chooses where the prefetches of one kernel go. */
enum ulb_status ulb_kernel_tune(struct ulb_session *session, const struct ulb_trial_shape *shape,
                                const double *rates, struct ulb_kernel_choice *choice, struct ulb_error *err);

/* The fastest of these. */
enum ulb_status ulb_kernel_choose(struct ulb_session *session, const struct ulb_trial_shape *shape,
                                  const double *rates, struct ulb_kernel_choice *choice,
                                  struct ulb_error *err);

/* The first in the fixed order (wider instruction set, fewer bytes, place in the table) of those choices
 * whose ratio is at most `tie` above the least, or, up to a tenth, within what they spread. n > 0. */
size_t ulb_kernel_first(const struct ulb_kernel_choice *choices, size_t n, double tie);

/* Whether a choice is as fast as the least ratio of all, in that sense. */
bool ulb_kernel_ties(const struct ulb_kernel_choice *choices, size_t n, size_t i, double tie);

#endif
