#include "harness/decode/summary.h"

#include "common/units.h"
#include "harness/compute/prefetch_tuning.h"
#include "harness/session/session.h"
#include "common/stats.h"
#include "models/models.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A token that reads more of memory's bandwidth than this says something else. */

static const char *const classes[4] = {"P", "E", "LP-E", "core"};

static size_t class_index(const struct ulb_machine *machine, size_t thread)
{
    const struct ulb_core_class *cls = ulb_topology_class_of(&machine->topology, machine->pus.items[thread]);
    for (size_t c = 0; cls && c < 4; c++) {
        if (strcmp(classes[c], cls->name) == 0)
            return c;
    }
    return 3;
}

void ulb_token_take(struct ulb_token_sample *sample, const struct ulb_machine *machine,
                    const struct ulb_decoder *decoder, double seconds)
{
    size_t threads[4] = {0}, n = machine->pus.n;
    *sample = (struct ulb_token_sample){.seconds = seconds};
    for (size_t t = 0; t < n; t++) {
        const double *parts = ulb_decoder_seconds(decoder, t);
        size_t c = class_index(machine, t);
        for (size_t part = 0; part < ULB_DECODE_PARTS; part++)
            sample->parts[part] += parts[part] / (double)n;
        sample->wait[c] += parts[ULB_PART_WAIT];
        threads[c]++;
    }
    for (size_t c = 0; c < 4; c++)
        sample->wait[c] /= threads[c] ? (double)threads[c] : (double)NAN;
}

static int by_seconds(const void *a, const void *b)
{
    double x = ((const struct ulb_token_sample *)a)->seconds,
           y = ((const struct ulb_token_sample *)b)->seconds;
    return (x > y) - (x < y);
}

/* Mean over the middle half of the tokens by their time: parts and token are of the same ones, so that they
 * add up; spells of the machine lie outside. The samples are sorted. */
static struct ulb_token_sample middle_half(struct ulb_token_sample *samples, size_t n)
{
    struct ulb_token_sample mean = {0};
    qsort(samples, n, sizeof *samples, by_seconds);
    size_t begin = n / 4, end = n - n / 4;
    double share = 1 / (double)(end - begin);
    for (size_t i = begin; i < end; i++) {
        for (size_t part = 0; part < ULB_DECODE_PARTS; part++)
            mean.parts[part] += samples[i].parts[part] * share;
        for (size_t c = 0; c < 4; c++)
            mean.wait[c] += samples[i].wait[c] * share;
    }
    for (size_t part = 0; part < ULB_DECODE_PARTS; part++)
        mean.seconds += mean.parts[part];
    return mean;
}

/* Everything but the head's product belongs to the layers. */
static void extrapolate(struct ulb_token_sample *token, const struct ulb_decode_figures *f)
{
    double run = (double)f->shape->layers, all = (double)f->all->layers;
    token->seconds = ulb_decode_extrapolate(token->seconds, token->parts[ULB_HEAD], run, all);
    for (size_t part = 0; part < ULB_DECODE_PARTS; part++)
        token->parts[part] *= part == ULB_HEAD ? 1 : all / run;
    for (size_t c = 0; c < 4; c++)
        token->wait[c] *= all / run;
}

static struct ulb_decode_split split_of(const double parts[ULB_DECODE_PARTS])
{
    struct ulb_decode_split split = {.attention = 1e3 * parts[ULB_PART_ATTENTION],
                                     .other = 1e3 * parts[ULB_PART_OTHER],
                                     .quantise = 1e3 * parts[ULB_PART_QUANTISE],
                                     .fork_join = 1e3 * parts[ULB_PART_WAIT]};
    for (size_t linear = 0; linear < ULB_LINEARS; linear++)
        split.gemv += 1e3 * parts[linear];
    return split;
}

/* Bytes of the blocks' matrices that a token reads, all layers; with the routers. */
static double block_bytes(const struct ulb_decode_figures *f, bool quantised)
{
    double bytes = 0;
    for (int linear = 0; linear < ULB_HEAD; linear++) {
        size_t count = ulb_linear_count(f->all, (enum ulb_linear)linear);
        count = count > f->all->active ? f->all->active : count;
        if ((linear < ULB_QUANTISED_LINEARS) == quantised)
            bytes += (double)(count * f->store->weights.bytes[linear] * f->all->layers);
    }
    return bytes;
}

