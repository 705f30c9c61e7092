#include "tests/results/sample_record.h"

#include "results/compare/noise_floor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES = 9, CLASSES = 2, KERNELS = 9 };

struct core_class {
    const char *name;
    unsigned cores;
    double hz;
};

struct machine {
    const char *cpu_model, *hypervisor;
    const char *set;
    struct core_class classes[CLASSES];
    size_t n_classes;
    double gbps; /* of all cores */
    const char *isa[3], *source;
};

struct kernel {
    const char *name, *format, *isa;
    double bytes_per_step, gamma[CLASSES];
    bool avx512;
};

static const struct machine server = {"Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
                                      "kvm",
                                      "all",
                                      {{"core", 2, 2.6e9}},
                                      1,
                                      24.6,
                                      {"avx2", "avx512vnni", NULL},
                                      "chain"};
static const struct machine hybrid = {"Intel(R) Core(TM) Ultra 7 255H",   NULL,  "all",
                                      {{"P", 6, 4.0e9}, {"E", 8, 3.6e9}}, 2,     80.5,
                                      {"avx2", "avxvnni", "avxvnniint8"}, "papi"};

static const struct kernel kernels[KERNELS] = {
    {"bf16f32-fma-avx2-32x1x2", "bf16", "avx2", 64, {4.3, 6.1}, false},
    {"bf16f32-fma-avx512-32x1x2", "bf16", "avx512", 64, {2.9, 0}, true},
    {"int8a8-dp-avxvnni-32x1x4", "int8", "avxvnni", 32, {1.02, 1.55}, false},
    {"int2a8-pshufb-avx2-32x1x4", "int2", "avx2", 8, {2.31, 3.4}, false},
    {"int2a8-pshufb-avxvnni-32x1x4", "int2", "avxvnni", 8, {1.25, 2.175}, false},
    {"int2a8-pshufb-avx512vnni256-32x1x4", "int2", "avx512vnni256", 8, {1.26, 0}, true},
    {"int2a8-pshufb-avx512vnni-64x1x4", "int2", "avx512vnni", 8, {0.78, 0}, true},
    {"int1a8-blend-avxvnni-32x1x4", "int1", "avxvnni", 4, {2.40, 4.71}, false},
    {"int1a8-blend-avx512vnni-32x1x4", "int1", "avx512vnni", 4, {0.72, 0}, true},
};

static const struct shape {
    const char *model, *layer;
    size_t m, k;
} shapes[] = {
    {"falcon3-1b", "qkv", 4096, 2048},         {"falcon3-1b", "o", 2048, 2048},
    {"falcon3-1b", "gate_up", 16384, 2048},    {"falcon3-1b", "down", 2048, 8192},
    {"mobilellm-1.5b", "qkv", 2240, 1600},     {"mobilellm-1.5b", "o", 1600, 1600},
    {"mobilellm-1.5b", "gate_up", 8704, 1600}, {"mobilellm-1.5b", "down", 1600, 4352},
    {"llama3-8b", "qkv", 6144, 4096},          {"llama3-8b", "o", 4096, 4096},
    {"llama3-8b", "gate_up", 28672, 4096},     {"llama3-8b", "down", 4096, 14336},
};

/* Samples that scatter around value, the same every time. */
static double *scatter(double out[SAMPLES], double value)
{
    for (int i = 0; i < SAMPLES; i++)
        out[i] = value * (1 + 0.004 * ((i * 7) % SAMPLES - SAMPLES / 2));
    return out;
}

/* Copies a text; for SAMPLE_LONGEST one that fills the field. */
static void put(char *out, size_t bytes, const char *text, enum sample_kind kind)
{
    snprintf(out, bytes, "%s", text);
    if (kind != SAMPLE_LONGEST)
        return;
    size_t used = strlen(out);
    memset(out + used, 'w', bytes - 1 - used);
    out[bytes - 1] = '\0';
}

