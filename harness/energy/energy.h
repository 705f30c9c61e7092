/* Energy of the processor's packages, and of their memory if it is counted, by RAPL.
 *
 * Counters are those of the first way that works: the powercap folder of sysfs, the "power" PMU of perf.
 * Nothing is estimated. If none works, there is no figure, and a reason with its remedy. */
#ifndef ULB_HARNESS_ENERGY_ENERGY_H
#define ULB_HARNESS_ENERGY_ENERGY_H

#include "common/status.h"

struct ulb_energy;

/* What was used between the pairs of start and stop so far. */
struct ulb_energy_use {
    double seconds;
    double joules;     /* all of it; NAN: a counter could not be read, or may have wrapped more than once */
    double idle_watts; /* of the machine at rest; NAN before ulb_energy_idle */
    double net_joules; /* without what rest would have taken in the same time; NAN where one of the two is */
    char reason[256];  /* why joules is NAN; else "" */
};

/* root: NULL for this machine; a folder with a made-up sys/class/powercap for tests, which is then the only
 * way that is tried. ULB_ENVIRONMENT names each way, why it does not work, and the remedy. */
enum ulb_status ulb_energy_open(struct ulb_energy **energy, const char *root, struct ulb_error *err);
void ulb_energy_close(struct ulb_energy *energy);

/* The way and the domains that are added up: "powercap: package-0, dram". */
const char *ulb_energy_source(const struct ulb_energy *energy);

/* Sleeps so long and takes the power of that time as the machine's at rest: the caller's threads must sleep,
 * too. ULB_ENVIRONMENT when a counter cannot be read. */
enum ulb_status ulb_energy_idle(struct ulb_energy *energy, double seconds, struct ulb_error *err);

/* Forgets what was used so far, not the power at rest. */
void ulb_energy_reset(struct ulb_energy *energy);

/* Reads the counters, outside of what is timed. One overflow of a counter between the two is seen and made up
 * for. A time in which it could overflow twice gives no figure. The counters move once a millisecond, so that
 * one short stretch tells little and many add up to the truth. */
void ulb_energy_start(struct ulb_energy *energy);
void ulb_energy_stop(struct ulb_energy *energy);

struct ulb_energy_use ulb_energy_used(const struct ulb_energy *energy);

#endif
