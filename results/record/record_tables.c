/* What stands in the arrays of a record, field by field, in the order of the file. */
#include "results/record/record.h"

#define SIZE(type, member) sizeof(((type *)0)->member)
#define AT(type, member)   .offset = offsetof(type, member), .size = SIZE(type, member)
#define TEXT(type, member)                                                                                   \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_TEXT, AT(type, member)                                             \
    }
#define COUNT(type, member)                                                                                  \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_COUNT, AT(type, member)                                            \
    }
#define SMALL(type, member)                                                                                  \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_SMALL, AT(type, member)                                            \
    }
#define FLAG(type, member)                                                                                   \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_FLAG, AT(type, member)                                             \
    }
#define NUMBER(type, member)                                                                                 \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_NUMBER, AT(type, member)                                           \
    }
/* A statistic that some numbers of samples do not give. */
#define STATISTIC(type, member)                                                                              \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_NUMBER, AT(type, member), .because = "too few samples"             \
    }
#define MAYBE(type, member, why)                                                                             \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_NUMBER, AT(type, member), .reason = offsetof(type, why)            \
    }

/* A list of numbers, and the version that brought it. */
#define LIST(type, list, count, version)                                                                     \
    {                                                                                                        \
        .key = #list, .values = offsetof(type, list), .n = offsetof(type, count), .since = (version)         \
    }
#define NO_LIST                                                                                              \
    {                                                                                                        \
        0                                                                                                    \
    }

#define SECTION(name, type, table, in, array, sample, second)                                                \
    const struct ulb_section name = {                                                                        \
        .parent = (in),                                                                                      \
        .key = (array),                                                                                      \
        .fields = (table),                                                                                   \
        .n_fields = sizeof(table) / sizeof *(table),                                                         \
        .struct_bytes = sizeof(type),                                                                        \
        .samples = LIST(type, sample, n_samples, 0),                                                         \
        .more = second,                                                                                      \
    }

_Static_assert(SIZE(struct ulb_beta_cell, reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_gamma_cell, reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_overlap_cell, reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_count_cell, reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_cell, peak_reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_cell, yardstick_reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_decode_run, baseline_reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_decode_run, prefill.whole.reason) == ULB_REASON_BYTES,
               "reasons have one size");
_Static_assert(SIZE(struct ulb_decode_run, joule_reason) == ULB_REASON_BYTES, "reasons have one size");
_Static_assert(SIZE(struct ulb_cell, predicted_reason) == ULB_REASON_BYTES, "reasons have one size");

static const char *const levels[] = {"L1", "L2", "LLC", "mem", NULL};
static const char *const modes[] = {"cold", "warm", NULL};
static const char *const prefetches[] = {"L1",      "L1+1024", "L1+2048", "L2+1024", "L2+2048",
                                         "L2+3072", "L2",      "none",    NULL};
static const char *const activations[] = {"a8", "f32", "bf16", NULL};
static const char *const bounds[] = {"memory", "compute", "overhead", NULL};

static const char *const prefill_bounds[] = {"memory", "compute", "attention", "quantise",
                                             "norms",  "wait",    NULL};
static const char *const kv_types[] = {"bf16", "q8_0", "q4_0", "fp32", NULL};

static const struct ulb_field beta_fields[] = {
    TEXT(struct ulb_beta_cell, set),
    SMALL(struct ulb_beta_cell, threads),
    {.key = "level", .kind = ULB_FIELD_WORD, AT(struct ulb_beta_cell, level), .words = levels},
    NUMBER(struct ulb_beta_cell, gbps),
    STATISTIC(struct ulb_beta_cell, gbps_mad),
    MAYBE(struct ulb_beta_cell, bytes_per_cycle, reason),
    TEXT(struct ulb_beta_cell, variant),
    COUNT(struct ulb_beta_cell, buffer_bytes),
};
SECTION(ulb_section_beta, struct ulb_beta_cell, beta_fields, "beta", "cells", gbps_samples, NO_LIST);