static unsigned cores_of(const struct machine *machine)
{
    unsigned sum = 0;
    for (size_t c = 0; c < machine->n_classes; c++)
        sum += machine->classes[c].cores;
    return sum;
}

static double mean_hz(const struct machine *machine)
{
    double sum = 0;
    for (size_t c = 0; c < machine->n_classes; c++)
        sum += machine->classes[c].cores * machine->classes[c].hz;
    return sum / cores_of(machine);
}

static enum ulb_status add_beta(struct ulb_record *record, const char *set, unsigned threads,
                                const char *level, double gbps, double hz, enum sample_kind kind,
                                struct ulb_error *err)
{
    double samples[SAMPLES];
    bool absent = kind == SAMPLE_ABSENT;
    struct ulb_beta_cell cell = {.threads = threads,
                                 .gbps = gbps,
                                 .gbps_mad = absent ? NAN : 0.004 * gbps,
                                 .bytes_per_cycle = absent ? NAN : gbps * 1e9 / threads / hz,
                                 .buffer_bytes = 24576,
                                 .n_samples = absent ? 0 : SAMPLES,
                                 .gbps_samples = scatter(samples, gbps)};
    snprintf(cell.level, sizeof cell.level, "%s", level);
    snprintf(cell.reason, sizeof cell.reason, "%s", absent ? "time-stamp ticks are not core cycles" : "");
    put(cell.set, sizeof cell.set, set, kind);
    put(cell.variant, sizeof cell.variant, "avx2-2s-t1-512+huge", kind);
    return ulb_record_add_beta(record, &cell, err);
}

static enum ulb_status add_class_betas(struct ulb_record *record, const struct machine *machine,
                                       enum sample_kind kind, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t c = 0; c < machine->n_classes && status == ULB_OK; c++) {
        const struct core_class *cls = &machine->classes[c];
        char one[32];
        snprintf(one, sizeof one, "%s:1", cls->name);
        status = add_beta(record, one, 1, "L1", cls->hz * 60e-9, cls->hz, kind, err);
        if (status == ULB_OK)
            status = add_beta(record, one, 1, "L2", cls->hz * 27e-9, cls->hz, kind, err);
        if (status == ULB_OK)
            status = add_beta(record, one, 1, "LLC", cls->hz * 9e-9, cls->hz, kind, err);
        if (status == ULB_OK)
            status = add_beta(record, one, 1, "mem", machine->gbps * 0.31, cls->hz, kind, err);
        if (status == ULB_OK)
            status = add_beta(record, cls->name, cls->cores, "mem", machine->gbps * 0.93, cls->hz, kind, err);
    }
    return status;
}

static enum ulb_status add_betas(struct ulb_record *record, const struct machine *machine,
                                 enum sample_kind kind, struct ulb_error *err)
{
    unsigned cores = cores_of(machine);
    enum ulb_status status = add_class_betas(record, machine, kind, err);
    for (unsigned n = 1; n <= cores && status == ULB_OK; n++) {
        char set[ULB_SET_BYTES];
        snprintf(set, sizeof set, n < cores ? "%s:%u" : "%s", machine->set, n);
        double share = 1 - pow(0.62, n);
        status = add_beta(record, set, n, "mem", machine->gbps * share / (1 - pow(0.62, cores)),
                          mean_hz(machine), kind, err);
    }
    double samples[SAMPLES], hz[SAMPLES];
    struct ulb_yardstick yardstick = {.threads = cores,
                                      .gbps = machine->gbps,
                                      .gbps_mad = kind == SAMPLE_ABSENT ? NAN : 0.1,
                                      .drift = kind == SAMPLE_ABSENT ? NAN : 0.012,
                                      .n_samples = SAMPLES,
                                      .gbps_samples = scatter(samples, machine->gbps),
                                      .n_hz = kind == SAMPLE_ABSENT ? 0 : SAMPLES,
                                      .hz_samples = scatter(hz, mean_hz(machine))};
    put(yardstick.set, sizeof yardstick.set, machine->set, kind);
    put(yardstick.variant, sizeof yardstick.variant, "avx2-2s-t1-512+huge", kind);
    return status == ULB_OK ? ulb_record_add_yardstick(record, &yardstick, err) : status;
}

