/* The machine that a run measures: its topology, the PUs of the set, the team on them, the clock. */
#ifndef ULB_HARNESS_SESSION_MACHINE_H
#define ULB_HARNESS_SESSION_MACHINE_H

#include "harness/threads/team.h"
#include "harness/timing/clock.h"
#include "harness/topology/topology.h"

struct ulb_machine {
    struct ulb_topology topology;
    struct ulb_pu_list pus; /* of the set, one per thread */
    struct ulb_team *team;
    struct ulb_clock_source clock;
    double slept_before; /* seconds that the system had been suspended when the session began */
    double fork_join_s;  /* empty job of the team */
};

/* set: "P", "E", "LP-E", "all" or a PU list; NULL: all. ULB_ENVIRONMENT when threads cannot be pinned
 * although the set or a hybrid machine needs it. To be closed whatever the status. */
enum ulb_status ulb_machine_open(struct ulb_machine *machine, const char *set, struct ulb_error *err);
void ulb_machine_close(struct ulb_machine *machine);

#endif