static const struct ulb_field yardstick_fields[] = {
    TEXT(struct ulb_yardstick, set),        SMALL(struct ulb_yardstick, threads),
    NUMBER(struct ulb_yardstick, gbps),     STATISTIC(struct ulb_yardstick, gbps_mad),
    STATISTIC(struct ulb_yardstick, drift), TEXT(struct ulb_yardstick, variant),
};
SECTION(ulb_section_yardstick, struct ulb_yardstick, yardstick_fields, "beta", "yardstick", gbps_samples,
        LIST(struct ulb_yardstick, hz_samples, n_hz, 2));

static const struct ulb_field gamma_fields[] = {
    TEXT(struct ulb_gamma_cell, kernel),
    TEXT(struct ulb_gamma_cell, format),
    TEXT(struct ulb_gamma_cell, isa),
    {.key = "class", .kind = ULB_FIELD_TEXT, AT(struct ulb_gamma_cell, cls)},
    MAYBE(struct ulb_gamma_cell, gamma_cycles, reason),
    MAYBE(struct ulb_gamma_cell, gamma_min_cycles, reason),
    MAYBE(struct ulb_gamma_cell, gamma_mad_cycles, reason),
    NUMBER(struct ulb_gamma_cell, bytes_per_step),
    MAYBE(struct ulb_gamma_cell, ebw_bytes_per_cycle, reason),
    FLAG(struct ulb_gamma_cell, verified),
};
SECTION(ulb_section_gamma, struct ulb_gamma_cell, gamma_fields, "gamma", "cells", gamma_samples, NO_LIST);

static const struct ulb_field overlap_fields[] = {
    TEXT(struct ulb_overlap_cell, kernel),
    TEXT(struct ulb_overlap_cell, format),
    TEXT(struct ulb_overlap_cell, set),
    SMALL(struct ulb_overlap_cell, threads),
    MAYBE(struct ulb_overlap_cell, overlap, reason),
    MAYBE(struct ulb_overlap_cell, overlap_mad, reason),
    MAYBE(struct ulb_overlap_cell, tile_us, reason),
    MAYBE(struct ulb_overlap_cell, call_us, reason),
    MAYBE(struct ulb_overlap_cell, column_ns, reason),
    TEXT(struct ulb_overlap_cell, shapes),
};
SECTION(ulb_section_overlap, struct ulb_overlap_cell, overlap_fields, "overlap", "cells", overlap_samples,
        NO_LIST);

static const struct ulb_field peak_fields[] = {
    TEXT(struct ulb_peak_cell, isa),
    {.key = "activation", .kind = ULB_FIELD_WORD, AT(struct ulb_peak_cell, activation), .words = activations},
    TEXT(struct ulb_peak_cell, set),
    SMALL(struct ulb_peak_cell, threads),
    NUMBER(struct ulb_peak_cell, gops),
    STATISTIC(struct ulb_peak_cell, gops_mad),
};
SECTION(ulb_section_peak, struct ulb_peak_cell, peak_fields, NULL, "peak", gops_samples, NO_LIST);

/* Where prefetches go. */
#define PREFETCH(name, type, member, why)                                                                    \
    {                                                                                                        \
        .key = name, .kind = ULB_FIELD_WORD, AT(type, member), .words = prefetches, .because = (why),        \
        .optional = true                                                                                     \
    }
static const char one_place[] = "the kernel's prefetches have one place for so many tokens";
static const char none_or_one_place[] =
    "no prompt, or the kernel's prefetches have one place for so many tokens";

#define ON_DEVICE .optional = true, .left_out = true
static const char *const paths[] = {"dpas-int2", "dpas-int8", "dpas-bf16", "dp4a", "plain", NULL};
static const char *const quantisations[] = {"none", "fused", "scaled", "before", NULL};

