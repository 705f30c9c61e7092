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

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UPS = 2, SAMPLES = ULB_PREFETCH_SAMPLES, SAMPLES_LONG = ULB_PREFETCH_SAMPLES_LONG, TRIES = 4 };
static const double LONG_CALL = 0.02, RETRY_BUDGET = 1; /* seconds */
static const double HOPELESS = 1.5, MOST_NOISE = 0.1;

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

/* One kernel among its rivals. */
struct contender {
    struct trial trial;
    struct ulb_row_split split;
    struct ulb_tile_range *ranges;
    void *tokens;
    double first; /* the time of a call once warm */
    bool out;     /* it is run no further */
    double times[SAMPLES], ratios[SAMPLES];
};

static enum ulb_status open_contender(struct contender *c, struct ulb_session *session,
                                      const struct ulb_kernel *kernel, const struct ulb_gemm *like,
                                      const double *rates, struct ulb_error *err)
{
    c->ranges = aligned_alloc(64, session->machine.pus.n * sizeof *c->ranges);
    c->trial = (struct trial){.session = session,
                              .job = {.kernel = kernel, .gemm = *like, .split = &c->split},
                              .bytes = ulb_layout_bytes(kernel->layout, like->m, like->k),
                              .retry = {.team = session->machine.team,
                                        .tries = TRIES,
                                        .retry_budget_s = RETRY_BUDGET,
                                        .interference_free = true}};
    c->tokens = ulb_random_tokens(kernel->activation, like->n, like->k, &c->trial.job.gemm);
    if (!c->ranges || !c->tokens)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu tokens of %zu columns", like->n,
                        like->k);
    c->split = ulb_gemm_split(session->settings.splits[0], kernel, like->m, like->n, session->machine.pus.n,
                              rates, c->ranges);
    return ULB_OK;
}

/* The time of a call once warm. */
static double warm_up(struct contender *c)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < WARM_UPS; i++)
        least = fmin(least, run_trial(&c->trial));
    return least;
}

/* Chooses where the prefetches go, where the kernel has the choice. */
static void tune(struct contender *c)
{
    const size_t tokens = c->trial.job.gemm.n;
    const struct ulb_kernel *kernel = c->trial.job.kernel;
    if (ulb_prefetch_chosen(kernel, tokens))
        ulb_prefetch_choose(&c->trial.job.gemm.prefetch, ulb_prefetch_candidates(kernel, tokens),
                            c->first > LONG_CALL ? SAMPLES_LONG : SAMPLES, sample_trial, &c->trial);
}

/* All in turn, every round in the other order, so that spells of the machine treat all alike. */
static void run_rounds(struct contender *contenders, size_t n, size_t rounds)
{
    for (size_t round = 0; round < rounds; round++) {
        double least = HUGE_VAL;
        for (size_t turn = 0; turn < n; turn++) {
            struct contender *c = &contenders[round % 2 ? n - 1 - turn : turn];
            c->times[round] = c->out ? c->first : sample_trial(&c->trial);
            least = c->out ? least : fmin(least, c->times[round]);
        }
        for (size_t i = 0; i < n; i++)
            contenders[i].ratios[round] = contenders[i].times[round] / least;
    }
}

/* Long calls that take a multiple of the least cannot win: they are run no further. */
static size_t drop_hopeless(struct contender *contenders, size_t n)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, contenders[i].first);
    for (size_t i = 0; i < n; i++)
        contenders[i].out = contenders[i].first > LONG_CALL && contenders[i].first > HOPELESS * least;
    return least > LONG_CALL ? SAMPLES_LONG : SAMPLES;
}

static struct ulb_kernel_choice judge(struct contender *c, size_t rounds)
{
    struct ulb_kernel_choice choice = {.kernel = c->trial.job.kernel,
                                       .seconds = ulb_median(c->times, rounds),
                                       .ratio = ulb_median(c->ratios, rounds),
                                       .prefetch = c->trial.job.gemm.prefetch};
    for (size_t i = 0; i < rounds; i++)
        c->ratios[i] = fabs(c->ratios[i] - choice.ratio);
    choice.spread = ulb_median(c->ratios, rounds) / choice.ratio;
    return choice;
}

/* Kernels of the format and layout that the filters let pass and that can run; bits that others lack are
 * added to missing. layout NULL: any. */
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

