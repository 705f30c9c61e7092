/* The sections of the record that describe where a run was made: machine, build, clock, settings. */
#ifndef ULB_HARNESS_SESSION_DESCRIBE_MACHINE_H
#define ULB_HARNESS_SESSION_DESCRIBE_MACHINE_H

#include "harness/session/session.h"

/* Sets machine, build, topology, clock, settings and fork_join in the session's record. Warns of what makes
 * figures doubtful: other load, a hypervisor, a governor other than performance, a CPU quota, threads that
 * could not be pinned. */
enum ulb_status ulb_machine_describe(struct ulb_session *session, struct ulb_error *err);

/* Sets machine.huge_pages; to be called when the ring has been mapped, or when there will be none. */
enum ulb_status ulb_machine_huge_pages(struct ulb_session *session, struct ulb_error *err);

/* Warns when the system was suspended since the session was opened; at the end of a run. */
enum ulb_status ulb_machine_warn_of_sleep(struct ulb_session *session, struct ulb_error *err);

/* The version of this build, by git's tags (cmake/version.cmake). */
const char *ulb_build_version(void);

#endif
