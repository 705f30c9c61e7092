#include "harness/cli/commands/model.h"

#include "common/units.h"
#include "harness/cli/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ULB_COUNT(array) (sizeof(array) / sizeof *(array))

static void print_roofline(const json_t *document)
{
    static const struct ulb_column classes[] = {
        {"name", "class", 0},
        {"cores", "cores", 0},
        {"ghz", "GHz", 2},
        {"beta_bytes_per_cycle", "beta B/cycle", 3},
        {"core_gibps", "GiB/s a core", 2},
        {"core_gbps", "GB/s a core", 2},
    };
    static const struct ulb_column ceilings[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"class", "class", 0},
        {"bytes_per_step", "B", 0},
        {"gamma_cycles", "gamma", 3},
        {"ceiling_bytes_per_cycle", "B/gamma", 3},
        {"ebw_bytes_per_cycle", "e_bw", 3},
        {"bound", "bound by", 0},
        {"core_gibps", "GiB/s a core", 2},
        {"core_gbps", "GB/s a core", 2},
    };
    const json_t *rows = json_object_get(document, "ceilings");
    const char *from = json_string_value(json_object_get(json_array_get(rows, 0), "gamma_from"));
    printf("\nRead bandwidth, shared equally by all cores\n");
    ulb_print_table(json_object_get(document, "classes"), classes, ULB_COUNT(classes));
    putchar('\n');
    ulb_print_wrapped_as(stdout, "",
                         "Roofline per core, gammas (cycles per 32 weights)%s%s: e_bw = min(beta, B/gamma)",
                         from ? " of the " : "", from ? from : "");
    ulb_print_table(rows, ceilings, ULB_COUNT(ceilings));
}

static void print_ports(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"class", "class", 0},
        {"shown", "core", 0},
        {"gamma_cycles", "gamma", 3},
        {"decided_by", "decided by", 0},
        {"ceiling_bytes_per_cycle", "B/gamma", 3},
        {"ebw_bytes_per_cycle", "e_bw", 3},
        {"bound", "bound by", 0},
        {"core_gibps", "GiB/s a core", 2},
    };
    const json_t *ports = json_object_get(document, "port_bounds");
    json_t *rows = json_deep_copy(json_object_get(ports, "ceilings")), *row;
    size_t i;
    bool inferred = false;
    json_array_foreach(rows, i, row)
    {
        char name[40];
        const char *core = json_string_value(json_object_get(row, "core"));
        bool note = json_object_get(row, "note") != NULL;
        snprintf(name, sizeof name, "%.30s%s", core ? core : "-", note ? " *" : "");
        json_object_set_new(row, "shown", json_string(name));
        inferred |= note;
    }
    putchar('\n');
    ulb_print_wrapped_as(stdout, "", "The same with the %s",
                         json_string_value(json_object_get(ports, "label")));
    ulb_print_table(rows, columns, ULB_COUNT(columns));
    if (inferred)
        printf("* pipes inferred from throughput\n");
    json_decref(rows);
}

static void print_int1(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"class", "class", 0},
        {"ratio", "ratio", 3},
        {"gamma_cycles", "gamma", 3},
        {"ceiling_bytes_per_cycle", "B/gamma", 3},
        {"ebw_bytes_per_cycle", "e_bw", 3},
        {"bound", "bound by", 0},
        {"core_gibps", "GiB/s a core", 2},
        {"core_gbps", "GB/s a core", 2},
    };
    const json_t *int1 = json_object_get(document, "modelled_int1");
    const json_t *measurement = json_object_get(int1, "measurement");
    char text[1024];
    putchar('\n');
    if (!json_is_object(int1)) {
        ulb_print_wrapped(stdout, "The fastest 1-bit kernel is not modelled: ",
                          json_string_value(json_object_get(document, "modelled_int1_reason")));
        return;
    }
    const char *record = json_string_value(json_object_get(measurement, "record"));
    const char *cpu = json_string_value(json_object_get(measurement, "cpu_model"));
    snprintf(
        text, sizeof text,
        "%s, modelled: the platform's gamma of int1 blend times the ratio of gammas of the two kernels (%s "
        "is the "
        "other), %s%.200s on %.64s",
        json_string_value(json_object_get(int1, "kernel")),
        json_string_value(json_object_get(int1, "paper_kernel")), record ? "measured in " : "measured now",
        record ? record : "", cpu ? cpu : "an unnamed CPU");
    ulb_print_wrapped(stdout, "", text);
    ulb_print_table(json_object_get(int1, "ceilings"), columns, ULB_COUNT(columns));
}

