/* One way to the energy counters: what energy.c asks of it. */
#ifndef ULB_HARNESS_ENERGY_ENERGY_SOURCE_H
#define ULB_HARNESS_ENERGY_ENERGY_SOURCE_H

#include "common/status.h"

#include <stddef.h>

enum { ULB_ENERGY_DOMAINS = 32 };

/* One counter. */
struct ulb_energy_domain {
    char name[24];      /* "package-0" */
    char path[512];     /* powercap: the file */
    int fd;             /* perf: the event; -1: none */
    double unit_joules; /* of one count */
    double range;       /* counts after which it overflows to 0; 0: never */
};

struct ulb_energy_source {
    const char *name;
    /* Fills domains, ULB_ENERGY_DOMAINS at most, and their number. ULB_ENVIRONMENT: reason and remedy. */
    enum ulb_status (*open)(const char *root, struct ulb_energy_domain *domains, size_t *n,
                            struct ulb_error *err);
    /* The counter's value. */
    enum ulb_status (*read)(const struct ulb_energy_domain *domain, double *count, struct ulb_error *err);
    void (*close)(struct ulb_energy_domain *domains, size_t n);
};

extern const struct ulb_energy_source ulb_energy_powercap, ulb_energy_perf;

#endif
