#include "harness/counters/likwid.h"

#include "common/isa.h"
#include "harness/counters/counters_private.h"
#include "harness/counters/run_program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double bench_timeout_s = 30;

/* The number behind the first key at a line's start, separators skipped; NAN when there is none. */
static double value_of(const char *text, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) != 0)
            continue;
        const char *begin = line + length + strspn(line + length, " \t");
        char *end;
        double value = strtod(begin, &end);
        return end == begin ? NAN : value;
    }
    return NAN;
}

enum ulb_status ulb_likwid_bench_parse(const char *text, double *gbps, struct ulb_error *err)
{
    double mbps = value_of(text, "MByte/s:"); /* 1e6 bytes */
    if (!isfinite(mbps) || mbps <= 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "likwid-bench printed no bandwidth ('MByte/s:')");
    *gbps = mbps / 1e3;
    return ULB_OK;
}

/* likwid-bench builds its thread domain N from the CPUs that it may run on, so that the set is given by
 * affinity. With -W every thread touches its own share first. Its kB are 1000 bytes. */
enum ulb_status ulb_likwid_bench_bandwidth(const unsigned *pus, size_t n, size_t bytes, double *gbps,
                                           struct ulb_error *err)
{
    char group[64], *output;
    snprintf(group, sizeof group, "N:%zukB:%zu", bytes / 1000, n);
    char *test = ulb_isa_detect() & ULB_ISA_AVX2 ? "load_avx" : "load";
    char *argv[] = {"likwid-bench", "-t", test, "-W", group, NULL};
    enum ulb_status status = ulb_run_program(argv, pus, n, bench_timeout_s, &output, err);
    if (status != ULB_OK)
        return status;
    status = ulb_likwid_bench_parse(output, gbps, err);
    free(output);
    return status;
}

static void refuse(struct ulb_counter_report *report, const char *reason)
{
    snprintf(report->reason, sizeof report->reason, "%.159s", reason);
}

/* Keeps a core busy for some milliseconds, in whatever shell there is. */
static char busy_loop[] = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";

/* The clock that LIKWID counts in a busy loop beside that of the chain of adds, whose cycles are known. */
static const double CLOCK_MARGIN = 0.25;

static void judge(struct ulb_counter_report *report, double mhz, double cpi, double chain_mhz)
{
    size_t room = sizeof report->reason;
    if (!(mhz > 0) || !isfinite(mhz))
        refuse(report,
               "likwid-perfctr runs but sees no core clock; its counters read 0 or are not permitted");
    else if (!(cpi > 0) || !isfinite(cpi))
        refuse(report, "likwid-perfctr counts no instructions or no cycles in a busy loop: CPI is 0");
    else if (1 / cpi > ULB_WIDEST_IPC)
        snprintf(report->reason, room,
                 "likwid-perfctr counts %.1f instructions per cycle, more than any core allocates", 1 / cpi);
    else if (fabs(mhz / chain_mhz - 1) > CLOCK_MARGIN)
        snprintf(report->reason, room,
                 "likwid-perfctr sees a core clock of %.0f MHz where a chain of adds runs at %.0f", mhz,
                 chain_mhz);
    else
        report->works = true;
    if (report->works)
        snprintf(report->reason, room,
                 "likwid-perfctr -m counts the measured regions; it sees a core clock of %.0f MHz", mhz);
}

void ulb_likwid_probe(const struct ulb_counter_system *system, struct ulb_counter_report *report)
{
    *report = (struct ulb_counter_report){.name = "likwid"};
    struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS];
    if (ulb_core_pmus(system->sysfs, pmus) > 0) {
        refuse(report, "LIKWID (up to 5.5) does not know hybrid CPUs");
        return;
    }
    char cpu[16], *output;
    struct ulb_error err;
    snprintf(cpu, sizeof cpu, "%d", system->current_cpu());
    char *argv[] = {"likwid-perfctr", "-O", "-C", cpu, "-g", "CLOCK", "sh", "-c", busy_loop, NULL};
    if (ulb_run_program(argv, NULL, 0, 10, &output, &err) != ULB_OK) {
        refuse(report, err.message);
        return;
    }
    judge(report, value_of(output, "Clock [MHz],"), value_of(output, "CPI,"),
          1e-6 * ulb_counter_chain_hz(system));
    free(output);
}
