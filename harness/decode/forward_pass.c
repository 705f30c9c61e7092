/* One step of the decoder: what happens to x, layer by layer. */
#include "harness/decode/decoder_private.h"

#include "common/bf16.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRAIN = 64 /* elements of a cache line's worth of work between products */ };

/* Work between products, shared out like rows. */
struct between_job {
    struct ulb_decoder *d;
    struct ulb_row_split split;
};

static void share(struct ulb_decoder *d, void (*part)(void *, size_t), size_t items, size_t grain)
{
    struct between_job job = {d, ulb_decoder_split(d, items, grain)};
    ulb_team_run(d->options.team, part, &job);
}

/* ---- the MLP ---- */

static void (*function_of(const struct ulb_decoder *d))(const float *, size_t, float *)
{
    const struct ulb_vector_ops *ops = d->options.ops;
    switch (d->shape.function) {
    case ULB_FFN_GELU:
        return ops->gelu;
    case ULB_FFN_RELU:
        return ops->relu;
    case ULB_FFN_RELU2:
        return ops->relu2;
    default:
        return ops->silu;
    }
}

void ulb_decoder_activate(const struct ulb_decoder *d, const float *x, size_t n, float *h)
{
    function_of(d)(x, n, h);
    if (d->shape.gated)
        d->options.ops->multiply(h, x + d->shape.intermediate, n);
}

static void activate_part(void *arg, size_t thread)
{
    struct between_job *job = arg;
    struct ulb_decoder *d = job->d;
    size_t begin, end, rows = ulb_linear_rows(&d->shape, ULB_GATE_UP), slots = d->n * d->shape.active;
    ulb_lap(&d->workers[thread], ULB_PART_WAIT);
    while (ulb_split_next(&job->split, thread, &begin, &end)) {
        for (size_t slot = 0; slot < slots; slot++) {
            float *gate = d->mlp + slot * rows + begin;
            ulb_decoder_activate(d, gate, end - begin, gate);
        }
    }
    ulb_lap(&d->workers[thread], ULB_PART_OTHER);
}

/* The active experts of one token: those of the largest logits, of equal ones the first, weighted by a
 * softmax over their logits alone, as in Mixtral. */
static void choose(struct ulb_decoder *d, size_t token)
{
    size_t experts = d->shape.experts, active = d->shape.active;
    float *logits = d->router_logits + token * experts, sum = 0, largest = 0;
    size_t *choice = d->choice + token * active;
    float *weight = d->weight_of_choice + token * active;
    for (size_t i = 0; i < active; i++) {
        choice[i] = d->options.ops->argmax(logits, experts);
        largest = i == 0 ? logits[choice[0]] : largest;
        weight[i] = expf(logits[choice[i]] - largest);
        sum += weight[i];
        logits[choice[i]] = -FLT_MAX;
    }
    for (size_t i = 0; i < active; i++)
        weight[i] /= sum;
}

/* Products of the chosen experts, their slots side by side. */
static size_t gather(struct ulb_decoder *d)
{
    size_t active = d->shape.active, choices = d->n * active, products = 0, slot = 0;
    for (size_t expert = 0; expert < d->shape.experts; expert++) {
        struct ulb_product product = {.expert = expert, .first_x = slot, .first_y = slot};
        for (size_t i = 0; i < choices; i++) {
            if (d->choice[i] != expert)
                continue;
            d->token_of_input[slot] = i / active;
            d->slot_of_choice[i] = slot++;
        }
        product.n = slot - product.first_x;
        if (product.n > 0)
            d->products[products++] = product;
    }
    return products;
}

static size_t route(struct ulb_decoder *d)
{
    d->products[0] = (struct ulb_product){.n = d->n};
    ulb_decoder_multiply(d, &(struct ulb_linear_call){.linear = ULB_ROUTER,
                                                      .source = ULB_INPUT_NORM,
                                                      .inputs = d->n,
                                                      .products = 1,
                                                      .y = d->router_logits});
    for (size_t token = 0; token < d->n; token++)
        choose(d, token);
    size_t products = gather(d);
    ulb_lap(&d->workers[0], ULB_PART_OTHER);
    return products;
}

/* x += the experts' results in proportion, in the order of each token's choices. */
static void mix_part(void *arg, size_t thread)
{
    struct between_job *job = arg;
    struct ulb_decoder *d = job->d;
    size_t begin, end, hidden = d->shape.hidden, active = d->shape.active;
    ulb_lap(&d->workers[thread], ULB_PART_WAIT);
    while (ulb_split_next(&job->split, thread, &begin, &end)) {
        for (size_t i = 0; i < d->n * active; i++)
            d->options.ops->add_scaled(d->x + i / active * hidden + begin,
                                       d->result + d->slot_of_choice[i] * hidden + begin,
                                       d->weight_of_choice[i], end - begin);
    }
    ulb_lap(&d->workers[thread], ULB_PART_OTHER);
}

/* The products of h, from x's norm; gives their number. */
static size_t widen(struct ulb_decoder *d)
{
    bool experts = d->shape.experts > 1;
    struct ulb_linear_call call = {
        .linear = ULB_GATE_UP, .source = ULB_INPUT_NORM, .inputs = d->n, .products = 1, .y = d->mlp};
    d->products[0] = (struct ulb_product){.n = d->n};
    if (experts) {
        call.products = route(d);
        call.inputs = d->n * d->shape.active;
        call.token_of_input = d->token_of_input;
    }
    /* All experts of a single token have the same input. */
    if (experts && d->n == 1) {
        call.inputs = 1;
        for (size_t i = 0; i < call.products; i++)
            d->products[i].first_x = 0;
    }
    ulb_decoder_multiply(d, &call);
    for (size_t i = 0; i < call.products; i++)
        d->products[i].first_x = d->products[i].first_y;
    if (d->n == 1)
        share(d, activate_part, d->shape.intermediate, GRAIN);
    return call.products;
}