static const struct ulb_field cell_fields[] = {
    TEXT(struct ulb_cell, kernel),
    {.key = "layout", .kind = ULB_FIELD_TEXT, AT(struct ulb_cell, layout), .since = 2},
    TEXT(struct ulb_cell, format),
    TEXT(struct ulb_cell, model),
    TEXT(struct ulb_cell, layer),
    COUNT(struct ulb_cell, m),
    COUNT(struct ulb_cell, k),
    COUNT(struct ulb_cell, n),
    TEXT(struct ulb_cell, set),
    {.key = "threads",
     .kind = ULB_FIELD_SMALL,
     AT(struct ulb_cell, threads),
     .because = "a device has no threads of this program"},
    TEXT(struct ulb_cell, split),
    {.key = "mode", .kind = ULB_FIELD_WORD, AT(struct ulb_cell, mode), .words = modes},
    PREFETCH("prefetch", struct ulb_cell, prefetch, one_place),
    NUMBER(struct ulb_cell, us),
    STATISTIC(struct ulb_cell, us_mad),
    STATISTIC(struct ulb_cell, us_min),
    STATISTIC(struct ulb_cell, us_ci_lo),
    STATISTIC(struct ulb_cell, us_ci_hi),
    NUMBER(struct ulb_cell, gbps),
    NUMBER(struct ulb_cell, gops),
    MAYBE(struct ulb_cell, yardstick_gbps, yardstick_reason),
    MAYBE(struct ulb_cell, efficiency, yardstick_reason),
    {.key = "read_share",
     .kind = ULB_FIELD_NUMBER,
     AT(struct ulb_cell, read_share),
     .because = "the weights stay in cache, or were not set beside a plain read",
     .optional = true},
    MAYBE(struct ulb_cell, peak_gops, peak_reason),
    MAYBE(struct ulb_cell, peak_share, peak_reason),
    MAYBE(struct ulb_cell, gamma_cycles, predicted_reason),
    MAYBE(struct ulb_cell, predicted_us, predicted_reason),
    MAYBE(struct ulb_cell, residual, predicted_reason),
    MAYBE(struct ulb_cell, predicted_plain_us, predicted_reason),
    MAYBE(struct ulb_cell, residual_plain, predicted_reason),
    STATISTIC(struct ulb_cell, noise),
    {.key = "bound",
     .kind = ULB_FIELD_WORD,
     AT(struct ulb_cell, bound),
     .words = bounds,
     .reason = offsetof(struct ulb_cell, predicted_reason)},
    TEXT(struct ulb_cell, verdict),
    COUNT(struct ulb_cell, weight_bytes),
    COUNT(struct ulb_cell, ring_bytes),
    FLAG(struct ulb_cell, verified),
    {.key = "samples_per_round", .kind = ULB_FIELD_COUNT, AT(struct ulb_cell, samples_per_round), .since = 2},
    {.key = "noise_floor",
     .kind = ULB_FIELD_NUMBER,
     AT(struct ulb_cell, noise_floor),
     .because = "fewer than four rounds that nothing disturbed",
     .since = 2},
    {.key = "device", .kind = ULB_FIELD_TEXT, AT(struct ulb_cell, device), ON_DEVICE},
    {.key = "path", .kind = ULB_FIELD_WORD, AT(struct ulb_cell, path), .words = paths, ON_DEVICE},
    {.key = "tile", .kind = ULB_FIELD_TEXT, AT(struct ulb_cell, tile), ON_DEVICE},
    {.key = "quantise",
     .kind = ULB_FIELD_WORD,
     AT(struct ulb_cell, quantise),
     .words = quantisations,
     ON_DEVICE},
    {.key = "us_event", .kind = ULB_FIELD_NUMBER, AT(struct ulb_cell, us_event), ON_DEVICE},
    {.key = "launch_us", .kind = ULB_FIELD_NUMBER, AT(struct ulb_cell, launch_us), ON_DEVICE},
};
SECTION(ulb_section_cells, struct ulb_cell, cell_fields, NULL, "cells", us_samples,
        LIST(struct ulb_cell, disturbed_samples, n_disturbed, 2));

static const char *const count_sources[] = {"perf", "callgrind", NULL};

static const struct ulb_field count_fields[] = {
    TEXT(struct ulb_count_cell, kernel),
    TEXT(struct ulb_count_cell, format),
    TEXT(struct ulb_count_cell, isa),
    MAYBE(struct ulb_count_cell, instructions_per_step, reason),
    {.key = "source",
     .kind = ULB_FIELD_WORD,
     AT(struct ulb_count_cell, source),
     .words = count_sources,
     .reason = offsetof(struct ulb_count_cell, reason)},
};
const struct ulb_section ulb_section_counts = {
    .key = "counts",
    .fields = count_fields,
    .n_fields = sizeof count_fields / sizeof *count_fields,
    .struct_bytes = sizeof(struct ulb_count_cell),
    .optional = true,
};

