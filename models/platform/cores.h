/* The cores whose ports are known: models/data/cores.json, which is part of the binary.
 *
 * The file is one object with two lists.
 *   cores   name, chips       strings
 *           ports             name of its port table
 *           issue_width       micro-operations allocated per cycle
 *           load_bytes_per_cycle  {"256": number, "512": number}: from L1, by vector width; a core without
 * 512 has no such vectors, whatever its port table holds isa               instruction-set bits, comma
 * separated models            [{"vendor", "family", "models", "classes"}]: CPUID of the chips, models as
 *                             hexadecimal words and ranges, classes in which this is the core
 *   ports   name, source      strings
 *           load_pipes        words; all other pipes are vector pipes
 *           inferred          true where nobody publishes pipes and they follow from measured throughput
 *           256, 512          [{"ops", "uops", "latency", "on": {PIPES: cycles}}]: for each kind of
 *                             instruction at that width the slots of the front end, the latency (may be left
 *                             out, except of dot products and FMAs) and the pipe-cycles that one of the pipes
 *                             must give */
#ifndef ULB_MODELS_PLATFORM_CORES_H
#define ULB_MODELS_PLATFORM_CORES_H

#include "common/isa.h"
#include "common/status.h"
#include "models/ports.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { ULB_CORE_REASON_BYTES = 160 };

struct ulb_core_list {
    struct ulb_core *items;
    size_t n;
};

/* The built-in cores, or those of a text in the same form; freed with ulb_core_list_free whatever the status.
 * ULB_BAD_INPUT names origin, place and what is wanted. */
enum ulb_status ulb_core_list_load(struct ulb_core_list *list, struct ulb_error *err);
enum ulb_status ulb_core_list_parse(const char *text, size_t bytes, const char *origin,
                                    struct ulb_core_list *list, struct ulb_error *err);
void ulb_core_list_free(struct ulb_core_list *list);

/* By name; NULL when unknown. */
const struct ulb_core *ulb_core_find(const struct ulb_core_list *list, const char *name);

/* What `list cores --json` prints of one. */
json_t *ulb_core_json(const struct ulb_core *core);

/* Which of the cores a core class of this CPU has: by CPUID, never by resemblance. NULL with the reason:
 * CPUID is not in the list, or the CPU has instructions that the core lacks (a hypervisor may forge the
 * model). */
const struct ulb_core *ulb_core_identify(const struct ulb_core_list *list,
                                         const struct ulb_cpu_signature *cpu, ulb_isa_set isa,
                                         const char *class_name, char reason[ULB_CORE_REASON_BYTES]);

/* The lower limit of gamma that a core sets to a loop that needs these instructions. False with the reason
 * when there is none: the core lacks an instruction set, its table a kind of instruction, or the kernel its
 * mix.
 */
bool ulb_core_bound(const struct ulb_core *core, const struct ulb_mix *mix, ulb_isa_set needs,
                    struct ulb_port_bound *bound, char reason[ULB_CORE_REASON_BYTES]);

#endif