/* B/cycle that class c has when all cores read. */
static double class_beta(const struct machine *machine, size_t c)
{
    return machine->gbps * 1e9 / cores_of(machine) / machine->classes[c].hz;
}

static enum ulb_status add_gamma(struct ulb_record *record, const struct machine *machine,
                                 const struct kernel *kernel, size_t c, enum sample_kind kind,
                                 struct ulb_error *err)
{
    double samples[SAMPLES], gamma = kernel->gamma[c];
    bool absent = kind == SAMPLE_ABSENT;
    struct ulb_gamma_cell cell = {
        .gamma_cycles = absent ? NAN : gamma,
        .gamma_min_cycles = absent ? NAN : gamma * 0.99,
        .gamma_mad_cycles = absent ? NAN : gamma * 0.003,
        .bytes_per_step = kernel->bytes_per_step,
        .ebw_bytes_per_cycle = absent ? NAN : fmin(class_beta(machine, c), kernel->bytes_per_step / gamma),
        .verified = true,
        .n_samples = absent ? 0 : SAMPLES,
        .gamma_samples = scatter(samples, gamma)};
    put(cell.kernel, sizeof cell.kernel, kernel->name, kind);
    put(cell.format, sizeof cell.format, kernel->format, kind);
    put(cell.isa, sizeof cell.isa, kernel->isa, kind);
    put(cell.cls, sizeof cell.cls, machine->classes[c].name, kind);
    snprintf(cell.reason, sizeof cell.reason, "%s", absent ? "the core's frequency never stood still" : "");
    return ulb_record_add_gamma(record, &cell, err);
}

static enum ulb_status add_overlap(struct ulb_record *record, const struct machine *machine,
                                   const struct kernel *kernel, enum sample_kind kind, struct ulb_error *err)
{
    double samples[SAMPLES];
    bool absent = kind == SAMPLE_ABSENT;
    struct ulb_overlap_cell cell = {.threads = cores_of(machine),
                                    .overlap = absent ? NAN : 0.18,
                                    .overlap_mad = absent ? NAN : 0.02,
                                    .tile_us = absent ? NAN : 0.125,
                                    .call_us = absent ? NAN : 0.6,
                                    .column_ns = absent ? NAN : 0,
                                    .n_samples = absent ? 0 : SAMPLES,
                                    .overlap_samples = scatter(samples, 0.18)};
    put(cell.kernel, sizeof cell.kernel, kernel->name, kind);
    put(cell.format, sizeof cell.format, kernel->format, kind);
    put(cell.set, sizeof cell.set, machine->set, kind);
    put(cell.shapes, sizeof cell.shapes, "9216x1792,2304x7168,1152x1792", kind);
    snprintf(cell.reason, sizeof cell.reason, "%s", absent ? "interrupted before it was measured" : "");
    return ulb_record_add_overlap(record, &cell, err);
}

static enum ulb_status add_peak(struct ulb_record *record, const struct machine *machine,
                                enum sample_kind kind, struct ulb_error *err)
{
    double samples[SAMPLES];
    struct ulb_peak_cell cell = {.threads = cores_of(machine),
                                 .gops = 1400,
                                 .gops_mad = kind == SAMPLE_ABSENT ? NAN : 3,
                                 .n_samples = SAMPLES,
                                 .gops_samples = scatter(samples, 1400)};
    put(cell.isa, sizeof cell.isa, machine->isa[1], kind);
    snprintf(cell.activation, sizeof cell.activation, "a8");
    put(cell.set, sizeof cell.set, machine->set, kind);
    return ulb_record_add_peak(record, &cell, err);
}

