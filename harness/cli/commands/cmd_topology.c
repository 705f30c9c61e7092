/* ulb-bench topology: what the machine looks like to this suite. */
#include "harness/cli/cli.h"
#include "harness/cli/table.h"

#include "common/units.h"
#include "harness/opencl/devices.h"
#include "harness/topology/topology.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 14, TEXT_BYTES = 32768 };

/* A paragraph with a label in front, broken at blanks and behind commas so that it stays within the screen.
 */
static void print_field(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void print_wrapped(const char *text)
{
    int column = INDENT, width = (int)ulb_terminal_width(stdout);
    bool blank = false;
    while (*text) {
        size_t word = strcspn(text, " ,");
        word += text[word] == ',';
        if (column > INDENT && column + blank + (int)word > width) {
            printf("\n%*s", INDENT, "");
            column = INDENT;
            blank = false;
        }
        printf("%s%.*s", blank ? " " : "", (int)word, text);
        column += blank + (int)word;
        blank = text[word] == ' ';
        text += word + blank;
    }
    putchar('\n');
}

static void print_field(const char *label, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    printf("%-*s", INDENT, label);
    print_wrapped(text);
}

/* "2.5 MiB"; "-" when unknown. */
static const char *size_text(size_t bytes, char *out, size_t out_bytes)
{
    double value = (double)bytes;
    if (!bytes)
        snprintf(out, out_bytes, "-");
    else if (value < ULB_MIB)
        snprintf(out, out_bytes, "%.4g KiB", value / ULB_KIB);
    else if (value < ULB_GIB)
        snprintf(out, out_bytes, "%.4g MiB", value / ULB_MIB);
    else
        snprintf(out, out_bytes, "%.4g GiB", value / ULB_GIB);
    return out;
}

/* "0,1 | 2,3": the lists one after the other. */
static const char *lists_text(const struct ulb_pu_list *lists, size_t n, char *out, size_t out_bytes)
{
    char text[256];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n && used < out_bytes; i++)
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", i ? " | " : "",
                                 ulb_pu_list_text(&lists[i], text, sizeof text));
    return out;
}

static void print_machine(const struct ulb_topology *topology)
{
    char pus[TEXT_BYTES], size[32], isa[256];
    print_field("machine", "%s", topology->cpu_model[0] ? topology->cpu_model : "model unknown");
    print_field("", "packages %u, NUMA nodes %u, memory %s, last-level caches %s", topology->packages,
                topology->numa_nodes, size_text(topology->memory_bytes, size, sizeof size),
                size_text(topology->llc_bytes, isa, sizeof isa));
    print_field("PUs", "%s", ulb_pu_list_text(&topology->all_pus, pus, sizeof pus));
    print_field("allowed", "%s", ulb_pu_list_text(&topology->allowed_pus, pus, sizeof pus));
    if (topology->offline_pus.n)
        print_field("offline", "%s", ulb_pu_list_text(&topology->offline_pus, pus, sizeof pus));
    for (size_t i = 0; topology->numa_nodes > 1 && i < topology->numa_nodes; i++)
        print_field(i ? "" : "NUMA", "node %u: %s, PUs %s", topology->numa[i].node,
                    size_text(topology->numa[i].memory_bytes, size, sizeof size),
                    ulb_pu_list_text(&topology->numa[i].pus, pus, sizeof pus));
    struct ulb_pu_list left_out;
    if (ulb_topology_left_out(topology, &left_out))
        print_field("set all", "leaves out the LP-E cores, PUs %s, unless they are asked for: --set P,E,LP-E",
                    ulb_pu_list_text(&left_out, pus, sizeof pus));
    print_field("hybrid", "%s (%s)", topology->hybrid ? "yes" : "no", topology->how);
    if (topology->note[0])
        print_field("note", "%s", topology->note);
    if (!topology->this_system) {
        print_field("replayed",
                    "not the running machine: ISA and hypervisor are not known, nothing can be measured");
        return;
    }
    print_field("hypervisor", "%s", topology->hypervisor[0] ? topology->hypervisor : "none");
    print_field("ISA", "%s", topology->isa ? ulb_isa_names(topology->isa, isa, sizeof isa) : "no bit in use");
}

/* "8 MiB, 16 MiB": the sizes of a class's L3s, each once; "none". */
static const char *l3_sizes_text(const struct ulb_core_class *class, char *out, size_t out_bytes)
{
    char size[32];
    size_t used = 0;
    snprintf(out, out_bytes, "none");
    for (size_t i = 0; i < class->n_l3_caches && used < out_bytes; i++) {
        size_t first = 0;
        while (class->l3_caches[first].bytes != class->l3_caches[i].bytes)
            first++;
        if (first == i)
            used += (size_t)snprintf(out + used, out_bytes - used, "%s%s", i ? ", " : "",
                                     size_text(class->l3_caches[i].bytes, size, sizeof size));
    }
    return out;
}

