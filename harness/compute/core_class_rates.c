#include "harness/compute/core_class_rates.h"

#include "common/stats.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/compute/gamma_all_cores.h"
#include "harness/session/interrupted.h"
#include "harness/timing/stopwatch.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A part is long against fork and join; a piece short against a part. */
static const size_t PART_BYTES = (size_t)8 << 20, PIECE_BYTES = (size_t)64 << 10;
enum { BETA_SAMPLES = 9, GAMMA_SAMPLES = 5, TRIES = 1000 };
static const double RETRY_BUDGET_QUICK = 0.4, RETRY_BUDGET_FULL = 3; /* seconds */

struct race {
    struct ulb_team *team;
    const struct ulb_reader *reader;
    struct ulb_arena *arena;
    const char *data;
    size_t part;
    _Atomic int over;
    double *rates;         /* bytes/s, by thread */
    _Atomic uint64_t sink; /* keeps the compiler from dropping the reads */
};

static void run_race(void *arg, size_t thread)
{
    struct race *race = arg;
    const char *data = race->data + thread * race->part;
    size_t done = 0;
    uint64_t sum = 0;
    double begin = ulb_now();
    while (done < race->part && !atomic_load_explicit(&race->over, memory_order_relaxed)) {
        size_t piece = race->part - done < PIECE_BYTES ? race->part - done : PIECE_BYTES;
        sum += race->reader->run(data + done, piece);
        done += piece;
    }
    atomic_store_explicit(&race->over, 1, memory_order_relaxed);
    race->rates[thread] = (double)done / (ulb_now() - begin);
    race->sink += sum;
}

static double sample_race(void *arg)
{
    struct race *race = arg;
    ulb_read_warm_up(race->team, race->reader, race->arena);
    race->data = ulb_arena_next(race->arena, race->part * ulb_team_size(race->team), ULB_READER_GRAIN);
    atomic_store(&race->over, 0);
    ulb_team_run(race->team, run_race, race);
    return race->rates[0];
}

static struct ulb_noise_retry retry_of(struct ulb_team *team, bool quick)
{
    return (struct ulb_noise_retry){
        .team = team, .tries = TRIES, .retry_budget_s = quick ? RETRY_BUDGET_QUICK : RETRY_BUDGET_FULL};
}

/* Mean over the threads of a class; NAN without one. */
static double mean_of_class(const struct ulb_machine *machine, const double *by_thread, size_t cls)
{
    double sum = 0;
    size_t n = 0;
    for (size_t t = 0; t < machine->pus.n; t++) {
        if (ulb_topology_class_of(&machine->topology, machine->pus.items[t]) ==
            &machine->topology.classes[cls]) {
            sum += by_thread[t];
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

enum ulb_status ulb_class_beta(const struct ulb_machine *machine, const struct ulb_reader *reader,
                               struct ulb_arena *arena, bool quick, double beta[ULB_MAX_CLASSES],
                               struct ulb_error *err)
{
    size_t share = arena->ring_bytes / machine->pus.n / ULB_READER_GRAIN * ULB_READER_GRAIN;
    struct race race = {.team = machine->team,
                        .reader = reader,
                        .arena = arena,
                        .part = share < PART_BYTES ? share : PART_BYTES,
                        .rates = calloc(machine->pus.n, sizeof(double))};
    struct ulb_noise_retry retry = retry_of(machine->team, quick);
    double samples[ULB_MAX_CLASSES][BETA_SAMPLES];
    if (!race.rates)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the rates of %zu threads",
                        machine->pus.n);
    for (size_t s = 0; s < BETA_SAMPLES; s++) {
        ulb_retry_noisy(&retry, sample_race, &race);
        for (size_t c = 0; c < machine->topology.n_classes; c++)
            samples[c][s] = mean_of_class(machine, race.rates, c);
    }
    for (size_t c = 0; c < machine->topology.n_classes; c++)
        beta[c] = ulb_median(samples[c], BETA_SAMPLES);
    free(race.rates);
    return ulb_check_interrupted(err);
}

enum ulb_status ulb_class_gammas(const struct ulb_machine *machine, const struct ulb_settings *settings,
                                 const struct ulb_kernel *const *kernels, size_t n,
                                 struct ulb_class_gamma *gammas, struct ulb_error *err)
{
    struct ulb_team_gamma *meter = NULL;
    struct ulb_noise_retry retry = retry_of(machine->team, settings->quick);
    enum ulb_status status =
        ulb_team_gamma_open(&meter, machine, settings->seed, kernels, n, GAMMA_SAMPLES, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n * GAMMA_SAMPLES; i++)
        ulb_team_gamma_sample(meter, i % n, &retry);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < machine->topology.n_classes; c++) {
            struct ulb_core_rate rate = ulb_team_gamma_rate(meter, i, c);
            gammas[i].cycles[c] = rate.gamma > 0 ? rate.gamma : NAN;
            gammas[i].hz[c] = rate.hz;
        }
    }
    ulb_team_gamma_close(meter);
    return ulb_check_interrupted(err);
}

double ulb_class_rate(const struct ulb_kernel *kernel, const struct ulb_class_gamma *gamma,
                      const double beta[ULB_MAX_CLASSES], size_t cls, size_t tokens)
{
    double compute = kernel->bytes_per_step * gamma->hz[cls] / (gamma->cycles[cls] * (double)tokens);
    return fmin(beta[cls], compute);
}

void ulb_class_thread_rates(const struct ulb_machine *machine, const struct ulb_kernel *kernel,
                            const struct ulb_class_gamma *gamma, const double beta[ULB_MAX_CLASSES],
                            size_t tokens, double *rates)
{
    for (size_t t = 0; t < machine->pus.n; t++) {
        const struct ulb_core_class *cls = ulb_topology_class_of(&machine->topology, machine->pus.items[t]);
        size_t c = cls ? (size_t)(cls - machine->topology.classes) : 0;
        rates[t] = !cls ? 1 : gamma ? ulb_class_rate(kernel, gamma, beta, c, tokens) : beta[c];
    }
}
