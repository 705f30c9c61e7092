#include "harness/cli/commands/decode_print.h"

#include "common/units.h"
#include "harness/cli/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double AT_LIMIT = 0.90;

static bool same_run(const struct ulb_decode_run *a, const struct ulb_decode_run *b)
{
    return strcmp(a->model, b->model) == 0 && strcmp(a->set, b->set) == 0 &&
           strcmp(a->split, b->split) == 0 && strcmp(a->kv_type, b->kv_type) == 0 &&
           a->context == b->context && a->tokens == b->tokens;
}

/* Sequences of a run; older runs have one, and no number. */
static size_t batch_of(const struct ulb_decode_run *run)
{
    return run->batch > 0 ? run->batch : 1;
}

/* Whether any of the runs decodes several sequences together. */
static bool any_batch(const struct ulb_decode_run *const *runs, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n && !found; i++)
        found = runs[i]->batch > 1;
    return found;
}

#define SINGLE_COLUMNS                                                                                       \
    {"ms/token", true, false}, {"share", true, false}, {"roof", true, false}, {"x", true, false},            \
        {"bytes", true, false}, {"bits", true, false}, {"gemv", true, false}, {"attn", true, false},         \
        {"other", true, false}, {"quant", true, false},                                                      \
    {                                                                                                        \
        "wait", true, false                                                                                  \
    }

static struct ulb_table *open_runs(const struct ulb_decode_run *run, bool batched, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"format", false, false}, {"tokens/s", true, false}, SINGLE_COLUMNS};
    static const struct ulb_table_column of_batches[] = {{"format", false, false},
                                                         {"batch", true, false},
                                                         {"tokens/s", true, false},
                                                         {"each", true, false},
                                                         SINGLE_COLUMNS};
    ulb_print_wrapped_as(out, "",
                         "%s, %zu layer%s, %zu token%s behind a context of %zu; %u thread%s of %s, %s split",
                         run->model, run->layers, ULB_S(run->layers), run->tokens, ULB_S(run->tokens),
                         run->context, run->threads, ULB_S(run->threads), run->set, run->split);
    if (batched)
        ulb_print_wrapped(
            out, "",
            "batch: sequences decoded together; tokens/s: of all of them, and of each; ms/token: "
            "of a step, in which each gets a token");
    ulb_print_wrapped(
        out, "",
        "roof: tokens/s that the bandwidth allows, share: of that; x: speed-up over 16 bits, beside "
        "Amdahl's bound by bytes and by bits; then milliseconds of a token");
    return batched ? ulb_table_open(of_batches, sizeof of_batches / sizeof *of_batches)
                   : ulb_table_open(columns, sizeof columns / sizeof *columns);
}

static void add_run(const struct ulb_decode_run *run, bool batched, struct ulb_table *table)
{
    char x[32], bytes[32], bits[32], share[32] = "faster", speed[96];
    const struct ulb_decode_split *split = &run->split_ms;
    if (run->roofline_share <= ULB_SHARE_BELIEVED)
        snprintf(share, sizeof share, "%.0f%%", 100 * run->roofline_share);
    if (batched)
        snprintf(speed, sizeof speed, "%zu\t%.2f\t%.2f", batch_of(run), run->tokens_per_s,
                 run->tokens_per_s / (double)batch_of(run));
    else
        snprintf(speed, sizeof speed, "%.2f", run->tokens_per_s);
    ulb_table_add(table, "%s\t%s\t%.2f\t%s\t%.2f\t%s\t%s\t%s\t%.2f\t%.3f\t%.3f\t%.3f\t%.3f", run->format,
                  speed, run->ms_per_token, share, run->roofline_tokens_per_s,
                  ulb_show_number(x, "%.2f", run->observed_speedup),
                  ulb_show_number(bytes, "%.2f", run->amdahl_speedup),
                  ulb_show_number(bits, "%.2f", run->amdahl_nominal_speedup), split->gemv, split->attention,
                  split->other, split->quantise, split->fork_join);
}

/* What stands before a sentence on a run. */
static void put_head(const struct ulb_decode_run *run, char head[48])
{
    char name[40];
    snprintf(name, sizeof name, run->batch > 1 ? "%s x%zu" : "%s", run->format, run->batch);
    snprintf(head, 48, " %-8s ", name);
}