/* "0-3 (8 MiB) | 4-7 (16 MiB)": the PUs under each L3; its size where there are several. */
static const char *l3_lists_text(const struct ulb_core_class *class, char *out, size_t out_bytes)
{
    char pus[256], size[32];
    size_t used = 0;
    if (class->n_l3_caches == 1)
        return ulb_pu_list_text(&class->l3_pus, out, out_bytes);
    for (size_t i = 0; i < class->n_l3_caches && used < out_bytes; i++)
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s (%s)", i ? " | " : "",
                                 ulb_pu_list_text(&class->l3_caches[i].pus, pus, sizeof pus),
                                 size_text(class->l3_caches[i].bytes, size, sizeof size));
    return out;
}

static void print_classes(const struct ulb_topology *topology)
{
    static const struct ulb_table_column columns[] = {
        {"class", false, false}, {"cores", true, false},    {"usable", true, false},
        {"PUs", true, false},    {"SMT", true, false},      {"L1d", false, false},
        {"L2s", true, false},    {"L2 each", false, false}, {"L3 each", false, true},
    };
    struct ulb_table *table = ulb_table_open(columns, sizeof columns / sizeof *columns);
    putchar('\n');
    for (size_t c = 0; c < topology->n_classes; c++) {
        const struct ulb_core_class *class = &topology->classes[c];
        char l1d[32], l2[32], l3[64];
        ulb_table_add(table, "%s\t%u\t%zu\t%zu\t%u\t%s\t%zu\t%s\t%s", class->name, class->cores,
                      class->leaders.n, class->pus.n, class->smt,
                      size_text(class->l1d_bytes, l1d, sizeof l1d), class->n_l2_clusters,
                      size_text(class->l2_bytes, l2, sizeof l2), l3_sizes_text(class, l3, sizeof l3));
    }
    ulb_table_print(table, stdout);
}

static void print_sharing(const struct ulb_topology *topology)
{
    char text[TEXT_BYTES];
    for (size_t c = 0; c < topology->n_classes; c++) {
        const struct ulb_core_class *class = &topology->classes[c];
        printf("\n");
        print_field(class->name, "PUs %s", ulb_pu_list_text(&class->pus, text, sizeof text));
        if (class->smt > 1)
            print_field("  SMT", "%s", lists_text(class->smt_siblings, class->cores, text, sizeof text));
        if (class->n_l2_clusters)
            print_field("  share an L2", "%s",
                        lists_text(class->l2_clusters, class->n_l2_clusters, text, sizeof text));
        if (class->n_l3_caches)
            print_field("  under an L3", "%s", l3_lists_text(class, text, sizeof text));
    }
}

/* ---- devices ---- */

/* Those of the running machine; none, with the reason, where there is no driver. */
static enum ulb_status find_devices(const struct ulb_topology *topology, json_t *rows, json_t *notes,
                                    struct ulb_error *reason)
{
    if (topology->this_system)
        return ulb_devices_list(rows, notes, reason);
    return ulb_fail(reason, ULB_ENVIRONMENT, "replayed, not the running machine");
}

static enum ulb_status print_json(const struct ulb_topology *topology, struct ulb_error *err)
{
    json_t *document = ulb_topology_json(topology), *rows = json_array(), *notes = json_array();
    struct ulb_error reason;
    if (find_devices(topology, rows, notes, &reason) != ULB_OK)
        json_object_set_new(document, "devices_reason", json_string(reason.message));
    if (json_array_size(notes) > 0)
        json_object_set(document, "devices_notes", notes);
    json_object_set_new(document, "devices", rows);
    json_decref(notes);
    return ulb_print_json(document, err);
}

static void print_devices(const struct ulb_topology *topology)
{
    json_t *rows = json_array(), *notes = json_array(), *row;
    struct ulb_error unused;
    char size[32];
    size_t i;
    find_devices(topology, rows, notes, &unused);
    json_array_foreach(rows, i, row)
    {
        const json_t *bytes = json_object_get(row, "memory_bytes");
        if (i == 0)
            putchar('\n');
        print_field(i ? "" : "devices", "%s: %s, units %lld, memory %s, matrix instructions: %s",
                    json_string_value(json_object_get(row, "id")),
                    json_string_value(json_object_get(row, "name")),
                    json_integer_value(json_object_get(row, "units")),
                    size_text((size_t)json_integer_value(bytes), size, sizeof size),
                    json_string_value(json_object_get(row, "matrix")));
    }
    json_decref(rows);
    json_decref(notes);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    bool *json = state->input;
    (void)argument;
    switch (key) {
    case 'j':
        *json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {{"json", 'j', 0, 0, "print one JSON document", 0}, {0}};
    static const struct argp parser = {
        .options = options,
        .parser = parse_option,
        .doc = "Core classes, who shares what, which PUs may be used, and devices. "
               "HWLOC_XMLFILE replays a recorded machine."};
    bool json = false, done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &json, &done, err);
    if (status != ULB_OK || done)
        return status;
    struct ulb_topology topology;
    status = ulb_topology_load(&topology, err);
    if (status != ULB_OK)
        return status;
    if (json) {
        status = print_json(&topology, err);
    } else {
        print_machine(&topology);
        print_classes(&topology);
        print_sharing(&topology);
        print_devices(&topology);
    }
    ulb_topology_free(&topology);
    return status;
}

const struct ulb_command ulb_command_topology = {"topology", "core classes, caches, usable PUs, ISA", run};