/* Bytes per second that the whole team reaches with the kernel. */
static double team_bandwidth(const struct machine *machine, const struct kernel *kernel)
{
    double sum = 0;
    for (size_t c = 0; c < machine->n_classes; c++)
        sum += machine->classes[c].cores * machine->classes[c].hz *
               fmin(class_beta(machine, c), kernel->bytes_per_step / kernel->gamma[c]);
    return sum;
}

static void predict(struct ulb_cell *cell, double ideal_us, bool memory, enum sample_kind kind)
{
    if (kind == SAMPLE_ABSENT) {
        cell->gamma_cycles = cell->predicted_us = cell->residual = NAN;
        cell->predicted_plain_us = cell->residual_plain = NAN;
        cell->yardstick_gbps = cell->efficiency = cell->read_share = cell->noise = NAN;
        cell->peak_gops = cell->peak_share = NAN;
        snprintf(cell->peak_reason, sizeof cell->peak_reason, "no loop for the compute limit runs here");
        snprintf(cell->predicted_reason, sizeof cell->predicted_reason,
                 "gamma of the kernel was not measured");
        put(cell->verdict, sizeof cell->verdict, "not predicted", kind);
        return;
    }
    cell->efficiency = cell->gbps / cell->yardstick_gbps;
    cell->read_share = cell->efficiency * 1.03;
    cell->peak_gops = 1400;
    cell->peak_share = cell->gops / cell->peak_gops;
    cell->predicted_us = 1.02 * ideal_us + 2.0;
    cell->residual = cell->us / cell->predicted_us - 1;
    cell->predicted_plain_us = ideal_us + 1.4;
    cell->residual_plain = cell->us / cell->predicted_plain_us - 1;
    cell->noise = 0.011;
    snprintf(cell->bound, sizeof cell->bound, "%s", memory ? "memory" : "compute");
    char verdict[128];
    if (memory)
        snprintf(verdict, sizeof verdict,
                 "memory-bound, %.0f %% of the yardstick, %.0f %% of a plain read of its size",
                 100 * cell->efficiency, 100 * cell->read_share);
    else
        snprintf(verdict, sizeof verdict, "compute-bound: gamma 2.40 allows 1.67 B/cycle");
    put(cell->verdict, sizeof cell->verdict, verdict, kind);
}

static enum ulb_status add_cell(struct ulb_record *record, const struct machine *machine,
                                const struct kernel *kernel, const struct shape *shape, enum sample_kind kind,
                                struct ulb_error *err)
{
    double samples[SAMPLES], disturbed[] = {4}, weights = (double)(shape->m * shape->k);
    double bytes = weights / 32 * kernel->bytes_per_step + 4.0 * (double)shape->m;
    double bandwidth = team_bandwidth(machine, kernel), ideal = bytes / bandwidth * 1e6;
    double us = ideal * 1.03 + 2.1;
    bool absent = kind == SAMPLE_ABSENT;
    struct ulb_cell cell = {.m = shape->m,
                            .k = shape->k,
                            .n = 1,
                            .threads = cores_of(machine),
                            .us = us,
                            .us_mad = absent ? NAN : us * 0.006,
                            .us_min = absent ? NAN : us * 0.985,
                            .us_ci_lo = absent ? NAN : us * 0.995,
                            .us_ci_hi = absent ? NAN : us * 1.004,
                            .gbps = bytes / us * 1e-3,
                            .gops = 2 * weights / us * 1e-3,
                            .yardstick_gbps = machine->gbps,
                            .gamma_cycles = kernel->gamma[0],
                            .weight_bytes = (size_t)bytes,
                            .ring_bytes = (size_t)2 << 30,
                            .verified = true,
                            .samples_per_round = 1,
                            .noise_floor = NAN,
                            .n_samples = SAMPLES,
                            .us_samples = scatter(samples, us),
                            .n_disturbed = absent ? 0 : 1,
                            .disturbed_samples = disturbed};
    put(cell.kernel, sizeof cell.kernel, kernel->name, kind);
    put(cell.layout, sizeof cell.layout, "vnni4-interleaved", kind);
    put(cell.format, sizeof cell.format, kernel->format, kind);
    put(cell.model, sizeof cell.model, shape->model, kind);
    put(cell.layer, sizeof cell.layer, shape->layer, kind);
    put(cell.set, sizeof cell.set, machine->set, kind);
    put(cell.split, sizeof cell.split, machine->n_classes > 1 ? "dynamic" : "static", kind);
    snprintf(cell.mode, sizeof cell.mode, "cold");
    snprintf(cell.prefetch, sizeof cell.prefetch, "%s", absent ? "" : "L2+1024");
    predict(&cell, ideal, bandwidth > 0.99e9 * machine->gbps, kind);
    return ulb_record_add_cell(record, &cell, err);
}