/* The sentence that answers: what takes the token's time, beside the time that its bytes need. */
static void print_why(const struct ulb_decode_run *run, FILE *out)
{
    const struct ulb_decode_split *split = &run->split_ms;
    const struct {
        const char *name;
        double ms;
    } parts[] = {{"attention", split->attention},
                 {"norms and activation functions", split->other},
                 {"quantising activations", split->quantise},
                 {"waiting for the slowest thread", split->fork_join}};
    double roof_ms = 1e3 * (double)batch_of(run) / run->roofline_tokens_per_s;
    size_t most = 0;
    char head[48];
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        most = parts[i].ms > parts[most].ms ? i : most;
    put_head(run, head);
    if (run->roofline_share > ULB_SHARE_BELIEVED)
        ulb_print_wrapped(out, head,
                          "measured while memory was faster than beside the tokens: no share is known");
    else if (run->roofline_share >= AT_LIMIT)
        ulb_print_wrapped_as(out, head, "at the limit: its bytes need %.2f of %.2f ms", roof_ms,
                             run->ms_per_token);
    else
        ulb_print_wrapped_as(
            out, head,
            "its bytes need %.2f of %.2f ms; products take %.2f, and most of the rest is %s, "
            "%.2f ms",
            roof_ms, run->ms_per_token, split->gemv, parts[most].name, parts[most].ms);
}

/* Where the time beyond Amdahl's bound is, in per cent of the token. */
static void print_missing(const struct ulb_decode_run *run, FILE *out)
{
    const struct ulb_decode_split *missing = &run->missing_ms;
    double share = 100 / run->ms_per_token;
    double all = missing->gemv + missing->attention + missing->other + missing->quantise +
                 missing->fork_join + run->missing_memory_ms;
    if (!isfinite(all))
        return;
    char head[64], parts[160];
    snprintf(head, sizeof head, " %-8s %+5.1f %% beyond the bound: ", run->format, all * share);
    snprintf(parts, sizeof parts,
             "memory's speed %+.1f, gemv %+.1f, attention %+.1f, other %+.1f, quantise %+.1f, wait %+.1f",
             run->missing_memory_ms * share, missing->gemv * share, missing->attention * share,
             missing->other * share, missing->quantise * share, missing->fork_join * share);
    ulb_print_wrapped(out, head, parts);
}

static const char *choice_of(const char *reason)
{
    if (strcmp(reason, "one-token") == 0)
        return ", whose layout is fastest with one token";
    if (strcmp(reason, "many-tokens") == 0)
        return ", fastest with many tokens of the layouts that tie with one";
    return strcmp(reason, "order") == 0 ? ", the widest of kernels that tie with one token and with many"
                                        : "";
}

static void print_prefill(const struct ulb_decode_run *run, FILE *out)
{
    const struct ulb_prompt_time *p = &run->prefill.whole;
    if (run->prompt == 0)
        return;
    const struct ulb_prefill_split *split = &p->split_ms;
    char head[48];
    double share = 100 / p->ms;
    put_head(run, head);
    if (!isnan(split->gemm))
        ulb_print_wrapped_as(out, head,
                             "of the prompt's time gemm %.0f %%, attention %.0f %%, quantise %.0f %%, norms "
                             "%.0f %%, wait %.0f %%",
                             split->gemm * share, split->attention * share, split->quantise * share,
                             split->norms * share, split->wait * share);
    ulb_print_wrapped_as(
        out, head,
        "prompt of %zu: first token after %.0f ms, %.1f tokens/s, %.0f GOP/s; %s-bound: %.0f %% of "
        "the compute limit, %.0f %% of the yardstick; gate_up by %s%s",
        run->prompt, p->ms, p->tokens_per_s, p->gops, p->bound, 100 * p->peak_share, 100 * p->memory_share,
        run->prefill.kernel_gate_up, choice_of(run->prefill.choice_gate_up));
}

/* Prompts of several lengths, a row for each. */
static void print_curves(const struct ulb_decode_run *const *runs, size_t n, FILE *out)
{
    static const struct ulb_table_column columns[] = {
        {"format", false, false}, {"prompt", true, false},  {"tokens/s", true, false},
        {"GOP/s", true, false},   {"of peak", true, false}, {"of memory", true, false},
        {"bound", false, false},  {"ms", true, false},
    };
    struct ulb_table *table = NULL;
    for (size_t i = 0; i < n; i++) {
        for (size_t p = 0; p < runs[i]->n_prefill_curve; p++) {
            const struct ulb_prompt_time *time = &runs[i]->prefill_curve[p];
            char peak[32];
            table = table ? table : ulb_table_open(columns, sizeof columns / sizeof *columns);
            ulb_table_add(table, "%s\t%zu\t%.1f\t%.0f\t%s\t%.0f%%\t%s\t%.1f", runs[i]->format, time->tokens,
                          time->tokens_per_s, time->gops,
                          ulb_show_number(peak, "%.0f%%", 100 * time->peak_share), 100 * time->memory_share,
                          time->bound, time->ms);
        }
    }
    if (table)
        ulb_table_print(table, out);
}

