#include "harness/decode/token_loop.h"

#include "common/stats.h"
#include "harness/bandwidth/read_bandwidth.h"
#include "harness/decode/isolated_products.h"
#include "harness/threads/team.h"
#include "harness/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { YARDSTICK_EVERY = 8, TRIES = 3 };
static const double REST_QUICK = 0.2,
                    REST_FULL = 2; /* seconds in which the machine's power at rest is taken */
static const double RETRY_BUDGET_QUICK = 2,
                    RETRY_BUDGET_FULL = 10; /* seconds of tokens decoded again, for each split */

enum ulb_status ulb_turn_open(struct ulb_turn *turn, bool quick, enum ulb_split split, size_t tokens,
                              size_t sequences, const char *energy_root, struct ulb_error *err)
{
    *turn = (struct ulb_turn){.split = split,
                              .samples = calloc(tokens, sizeof *turn->samples),
                              .decoded = calloc(tokens, sequences * sizeof *turn->decoded)};
    if (!turn->samples || !turn->decoded)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu tokens", tokens);
    double rest = quick ? REST_QUICK : REST_FULL;
    if (ulb_energy_open(&turn->energy, energy_root, &turn->no_energy) == ULB_OK &&
        ulb_energy_idle(turn->energy, rest, &turn->no_energy) != ULB_OK) {
        ulb_energy_close(turn->energy);
        turn->energy = NULL;
    }
    return ULB_OK;
}

void ulb_turn_close(struct ulb_turn *turn)
{
    ulb_energy_close(turn->energy);
    free(turn->samples);
    free(turn->decoded);
}

/* One turn at the tokens of one format. */
struct runner {
    const struct ulb_turn *turn;
    struct ulb_decoder *decoder;
    struct ulb_noise_retry retry;
    struct ulb_cold_grid *grid;
    const uint32_t *tokens; /* [batch] */
    uint32_t *next;         /* [batch] */
    size_t batch, position;
    size_t metered; /* steps that the energy's meter counts */
    double joules;  /* of the last one; NAN without a meter */
};

struct loop {
    struct ulb_session *session;
    const double *rates;
    struct ulb_decode_figures *figures; /* [n] */
    struct runner runners[ULB_SPLITS];
    size_t n;
    uint32_t *tokens;  /* [batch]: of the step in hand; then those that follow by each runner */
    double *yardstick; /* bytes/s, [between]; all figures' */
    size_t n_yardstick, between;
};

static double run_step(void *arg)
{
    struct runner *runner = arg;
    struct ulb_energy *energy = runner->turn->energy;
    double before = energy ? ulb_energy_used(energy).net_joules : (double)NAN;
    if (energy)
        ulb_energy_start(energy);
    double begin = ulb_now();
    ulb_decoder_step(runner->decoder, runner->tokens, runner->batch, runner->position, runner->next);
    double seconds = ulb_now() - begin;
    if (energy)
        ulb_energy_stop(energy);
    runner->joules = energy ? ulb_energy_used(energy).net_joules - before : before;
    runner->metered++;
    return seconds;
}

/* The products alone first: the yardstick reads some of the layers. */
static void sample_between(struct loop *loop)
{
    for (size_t i = 0; i < loop->n; i++)
        ulb_cold_grid_sample(loop->runners[i].grid, loop->n_yardstick * loop->n + i);
    loop->yardstick[loop->n_yardstick++] = ulb_read_yardstick(loop->session);
}

static void start_meters(struct loop *loop)
{
    for (size_t i = 0; i < loop->n; i++) {
        loop->runners[i].metered = 0;
        if (loop->runners[i].turn->energy)
            ulb_energy_reset(loop->runners[i].turn->energy);
    }
}

/* Splits give the same tokens. */
static enum ulb_status check_same(const struct runner *first, const struct runner *other,
                                  struct ulb_error *err)
{
    size_t s = 0;
    while (s < first->batch && other->next[s] == first->next[s])
        s++;
    return s == first->batch
               ? ULB_OK
               : ulb_fail(err, ULB_FINDING, "token %zu differs with the %s split: %u instead of %u",
                          other->position, ulb_split_name(other->turn->split), other->next[s],
                          first->next[s]);
}

