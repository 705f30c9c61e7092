#include "harness/analysis/port_bounds.h"

#include "harness/session/json_number.h"
#include "models/platform/cores.h"

#include <math.h>
#include <stdio.h>

static json_t *bound_row(const struct ulb_kernel *kernel, const char *class_name, const struct ulb_core *core,
                         const char *no_core)
{
    struct ulb_port_bound bound;
    char name[ULB_KERNEL_NAME_MAX], reason[ULB_CORE_REASON_BYTES];
    bool known = core && ulb_core_bound(core, &kernel->mix, kernel->needs, &bound, reason);
    const char *why = core ? reason : no_core;
    json_t *row = json_pack("{s:s, s:s}", "kernel", ulb_kernel_name(kernel, name), "class", class_name);
    ulb_set_text(row, "core", core ? core->name : NULL, no_core);
    ulb_set_figure(row, "bound_cycles", known ? bound.cycles : NAN, why);
    ulb_set_text(row, "decided_by", known ? ulb_limit_name(bound.decides) : NULL, why);
    return row;
}

enum ulb_status ulb_port_bounds_record(struct ulb_record *record, const struct ulb_topology *topology,
                                       const struct ulb_kernel *const *kernels, size_t n,
                                       struct ulb_error *err)
{
    struct ulb_core_list cores;
    json_t *rows = json_array();
    enum ulb_status status = ulb_core_list_load(&cores, err);
    for (size_t c = 0; c < topology->n_classes && status == ULB_OK; c++) {
        const char *class_name = topology->classes[c].name;
        const struct ulb_cpu_signature cpu = ulb_cpu_signature_of(topology->classes[c].pus.items[0]);
        char no_core[ULB_CORE_REASON_BYTES] = "";
        const struct ulb_core *core = ulb_core_identify(&cores, &cpu, ulb_isa_detect(), class_name, no_core);
        for (size_t i = 0; i < n; i++)
            json_array_append_new(rows, bound_row(kernels[i], class_name, core, no_core));
    }
    ulb_core_list_free(&cores);
    if (status == ULB_OK)
        return ulb_record_set(record, "port_bounds", rows, err);
    json_decref(rows);
    return status;
}
