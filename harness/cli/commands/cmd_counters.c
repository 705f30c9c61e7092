/* ulb-bench counters: which sources of core cycles work on this machine, and why the others do not. */
#include "harness/cli/cli.h"
#include "harness/cli/terminal.h"
#include "harness/timing/stopwatch.h"
#include "harness/counters/counters.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { CHAIN = ULB_COUNTER_REPORTS, TSC, SOURCES };

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    *(bool *)state->input = true;
    return 0;
}

static enum ulb_status probe_all(struct ulb_counter_report reports[SOURCES], struct ulb_error *err)
{
    enum ulb_status status = ulb_counters_probe(reports, err);
    if (status != ULB_OK)
        return status;
    reports[CHAIN].name = "chain";
    reports[CHAIN].works = ulb_chain_probe(reports[CHAIN].reason);
    reports[TSC] =
        (struct ulb_counter_report){.name = "tsc",
                                    .works = true,
                                    .reason = "the last resort: time-stamp ticks, which are not core cycles"};
    return ULB_OK;
}

/* What figures of this machine are counted with. LIKWID counts regions for likwid-perfctr, not for the suite.
 */
static const char *source_of_cycles(const struct ulb_counter_report reports[SOURCES])
{
    static const size_t ladder[] = {0, 1, CHAIN, TSC};
    size_t i = 0;
    while (!reports[ladder[i]].works)
        i++;
    return reports[ladder[i]].name;
}

static json_t *as_json(const struct ulb_counter_report reports[SOURCES])
{
    json_t *rows = json_array();
    for (size_t i = 0; i < SOURCES; i++) {
        const char *text = reports[i].reason;
        const char *evidence = reports[i].works ? text : NULL, *reason = reports[i].works ? NULL : text;
        json_array_append_new(rows, json_pack("{s:s, s:b, s:s?, s:s?}", "name", reports[i].name, "works",
                                              reports[i].works, "reason", reason, "evidence", evidence));
    }
    return json_pack("{s:o, s:s}", "counters", rows, "cycles_source", source_of_cycles(reports));
}

static void print_row(const struct ulb_counter_report *report)
{
    char head[32];
    snprintf(head, sizeof head, "%-8s %-5s ", report->name, report->works ? "yes" : "no");
    ulb_print_wrapped(stdout, head, report->reason);
}

static enum ulb_status run(int argc, char **argv, struct ulb_error *err)
{
    static const struct argp_option options[] = {
        {"json", 'j', NULL, 0, "print one JSON document", 0},
        {0},
    };
    static const struct argp parser = {
        options, parse_option,
        NULL,    "Tries each source of core cycles and says whether it works, or why not.",
        NULL,    NULL,
        NULL};
    bool json = false, done;
    enum ulb_status status = ulb_parse_arguments(&parser, argc, argv, &json, &done, err);
    struct ulb_counter_report reports[SOURCES];
    if (status == ULB_OK && !done)
        status = probe_all(reports, err);
    if (status != ULB_OK || done)
        return status;
    if (json)
        return ulb_print_json(as_json(reports), err);
    printf("%-8s %-5s %s\n", "source", "works", "why");
    for (size_t i = 0; i < SOURCES; i++)
        print_row(&reports[i]);
    printf("cycles are counted with: %s\n", source_of_cycles(reports));
    return ULB_OK;
}

const struct ulb_command ulb_command_counters = {"counters",
                                                 "which sources of core cycles work here, or why not", run};
