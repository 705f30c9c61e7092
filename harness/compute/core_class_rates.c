#include "harness/compute/core_class_rates.h"

#include "common/stats.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/compute/gamma_all_cores.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A part is long against fork and join; a piece short against a part. */
static const size_t PART_BYTES = (size_t)8 << 20, PIECE_BYTES = (size_t)64 << 10;
enum { BETA_SAMPLES = 9, GAMMA_SAMPLES = 5, TRIES = 1000 };
static const double RETRY_BUDGET_QUICK = 0.4, RETRY_BUDGET_FULL = 3; /* seconds */

struct race {
    struct ulb_session *session;
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
        sum += race->session->yardstick->run(data + done, piece);
        done += piece;
    }
    atomic_store_explicit(&race->over, 1, memory_order_relaxed);
    race->rates[thread] = (double)done / (ulb_now() - begin);
    race->sink += sum;
}

static double sample_race(void *arg)
{
    struct race *race = arg;
    struct ulb_session *session = race->session;
    ulb_read_warm_up(session->team, session->yardstick, &session->arena);
    race->data = ulb_arena_next(&session->arena, race->part * session->pus.n, ULB_READER_GRAIN);
    atomic_store(&race->over, 0);
    ulb_team_run(session->team, run_race, race);
    return race->rates[0];
}

static struct ulb_noise_retry retry_of(const struct ulb_session *session)
{
    return (struct ulb_noise_retry){.team = session->team,
                                    .tries = TRIES,
                                    .retry_budget_s =
                                        session->settings.quick ? RETRY_BUDGET_QUICK : RETRY_BUDGET_FULL};
}

/* Mean over the threads of a class; NAN without one. */
static double mean_of_class(const struct ulb_session *session, const double *by_thread, size_t cls)
{
    double sum = 0;
    size_t n = 0;
    for (size_t t = 0; t < session->pus.n; t++) {
        if (ulb_topology_class_of(&session->topology, session->pus.items[t]) ==
            &session->topology.classes[cls]) {
            sum += by_thread[t];
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

enum ulb_status ulb_class_beta(struct ulb_session *session, double beta[ULB_MAX_CLASSES],
                               struct ulb_error *err)
{
    size_t share = session->arena.ring_bytes / session->pus.n / ULB_READER_GRAIN * ULB_READER_GRAIN;
    struct race race = {.session = session,
                        .part = share < PART_BYTES ? share : PART_BYTES,
                        .rates = calloc(session->pus.n, sizeof(double))};
    struct ulb_noise_retry retry = retry_of(session);
    double samples[ULB_MAX_CLASSES][BETA_SAMPLES];
    if (!race.rates)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the rates of %zu threads",
                        session->pus.n);
    for (size_t s = 0; s < BETA_SAMPLES; s++) {
        ulb_retry_noisy(&retry, sample_race, &race);
        for (size_t c = 0; c < session->topology.n_classes; c++)
            samples[c][s] = mean_of_class(session, race.rates, c);
    }
    for (size_t c = 0; c < session->topology.n_classes; c++)
        beta[c] = ulb_median(samples[c], BETA_SAMPLES);
    free(race.rates);
    return ulb_check_interrupted(err);
}

enum ulb_status ulb_class_gammas(struct ulb_session *session, const struct ulb_kernel *const *kernels,
                                 size_t n, struct ulb_class_gamma *gammas, struct ulb_error *err)
{
    struct ulb_team_gamma *meter = NULL;
    struct ulb_noise_retry retry = retry_of(session);
    enum ulb_status status = ulb_team_gamma_open(&meter, session, kernels, n, GAMMA_SAMPLES, err);
    if (status != ULB_OK)
        return status;
    for (size_t i = 0; i < n * GAMMA_SAMPLES; i++)
        ulb_team_gamma_sample(meter, i % n, &retry);
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < session->topology.n_classes; c++) {
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

void ulb_class_thread_rates(const struct ulb_session *session, const struct ulb_kernel *kernel,
                            const struct ulb_class_gamma *gamma, const double beta[ULB_MAX_CLASSES],
                            size_t tokens, double *rates)
{
    for (size_t t = 0; t < session->pus.n; t++) {
        const struct ulb_core_class *cls = ulb_topology_class_of(&session->topology, session->pus.items[t]);
        size_t c = cls ? (size_t)(cls - session->topology.classes) : 0;
        rates[t] = !cls ? 1 : gamma ? ulb_class_rate(kernel, gamma, beta, c, tokens) : beta[c];
    }
}