static double cold_seconds(const struct ulb_decode_figures *f)
{
    double seconds = 0;
    for (int linear = 0; linear < ULB_LINEARS; linear++) {
        size_t count = ulb_linear_count(f->all, (enum ulb_linear)linear);
        count = count > f->all->active ? f->all->active : count;
        if (count > 0)
            seconds += (double)count * f->cold_s[linear] * (linear == ULB_HEAD ? 1 : (double)f->all->layers);
    }
    return seconds;
}

static void name_kernels(const struct ulb_decoder_weights *weights, size_t batch, struct ulb_decode_run *run)
{
    const struct ulb_step_kernels *step = ulb_step_kernels_of(weights, batch);
    const struct {
        enum ulb_linear linear;
        char *kernel, *prefetch;
    } names[] = {{ULB_QKV, run->kernel_qkv, run->prefetch_qkv},
                 {ULB_O, run->kernel_o, run->prefetch_o},
                 {ULB_GATE_UP, run->kernel_gate_up, run->prefetch_gate_up},
                 {ULB_DOWN, run->kernel_down, run->prefetch_down},
                 {ULB_HEAD, run->kernel_head, run->prefetch_head}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        enum ulb_linear linear = names[i].linear;
        const struct ulb_kernel *kernel = (step ? step->kernel : weights->kernel)[linear];
        ulb_kernel_name(kernel, names[i].kernel);
        snprintf(names[i].prefetch, sizeof run->prefetch_qkv, "%s",
                 ulb_prefetch_name(kernel, batch, (step ? step->prefetch : weights->prefetch)[linear]));
    }
}