/* The same step by every split, another one first each time. */
static enum ulb_status run_position(struct loop *loop, size_t position, struct ulb_error *err)
{
    struct runner *first = &loop->runners[position % loop->n];
    size_t timed = position - loop->figures->context, batch = loop->figures->batch;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < loop->n && status == ULB_OK; i++) {
        struct runner *runner = &loop->runners[(position + i) % loop->n];
        runner->position = position;
        ulb_decoder_set_split(runner->decoder, runner->turn->split, loop->rates);
        double seconds = ulb_retry_noisy(&runner->retry, run_step, runner);
        status = check_same(first, runner, err);
        if (timed < ULB_TOKENS_WARM_UP || status != ULB_OK)
            continue;
        struct ulb_token_sample *sample = &runner->turn->samples[timed - ULB_TOKENS_WARM_UP];
        ulb_token_take(sample, &loop->session->machine, runner->decoder, seconds);
        sample->joules = runner->joules / (double)batch;
        memcpy(runner->turn->decoded + (timed - ULB_TOKENS_WARM_UP) * batch, runner->next,
               batch * sizeof *runner->next);
    }
    if (status != ULB_OK)
        return status;
    memcpy(loop->tokens, first->next, batch * sizeof *loop->tokens);
    return ulb_session_check(loop->session, err);
}

/* Every sequence begins with another token. */
static enum ulb_status run_loop(struct loop *loop, struct ulb_error *err)
{
    const struct ulb_decode_figures *f = loop->figures;
    for (size_t s = 0; s < f->batch; s++)
        loop->tokens[s] = (uint32_t)((1 + s) % f->all->vocab);
    for (size_t i = 0; i < ULB_TOKENS_WARM_UP + f->n; i++) {
        if (i % YARDSTICK_EVERY == 0)
            sample_between(loop);
        if (i == ULB_TOKENS_WARM_UP)
            start_meters(loop);
        enum ulb_status status = run_position(loop, f->context + i, err);
        if (status != ULB_OK)
            return status;
    }
    sample_between(loop);
    return ULB_OK;
}

static enum ulb_status open_runners(struct loop *loop, struct ulb_decoder *decoder,
                                    const struct ulb_turn *turns, struct ulb_error *err)
{
    double retry_budget_s = loop->session->settings.quick ? RETRY_BUDGET_QUICK : RETRY_BUDGET_FULL;
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < loop->n && status == ULB_OK; i++) {
        const struct ulb_decode_figures *f = &loop->figures[i];
        loop->runners[i] = (struct runner){
            .turn = &turns[i],
            .decoder = decoder,
            .tokens = loop->tokens,
            .next = loop->tokens + (i + 1) * f->batch,
            .batch = f->batch,
            .retry = {.team = loop->session->machine.team, .tries = TRIES, .retry_budget_s = retry_budget_s},
        };
        status =
            ulb_cold_grid_open(&loop->runners[i].grid, loop->session->machine.team, f->shape,
                               &f->store->weights, f->batch, turns[i].split, loop->rates, loop->between, err);
    }
    return status;
}

static void fill_figures(const struct loop *loop, size_t i)
{
    const struct ulb_turn *turn = loop->runners[i].turn;
    struct ulb_decode_figures *f = &loop->figures[i];
    f->bandwidth = ulb_median_of(loop->yardstick, loop->n_yardstick);
    ulb_cold_grid_seconds(loop->runners[i].grid, f->cold_s);
    f->energy = (struct ulb_decode_energy){.n = loop->runners[i].metered * f->batch,
                                           .reason = turn->no_energy.message};
    if (turn->energy) {
        f->energy.use = ulb_energy_used(turn->energy);
        f->energy.source = ulb_energy_source(turn->energy);
    }
}

enum ulb_status ulb_tokens_decode(struct ulb_session *session, struct ulb_decoder *decoder,
                                  const struct ulb_turn *turns, size_t n_turns, const double *rates,
                                  struct ulb_decode_figures *figures, struct ulb_error *err)
{
    struct loop loop = {.session = session, .rates = rates, .figures = figures, .n = n_turns};
    loop.between = figures->n / YARDSTICK_EVERY + 3;
    loop.yardstick = calloc(loop.between, sizeof *loop.yardstick);
    loop.tokens = calloc((1 + n_turns) * figures->batch, sizeof *loop.tokens);
    enum ulb_status status = loop.yardstick && loop.tokens
                                 ? ULB_OK
                                 : ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for samples");
    if (status == ULB_OK)
        status = open_runners(&loop, decoder, turns, err);
    if (status == ULB_OK)
        status = run_loop(&loop, err);
    for (size_t i = 0; i < n_turns; i++) {
        if (status == ULB_OK)
            fill_figures(&loop, i);
        ulb_cold_grid_close(loop.runners[i].grid);
    }
    free(loop.yardstick);
    free(loop.tokens);
    return status;
}
