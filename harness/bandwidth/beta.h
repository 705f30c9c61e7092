/* beta: what a core can read, by level and by set; and the memory yardstick of the run. */
#ifndef ULB_HARNESS_BANDWIDTH_BETA_H
#define ULB_HARNESS_BANDWIDTH_BETA_H

#include "harness/session/session.h"

/* Measures and appends to the session's record:
 * - L1, L2, LLC and memory of one core, of each class and of all cores;
 * - the curve beta(n) at memory level for n = 1..cores of the set;
 * - with several memory nodes, what the set's cores of each read of their own node (set "node0" ...);
 * - what a rest costs (harness/bandwidth/idle_penalty.h).
 * Chooses the session's yardstick: the reader and the kind of pages that read memory fastest with the
 * session's own team. */
enum ulb_status ulb_beta_measure(struct ulb_session *session, struct ulb_error *err);

/* The same if no grid follows, whose rounds would be the record's yardstick. The yardstick is then what the
 * set read of memory, and its drift is not known. */
enum ulb_status ulb_beta_measure_alone(struct ulb_session *session, struct ulb_error *err);

/* Measures memory alone, of the session's set and on a hybrid machine of each class: the betas of a roofline.
 */
enum ulb_status ulb_beta_measure_memory(struct ulb_session *session, struct ulb_error *err);

/* beta at memory level of a core class, bytes/cycle of one core, from the cells of a record. A class is
 * measured as a set of its own on hybrid machines only. Elsewhere beta is that of the record's set, resolved
 * as far as the record goes. NAN: it was not measured. */
double ulb_beta_of_class(const struct ulb_record *record, const char *class_name);

/* Chooses the yardstick alone (what the GEMV commands need). */
enum ulb_status ulb_beta_choose(struct ulb_session *session, struct ulb_error *err);

#endif
