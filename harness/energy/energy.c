#include "harness/energy/energy.h"

#include "harness/timing/stopwatch.h"
#include "harness/energy/energy_source.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* No package takes more: within range / this many watts a counter turns once at most. */
static const double MOST_WATTS = 1500;

struct ulb_energy {
    const struct ulb_energy_source *source;
    struct ulb_energy_domain domains[ULB_ENERGY_DOMAINS];
    size_t n;
    double begin[ULB_ENERGY_DOMAINS], begin_s;
    struct ulb_energy_use use;
    char label[256];
};

static void write_label(struct ulb_energy *energy)
{
    int used = snprintf(energy->label, sizeof energy->label, "%s:", energy->source->name);
    for (size_t i = 0; i < energy->n && used < (int)sizeof energy->label; i++)
        used += snprintf(energy->label + used, sizeof energy->label - (size_t)used, "%s %s", i ? "," : "",
                         energy->domains[i].name);
}

enum ulb_status ulb_energy_open(struct ulb_energy **out, const char *root, struct ulb_error *err)
{
    static const struct ulb_energy_source *const sources[] = {&ulb_energy_powercap, &ulb_energy_perf};
    size_t n_sources = root ? 1 : sizeof sources / sizeof *sources;
    struct ulb_error reasons = {""};
    struct ulb_energy *energy = calloc(1, sizeof *energy);
    *out = NULL;
    if (!energy)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for counters of energy");
    for (size_t i = 0; i < n_sources; i++) {
        struct ulb_error reason;
        energy->source = sources[i];
        if (energy->source->open(root ? root : "", energy->domains, &energy->n, &reason) == ULB_OK) {
            write_label(energy);
            energy->use.idle_watts = NAN;
            *out = energy;
            return ULB_OK;
        }
        size_t used = strlen(reasons.message);
        snprintf(reasons.message + used, sizeof reasons.message - used, "%s%s: %.230s", i ? "; " : "",
                 energy->source->name, reason.message);
    }
    free(energy);
    *err = reasons;
    return ULB_ENVIRONMENT;
}

void ulb_energy_close(struct ulb_energy *energy)
{
    if (!energy)
        return;
    energy->source->close(energy->domains, energy->n);
    free(energy);
}

const char *ulb_energy_source(const struct ulb_energy *energy)
{
    return energy->label;
}

void ulb_energy_reset(struct ulb_energy *energy)
{
    energy->use = (struct ulb_energy_use){.idle_watts = energy->use.idle_watts};
}

/* The first fault stays: from then on there is no sum. */
static void give_up(struct ulb_energy *energy, const char *reason)
{
    if (!isnan(energy->use.joules))
        snprintf(energy->use.reason, sizeof energy->use.reason, "%.255s", reason);
    energy->use.joules = NAN;
}

void ulb_energy_start(struct ulb_energy *energy)
{
    struct ulb_error err;
    for (size_t i = 0; i < energy->n; i++) {
        if (energy->source->read(&energy->domains[i], &energy->begin[i], &err) != ULB_OK)
            give_up(energy, err.message);
    }
    energy->begin_s = ulb_now();
}

/* Joules of one counter since the start. */
static double since(const struct ulb_energy_domain *domain, double begin, double end, double seconds)
{
    if (domain->range > 0 && seconds * MOST_WATTS >= domain->range * domain->unit_joules)
        return NAN;
    return (end >= begin ? end - begin : end - begin + domain->range) * domain->unit_joules;
}

void ulb_energy_stop(struct ulb_energy *energy)
{
    double seconds = ulb_now() - energy->begin_s;
    energy->use.seconds += seconds;
    for (size_t i = 0; i < energy->n; i++) {
        struct ulb_error err;
        double end = 0;
        if (energy->source->read(&energy->domains[i], &end, &err) != ULB_OK) {
            give_up(energy, err.message);
            continue;
        }
        double joules = since(&energy->domains[i], energy->begin[i], end, seconds);
        if (isnan(joules)) {
            snprintf(
                err.message, sizeof err.message,
                "the counter of %s may have begun anew more than once in %.0f s; measure shorter stretches",
                energy->domains[i].name, seconds);
            give_up(energy, err.message);
        }
        energy->use.joules += joules;
    }
}

struct ulb_energy_use ulb_energy_used(const struct ulb_energy *energy)
{
    struct ulb_energy_use use = energy->use;
    use.net_joules = use.joules - use.idle_watts * use.seconds;
    return use;
}

enum ulb_status ulb_energy_idle(struct ulb_energy *energy, double seconds, struct ulb_error *err)
{
    struct timespec left = {(time_t)seconds, (long)(1e9 * (seconds - floor(seconds)))};
    ulb_energy_reset(energy);
    ulb_energy_start(energy);
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
    ulb_energy_stop(energy);
    struct ulb_energy_use use = energy->use;
    ulb_energy_reset(energy);
    energy->use.idle_watts = use.joules / use.seconds;
    return isnan(use.joules) ? ulb_fail(err, ULB_ENVIRONMENT, "%s", use.reason) : ULB_OK;
}
