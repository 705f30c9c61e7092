/* The decoder's matrix products: inputs made and quantised, rows shared out. */
#include "harness/decode/decoder_private.h"

#include "common/doing.h"
#include "harness/compute/parallel_gemm.h"
#include "harness/verify/test_case.h"

#include <string.h>

struct ulb_row_split ulb_decoder_split(struct ulb_decoder *d, size_t items, size_t grain)
{
    struct ulb_row_split split =
        ulb_split_of(d->options.split, items, grain, d->threads, d->options.rates, d->ranges);
    ulb_split_reset(&split);
    return split;
}

struct product_job {
    struct ulb_decoder *d;
    const struct ulb_linear_call *call;
    const struct ulb_kernel *kernel;
    size_t m, k;
    struct ulb_prefetch prefetch;
    bool apart; /* each thread makes the inputs for itself, which saves a join */
    void *inputs;
};

static struct ulb_activations place_inputs(const struct product_job *job, void *memory)
{
    struct ulb_activations a;
    ulb_activations_place(&a, job->kernel->activation, job->call->inputs, ulb_round_up(job->k, ULB_X_GRAIN),
                          memory);
    return a;
}

/* Where input i of the call comes from. What nobody else needs is computed here. */
static const float *source_of(const struct product_job *job, struct ulb_worker *worker, size_t i)
{
    const struct ulb_linear_call *call = job->call;
    const struct ulb_decoder *d = job->d;
    size_t token = call->token_of_input ? call->token_of_input[i] : call->first_token + i;
    const float *x = call->source == ULB_INPUT_ATTENTION ? d->attended + token * job->k
                     : call->source == ULB_INPUT_MLP ? d->mlp + i * ulb_linear_rows(&d->shape, ULB_GATE_UP)
                                                     : d->x + token * job->k;
    if (call->source == ULB_INPUT_MLP && d->n > 1) { /* a single token's is there: all threads made it */
        ulb_decoder_activate(d, x, job->k, worker->scratch);
        ulb_lap(worker, ULB_PART_OTHER);
        return worker->scratch;
    }
    return x;
}

/* Input i of the call, from norm to the kernel's kind of activations. */
static void make_input(const struct product_job *job, struct ulb_worker *worker, struct ulb_activations *a,
                       size_t i)
{
    const struct ulb_decoder *d = job->d;
    const struct ulb_vector_ops *ops = d->options.ops;
    const float *x = source_of(job, worker, i);
    if (job->call->source == ULB_INPUT_NORM || d->shape.sub_norms) {
        (d->shape.layer_norm ? ops->layer_norm : ops->rms_norm)(x, d->weights.gain[job->call->linear], job->k,
                                                                worker->scratch);
        x = worker->scratch;
        ulb_lap(worker, ULB_PART_OTHER);
    }
    ops->set_activations(a, i, x, job->k);
    ulb_lap(worker, a->kind == ULB_ACT_F32 ? ULB_PART_OTHER : ULB_PART_QUANTISE);
}

static void inputs_part(void *arg, size_t thread)
{
    struct product_job *job = arg;
    struct ulb_worker *worker = &job->d->workers[thread];
    struct ulb_activations a = place_inputs(job, job->inputs);
    size_t n = job->call->inputs, threads = job->d->threads;
    ulb_lap(worker, ULB_PART_WAIT);
    for (size_t i = n * thread / threads; i < n * (thread + 1) / threads; i++)
        make_input(job, worker, &a, i);
}

/* The arguments of one product, all rows. */
static struct ulb_gemm gemm_of(const struct product_job *job, const struct ulb_activations *a,
                               const struct ulb_product *product)
{
    const struct ulb_decoder_weights *weights = &job->d->weights;
    enum ulb_linear linear = job->call->linear;
    const char *w =
        linear == ULB_HEAD ? weights->head : weights->blocks + job->d->layer * weights->layer_bytes;
    struct ulb_gemm g = {.w = w + weights->offset[linear] + product->expert * weights->bytes[linear],
                         .m = job->m,
                         .k = job->k,
                         .n = product->n,
                         .y = job->call->y + product->first_y * job->m,
                         .y_stride = job->m,
                         .prefetch = job->prefetch};
    ulb_activations_give(a, &g);
    ulb_gemm_skip_inputs(&g, a->kind, product->first_x);
    return g;
}

/* The rows of one product that a thread is handed piece by piece. */
struct rows {
    const struct product_job *job;
    struct ulb_row_split *split;
    struct ulb_gemm gemm; /* m0 and m1: the last piece */
    size_t thread, repeats;
};