enum ulb_status ulb_kernel_try(struct ulb_session *session, const struct ulb_trial_shape *shape,
                               const double *rates, struct ulb_kernel_choice **choices, size_t *n,
                               struct ulb_error *err)
{
    ulb_isa_set missing = 0;
    enum ulb_status status = ULB_OK;
    const struct ulb_kernel **kernels = calloc(ulb_kernel_count, sizeof *kernels);
    *n = kernels ? list_kernels(&session->selection, shape->format, shape->layout, kernels, &missing) : 0;
    float *y = aligned_alloc(64, ulb_round_up(shape->n * shape->m * sizeof *y, 64));
    const struct ulb_gemm like = {.m = shape->m, .k = shape->k, .n = shape->n, .y = y, .y_stride = shape->m};
    struct contender *contenders = calloc(*n + 1, sizeof *contenders);
    *choices = calloc(*n + 1, sizeof **choices);
    if (!kernels || !y || !contenders || !*choices)
        status =
            ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu x %zu results", shape->n, shape->m);
    else if (*n == 0)
        status = no_kernel(shape->format, missing, err);
    for (size_t i = 0; i < *n && status == ULB_OK; i++) {
        status = open_contender(&contenders[i], session, kernels[i], &like, rates, err);
        if (status == ULB_OK)
            contenders[i].first = warm_up(&contenders[i]);
        if (status == ULB_OK && shape->tune)
            tune(&contenders[i]);
    }
    size_t rounds = drop_hopeless(contenders, status == ULB_OK ? *n : 0);
    if (status == ULB_OK)
        run_rounds(contenders, *n, rounds);
    for (size_t i = 0; i < *n && contenders; i++) {
        if (status == ULB_OK)
            (*choices)[i] = judge(&contenders[i], rounds);
        free(contenders[i].ranges);
        free(contenders[i].tokens);
    }
    free(contenders);
    free(kernels);
    free(y);
    return status;
}

enum ulb_status ulb_kernel_tune(struct ulb_session *session, const struct ulb_trial_shape *shape,
                                const double *rates, struct ulb_kernel_choice *choice, struct ulb_error *err)
{
    struct contender c = {0};
    float *y = aligned_alloc(64, ulb_round_up(shape->n * shape->m * sizeof *y, 64));
    const struct ulb_gemm like = {.m = shape->m, .k = shape->k, .n = shape->n, .y = y, .y_stride = shape->m};
    enum ulb_status status =
        y ? open_contender(&c, session, choice->kernel, &like, rates, err)
          : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu x %zu results", shape->n, shape->m);
    if (status == ULB_OK) {
        c.first = warm_up(&c);
        tune(&c);
        choice->prefetch = c.trial.job.gemm.prefetch;
    }
    free(c.ranges);
    free(c.tokens);
    free(y);
    return status;
}

/* ---- which of them ---- */

static double least_ratio(const struct ulb_kernel_choice *choices, size_t n)
{
    double least = HUGE_VAL;
    for (size_t i = 0; i < n; i++)
        least = fmin(least, choices[i].ratio);
    return least;
}

enum ulb_status ulb_kernel_choose(struct ulb_session *session, const struct ulb_trial_shape *shape,
                                  const double *rates, struct ulb_kernel_choice *choice,
                                  struct ulb_error *err)
{
    struct ulb_kernel_choice *choices;
    size_t n;
    enum ulb_status status = ulb_kernel_try(session, shape, rates, &choices, &n, err);
    for (size_t i = 0; i < n && status == ULB_OK; i++) {
        if (i == 0 || choices[i].ratio < choice->ratio)
            *choice = choices[i];
    }
    free(choices);
    return status;
}

const char *ulb_choice_reason_name(enum ulb_choice_reason reason)
{
    static const char *const names[ULB_CHOICE_REASONS] = {"one-token", "many-tokens", "order"};
    return names[reason];
}

bool ulb_kernel_ties(const struct ulb_kernel_choice *choices, size_t n, size_t i, double tie)
{
    /* Three times the spread holds nearly all medians of as many rounds. What scatters more is no tie. */
    double margin = fmax(tie, fmin(3 * choices[i].spread, MOST_NOISE));
    return choices[i].ratio <= least_ratio(choices, n) * (1 + margin);
}

/* Bits that one instruction of the kernel's set works on. */
static unsigned width_of(const struct ulb_kernel *kernel)
{
    if (strncmp(kernel->isa, "amx", 3) == 0)
        return 8192;
    if (kernel->needs & ULB_ISA_AVX512F)
        return strstr(kernel->isa, "256") ? 256 : 512;
    return kernel->needs & ULB_ISA_AVX2 ? 256 : 128;
}

static size_t place_of(const struct ulb_kernel *kernel)
{
    size_t i = 0;
    while (ulb_kernels[i] != kernel)
        i++;
    return i;
}

/* Whether a comes before b in the fixed order. */
static bool comes_before(const struct ulb_kernel *a, const struct ulb_kernel *b)
{
    enum { SIDE = 4096 };
    size_t bytes_a = ulb_layout_bytes(a->layout, SIDE, SIDE),
           bytes_b = ulb_layout_bytes(b->layout, SIDE, SIDE);
    if (width_of(a) != width_of(b))
        return width_of(a) > width_of(b);
    return bytes_a != bytes_b ? bytes_a < bytes_b : place_of(a) < place_of(b);
}

size_t ulb_kernel_first(const struct ulb_kernel_choice *choices, size_t n, double tie)
{
    size_t first = n;
    for (size_t i = 0; i < n; i++) {
        if (ulb_kernel_ties(choices, n, i, tie) &&
            (first == n || comes_before(choices[i].kernel, choices[first].kernel)))
            first = i;
    }
    return first;
}