/* Why the layouts are these. */
static void name_reasons(const struct ulb_decode_figures *f, struct ulb_prefill *prefill)
{
    const struct {
        enum ulb_linear linear;
        char *reason;
    } names[] = {{ULB_QKV, prefill->choice_qkv},
                 {ULB_O, prefill->choice_o},
                 {ULB_GATE_UP, prefill->choice_gate_up},
                 {ULB_DOWN, prefill->choice_down}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        snprintf(names[i].reason, sizeof prefill->choice_qkv, "%s",
                 ulb_choice_reason_name(f->reasons[names[i].linear]));
}

static void name_run(const struct ulb_session *session, const struct ulb_decode_figures *f,
                     struct ulb_decode_run *run)
{
    uint64_t digest = 0xcbf29ce484222325; /* FNV-1a, 64 bits */
    for (size_t i = 0; i < f->n * f->batch; i++)
        digest = (digest ^ f->decoded[i]) * 0x100000001b3;
    snprintf(run->token_digest, sizeof run->token_digest, "%016llx", (unsigned long long)digest);
    snprintf(run->model, sizeof run->model, "%s", f->model);
    snprintf(run->format, sizeof run->format, "%s", f->format);
    snprintf(run->kv_type, sizeof run->kv_type, "%s", ulb_kv_type_name(f->kv_type));
    snprintf(run->set, sizeof run->set, "%s", session->settings.set ? session->settings.set : "all");
    snprintf(run->split, sizeof run->split, "%s", ulb_split_name(f->split));
    name_kernels(&f->store->weights, f->batch, run);
    if (f->prompt > 0)
        name_reasons(f, &run->prefill);
}

/* Nothing is made up: layers that were not run took no energy that was read. */
static void fill_energy(const struct ulb_decode_figures *f, struct ulb_decode_run *run)
{
    const struct ulb_decode_energy *energy = &f->energy;
    const struct ulb_energy_use *use = &energy->use;
    run->joule_per_token = run->joule_per_token_gross = run->watts = run->idle_watts = NAN;
    snprintf(run->energy_source, sizeof run->energy_source, "%.63s",
             energy->source ? energy->source : "none");
    if (!energy->source || isnan(use->joules)) {
        snprintf(run->joule_reason, sizeof run->joule_reason, "%s",
                 energy->source ? use->reason : energy->reason);
        return;
    }
    if (run->extrapolated) {
        snprintf(run->joule_reason, sizeof run->joule_reason, "only %zu of %zu layers were run",
                 run->layers_run, run->layers);
        return;
    }
    run->joule_per_token = use->net_joules / (double)energy->n;
    run->joule_per_token_gross = use->joules / (double)energy->n;
    run->watts = use->joules / use->seconds;
    run->idle_watts = use->idle_watts;
    run->n_joule_samples = f->n;
}

static double blocks_of(const double parts[ULB_DECODE_PARTS])
{
    double seconds = 0;
    for (size_t linear = 0; linear < ULB_QUANTISED_LINEARS; linear++)
        seconds += parts[linear];
    return seconds;
}

/* Of a batch there is no Amdahl's bound: its products need not be bound by memory, and then their time does
 * not follow their bytes. */
static void leave_bound_out(struct ulb_decode_run *run)
{
    run->amdahl_speedup = run->amdahl_nominal_speedup = NAN;
    run->missing_ms = (struct ulb_decode_split){NAN, NAN, NAN, NAN, NAN};
    run->missing_memory_ms = NAN;
    if (!run->baseline_reason[0])
        snprintf(run->baseline_reason, sizeof run->baseline_reason,
                 "Amdahl's bound is by bytes, and products of %zu tokens need not be bound by them",
                 run->batch);
}

/* Amdahl's bound, the speed-up observed, and where the difference is: in each part, what it takes beyond its
 * time in the 16-bit token, of the blocks' products beyond that time over the ratio of bytes. The bound takes
 * memory to run as fast in both; what the products owe to its running slower here (below 0: faster), as the
 * yardsticks beside the two say, is named apart. */
static void compare(const struct ulb_decode_figures *f, const struct ulb_token_sample *token,
                    const struct ulb_decode_baseline *baseline, struct ulb_decode_run *run)
{
    double bits = f->choices[ULB_QKV].kernel->layout->format->bits;
    run->bit_ratio = 16 / bits;
    run->alpha = run->byte_ratio = run->observed_speedup = NAN;
    run->missing_ms = (struct ulb_decode_split){NAN, NAN, NAN, NAN, NAN};
    run->missing_memory_ms = baseline->known ? 0 : NAN;
    if (baseline->known) {
        double left[ULB_DECODE_PARTS], slower = baseline->bandwidth / f->bandwidth - 1;
        run->alpha = baseline->blocks_s / baseline->token_s;
        run->byte_ratio = baseline->block_bytes / block_bytes(f, true);
        run->observed_speedup = baseline->token_s / token->seconds;
        for (size_t part = 0; part < ULB_DECODE_PARTS; part++) {
            double bound = baseline->parts[part] / (part < ULB_QUANTISED_LINEARS ? run->byte_ratio : 1);
            double memory = part < ULB_LINEARS ? bound * slower : 0;
            left[part] = token->parts[part] - bound - memory;
            run->missing_memory_ms += 1e3 * memory;
        }
        run->missing_ms = split_of(left);
    } else {
        snprintf(run->baseline_reason, sizeof run->baseline_reason,
                 "no 16-bit run to compare with; add bf16 to --formats");
    }
    run->amdahl_speedup = ulb_amdahl(run->alpha, run->byte_ratio);
    run->amdahl_nominal_speedup = ulb_amdahl(run->alpha, run->bit_ratio);
    if (run->batch > 1)
        leave_bound_out(run);
}

static void bound_by_memory(const struct ulb_decode_figures *f, struct ulb_decode_run *run)
{
    double positions = (double)f->context + ULB_TOKENS_WARM_UP + ((double)f->n + 1) / 2;
    double cache = ulb_kv_bytes(f->all, f->kv_type, positions), batch = (double)f->batch;
    double step = block_bytes(f, true) + block_bytes(f, false) + (double)f->store->weights.bytes[ULB_HEAD] +
                  batch * cache;
    run->kv_bytes_per_token = (size_t)cache;
    run->kv_bytes = f->batch * (size_t)ulb_kv_bytes(f->all, f->kv_type, (double)(f->attention.position + 1));
    run->kv_gbps = f->attention.bytes_per_s / ULB_GB;
    run->kv_share = f->attention.share;
    run->queries_per_key = (double)f->all->heads / (double)f->all->kv_heads;
    run->weight_bytes = f->store->blocks.bytes + f->store->head.bytes;
    run->bytes_per_step = (size_t)step;
    run->bytes_per_token = (size_t)(step / batch);
    run->yardstick_gbps = f->bandwidth / ULB_GB;
    run->roofline_tokens_per_s = batch * ulb_decode_roofline(run->yardstick_gbps * ULB_GB, step);
    run->roofline_share = run->tokens_per_s / run->roofline_tokens_per_s;
    long long huge = ulb_pages_huge_bytes(&f->store->blocks), head = ulb_pages_huge_bytes(&f->store->head);
    run->huge_bytes = huge < 0 || head < 0 ? (double)NAN : (double)(huge + head);
    run->peak_rss_bytes = f->peak_bytes < 0 ? (double)NAN : (double)f->peak_bytes;
}

static void fill_times(const struct ulb_token_sample *token, struct ulb_decode_run *run)
{
    run->ms_per_token = 1e3 * token->seconds;
    run->sequence_tokens_per_s = 1 / token->seconds;
    run->tokens_per_s = (double)run->batch * run->sequence_tokens_per_s;
    run->split_ms = split_of(token->parts);
    run->qkv_ms = 1e3 * token->parts[ULB_QKV];
    run->o_ms = 1e3 * token->parts[ULB_O];
    run->gate_up_ms = 1e3 * token->parts[ULB_GATE_UP];
    run->down_ms = 1e3 * token->parts[ULB_DOWN];
    run->router_ms = 1e3 * token->parts[ULB_ROUTER];
    run->head_ms = 1e3 * token->parts[ULB_HEAD];
    for (size_t c = 0; c < 4; c++)
        run->barrier_ms[c] = 1e3 * token->wait[c];
}

enum ulb_status ulb_decode_record(struct ulb_session *session, const struct ulb_decode_figures *f,
                                  struct ulb_decode_baseline *baseline, struct ulb_error *err)
{
    struct ulb_decode_run run = {
        .threads = (unsigned)session->machine.pus.n,
        .tokens = f->n,
        .context = f->context,
        .prompt = f->prompt,
        .batch = f->batch,
        .prefill = f->prefill,
        .n_prefill_curve = f->n_curve,
        .prefill_curve = f->curve,
        .layers_run = f->shape->layers,
        .layers = f->all->layers,
        .extrapolated = f->shape->layers < f->all->layers,
        .verified = true,
        .n_samples = f->n,
        .ms_samples = calloc(f->n, sizeof *run.ms_samples),
        .joule_samples = calloc(f->n, sizeof *run.joule_samples),
    };
    enum ulb_status status = ULB_OK;
    if (!run.ms_samples || !run.joule_samples) {
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for %zu samples", f->n);
        goto free_samples;
    }
    for (size_t i = 0; i < f->n; i++) { /* before anything sorts them */
        run.ms_samples[i] = 1e3 * f->samples[i].seconds;
        run.joule_samples[i] = f->samples[i].joules;
    }
    run.ms_mad = ulb_stats_of(run.ms_samples, f->n, session->settings.seed).mad;
    if (f->prompt == 0)
        run.prefill.whole = (struct ulb_prompt_time){.ms = NAN,
                                                     .tokens_per_s = NAN,
                                                     .gops = NAN,
                                                     .split_ms = {NAN, NAN, NAN, NAN, NAN},
                                                     .peak_share = NAN,
                                                     .memory_share = NAN,
                                                     .reason = "no --prompt was given"};
    name_run(session, f, &run);
    struct ulb_token_sample token = middle_half(f->samples, f->n);
    double as_run = token.seconds;
    extrapolate(&token, f);
    run.ms_mad *= token.seconds / as_run;
    fill_times(&token, &run);
    run.gemv_cold_ms = 1e3 * cold_seconds(f);
    bound_by_memory(f, &run);
    fill_energy(f, &run);
    const struct ulb_format *format = f->choices[ULB_QKV].kernel->layout->format;
    if (format->floating && format->bits == 16 && !baseline->known) {
        *baseline = (struct ulb_decode_baseline){true, token.seconds,        blocks_of(token.parts),
                                                 {0},  block_bytes(f, true), f->bandwidth};
        memcpy(baseline->parts, token.parts, sizeof baseline->parts);
    }
    compare(f, &token, baseline, &run);
    status = ulb_record_add_decode(session->record, &run, err);
    if (status == ULB_OK && run.roofline_share > ULB_SHARE_BELIEVED)
        status =
            ulb_record_warn(session->record, err,
                            "%s: %.0f %% of what memory gives: weights came from a cache in part, or the "
                            "yardstick was disturbed",
                            run.format, 100 * run.roofline_share);
free_samples:
    free(run.ms_samples);
    free(run.joule_samples);
    return status;
}