static void narrow(struct ulb_decoder *d, size_t products)
{
    bool experts = d->shape.experts > 1;
    ulb_decoder_multiply(d, &(struct ulb_linear_call){.linear = ULB_DOWN,
                                                      .source = ULB_INPUT_MLP,
                                                      .inputs = d->n * d->shape.active,
                                                      .products = products,
                                                      .y = d->result,
                                                      .residual = !experts});
    if (experts)
        share(d, mix_part, d->shape.hidden, GRAIN);
}

/* ---- attention and the whole ---- */

static void multiply_all(struct ulb_decoder *d, enum ulb_linear linear, enum ulb_input source, float *y,
                         bool residual)
{
    d->products[0] = (struct ulb_product){.n = d->n};
    ulb_decoder_multiply(
        d,
        &(struct ulb_linear_call){
            .linear = linear, .source = source, .inputs = d->n, .products = 1, .y = y, .residual = residual});
}

static void run_layer(struct ulb_decoder *d)
{
    multiply_all(d, ULB_QKV, ULB_INPUT_NORM, d->qkv, false);
    ulb_decoder_attend(d);
    if (!d->shape.parallel)
        multiply_all(d, ULB_O, ULB_INPUT_ATTENTION, d->result, true);
    size_t products = widen(d);
    narrow(d, products);
    /* Here the MLP has read x before attention was added; dense, so that no products of experts are lost. */
    if (d->shape.parallel)
        multiply_all(d, ULB_O, ULB_INPUT_ATTENTION, d->result, true);
}

static void embed(struct ulb_decoder *d, const uint32_t *tokens)
{
    size_t hidden = d->shape.hidden;
    for (size_t t = 0; t < d->n; t++) {
        const uint16_t *row = d->weights.embedding + tokens[t] % d->weights.embeddings * hidden;
        for (size_t i = 0; i < hidden; i++)
            d->x[t * hidden + i] = ulb_bf16_to_float(row[i]);
    }
    ulb_lap(&d->workers[0], ULB_PART_OTHER);
}

static void argmax_part(void *arg, size_t thread)
{
    struct between_job *job = arg;
    struct ulb_decoder *d = job->d;
    struct ulb_worker *worker = &d->workers[thread];
    size_t begin, end, sequences = ulb_decoder_sequences(d);
    ulb_lap(worker, ULB_PART_WAIT);
    for (size_t s = 0; s < sequences; s++)
        worker->best_row[s] = SIZE_MAX;
    while (ulb_split_next(&job->split, thread, &begin, &end)) {
        for (size_t s = 0; s < sequences; s++) {
            const float *logits = d->logits + s * d->shape.vocab;
            size_t row = begin + d->options.ops->argmax(logits + begin, end - begin);
            bool better = logits[row] > worker->best[s] ||
                          (!(logits[row] < worker->best[s]) && row < worker->best_row[s]);
            if (worker->best_row[s] == SIZE_MAX || better) {
                worker->best_row[s] = row;
                worker->best[s] = logits[row];
            }
        }
    }
    ulb_lap(worker, ULB_PART_OTHER);
}

/* Of what the threads found in the logits of a sequence. */
static uint32_t best_of(const struct ulb_decoder *d, size_t s)
{
    const struct ulb_worker *best = NULL;
    for (size_t t = 0; t < d->threads; t++) {
        const struct ulb_worker *w = &d->workers[t];
        if (w->best_row[s] == SIZE_MAX)
            continue;
        if (!best || w->best[s] > best->best[s] ||
            (!(w->best[s] < best->best[s]) && w->best_row[s] < best->best_row[s]))
            best = w;
    }
    return (uint32_t)best->best_row[s];
}

/* The largest logit of the last token of each sequence; of equal ones the first. */
static void predict(struct ulb_decoder *d, uint32_t *next)
{
    size_t sequences = ulb_decoder_sequences(d);
    d->products[0] = (struct ulb_product){.n = sequences};
    ulb_decoder_multiply(d, &(struct ulb_linear_call){.linear = ULB_HEAD,
                                                      .source = ULB_INPUT_NORM,
                                                      .first_token = d->n - sequences,
                                                      .inputs = sequences,
                                                      .products = 1,
                                                      .y = d->logits});
    share(d, argmax_part, d->shape.vocab, GRAIN);
    for (size_t s = 0; s < sequences; s++)
        next[s] = best_of(d, s);
}

/* n tokens, so many of each sequence. */
static void run_step(struct ulb_decoder *d, const uint32_t *tokens, size_t n, size_t length, size_t position,
                     uint32_t *next)
{
    double begin = ulb_now();
    for (size_t t = 0; t < d->threads; t++) {
        memset(d->workers[t].seconds, 0, sizeof d->workers[t].seconds);
        d->workers[t].last = begin;
    }
    d->n = n;
    d->length = length;
    d->position = position;
    embed(d, tokens);
    for (d->layer = 0; d->layer < d->shape.layers; d->layer++)
        run_layer(d);
    predict(d, next);
    double end = ulb_now();
    for (size_t t = 0; t < d->threads; t++)
        d->workers[t].seconds[ULB_PART_WAIT] += end - d->workers[t].last;
}

uint32_t ulb_decoder_forward(struct ulb_decoder *d, const uint32_t *tokens, size_t n, size_t position)
{
    uint32_t next;
    run_step(d, tokens, n, n, position, &next);
    return next;
}

void ulb_decoder_step(struct ulb_decoder *d, const uint32_t *tokens, size_t n, size_t position,
                      uint32_t *next)
{
    run_step(d, tokens, n, 1, position, next);
}
