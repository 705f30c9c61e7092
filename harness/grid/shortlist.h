/* Which kernel of each format a run measures: the one that is fastest on cold weights. */
#ifndef ULB_HARNESS_GRID_SHORTLIST_H
#define ULB_HARNESS_GRID_SHORTLIST_H

#include "harness/session/session.h"

/* Keeps of kernels, *n of them in table order, one for each weight format. The paper's own int2 and int1
 * sequences at 256 bits are kept, too. Candidates are a format's kernels within 1.6 times its best gamma.
 * Several are timed on cold weights at two shapes of the run's first model. The first in table order within
 * the noise of the fastest is taken, so that two runs choose alike. Gamma alone would pick wrongly: what is
 * fastest in L1 is often not when weights come from memory.
 *
 * Needs the record's gamma cells and the ring. Says in the record's section "choices" what was compared. */
enum ulb_status ulb_shortlist_kernels(struct ulb_session *session, const struct ulb_kernel **kernels,
                                      size_t *n, struct ulb_error *err);

#endif