/* Once a piece is done, its results go to where the block's input went round it. x lies as y does. */
static void add_residual(const struct product_job *job, const struct ulb_gemm *g)
{
    float *x = job->d->x + (g->y - job->call->y);
    for (size_t n = 0; n < g->n && job->call->residual; n++)
        job->d->options.ops->add(x + n * g->m + g->m0, g->y + n * g->m + g->m0, g->m1 - g->m0);
}

/* How often a thread runs a piece: one that plays a slow core several times. */
static size_t times_of(const struct ulb_decoder_options *options, size_t thread)
{
    return thread == options->slow_thread && options->slow_times > 1 ? options->slow_times : 1;
}

/* See struct ulb_gemm's more. */
static bool next_rows(void *arg, size_t *m0, size_t *m1)
{
    struct rows *rows = arg;
    bool again = rows->repeats > 0;
    if (again) {
        rows->repeats--;
    } else {
        if (rows->gemm.m1 > rows->gemm.m0)
            add_residual(rows->job, &rows->gemm);
        rows->gemm.m0 = rows->gemm.m1 = 0;
        if (!ulb_split_next(rows->split, rows->thread, &rows->gemm.m0, &rows->gemm.m1))
            return false;
        rows->repeats = times_of(&rows->job->d->options, rows->thread) - 1;
    }
    *m0 = rows->gemm.m0;
    *m1 = rows->gemm.m1;
    return true;
}

/* Of many tokens, whose tiles have parts. */
static void run_pieces(const struct rows *rows)
{
    const struct ulb_kernel *kernel = rows->job->kernel;
    struct ulb_split_piece piece;
    while (ulb_split_next_piece(rows->split, rows->thread, &piece)) {
        struct ulb_gemm g = ulb_gemm_piece(&rows->gemm, kernel->activation, rows->split, &piece);
        for (size_t i = 0; i < times_of(&rows->job->d->options, rows->thread); i++)
            kernel->run(&g);
        add_residual(rows->job, &g);
    }
}

static void run_product(const struct product_job *job, size_t thread, size_t i,
                        const struct ulb_activations *a)
{
    const struct ulb_decoder *d = job->d;
    struct rows rows = {
        .job = job, .split = &d->splits[i], .gemm = gemm_of(job, a, &d->products[i]), .thread = thread};
    if (rows.split->parts > 1) {
        run_pieces(&rows);
        return;
    }
    struct ulb_gemm g = rows.gemm;
    g.more = next_rows;
    g.rows = &rows;
    while (next_rows(&rows, &g.m0, &g.m1))
        job->kernel->run(&g);
}

static void product_part(void *arg, size_t thread)
{
    struct product_job *job = arg;
    struct ulb_decoder *d = job->d;
    struct ulb_worker *worker = &d->workers[thread];
    struct ulb_activations a = place_inputs(job, job->apart ? worker->inputs : d->inputs);
    ulb_lap(worker, ULB_PART_WAIT);
    for (size_t i = 0; i < job->call->inputs && job->apart; i++)
        make_input(job, worker, &a, i);
    for (size_t i = 0; i < job->call->products; i++)
        run_product(job, thread, i, &a);
    ulb_lap(worker, job->call->linear);
}

void ulb_decoder_multiply(struct ulb_decoder *d, const struct ulb_linear_call *call)
{
    const struct ulb_decoder_weights *weights = &d->weights;
    bool apart = d->n == 1 || call->inputs == 1;
    const struct ulb_step_kernels *step = apart ? NULL : ulb_step_kernels_of(weights, d->n);
    bool many = step && step->kernel[call->linear];
    const struct ulb_kernel *kernel = (many ? step->kernel : weights->kernel)[call->linear];
    struct product_job job = {
        .d = d,
        .call = call,
        .kernel = kernel,
        .m = ulb_linear_rows(&d->shape, call->linear),
        .k = ulb_linear_columns(&d->shape, call->linear),
        .prefetch = (many ? step->prefetch : weights->prefetch)[call->linear],
        .apart = apart,
        .inputs = d->inputs,
    };
    if (!job.apart)
        ulb_team_run(d->options.team, inputs_part, &job);
    for (size_t i = 0; i < call->products; i++) {
        d->splits[i] = ulb_gemm_split(d->options.split, kernel, job.m, d->products[i].n, d->threads,
                                      d->options.rates, d->ranges + i * d->threads);
        ulb_split_reset(&d->splits[i]);
    }
    ulb_kernel_doing(kernel, job.m, job.k, d->n);
    ulb_team_run(d->options.team, product_part, &job);
    ulb_doing_end();
}
