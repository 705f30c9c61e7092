/* Inside harness/counters: what a back end is, and what it asks of the operating system. */
#ifndef ULB_HARNESS_COUNTERS_COUNTERS_PRIVATE_H
#define ULB_HARNESS_COUNTERS_COUNTERS_PRIVATE_H

#include "harness/counters/counters.h"
#include "harness/counters/pmu.h"

#include <linux/perf_event.h>
#include <sys/types.h>

/* The way to the machine; tests put their own in. */
struct ulb_counter_system {
    const char *sysfs;
    int (*perf_event_open)(struct perf_event_attr *attributes); /* of the calling thread, on any CPU */
    ssize_t (*read)(int fd, void *data, size_t bytes);
    int (*close)(int fd);
    int (*current_cpu)(void);
    int (*move_to)(int cpu); /* pins the calling thread; -1 when it may not run there */
    void (*work)(uint64_t adds);
    void (*wide)(uint64_t adds);
};

/* No core executes more instructions a cycle than it allocates. The widest that is known allocates 10
 * (Cortex-X925; Lion Cove, Skymont and Zen 5 have 8). A little is added for a count that begins late. */
#define ULB_WIDEST_IPC 10.5

/* Frequency of the core that the thread is on, by the chain of adds, Hz. */
double ulb_counter_chain_hz(const struct ulb_counter_system *system);

struct ulb_counter_backend {
    const char *name;
    enum ulb_status (*open)(struct ulb_cycle_counter *counter, struct ulb_error *err);
    bool (*read)(struct ulb_cycle_counter *counter, uint64_t *cycles); /* false: the reading is not sound */
    void (*close)(struct ulb_cycle_counter *counter);
};

extern const struct ulb_counter_backend ulb_counter_papi, ulb_counter_perf;
/* Instructions instead of cycles. */
extern const struct ulb_counter_backend ulb_counter_instructions;
extern const struct ulb_counter_system ulb_counter_host;

/* The public functions on a given system; the probe pins the calling thread and leaves it so. */
void ulb_counters_probe_on(const struct ulb_counter_system *system,
                           struct ulb_counter_report reports[ULB_COUNTER_REPORTS]);
enum ulb_status ulb_cycle_counter_open_on(const struct ulb_counter_system *system,
                                          struct ulb_cycle_counter *counter, struct ulb_error *err);
enum ulb_status ulb_instruction_counter_open_on(const struct ulb_counter_system *system,
                                                struct ulb_cycle_counter *counter, struct ulb_error *err);

/* Whether likwid-perfctr can measure regions of this build here; fills report. */
void ulb_likwid_probe(const struct ulb_counter_system *system, struct ulb_counter_report *report);

#endif
