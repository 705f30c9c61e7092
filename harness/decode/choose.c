#include "harness/decode/choose.h"

#include "common/rng.h"
#include "harness/timing/stopwatch.h"
#include "kernels/activations.h"
#include "harness/compute/prefetch_tuning.h"
#include "harness/verify/test_case.h"
#include "common/stats.h"
#include "harness/compute/parallel_gemm.h"
#include "harness/threads/team.h"
#include "harness/session/session.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2, SAMPLES = ULB_PREFETCH_SAMPLES, SAMPLES_LONG = ULB_PREFETCH_SAMPLES_LONG, TRIES = 4 };
static const double LONG_CALL = 0.02, RETRY_BUDGET = 1; /* seconds */

static bool is_of(const struct ulb_kernel *kernel, const char *format)
{
    return strcmp(kernel->layout->format->name, format) == 0;
}

const struct ulb_format *ulb_kernel_format(const char *name)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (is_of(ulb_kernels[i], name))
            return ulb_kernels[i]->layout->format;
    }
    return NULL;
}

static bool is_reference(const struct ulb_kernel *kernel)
{
    return strcmp(kernel->isa, "ref") == 0;
}

bool ulb_kernel_filtered(const struct ulb_selection *selection, const char *format)
{
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        if (is_of(ulb_kernels[i], format) && ulb_selection_wants(selection, ulb_kernels[i]))
            return true;
    }
    return false;
}

/* One product on the next piece of the ring. */
struct trial {
    struct ulb_session *session;
    struct ulb_team_gemm job;
    size_t bytes;
    struct ulb_noise_retry retry;
};

static double run_trial(void *arg)
{
    struct trial *trial = arg;
    ulb_team_gemm_warm_up(trial->session->machine.team, &trial->job, &trial->session->arena);
    trial->job.gemm.w = ulb_arena_next(&trial->session->arena, trial->bytes, ULB_CACHE_LINE);
    double begin = ulb_now();
    ulb_team_gemm_run(trial->session->machine.team, &trial->job);
    return ulb_now() - begin;
}

static double sample_trial(void *arg)
{
    struct trial *trial = arg;
    return ulb_retry_noisy(&trial->retry, run_trial, trial);
}

/* Chooses where the prefetches go on its way, where the kernel has the choice. */
static double time_trial(struct trial *trial)
{
    double samples[SAMPLES], last = 0;
    trial->retry = (struct ulb_noise_retry){.team = trial->session->machine.team,
                                            .tries = TRIES,
                                            .retry_budget_s = RETRY_BUDGET,
                                            .interference_free = true};
    for (size_t i = 0; i < WARM_UPS; i++)
        last = run_trial(trial);
    size_t n = last > LONG_CALL ? SAMPLES_LONG : SAMPLES;
    const size_t tokens = trial->job.gemm.n;
    if (ulb_prefetch_chosen(trial->job.kernel, tokens))
        return ulb_prefetch_choose(&trial->job.gemm.prefetch,
                                   ulb_prefetch_candidates(trial->job.kernel, tokens), n, sample_trial,
                                   trial);
    for (size_t i = 0; i < n; i++)
        samples[i] = sample_trial(trial);
    return ulb_median(samples, n);
}

void *ulb_random_tokens(enum ulb_activation kind, size_t n, size_t k, struct ulb_gemm *g)
{
    struct ulb_activations a;
    size_t columns = ulb_round_up(k, ULB_X_GRAIN);
    void *memory = aligned_alloc(ULB_CACHE_LINE, ulb_activations_bytes(kind, n, columns));
    float *x = calloc(columns, sizeof *x);
    struct ulb_rng rng = {k};
    if (memory && x) {
        ulb_activations_place(&a, kind, n, columns, memory);
        for (size_t token = 0; token < n; token++) {
            for (size_t i = 0; i < k; i++)
                x[i] = ulb_rng_float(&rng);
            ulb_activations_set(&a, token, x, k);
        }
        ulb_activations_give(&a, g);
    } else {
        free(memory);
        memory = NULL;
    }
    free(x);
    return memory;
}