#define IN(object, leaf, type, member)                                                                       \
    {                                                                                                        \
        .key = object "." leaf, .kind = ULB_FIELD_NUMBER, AT(type, member)                                   \
    }
#define MAYBE_IN(object, leaf, type, member, why)                                                            \
    {                                                                                                        \
        .key = object "." leaf, .kind = ULB_FIELD_NUMBER, AT(type, member), .reason = offsetof(type, why)    \
    }
#define OF_CLASS(name, at)                                                                                   \
    {                                                                                                        \
        .key = "barrier_ms." name, .kind = ULB_FIELD_NUMBER, AT(struct ulb_decode_run, barrier_ms[at]),      \
        .because = "no core of this class in the set"                                                        \
    }
#define OF_PROC(member)                                                                                      \
    {                                                                                                        \
        .key = #member, .kind = ULB_FIELD_NUMBER, AT(struct ulb_decode_run, member),                         \
        .because = "/proc/self does not tell", .whole = true                                                 \
    }

/* A figure of a prompt: `at` is the way from the struct to its struct ulb_prompt_time, with a dot. */
#define OF_PROMPT(in, leaf, type, at, member)                                                                \
    {                                                                                                        \
        .key = in leaf, .kind = ULB_FIELD_NUMBER, AT(type, at member), .reason = offsetof(type, at reason)   \
    }
#define PROMPT_PART(in, type, at, part)                                                                      \
    {                                                                                                        \
        .key = in "split_ms." #part, .kind = ULB_FIELD_NUMBER, AT(type, at split_ms.part),                   \
        .reason = offsetof(type, at reason), .optional = true                                                \
    }
#define PROMPT_TIME(in, time, type, at)                                                                      \
    OF_PROMPT(in, time, type, at, ms), OF_PROMPT(in, "tokens_per_s", type, at, tokens_per_s),                \
        OF_PROMPT(in, "gops", type, at, gops), PROMPT_PART(in, type, at, gemm),                              \
        PROMPT_PART(in, type, at, attention), PROMPT_PART(in, type, at, quantise),                           \
        PROMPT_PART(in, type, at, norms), PROMPT_PART(in, type, at, wait),                                   \
        OF_PROMPT(in, "peak_share", type, at, peak_share),                                                   \
        OF_PROMPT(in, "memory_share", type, at, memory_share),                                               \
    {                                                                                                        \
        .key = in "bound", .kind = ULB_FIELD_WORD, AT(type, at bound), .words = prefill_bounds,              \
        .reason = offsetof(type, at reason)                                                                  \
    }
#define OPTIONAL(member, type)                                                                               \
    {                                                                                                        \
        .key = #member, .kind = (type), AT(struct ulb_decode_run, member), .optional = true                  \
    }
