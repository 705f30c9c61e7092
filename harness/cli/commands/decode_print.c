#include "harness/cli/commands/decode_print.h"

#include "common/units.h"
#include "harness/cli/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool same_run(const struct ulb_decode_run *a, const struct ulb_decode_run *b)
{
    return strcmp(a->model, b->model) == 0 && strcmp(a->set, b->set) == 0 &&
           strcmp(a->split, b->split) == 0 && a->context == b->context && a->tokens == b->tokens;
}

static void print_head(const struct ulb_decode_run *run, FILE *out)
{
    fprintf(out, "%s, %zu layer%s, %zu token%s behind a context of %zu; %u thread%s of %s, %s split\n",
            run->model, run->layers, ULB_S(run->layers), run->tokens, ULB_S(run->tokens), run->context,
            run->threads, ULB_S(run->threads), run->set, run->split);
    fprintf(out, "x: speed-up over 16 bits, beside Amdahl's bound by bytes and by bits; roof: tokens/s that\n"
                 "the bandwidth allows, and the share of it; then milliseconds of a token\n");
    fprintf(out, "%-8s %8s %8s %6s %6s %6s %7s %5s | %7s %6s %6s %6s %6s\n", "format", "tokens/s", "ms/token",
            "x", "bytes", "bits", "roof", "share", "gemv", "attn", "other", "quant", "wait");
}

static void print_run(const struct ulb_decode_run *run, FILE *out)
{
    char x[32], bytes[32], bits[32];
    const struct ulb_decode_split *split = &run->split_ms;
    fprintf(out, "%-8s %8.2f %8.2f %6s %6s %6s %7.2f %4.0f%% | %7.2f %6.3f %6.3f %6.3f %6.3f\n", run->format,
            run->tokens_per_s, run->ms_per_token, ulb_show_number(x, "%.2f", run->observed_speedup),
            ulb_show_number(bytes, "%.2f", run->amdahl_speedup),
            ulb_show_number(bits, "%.2f", run->amdahl_nominal_speedup), run->roofline_tokens_per_s,
            100 * run->roofline_share, split->gemv, split->attention, split->other, split->quantise,
            split->fork_join);
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

static void print_prefill(const struct ulb_decode_run *run, FILE *out)
{
    const struct ulb_prefill *p = &run->prefill;
    if (run->prompt == 0)
        return;
    fprintf(out, " %-8s prompt of %zu: first token after %.0f ms, %.1f tokens/s, %.0f GOP/s; %s-bound:\n",
            run->format, run->prompt, p->first_token_ms, p->tokens_per_s, p->gops, p->bound);
    fprintf(out, " %-8s   %.0f %% of the compute limit, %.0f %% of the yardstick; gate_up by %s\n", "",
            100 * p->peak_share, 100 * p->memory_share, p->kernel_gate_up);
}

static void print_memory(const struct ulb_decode_run *run, FILE *out)
{
    char peak[32], huge[32];
    fprintf(out, " %-8s weights %.0f MiB, peak %s MiB, in huge pages %s MiB; one by one, cold: %.2f ms\n",
            run->format, (double)run->weight_bytes / ULB_MIB,
            ulb_show_number(peak, "%.0f", run->peak_rss_bytes / ULB_MIB),
            ulb_show_number(huge, "%.0f", run->huge_bytes / ULB_MIB), run->gemv_cold_ms);
    if (run->extrapolated)
        fprintf(out, " %-8s ONLY %zu OF %zu LAYERS WERE RUN: the times above are extrapolated from them\n",
                run->format, run->layers_run, run->layers);
}

static void print_no_energy(const struct ulb_decode_run *run, FILE *out)
{
    char head[48];
    snprintf(head, sizeof head, " %-8s no energy: ", run->format);
    ulb_print_wrapped(out, head, run->joule_reason);
}

static void print_energy(const struct ulb_decode_run *run, FILE *out)
{
    if (isfinite(run->joule_per_token))
        fprintf(out, " %-8s %.3f J/token beyond rest, %.3f with it; %.1f W, at rest %.1f W (%.40s)\n",
                run->format, run->joule_per_token, run->joule_per_token_gross, run->watts, run->idle_watts,
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
    print_head(runs[0], out);
    for (size_t i = 0; i < n; i++)
        print_run(runs[i], out);
    for (size_t i = 0; i < n; i++)
        print_missing(runs[i], out);
    for (size_t i = 0; i < n; i++)
        print_prefill(runs[i], out);
    for (size_t i = 0; i < n; i++)
        print_memory(runs[i], out);
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
