/* beta: what a core can read, by level and by set; and the memory yardstick of the run. */
#ifndef ULB_HARNESS_BANDWIDTH_BETA_H
#define ULB_HARNESS_BANDWIDTH_BETA_H

#include "harness/session/session.h"

/* Measures L1, L2, LLC and memory of one core, of each class and of all cores, and the curve beta(n) at
 * memory level for n = 1..cores of the set, and, where there are several memory nodes, what the set's cores
 * of each read of their own node (set "node0" ...); appends the cells to the session's record. Chooses the
 * session's yardstick: the reader and the kind of pages that read memory fastest with the session's own team;
 * and says what a rest costs (harness/bandwidth/idle_penalty.h). */
enum ulb_status ulb_beta_measure(struct ulb_session *session, struct ulb_error *err);

/* The same where no grid follows, whose rounds would be the record's yardstick: it is what the set read of
 * memory, and its drift is not known. */
enum ulb_status ulb_beta_measure_alone(struct ulb_session *session, struct ulb_error *err);

/* Measures memory alone, of the session's set and on a hybrid machine of each class: the betas of a roofline.
 */
enum ulb_status ulb_beta_measure_memory(struct ulb_session *session, struct ulb_error *err);

/* beta at memory level of a core class, bytes/cycle of one core, from the cells of a record. A class is
 * measured as a set of its own on hybrid machines only; elsewhere it is the record's set, resolved as far as
 * the record goes. NAN when it was not measured. */
double ulb_beta_of_class(const struct ulb_record *record, const char *class_name);

/* Chooses the yardstick alone (what the GEMV commands need). */
enum ulb_status ulb_beta_choose(struct ulb_session *session, struct ulb_error *err);

#endif