#define CHOICE(of)                                                                                           \
    {                                                                                                        \
        .key = "prefill.choice_" #of, .kind = ULB_FIELD_TEXT,                                                \
        AT(struct ulb_decode_run, prefill.choice_##of), .optional = true                                     \
    }

static const struct ulb_field prompt_fields[] = {
    COUNT(struct ulb_prompt_time, tokens),
    PROMPT_TIME("", "ms", struct ulb_prompt_time, ),
};
static const struct ulb_section section_curve = {
    .key = "prefill_curve",
    .fields = prompt_fields,
    .n_fields = sizeof prompt_fields / sizeof *prompt_fields,
    .struct_bytes = sizeof(struct ulb_prompt_time),
    .optional = true,
};

static const struct ulb_field decode_fields[] = {
    TEXT(struct ulb_decode_run, model),
    TEXT(struct ulb_decode_run, format),
    TEXT(struct ulb_decode_run, set),
    SMALL(struct ulb_decode_run, threads),
    TEXT(struct ulb_decode_run, split),
    COUNT(struct ulb_decode_run, tokens),
    COUNT(struct ulb_decode_run, context),
    COUNT(struct ulb_decode_run, prompt),
    OPTIONAL(batch, ULB_FIELD_COUNT),
    COUNT(struct ulb_decode_run, layers_run),
    COUNT(struct ulb_decode_run, layers),
    FLAG(struct ulb_decode_run, extrapolated),
    NUMBER(struct ulb_decode_run, tokens_per_s),
    OPTIONAL(sequence_tokens_per_s, ULB_FIELD_NUMBER),
    NUMBER(struct ulb_decode_run, ms_per_token),
    STATISTIC(struct ulb_decode_run, ms_mad),
    IN("split_ms", "gemv", struct ulb_decode_run, split_ms.gemv),
    IN("split_ms", "attention", struct ulb_decode_run, split_ms.attention),
    IN("split_ms", "other", struct ulb_decode_run, split_ms.other),
    IN("split_ms", "quantise", struct ulb_decode_run, split_ms.quantise),
    IN("split_ms", "fork_join", struct ulb_decode_run, split_ms.fork_join),
    IN("gemv_ms", "qkv", struct ulb_decode_run, qkv_ms),
    IN("gemv_ms", "o", struct ulb_decode_run, o_ms),
    IN("gemv_ms", "gate_up", struct ulb_decode_run, gate_up_ms),
    IN("gemv_ms", "down", struct ulb_decode_run, down_ms),
    IN("gemv_ms", "router", struct ulb_decode_run, router_ms),
    IN("gemv_ms", "head", struct ulb_decode_run, head_ms),
    NUMBER(struct ulb_decode_run, gemv_cold_ms),
    OF_CLASS("P", 0),
    OF_CLASS("E", 1),
    OF_CLASS("LP-E", 2),
    OF_CLASS("core", 3),
    MAYBE(struct ulb_decode_run, alpha, baseline_reason),
    MAYBE(struct ulb_decode_run, byte_ratio, baseline_reason),
    NUMBER(struct ulb_decode_run, bit_ratio),
    MAYBE(struct ulb_decode_run, amdahl_speedup, baseline_reason),
    MAYBE(struct ulb_decode_run, amdahl_nominal_speedup, baseline_reason),
    MAYBE(struct ulb_decode_run, observed_speedup, baseline_reason),
    MAYBE_IN("missing_ms", "gemv", struct ulb_decode_run, missing_ms.gemv, baseline_reason),
    MAYBE_IN("missing_ms", "attention", struct ulb_decode_run, missing_ms.attention, baseline_reason),
    MAYBE_IN("missing_ms", "other", struct ulb_decode_run, missing_ms.other, baseline_reason),
    MAYBE_IN("missing_ms", "quantise", struct ulb_decode_run, missing_ms.quantise, baseline_reason),
    MAYBE_IN("missing_ms", "fork_join", struct ulb_decode_run, missing_ms.fork_join, baseline_reason),
    MAYBE_IN("missing_ms", "memory", struct ulb_decode_run, missing_memory_ms, baseline_reason),
    NUMBER(struct ulb_decode_run, yardstick_gbps),
    NUMBER(struct ulb_decode_run, roofline_tokens_per_s),
    NUMBER(struct ulb_decode_run, roofline_share),
    COUNT(struct ulb_decode_run, weight_bytes),
    COUNT(struct ulb_decode_run, bytes_per_token),
    COUNT(struct ulb_decode_run, kv_bytes_per_token),
    {.key = "kv_type",
     .kind = ULB_FIELD_WORD,
     AT(struct ulb_decode_run, kv_type),
     .words = kv_types,
     .optional = true},
    OPTIONAL(bytes_per_step, ULB_FIELD_COUNT),
    OPTIONAL(kv_bytes, ULB_FIELD_COUNT),
    OPTIONAL(kv_gbps, ULB_FIELD_NUMBER),
    OPTIONAL(kv_share, ULB_FIELD_NUMBER),
    OPTIONAL(queries_per_key, ULB_FIELD_NUMBER),
    OF_PROC(peak_rss_bytes),
    OF_PROC(huge_bytes),
    MAYBE(struct ulb_decode_run, joule_per_token, joule_reason),
    MAYBE(struct ulb_decode_run, joule_per_token_gross, joule_reason),
    MAYBE(struct ulb_decode_run, watts, joule_reason),
    MAYBE(struct ulb_decode_run, idle_watts, joule_reason),
    TEXT(struct ulb_decode_run, energy_source),
    {.key = "prefill.ubatch",
     .kind = ULB_FIELD_COUNT,
     AT(struct ulb_decode_run, prefill.ubatch),
     .optional = true},
    PROMPT_TIME("prefill.", "first_token_ms", struct ulb_decode_run, prefill.whole.),
    {.key = "prefill.kernel_qkv", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, prefill.kernel_qkv)},
    {.key = "prefill.kernel_o", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, prefill.kernel_o)},
    {.key = "prefill.kernel_gate_up",
     .kind = ULB_FIELD_TEXT,
     AT(struct ulb_decode_run, prefill.kernel_gate_up)},
    {.key = "prefill.kernel_down", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, prefill.kernel_down)},
    PREFETCH("prefill.prefetch_qkv", struct ulb_decode_run, prefill.prefetch_qkv, none_or_one_place),
    PREFETCH("prefill.prefetch_o", struct ulb_decode_run, prefill.prefetch_o, none_or_one_place),
    PREFETCH("prefill.prefetch_gate_up", struct ulb_decode_run, prefill.prefetch_gate_up, none_or_one_place),
    PREFETCH("prefill.prefetch_down", struct ulb_decode_run, prefill.prefetch_down, none_or_one_place),
    CHOICE(qkv),
    CHOICE(o),
    CHOICE(gate_up),
    CHOICE(down),
    {.key = "kernels.qkv", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, kernel_qkv)},
    {.key = "kernels.o", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, kernel_o)},
    {.key = "kernels.gate_up", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, kernel_gate_up)},
    {.key = "kernels.down", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, kernel_down)},
    {.key = "kernels.head", .kind = ULB_FIELD_TEXT, AT(struct ulb_decode_run, kernel_head)},
    PREFETCH("prefetch.qkv", struct ulb_decode_run, prefetch_qkv, one_place),
    PREFETCH("prefetch.o", struct ulb_decode_run, prefetch_o, one_place),
    PREFETCH("prefetch.gate_up", struct ulb_decode_run, prefetch_gate_up, one_place),
    PREFETCH("prefetch.down", struct ulb_decode_run, prefetch_down, one_place),
    PREFETCH("prefetch.head", struct ulb_decode_run, prefetch_head, one_place),
    TEXT(struct ulb_decode_run, token_digest),
    FLAG(struct ulb_decode_run, verified),
};
const struct ulb_section ulb_section_decode = {
    .parent = "decode",
    .key = "runs",
    .fields = decode_fields,
    .n_fields = sizeof decode_fields / sizeof *decode_fields,
    .struct_bytes = sizeof(struct ulb_decode_run),
    .samples = LIST(struct ulb_decode_run, ms_samples, n_samples, 0),
    .more = {.key = "joule_samples",
             .values = offsetof(struct ulb_decode_run, joule_samples),
             .n = offsetof(struct ulb_decode_run, n_joule_samples),
             .optional = true},
    .inner = {.section = &section_curve,
              .items = offsetof(struct ulb_decode_run, prefill_curve),
              .n = offsetof(struct ulb_decode_run, n_prefill_curve)},
    .optional = true,
};