static enum ulb_status try_kernel(struct ulb_session *session, const struct ulb_kernel *kernel,
                                  const struct ulb_gemm *like, const double *rates,
                                  struct ulb_kernel_choice *best, struct ulb_error *err)
{
    struct ulb_tile_range *ranges = aligned_alloc(64, session->machine.pus.n * sizeof *ranges);
    struct trial trial = {.session = session,
                          .job = {.kernel = kernel, .gemm = *like},
                          .bytes = ulb_layout_bytes(kernel->layout, like->m, like->k)};
    void *tokens = ulb_random_tokens(kernel->activation, like->n, like->k, &trial.job.gemm);
    if (!ranges || !tokens) {
        free(ranges);
        free(tokens);
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu tokens of %zu columns", like->n,
                        like->k);
    }
    struct ulb_row_split split =
        ulb_split_of(session->settings.splits[0], like->m, kernel->mr, session->machine.pus.n, rates, ranges);
    trial.job.split = &split;
    double seconds = time_trial(&trial);
    if (!best->kernel || seconds < best->seconds)
        *best = (struct ulb_kernel_choice){kernel, seconds, trial.job.gemm.prefetch};
    free(ranges);
    free(tokens);
    return ULB_OK;
}

/* Rows of the format that the filters let pass, that read the layout if one is given, and can run; bits that
 * others lack are added to missing. */
static size_t list_kernels(const struct ulb_selection *selection, const char *format,
                           const struct ulb_layout *layout, const struct ulb_kernel **kernels,
                           ulb_isa_set *missing)
{
    bool filtered = ulb_kernel_filtered(selection, format);
    size_t n = 0;
    for (size_t i = 0; i < ulb_kernel_count; i++) {
        const struct ulb_kernel *kernel = ulb_kernels[i];
        bool wanted = filtered ? ulb_selection_wants(selection, kernel) : !is_reference(kernel);
        if (!is_of(kernel, format) || !wanted || (layout && kernel->layout != layout))
            continue;
        if (ulb_selection_can_run(selection, kernel->needs))
            kernels[n++] = kernel;
        else
            *missing |= kernel->needs & ~selection->isa;
    }
    return n;
}

static enum ulb_status no_kernel(const char *format, ulb_isa_set missing, struct ulb_error *err)
{
    char names[128];
    return ulb_fail(err, ULB_ENVIRONMENT,
                    "no kernel of %s can run here (missing %s); --kernels '-ref-' takes the scalar ones",
                    format, ulb_isa_names(missing, names, sizeof names));
}

enum ulb_status ulb_kernel_check(const struct ulb_selection *selection, const char *format,
                                 struct ulb_error *err)
{
    ulb_isa_set missing = 0;
    const struct ulb_kernel **kernels = calloc(ulb_kernel_count, sizeof *kernels);
    if (!kernels)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the list of kernels");
    size_t n = list_kernels(selection, format, NULL, kernels, &missing);
    free(kernels);
    return n > 0 ? ULB_OK : no_kernel(format, missing, err);
}

enum ulb_status ulb_kernel_choose(struct ulb_session *session, const char *format,
                                  const struct ulb_layout *layout, size_t m, size_t k, size_t n,
                                  const double *rates, struct ulb_kernel_choice *choice,
                                  struct ulb_error *err)
{
    ulb_isa_set missing = 0;
    enum ulb_status status = ULB_OK;
    *choice = (struct ulb_kernel_choice){0};
    const struct ulb_kernel **kernels = calloc(ulb_kernel_count, sizeof *kernels);
    float *y = aligned_alloc(64, ulb_round_up(n * m * sizeof *y, 64));
    struct ulb_gemm like = {.m = m, .k = k, .n = n, .y = y, .y_stride = m};
    size_t n_kernels = kernels ? list_kernels(&session->selection, format, layout, kernels, &missing) : 0;
    bool settled = layout && n_kernels == 1 && !ulb_prefetch_chosen(kernels[0], n);
    if (!kernels || !y)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu x %zu results", n, m);
    else if (n_kernels == 0)
        status = no_kernel(format, missing, err);
    else if (settled)
        choice->kernel = kernels[0];
    for (size_t i = 0; i < n_kernels && status == ULB_OK && !settled; i++)
        status = try_kernel(session, kernels[i], &like, rates, choice, err);
    free(kernels);
    free(y);
    return status;
}