static void print_attention(const struct ulb_decode_run *run, FILE *out)
{
    char head[48];
    put_head(run, head);
    if (isnan(run->kv_gbps))
        return;
    ulb_print_wrapped_as(
        out, head, "attention alone reads %.1f MiB of cache in %s at %.1f GB/s: %.0f %% of the yardstick",
        (double)run->kv_bytes / ULB_MIB, run->kv_type, run->kv_gbps, 100 * run->kv_share);
}

static void print_memory(const struct ulb_decode_run *run, FILE *out)
{
    char peak[32], huge[32], head[48];
    put_head(run, head);
    ulb_print_wrapped_as(
        out, head, "weights %.0f MiB, peak %s MiB, in huge pages %s MiB; one by one, cold: %.2f ms",
        (double)run->weight_bytes / ULB_MIB, ulb_show_number(peak, "%.0f", run->peak_rss_bytes / ULB_MIB),
        ulb_show_number(huge, "%.0f", run->huge_bytes / ULB_MIB), run->gemv_cold_ms);
    if (run->extrapolated)
        ulb_print_wrapped_as(out, head,
                             "ONLY %zu OF %zu LAYERS WERE RUN: the times above are extrapolated from them",
                             run->layers_run, run->layers);
}

static void print_no_energy(const struct ulb_decode_run *run, FILE *out)
{
    char head[48];
    snprintf(head, sizeof head, " %-8s no energy: ", run->format);
    ulb_print_wrapped(out, head, run->joule_reason);
}

static void print_energy(const struct ulb_decode_run *run, FILE *out)
{
    char head[48];
    put_head(run, head);
    if (isfinite(run->joule_per_token))
        ulb_print_wrapped_as(out, head,
                             "%.3f J/token beyond rest, %.3f with it; %.1f W, at rest %.1f W (%.40s)",
                             run->joule_per_token, run->joule_per_token_gross, run->watts, run->idle_watts,
                             run->energy_source);
    else
        print_no_energy(run, out);
}

/* Those of runs[0..n) that were made like the first of them, in their order; how many there are. */
static size_t gather(const struct ulb_decode_run *runs, size_t n, const struct ulb_decode_run **alike)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        if (same_run(&runs[0], &runs[i]))
            alike[found++] = &runs[i];
    }
    return found;
}

static void print_alike(const struct ulb_decode_run *const *runs, size_t n, FILE *out)
{
    bool batched = any_batch(runs, n);
    struct ulb_table *table = open_runs(runs[0], batched, out);
    for (size_t i = 0; i < n; i++)
        add_run(runs[i], batched, table);
    ulb_table_print(table, out);
    for (size_t i = 0; i < n; i++)
        print_why(runs[i], out);
    for (size_t i = 0; i < n; i++)
        print_missing(runs[i], out);
    for (size_t i = 0; i < n; i++)
        print_prefill(runs[i], out);
    print_curves(runs, n, out);
    for (size_t i = 0; i < n; i++)
        print_attention(runs[i], out);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(runs[i]->format, runs[i - 1]->format) != 0) /* batches share their weights */
            print_memory(runs[i], out);
    }
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || strcmp(runs[i]->joule_reason, runs[i - 1]->joule_reason) != 0 ||
            isfinite(runs[i]->joule_per_token))
            print_energy(runs[i], out);
    }
}

static bool came_before(const struct ulb_decode_run *runs, size_t i)
{
    bool found = false;
    for (size_t j = 0; j < i && !found; j++)
        found = same_run(&runs[j], &runs[i]);
    return found;
}

enum ulb_status ulb_print_decode(const struct ulb_record *record, FILE *out, struct ulb_error *err)
{
    struct ulb_decode_run *runs;
    size_t n;
    enum ulb_status status = ulb_record_decode_runs(record, &runs, &n, err);
    if (status != ULB_OK)
        return status;
    const struct ulb_decode_run **alike = calloc(n + 1, sizeof *alike);
    for (size_t i = 0; alike && i < n; i++) {
        if (!came_before(runs, i))
            print_alike(alike, gather(runs + i, n - i, alike), out);
    }
    if (!alike)
        status = ulb_fail(err, ULB_ENVIRONMENT, "not enough memory to print %zu runs", n);
    free(alike);
    ulb_decode_runs_free(runs, n);
    return status;
}