const struct ulb_section *const ulb_sections[] = {
    &ulb_section_beta,    &ulb_section_yardstick, &ulb_section_gamma,
    &ulb_section_overlap, &ulb_section_peak,      &ulb_section_cells,
    &ulb_section_counts,  &ulb_section_decode,    NULL};

/* ---- items in and out ---- */

enum ulb_status ulb_record_add_beta(struct ulb_record *record, const struct ulb_beta_cell *cell,
                                    struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_beta, cell, err);
}

enum ulb_status ulb_record_add_yardstick(struct ulb_record *record, const struct ulb_yardstick *yardstick,
                                         struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_yardstick, yardstick, err);
}

enum ulb_status ulb_record_add_gamma(struct ulb_record *record, const struct ulb_gamma_cell *cell,
                                     struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_gamma, cell, err);
}

enum ulb_status ulb_record_add_overlap(struct ulb_record *record, const struct ulb_overlap_cell *cell,
                                       struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_overlap, cell, err);
}

enum ulb_status ulb_record_add_peak(struct ulb_record *record, const struct ulb_peak_cell *cell,
                                    struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_peak, cell, err);
}

enum ulb_status ulb_record_add_cell(struct ulb_record *record, const struct ulb_cell *cell,
                                    struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_cells, cell, err);
}

