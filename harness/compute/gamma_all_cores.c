#include "harness/compute/gamma_all_cores.h"

#include "harness/compute/gamma_loop.h"
#include "harness/session/journal.h"
#include "common/stats.h"

#include <math.h>
#include <stdlib.h>

static const size_t L1_UNKNOWN = (size_t)32 << 10;

/* What a sample holds of each class. */
enum figure { CYCLES, HZ, SECONDS, FIGURES };

struct ulb_team_gamma {
    const struct ulb_machine *machine;
    size_t n, classes, threads, samples_max;
    struct ulb_gamma_sizes *sizes; /* n */
    double *cycles;                /* [ULB_GAMMA_LOOPS][threads], of the loops just run */
    double *hz;                    /* of the core under the loop just run, by thread */
    double *seconds;               /* of the loops just run together, by thread */
    size_t *class_of;              /* by thread */
    double *samples;               /* [FIGURES][n][classes][samples_max] */
    size_t *n_samples;             /* [n] */
    const struct ulb_gamma_loop *running;
    size_t turn;
    double *into;
};

/* Each thread clocks its own run: cycles by the frequency of its own core before and after. A whole run
 * before it is not timed, since a call right after cold weights is slower (docs/measurements/gamma.md). */
static void timed_part(void *arg, size_t thread)
{
    struct ulb_team_gamma *gamma = arg;
    ulb_gamma_loop_run(gamma->running, thread, gamma->turn);
    double before = ulb_chain_hz();
    double begin = ulb_now();
    ulb_gamma_loop_run(gamma->running, thread, gamma->turn);
    double seconds = ulb_now() - begin;
    gamma->hz[thread] = (before + ulb_chain_hz()) / 2;
    gamma->seconds[thread] += seconds;
    gamma->into[thread] = seconds * gamma->hz[thread] / (double)gamma->running->calls;
}

static void run_on_team(struct ulb_team_gamma *gamma, const struct ulb_gamma_loop *loop, double *into)
{
    gamma->running = loop;
    gamma->into = into;
    ulb_team_run(gamma->machine->team, timed_part, gamma);
}

/* Mean over the threads of a class; NAN for a class without one. */
static double mean_of_class(const struct ulb_team_gamma *gamma, const double *by_thread, size_t cls)
{
    double sum = 0;
    size_t n = 0;
    for (size_t t = 0; t < gamma->threads; t++) {
        if (gamma->class_of[t] == cls) {
            sum += by_thread[t];
            n++;
        }
    }
    return n ? sum / (double)n : NAN;
}

struct sizes_sample {
    struct ulb_team_gamma *gamma;
    const struct ulb_gamma_sizes *sizes;
};

/* Each loop once; the result is in gamma->cycles and gamma->seconds. */
static double run_sizes(void *arg)
{
    struct sizes_sample *sample = arg;
    struct ulb_team_gamma *gamma = sample->gamma;
    for (size_t t = 0; t < gamma->threads; t++)
        gamma->seconds[t] = 0;
    for (size_t l = 0; l < sample->sizes->n; l++)
        run_on_team(gamma, &sample->sizes->loops[l], gamma->cycles + l * gamma->threads);
    return gamma->cycles[ULB_GAMMA_FULL * gamma->threads];
}

/* Where the samples of a figure of one kernel and class begin. */
static double *samples_of(const struct ulb_team_gamma *gamma, enum figure figure, size_t i, size_t cls)
{
    return gamma->samples + ((figure * gamma->n + i) * gamma->classes + cls) * gamma->samples_max;
}

void ulb_team_gamma_sample(struct ulb_team_gamma *gamma, size_t i, struct ulb_noise_retry *retry)
{
    struct sizes_sample sample = {gamma, &gamma->sizes[i]};
    size_t at = gamma->n_samples[i];
    if (at == gamma->samples_max)
        return;
    gamma->turn = at;
    ulb_retry_noisy(retry, run_sizes, &sample);
    for (size_t c = 0; c < gamma->classes; c++) {
        double cycles[ULB_GAMMA_LOOPS];
        for (size_t l = 0; l < ULB_GAMMA_LOOPS; l++)
            cycles[l] = mean_of_class(gamma, gamma->cycles + l * gamma->threads, c);
        samples_of(gamma, CYCLES, i, c)[at] = ulb_gamma_of_sizes(&gamma->sizes[i], cycles);
        samples_of(gamma, HZ, i, c)[at] = mean_of_class(gamma, gamma->hz, c);
        samples_of(gamma, SECONDS, i, c)[at] = mean_of_class(gamma, gamma->seconds, c);
    }
    gamma->n_samples[i]++;
}

json_t *ulb_team_gamma_to_json(const struct ulb_team_gamma *gamma, size_t i)
{
    json_t *saved = json_array();
    for (size_t c = 0; c < gamma->classes; c++) {
        double figures[FIGURES];
        for (enum figure f = 0; f < FIGURES; f++)
            figures[f] = samples_of(gamma, f, i, c)[gamma->n_samples[i] - 1];
        json_array_append_new(saved, ulb_journal_numbers(figures, FIGURES));
    }
    return saved;
}

