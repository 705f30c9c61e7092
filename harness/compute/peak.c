#include "harness/compute/peak.h"

#include "harness/timing/stopwatch.h"
#include "kernels/activations.h"
#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double RUN_SECONDS = 100e-6;
enum { PASSES_MAX = 1 << 24 };

struct loop {
    const struct ulb_peak *peak;
    size_t passes; /* of a sample */
    double *samples;
    size_t n_samples;
};

struct ulb_peak_meter {
    struct ulb_team *team;
    ulb_isa_set isa;
    size_t n, samples_max;
    struct loop *loops;
    struct loop *running;
    double *seconds; /* by thread, of the loop just run */
};

static void timed_part(void *arg, size_t thread)
{
    struct ulb_peak_meter *meter = arg;
    double begin = ulb_now();
    meter->running->peak->run(meter->running->passes);
    meter->seconds[thread] = ulb_now() - begin;
}

/* 1e9 operations per second of the team: each thread at its own rate, as cores of different classes have. */
static double run_loop(void *arg)
{
    struct ulb_peak_meter *meter = arg;
    double ops = 0;
    ulb_team_run(meter->team, timed_part, meter);
    for (size_t t = 0; t < ulb_team_size(meter->team); t++)
        ops += meter->running->peak->ops_per_pass * (double)meter->running->passes / meter->seconds[t];
    return 1e-9 * ops;
}

static void run_passes(void *arg, size_t passes)
{
    struct ulb_peak_meter *meter = arg;
    meter->running->passes = passes;
    run_loop(meter);
}

static void calibrate(struct ulb_peak_meter *meter, struct loop *loop)
{
    meter->running = loop;
    loop->passes = ulb_repetitions(RUN_SECONDS, PASSES_MAX, run_passes, meter);
}

static enum ulb_status list_loops(struct ulb_peak_meter *meter, struct ulb_error *err)
{
    const struct ulb_peak *peak;
    size_t all = 0;
    while (ulb_peak_at(all))
        all++;
    meter->loops = calloc(all + 1, sizeof *meter->loops);
    meter->seconds = calloc(ulb_team_size(meter->team), sizeof *meter->seconds);
    bool short_of_memory = !meter->loops || !meter->seconds;
    for (size_t i = 0; !short_of_memory && (peak = ulb_peak_at(i)); i++) {
        if ((peak->needs & ~meter->isa) != 0)
            continue;
        struct loop *loop = &meter->loops[meter->n++];
        *loop = (struct loop){.peak = peak, .samples = calloc(meter->samples_max, sizeof *loop->samples)};
        short_of_memory = !loop->samples;
        calibrate(meter, loop);
    }
    if (short_of_memory)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the samples of the compute limit");
    return ULB_OK;
}

enum ulb_status ulb_peak_open(struct ulb_peak_meter **out, struct ulb_team *team, ulb_isa_set isa,
                              size_t samples, struct ulb_error *err)
{
    struct ulb_peak_meter *meter = calloc(1, sizeof *meter);
    *out = meter;
    if (!meter)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the compute limit");
    meter->team = team;
    meter->isa = isa;
    meter->samples_max = samples;
    enum ulb_status status = list_loops(meter, err);
    if (status != ULB_OK) {
        ulb_peak_close(meter);
        *out = NULL;
    }
    return status;
}

void ulb_peak_sample(struct ulb_peak_meter *meter, struct ulb_noise_retry *retry)
{
    for (size_t i = 0; i < meter->n; i++) {
        struct loop *loop = &meter->loops[i];
        if (loop->n_samples == meter->samples_max)
            continue;
        meter->running = loop;
        loop->samples[loop->n_samples++] = ulb_retry_noisy(retry, run_loop, meter);
    }
}

json_t *ulb_peak_to_json(const struct ulb_peak_meter *meter)
{
    json_t *array = json_array();
    for (size_t i = 0; i < meter->n; i++)
        json_array_append_new(array, json_real(meter->loops[i].samples[meter->loops[i].n_samples - 1]));
    return array;
}

bool ulb_peak_from_json(struct ulb_peak_meter *meter, const json_t *saved)
{
    bool fits = json_array_size(saved) == meter->n;
    for (size_t i = 0; i < meter->n && fits; i++) {
        struct loop *loop = &meter->loops[i];
        const json_t *value = json_array_get(saved, i);
        fits = json_is_number(value) && loop->n_samples < meter->samples_max;
        if (fits)
            loop->samples[loop->n_samples++] = json_number_value(value);
    }
    return fits;
}

/* bfloat16 may be multiplied as it is, or widened to single precision. */
static bool limits(enum ulb_activation loop, enum ulb_activation activation)
{
    if (!ulb_activation_is_floating(activation))
        return loop == ULB_ACT_A8;
    return loop == ULB_ACT_F32 || loop == activation;
}

/* The loop with the largest median, put in gops; NULL and NAN when none limits these activations. */
static struct loop *best_loop(const struct ulb_peak_meter *meter, enum ulb_activation activation,
                              double *gops)
{
    struct loop *best = NULL;
    *gops = NAN;
    for (size_t i = 0; i < meter->n; i++) {
        struct loop *loop = &meter->loops[i];
        double median = ulb_median_of(loop->samples, loop->n_samples);
        if (limits(loop->peak->activation, activation) && !isnan(median) && !(median <= *gops)) {
            best = loop;
            *gops = median;
        }
    }
    return best;
}

double ulb_peak_gops(const struct ulb_peak_meter *meter, enum ulb_activation activation)
{
    double gops;
    best_loop(meter, activation, &gops);
    return gops;
}

double ulb_peak_sample_best(struct ulb_peak_meter *meter, enum ulb_activation activation,
                            struct ulb_noise_retry *retry)
{
    double gops;
    meter->running = best_loop(meter, activation, &gops);
    return meter->running ? ulb_retry_noisy(retry, run_loop, meter) : NAN;
}

enum ulb_status ulb_peak_record(const struct ulb_peak_meter *meter, const struct ulb_settings *settings,
                                struct ulb_record *record, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < meter->n && status == ULB_OK; i++) {
        const struct loop *loop = &meter->loops[i];
        if (loop->n_samples == 0)
            continue;
        struct ulb_stats stats = ulb_stats_of(loop->samples, loop->n_samples, settings->seed);
        struct ulb_peak_cell cell = {.threads = (unsigned)ulb_team_size(meter->team),
                                     .gops = stats.median,
                                     .gops_mad = stats.mad,
                                     .n_samples = loop->n_samples,
                                     .gops_samples = loop->samples};
        snprintf(cell.isa, sizeof cell.isa, "%s", loop->peak->isa);
        snprintf(cell.activation, sizeof cell.activation, "%s", ulb_activation_name(loop->peak->activation));
        snprintf(cell.set, sizeof cell.set, "%s", settings->set ? settings->set : "all");
        status = ulb_record_add_peak(record, &cell, err);
    }
    return status;
}

void ulb_peak_close(struct ulb_peak_meter *meter)
{
    if (!meter)
        return;
    for (size_t i = 0; meter->loops && i < meter->n; i++)
        free(meter->loops[i].samples);
    free(meter->loops);
    free(meter->seconds);
    free(meter);
}