static enum ulb_status add_count(struct ulb_record *record, const struct kernel *kernel,
                                 enum sample_kind kind, struct ulb_error *err)
{
    bool counted = !kernel->avx512 && kind != SAMPLE_ABSENT;
    struct ulb_count_cell cell = {.instructions_per_step = counted ? 2.5 * kernel->gamma[0] : NAN};
    put(cell.kernel, sizeof cell.kernel, kernel->name, kind);
    put(cell.format, sizeof cell.format, kernel->format, kind);
    put(cell.isa, sizeof cell.isa, kernel->isa, kind);
    snprintf(cell.source, sizeof cell.source, "%s", counted ? "callgrind" : "");
    snprintf(cell.reason, sizeof cell.reason, "%s", counted ? "" : "valgrind does not know avx512f");
    return ulb_record_add_count(record, &cell, err);
}

static enum ulb_status add_decode(struct ulb_record *record, const struct machine *machine,
                                  const struct kernel *kernel, enum sample_kind kind, struct ulb_error *err)
{
    double samples[SAMPLES], none = kind == SAMPLE_ABSENT ? NAN : 1, ratio = 64 / kernel->bytes_per_step;
    double gemv = 60 / ratio + 12, token = gemv + 1.6;
    struct ulb_decode_run run = {
        .threads = cores_of(machine),
        .tokens = SAMPLES,
        .context = 128,
        .batch = 1,
        .layers_run = kind == SAMPLE_ABSENT ? 11 : 18,
        .layers = 18,
        .extrapolated = kind == SAMPLE_ABSENT,
        .tokens_per_s = 1e3 / token,
        .sequence_tokens_per_s = 1e3 / token,
        .ms_per_token = token,
        .ms_mad = none * 0.2,
        .split_ms = {gemv, 0.5, 0.3, 0.1, 0.7},
        .qkv_ms = 8 / ratio,
        .o_ms = 4 / ratio,
        .gate_up_ms = 32 / ratio,
        .down_ms = 16 / ratio,
        .head_ms = 12,
        .gemv_cold_ms = 0.99 * gemv,
        .barrier_ms = {NAN, NAN, NAN, NAN},
        .alpha = none * 0.82,
        .byte_ratio = none * 0.99 * ratio,
        .bit_ratio = ratio,
        .amdahl_speedup = none / (0.18 + 0.82 / 0.99 / ratio),
        .amdahl_nominal_speedup = none / (0.18 + 0.82 / ratio),
        .observed_speedup = none * 73.6 / token,
        .missing_ms = {none * 0.4, none * 0.01, none * 0.02, none * 0.1, none * -0.05},
        .missing_memory_ms = none * 0.03,
        .yardstick_gbps = machine->gbps,
        .roofline_tokens_per_s = 1.05e3 / token,
        .roofline_share = 1 / 1.05,
        .weight_bytes = (size_t)2 << 30,
        .bytes_per_token = (size_t)2100 << 20,
        .bytes_per_step = (size_t)2100 << 20,
        .kv_bytes_per_token = (size_t)18 << 20,
        .kv_bytes = (size_t)18 << 20,
        .kv_type = "q8_0",
        .kv_gbps = 0.9 * machine->gbps,
        .kv_share = 0.9,
        .queries_per_key = 4,
        .peak_rss_bytes = none * 2.3e9,
        .huge_bytes = none * 2147483648.0,
        .joule_per_token = NAN,
        .joule_per_token_gross = NAN,
        .watts = NAN,
        .idle_watts = NAN,
        .joule_reason = "energy was not read",
        .energy_source = "none",
        .prefill = {.whole = {.tokens = 512,
                              .ms = none * 900,
                              .tokens_per_s = none * 570,
                              .gops = none * 1300,
                              .split_ms = {none * 720, none * 80, none * 30, none * 50, none * 20},
                              .peak_share = none * 0.93,
                              .memory_share = none * 0.05},
                    .ubatch = 512},
        .token_digest = "0123456789abcdef",
        .verified = true,
        .n_samples = SAMPLES,
        .ms_samples = scatter(samples, token),
    };
    for (size_t c = 0; c < machine->n_classes; c++)
        run.barrier_ms[machine->n_classes > 1 ? c : 3] = 0.7;
    put(run.model, sizeof run.model, "falcon3-1b", kind);
    put(run.format, sizeof run.format, kernel->format, kind);
    put(run.set, sizeof run.set, machine->set, kind);
    put(run.split, sizeof run.split, machine->n_classes > 1 ? "dynamic" : "static", kind);
    put(run.kernel_qkv, sizeof run.kernel_qkv, kernel->name, kind);
    put(run.kernel_o, sizeof run.kernel_o, kernel->name, kind);
    put(run.kernel_gate_up, sizeof run.kernel_gate_up, kernel->name, kind);
    put(run.kernel_down, sizeof run.kernel_down, kernel->name, kind);
    put(run.kernel_head, sizeof run.kernel_head, kernels[0].name, kind);
    snprintf(run.prefetch_qkv, sizeof run.prefetch_qkv, "%s", kind == SAMPLE_ABSENT ? "" : "L1");
    snprintf(run.prefill.prefetch_qkv, sizeof run.prefill.prefetch_qkv, "%s", run.prefetch_qkv);
    put(run.prefill.kernel_qkv, sizeof run.prefill.kernel_qkv, kernel->name, kind);
    if (kind == SAMPLE_ABSENT) {
        snprintf(run.prefill.whole.reason, sizeof run.prefill.whole.reason, "no --prompt was given");
    } else {
        snprintf(run.prefill.whole.bound, sizeof run.prefill.whole.bound, "compute");
        snprintf(run.prefill.choice_qkv, sizeof run.prefill.choice_qkv, "many-tokens");
    }
    struct ulb_prompt_time curve[2] = {run.prefill.whole, run.prefill.whole};
    curve[0].tokens = 8;
    run.prefill_curve = curve;
    run.n_prefill_curve = 2;
    snprintf(run.baseline_reason, sizeof run.baseline_reason, "%s",
             kind == SAMPLE_ABSENT ? "no 16-bit run to compare with; add bf16 to --formats" : "");
    return ulb_record_add_decode(record, &run, err);
}

