/* Which kernel of a format runs the products of a decoder. */
#ifndef ULB_HARNESS_DECODE_CHOOSE_H
#define ULB_HARNESS_DECODE_CHOOSE_H

#include "harness/session/selection.h"
#include "kernels/kernel.h"

struct ulb_session; /* harness/session/session.h */

struct ulb_kernel_choice {
    const struct ulb_kernel *kernel;
    double seconds;               /* of one product as tried, weights cold */
    struct ulb_prefetch prefetch; /* as was faster */
};

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

/* The fastest kernel of a format for M x K and n tokens with the session's team and split: every kernel that
 * the filters let pass (all but the scalar reference where they let none of this format pass) runs on pieces
 * of the session's ring in turn, with its prefetches where they serve it better; with a layout only those
 * that read it, and a kernel without rivals and without the choice of prefetches is not timed.
 * ULB_ENVIRONMENT when no kernel of the format runs here.
 */
enum ulb_status ulb_kernel_choose(struct ulb_session *session, const char *format,
                                  const struct ulb_layout *layout, size_t m, size_t k, size_t n,
                                  const double *rates, struct ulb_kernel_choice *choice,
                                  struct ulb_error *err);

#endif
