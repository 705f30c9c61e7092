/* Hardware counters: which of them really count core cycles here, and reading them.
 *
 * "Available" proves nothing. In many virtual machines counters are listed and read 0. On a hybrid CPU the
 * generic event counts on one kind of core only. So each back end is tried on a chain of dependent adds,
 * whose cycles are known. It is refused with a reason if its count is not believable. */
#ifndef ULB_HARNESS_COUNTERS_H
#define ULB_HARNESS_COUNTERS_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ULB_COUNTER_REPORTS = 3 };

struct ulb_counter_report {
    const char *name; /* "papi", "perf", "likwid" */
    bool works;
    char reason[160]; /* why not, with the remedy; when it works, what the probe saw */
};

/* Tries PAPI, perf_event and LIKWID, in this order; on a hybrid CPU on one allowed core of every PMU. The
 * caller's affinity stays as it is. ULB_ENVIRONMENT when no thread could be started for it. */
enum ulb_status ulb_counters_probe(struct ulb_counter_report reports[ULB_COUNTER_REPORTS],
                                   struct ulb_error *err);

struct ulb_counter_backend;
struct ulb_counter_system;

/* Core cycles, in user mode, of the thread that opened it. One counter per thread; opened, read and closed
 * there. */
struct ulb_cycle_counter {
    const struct ulb_counter_backend *backend; /* NULL: not open */
    const struct ulb_counter_system *system;
    int handle;
    bool sound; /* false once a reading failed or the event was not counting all the time: discard the figure
                 */
};

/* Opens PAPI where it really works, else perf_event with the PMU of the core the thread runs on: pin first.
 * Tries the counter on a known loop (a few milliseconds). ULB_ENVIRONMENT gives the reason of each back end.
 */
enum ulb_status ulb_cycle_counter_open(struct ulb_cycle_counter *counter, struct ulb_error *err);

/* The same for instructions instead of cycles, through perf_event; read and closed by the functions below. */
enum ulb_status ulb_instruction_counter_open(struct ulb_cycle_counter *counter, struct ulb_error *err);

/* Cycles so far; only differences mean something, and only while counter->sound. */
uint64_t ulb_cycle_counter_read(struct ulb_cycle_counter *counter);

/* "papi" or "perf". */
const char *ulb_cycle_counter_source(const struct ulb_cycle_counter *counter);

/* A zeroed counter is allowed. */
void ulb_cycle_counter_close(struct ulb_cycle_counter *counter);

/* Runs a chain of register-to-register adds, each waiting for the one before: one core cycle per add on every
 * x86-64 and AArch64 core. Adds of an immediate are no such chain: Golden Cove folds them while renaming.
 * adds is rounded up to a multiple of 64. */
void ulb_dependent_adds(uint64_t adds);

/* Runs adds of which eight at a time wait for none of the others. A core executes as many a cycle as it
 * allocates and has units for. Rounded up to a multiple of 64. */
void ulb_independent_adds(uint64_t adds);

#endif