static enum ulb_status add_kernels(struct ulb_record *record, const struct machine *machine,
                                   enum sample_kind kind, struct ulb_error *err)
{
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < KERNELS; i++) {
        if (kernels[i].avx512 && machine->n_classes > 1)
            continue;
        for (size_t c = 0; c < machine->n_classes && status == ULB_OK; c++)
            status = add_gamma(record, machine, &kernels[i], c, kind, err);
        if (status == ULB_OK)
            status = add_overlap(record, machine, &kernels[i], kind, err);
        if (status == ULB_OK)
            status = add_count(record, &kernels[i], kind, err);
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes && status == ULB_OK; s++)
            status = add_cell(record, machine, &kernels[i], &shapes[s], kind, err);
    }
    if (status == ULB_OK)
        status = add_peak(record, machine, kind, err);
    if (status == ULB_OK && kind != SAMPLE_ABSENT)
        status = ulb_record_judge_noise(record, err);
    if (status == ULB_OK)
        status = ulb_record_judge_predictions(record, err);
    return status == ULB_OK ? ulb_record_judge_tokens(record, err) : status;
}

static json_t *classes_json(const struct machine *machine)
{
    json_t *classes = json_array();
    json_int_t pu = 0;
    for (size_t c = 0; c < machine->n_classes; c++) {
        json_t *pus = json_array();
        for (unsigned i = 0; i < machine->classes[c].cores; i++)
            json_array_append_new(pus, json_integer(pu++));
        json_array_append_new(classes,
                              json_pack("{s:s, s:O, s:i, s:i, s:[O], s:O}", "name", machine->classes[c].name,
                                        "pus", pus, "cores", (int)machine->classes[c].cores, "smt", 1,
                                        "l2_clusters", pus, "l3_pus", pus));
        json_decref(pus);
    }
    return classes;
}

