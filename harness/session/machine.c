#include "harness/session/machine.h"

#include <string.h>

/* Unpinned threads are still one per core of a homogeneous machine, more or less. With several kinds nobody
 * knows which core they are on, or whether it is one that was asked for. */
static enum ulb_status check_pinning(const struct ulb_machine *machine, const char *set,
                                     struct ulb_error *err)
{
    int refused = ulb_team_pin_refused(machine->team);
    if (!refused || (!machine->topology.hybrid && (!set || strcmp(set, "all") == 0)))
        return ULB_OK;
    return ulb_fail(
        err, ULB_ENVIRONMENT,
        "cannot pin threads (%s), which %s needs; allow sched_setaffinity in the container's seccomp profile",
        strerror(refused), machine->topology.hybrid ? "a hybrid machine" : "--set");
}

enum ulb_status ulb_machine_open(struct ulb_machine *machine, const char *set, struct ulb_error *err)
{
    *machine = (struct ulb_machine){0};
    enum ulb_status status = ulb_topology_load(&machine->topology, err);
    if (status != ULB_OK)
        return status;
    if (!machine->topology.this_system)
        return ulb_fail(err, ULB_BAD_INPUT,
                        "%s describes another machine; unset it to measure, or use 'ulb-bench topology'",
                        ulb_topology_variable());
    status = ulb_topology_select(&machine->topology, set ? set : "all", &machine->pus, err);
    if (status != ULB_OK)
        return status;
    status = ulb_team_start(&machine->team, machine->pus.items, machine->pus.n, err);
    if (status == ULB_OK)
        status = check_pinning(machine, set, err);
    if (status != ULB_OK)
        return status;
    machine->slept_before = ulb_slept();
    machine->fork_join_s = ulb_team_fork_join(machine->team);
    machine->clock = ulb_clock_probe();
    return ULB_OK;
}

void ulb_machine_close(struct ulb_machine *machine)
{
    ulb_team_stop(machine->team);
    machine->team = NULL;
    ulb_pu_list_free(&machine->pus);
    ulb_topology_free(&machine->topology);
}