static void print_totals(const json_t *document)
{
    static const struct ulb_column columns[] = {
        {"format", "format", 0}, {"sequence", "sequence", 0}, {"gamma_from", "gamma", 0},
        {"gibps", "GiB/s", 1},   {"gbps", "GB/s", 1},         {"bandwidth_percent", "% of read bandwidth", 0},
    };
    const json_t *const parts[] = {document, json_object_get(document, "port_bounds"),
                                   json_object_get(document, "modelled_int1")};
    json_t *rows = json_array();
    for (size_t i = 0; i < ULB_COUNT(parts); i++) {
        json_t *totals = json_object_get(parts[i], "totals");
        if (totals)
            json_array_extend(rows, totals);
    }
    putchar('\n');
    ulb_print_wrapped(stdout, "", "GEMV bandwidth of the chip, all cores (the paper's \"GB/s\" are GiB/s)");
    ulb_print_table(rows, columns, ULB_COUNT(columns));
    json_decref(rows);
}

static void print_predictions(const json_t *document, double fork_join_s)
{
    static const struct ulb_column gemv[] = {
        {"format", "format", 0},
        {"sequence", "sequence", 0},
        {"model", "model", 0},
        {"layer", "layer", 0},
        {"m", "M", 0},
        {"k", "K", 0},
        {"weight_mb", "MB", 2},
        {"ideal_us", "ideal us", 1},
        {"predicted_us", "predicted us", 1},
        {"gbps", "GB/s", 1},
    };
    static const struct ulb_column amdahl[] = {
        {"alpha", "alpha", 2},
        {"speedup_x8", "x = 8 (16 to 2 bit)", 2},
        {"speedup_x16", "x = 16 (16 to 1 bit)", 2},
    };
    char fork_join[64] = "fork/join, which is not known for this platform";
    if (isfinite(fork_join_s))
        snprintf(fork_join, sizeof fork_join, "%.2f us of fork/join", fork_join_s * 1e6);
    putchar('\n');
    ulb_print_wrapped_as(stdout, "",
                         "GEMV times: rows shared out by the rate of each core, weights without scales; "
                         "predicted = ideal + %s",
                         fork_join);
    ulb_print_table(json_object_get(document, "gemv"), gemv, ULB_COUNT(gemv));
    putchar('\n');
    ulb_print_wrapped(stdout, "",
                      "Amdahl: speed-up of a 16-bit run whose GEMVs take the share alpha and get x times "
                      "faster");
    ulb_print_table(json_object_get(document, "amdahl"), amdahl, ULB_COUNT(amdahl));
}

void ulb_model_print(const struct ulb_platform *platform, const json_t *document)
{
    ulb_print_wrapped_as(stdout, "", "%s: %s", platform->name, platform->title);
    ulb_print_wrapped(stdout, "source: ", platform->source);
    ulb_print_wrapped_as(stdout, "",
                         "read bandwidth %.1f GiB/s = %.1f GB/s; modelled, nothing was measured on this chip",
                         platform->bandwidth / ULB_GIB, platform->bandwidth / ULB_GB);
    print_roofline(document);
    print_ports(document);
    print_int1(document);
    print_totals(document);
    print_predictions(document, platform->fork_join_s);
}