bool ulb_team_gamma_from_json(struct ulb_team_gamma *gamma, size_t i, const json_t *saved)
{
    bool fits = json_array_size(saved) == gamma->classes && gamma->n_samples[i] < gamma->samples_max;
    for (size_t c = 0; c < gamma->classes && fits; c++) {
        double figures[FIGURES];
        fits = ulb_journal_read_numbers(json_array_get(saved, c), figures, FIGURES);
        for (enum figure f = 0; f < FIGURES && fits; f++)
            samples_of(gamma, f, i, c)[gamma->n_samples[i]] = figures[f];
    }
    gamma->n_samples[i] += fits;
    return fits;
}

static double median_of(const struct ulb_team_gamma *gamma, enum figure figure, size_t i, size_t cls)
{
    return ulb_median_of(samples_of(gamma, figure, i, cls), gamma->n_samples[i]);
}

struct ulb_core_rate ulb_team_gamma_rate(const struct ulb_team_gamma *gamma, size_t i, size_t cls)
{
    return (struct ulb_core_rate){.gamma = median_of(gamma, CYCLES, i, cls),
                                  .hz = median_of(gamma, HZ, i, cls),
                                  .loop_s = median_of(gamma, SECONDS, i, cls)};
}

double ulb_team_gamma_loop_s(const struct ulb_team_gamma *gamma, size_t i, size_t cls)
{
    return samples_of(gamma, SECONDS, i, cls)[gamma->n_samples[i] - 1];
}

/* The smallest L1 among the classes of the team: a loop that fits it fits all. */
static size_t smallest_l1(const struct ulb_team_gamma *gamma)
{
    size_t smallest = 0;
    for (size_t t = 0; t < gamma->threads; t++) {
        size_t l1 = gamma->machine->topology.classes[gamma->class_of[t]].l1d_bytes;
        l1 = l1 ? l1 : L1_UNKNOWN;
        smallest = smallest == 0 || l1 < smallest ? l1 : smallest;
    }
    return smallest;
}

static void find_classes(struct ulb_team_gamma *gamma)
{
    const struct ulb_topology *topology = &gamma->machine->topology;
    for (size_t t = 0; t < gamma->threads; t++) {
        const struct ulb_core_class *cls = ulb_topology_class_of(topology, gamma->machine->pus.items[t]);
        gamma->class_of[t] = cls ? (size_t)(cls - topology->classes) : 0;
    }
}

enum ulb_status ulb_team_gamma_open(struct ulb_team_gamma **out, const struct ulb_machine *machine,
                                    uint64_t seed, const struct ulb_kernel *const *kernels, size_t n,
                                    size_t samples, struct ulb_error *err)
{
    *out = NULL;
    struct ulb_team_gamma *gamma = calloc(1, sizeof *gamma);
    if (!gamma)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the loops of %zu kernels", n);
    gamma->machine = machine;
    gamma->n = n;
    gamma->classes = machine->topology.n_classes;
    gamma->threads = machine->pus.n;
    gamma->samples_max = samples;
    gamma->sizes = calloc(n, sizeof *gamma->sizes);
    gamma->cycles = calloc(ULB_GAMMA_LOOPS * gamma->threads, sizeof *gamma->cycles);
    gamma->class_of = calloc(gamma->threads, sizeof *gamma->class_of);
    gamma->samples = calloc(FIGURES * n * gamma->classes * samples, sizeof *gamma->samples);
    gamma->n_samples = calloc(n, sizeof *gamma->n_samples);
    gamma->hz = calloc(gamma->threads, sizeof *gamma->hz);
    gamma->seconds = calloc(gamma->threads, sizeof *gamma->seconds);
    enum ulb_status status = ULB_OK;
    if (!gamma->sizes || !gamma->cycles || !gamma->class_of || !gamma->samples || !gamma->n_samples ||
        !gamma->hz || !gamma->seconds) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the loops of %zu kernels", n);
    } else {
        find_classes(gamma);
        for (size_t i = 0; i < n && status == ULB_OK; i++)
            status = ulb_gamma_sizes_open(&gamma->sizes[i], kernels[i], smallest_l1(gamma), gamma->threads,
                                          seed, err);
    }
    if (status != ULB_OK)
        ulb_team_gamma_close(gamma);
    else
        *out = gamma;
    return status;
}

void ulb_team_gamma_close(struct ulb_team_gamma *gamma)
{
    if (!gamma)
        return;
    for (size_t i = 0; gamma->sizes && i < gamma->n; i++)
        ulb_gamma_sizes_close(&gamma->sizes[i]);
    free(gamma->sizes);
    free(gamma->cycles);
    free(gamma->class_of);
    free(gamma->samples);
    free(gamma->n_samples);
    free(gamma->hz);
    free(gamma->seconds);
    free(gamma);
}