static json_t *isa_json(const struct machine *machine)
{
    json_t *isa = json_array();
    for (size_t i = 0; i < 3 && machine->isa[i]; i++)
        json_array_append_new(isa, json_string(machine->isa[i]));
    return isa;
}

static json_t *machine_json(const struct machine *machine, bool absent)
{
    json_t *root = json_pack(
        "{s:s, s:i, s:I, s:s, s:s?, s:s?, s:s?, s:{s:b, s:I, s:s}, s:f, s:o}", "cpu_model",
        machine->cpu_model, "cores", (int)cores_of(machine), "memory_bytes", (json_int_t)8 << 30,
        "kernel_release", "6.1.0-18-amd64", "governor", absent ? NULL : "performance", "microcode",
        absent ? NULL : "0x2b000571", "hypervisor", machine->hypervisor, "huge_pages", "asked", 1,
        "got_bytes", (json_int_t)2 << 30, "mode", "madvise", "load_average", 0.12, "isa", isa_json(machine));
    if (absent) {
        json_object_set_new(root, "governor_reason", json_string("no cpufreq in /sys/devices/system/cpu"));
        json_object_set_new(root, "microcode_reason", json_string("no microcode line in /proc/cpuinfo"));
    }
    return root;
}

static json_t *clock_json(const struct machine *machine)
{
    json_t *hz = json_object();
    for (size_t c = 0; c < machine->n_classes; c++)
        json_object_set_new(hz, machine->classes[c].name, json_real(machine->classes[c].hz));
    return json_pack("{s:s, s:o, s:s}", "cycles_source", machine->source, "hz", hz, "reason",
                     "papi: no counter of core cycles in this guest; perf: perf_event_open is not permitted");
}

static enum ulb_status set_sections(struct ulb_record *record, const struct machine *machine, bool absent,
                                    struct ulb_error *err)
{
    const struct {
        const char *key;
        json_t *value;
    } sections[] = {
        {"platform", json_string("auto")},
        {"settings",
         json_pack("{s:b, s:i, s:n, s:s}", "quick", 0, "seed", 1, "kernels", "set", machine->set)},
        {"machine", machine_json(machine, absent)},
        {"build", json_pack("{s:s, s:s, s:s, s:s, s:s}", "version", "0.1.0", "commit", "0123abc", "compiler",
                            "gcc 12.2.0", "flags", "-O2 -g1", "build_type", "Release")},
        {"topology", json_pack("{s:b, s:o, s:[i, i], s:o, s:s?}", "hybrid", machine->n_classes > 1, "classes",
                               classes_json(machine), "allowed_pus", 0, 1, "isa", isa_json(machine),
                               "hypervisor", machine->hypervisor)},
        {"clock", clock_json(machine)},
        {"fork_join", json_pack("{s:f, s:f}", "team_us", 1.4, "openmp_us", 2.2)},
    };
    enum ulb_status status = ULB_OK;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (status == ULB_OK)
            status = ulb_record_set(record, sections[i].key, sections[i].value, err);
        else
            json_decref(sections[i].value);
    }
    return status;
}

