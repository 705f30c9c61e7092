/* Whether a core is free of interference. A busy SMT sibling takes half of a core's execution slots, be it
 * our own or, in a virtual machine, a neighbour's. Neither frequency nor load nor the chain of dependent
 * additions shows it.
 *
 * The test is a run of independent additions. A core executes 3 to 6 of them per cycle alone, and about half
 * as many beside a busy sibling. What "alone" means is learnt on the core itself. It is learnt again if the
 * core turns out to do better, or always a little worse. The frequency came out too low while it was learnt.
 */
#ifndef ULB_HARNESS_TIMING_SMT_INTERFERENCE_H
#define ULB_HARNESS_TIMING_SMT_INTERFERENCE_H

#include <stdbool.h>

struct ulb_interference_monitor {
    double baseline; /* additions per cycle of the interference-free core */
    double higher;   /* the least of a row of readings above that */
    unsigned streak; /* length of the row */
    double lower;    /* the most of a row of readings that are too low, and too high for a busy sibling */
    unsigned low_streak;
    bool emulated; /* no core to be alone on */
    double hz;     /* core frequency at the last look; NAN where it could not be had */
};

/* Learns on the calling thread's core, about 10 ms. */
void ulb_interference_monitor_open(struct ulb_interference_monitor *monitor);

/* Whether the core was interference-free just now (about 30 us). True where the architecture has no probe,
 * and in an emulator. */
bool ulb_core_is_interference_free(struct ulb_interference_monitor *monitor);

/* The bookkeeping alone, for one reading in additions per cycle. */
bool ulb_interference_monitor_judge(struct ulb_interference_monitor *monitor, double additions_per_cycle);

#endif