enum ulb_status ulb_record_add_count(struct ulb_record *record, const struct ulb_count_cell *cell,
                                     struct ulb_error *err)
{
    return ulb_section_append(record->root, &ulb_section_counts, cell, err);
}

enum ulb_status ulb_record_add_decode(struct ulb_record *record, const struct ulb_decode_run *run,
                                      struct ulb_error *err)
{
    if (!json_is_object(json_object_get(record->root, "decode")) &&
        json_object_set_new(record->root, "decode", json_pack("{s:[]}", "runs")) != 0)
        return ulb_fail(err, ULB_ENVIRONMENT, "not enough memory for the record");
    json_object_del(record->root, "decode_reason");
    return ulb_section_append(record->root, &ulb_section_decode, run, err);
}

enum ulb_status ulb_record_beta_cells(const struct ulb_record *record, struct ulb_beta_cell **out, size_t *n,
                                      struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_beta, &items, n, err);
    *out = items;
    return status;
}

void ulb_beta_cells_free(struct ulb_beta_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_beta, cells, n);
}

enum ulb_status ulb_record_yardsticks(const struct ulb_record *record, struct ulb_yardstick **out, size_t *n,
                                      struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_yardstick, &items, n, err);
    *out = items;
    return status;
}

void ulb_yardsticks_free(struct ulb_yardstick *yardsticks, size_t n)
{
    ulb_section_free(&ulb_section_yardstick, yardsticks, n);
}

enum ulb_status ulb_record_gamma_cells(const struct ulb_record *record, struct ulb_gamma_cell **out,
                                       size_t *n, struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_gamma, &items, n, err);
    *out = items;
    return status;
}

void ulb_gamma_cells_free(struct ulb_gamma_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_gamma, cells, n);
}

enum ulb_status ulb_record_overlaps(const struct ulb_record *record, struct ulb_overlap_cell **out, size_t *n,
                                    struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_overlap, &items, n, err);
    *out = items;
    return status;
}

void ulb_overlaps_free(struct ulb_overlap_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_overlap, cells, n);
}

enum ulb_status ulb_record_peaks(const struct ulb_record *record, struct ulb_peak_cell **out, size_t *n,
                                 struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_peak, &items, n, err);
    *out = items;
    return status;
}

void ulb_peaks_free(struct ulb_peak_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_peak, cells, n);
}

enum ulb_status ulb_record_cells(const struct ulb_record *record, struct ulb_cell **out, size_t *n,
                                 struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_cells, &items, n, err);
    *out = items;
    return status;
}

void ulb_cells_free(struct ulb_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_cells, cells, n);
}

enum ulb_status ulb_record_counts(const struct ulb_record *record, struct ulb_count_cell **out, size_t *n,
                                  struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_counts, &items, n, err);
    *out = items;
    return status;
}

void ulb_counts_free(struct ulb_count_cell *cells, size_t n)
{
    ulb_section_free(&ulb_section_counts, cells, n);
}

enum ulb_status ulb_record_decode_runs(const struct ulb_record *record, struct ulb_decode_run **out,
                                       size_t *n, struct ulb_error *err)
{
    void *items;
    enum ulb_status status = ulb_section_read(record->root, &ulb_section_decode, &items, n, err);
    *out = items;
    return status;
}

void ulb_decode_runs_free(struct ulb_decode_run *runs, size_t n)
{
    ulb_section_free(&ulb_section_decode, runs, n);
}