/* What a run says of the formats of its cells. */
static enum ulb_status add_format_errors(struct ulb_record *record, struct ulb_error *err)
{
    json_t *rows = json_pack("[{s:s,s:f,s:f}, {s:s,s:f,s:f}, {s:s,s:f,s:f}, {s:s,s:f,s:f}]", "format", "bf16",
                             "bits_per_weight", 16.0, "rmse", 0.0017, "format", "int8", "bits_per_weight",
                             8.008, "rmse", 0.0086, "format", "int2", "bits_per_weight", 2.008, "rmse", 0.386,
                             "format", "int1", "bits_per_weight", 1.008, "rmse", 0.603);
    return ulb_record_set(record, "format_errors", rows, err);
}

static json_t *matrix_json(const struct shape *shape, size_t layers)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I}", "layer", shape->layer, "m", (json_int_t)shape->m, "k",
                     (json_int_t)shape->k, "count", (json_int_t)layers, "active", (json_int_t)layers);
}

/* The models whose shapes the cells have. */
static enum ulb_status add_models(struct ulb_record *record, struct ulb_error *err)
{
    static const struct {
        const char *name;
        size_t layers, hidden, vocab, kv_bytes;
    } models[] = {{"falcon3-1b", 18, 2048, 131072, 301989888},
                  {"mobilellm-1.5b", 54, 1600, 32000, 283115520},
                  {"llama3-8b", 32, 4096, 128256, 536870912}};
    json_t *rows = json_array();
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        const struct shape head = {models[i].name, "head", models[i].vocab, models[i].hidden};
        json_t *matrices = json_array();
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
            if (strcmp(shapes[s].model, models[i].name) == 0)
                json_array_append_new(matrices, matrix_json(&shapes[s], models[i].layers));
        }
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:I, s:o, s:o, s:i, s:s, s:f, s:f}", "model", models[i].name, "title",
                            models[i].name, "layers", (json_int_t)models[i].layers, "matrices", matrices,
                            "head", matrix_json(&head, 1), "context", 4096, "trained_as", "", "kv_bytes",
                            (double)models[i].kv_bytes, "queries_per_key", 4.0));
    }
    return ulb_record_set(record, "models", rows, err);
}

enum ulb_status sample_record(struct ulb_record *record, enum sample_kind kind, struct ulb_error *err)
{
    const struct machine *machine = kind == SAMPLE_HYBRID ? &hybrid : &server;
    enum ulb_status status = ulb_record_new(record, err);
    if (status != ULB_OK)
        return status;
    status = set_sections(record, machine, kind == SAMPLE_ABSENT, err);
    if (status == ULB_OK && kind != SAMPLE_ABSENT)
        status = ulb_record_set_cycles_sources(record, machine->source, machine->source, err);
    if (status == ULB_OK)
        status = add_betas(record, machine, kind, err);
    if (status == ULB_OK)
        status = add_kernels(record, machine, kind, err);
    if (status == ULB_OK)
        status = add_format_errors(record, err);
    if (status == ULB_OK)
        status = add_models(record, err);
    bool decoded = kind == SAMPLE_ABSENT || kind == SAMPLE_LONGEST;
    for (size_t i = 0; i < KERNELS && status == ULB_OK && decoded; i += 3)
        status = add_decode(record, machine, &kernels[i], kind, err);
    if (status == ULB_OK)
        status = ulb_record_warn(record, err, "yardstick drifted by %.1f %% during the run: noisy", 1.2);
    if (status != ULB_OK)
        ulb_record_free(record);
    return status;
}
