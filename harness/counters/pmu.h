/* The PMUs of the cores of a hybrid chip, and the kernel's lists of CPUs. */
#ifndef ULB_HARNESS_COUNTERS_PMU_H
#define ULB_HARNESS_COUNTERS_PMU_H

#include <stddef.h>

/* A PMU that covers only some of the CPUs, as a hybrid chip has one of per kind of core. */
struct ulb_core_pmu {
    char name[64];
    unsigned type;
    char cpus[256]; /* kernel's list format, "0-11" */
};

enum { ULB_MAX_CORE_PMUS = 8 };

/* Core PMUs under sysfs, by name, when there are two or more; 0 on a homogeneous machine. */
size_t ulb_core_pmus(const char *sysfs, struct ulb_core_pmu pmus[ULB_MAX_CORE_PMUS]);

/* The smallest CPU of the list that is >= from, or -1. */
int ulb_cpu_list_next(const char *list, int from);

#endif
