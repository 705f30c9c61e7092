/* The record: one JSON document per run, the hub of the suite. The harness writes it; plots, reports and
 * exporters read nothing else. Versioned by results/schema.json.
 *
 * Numbers that could not be had are NAN in these structs and null in the file, with "<key>_reason". A
 * struct's reason holds that text; left empty it becomes "not measured". Strings that could not be had are
 * "". */
#ifndef ULB_RESULTS_RECORD_RECORD_H
#define ULB_RESULTS_RECORD_RECORD_H

#include "common/status.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Why a figure is absent: more than one source may say why not, and what would help. */
enum { ULB_REASON_BYTES = 384 };

/* Version 2: cells name their layout and hold what two records are compared by: rounds, disturbed samples,
 * noise floors; the yardstick the core frequency of each round. Records of version 1 are read too; what they
 * lack is "" or NAN. Version 3: "weights" are "class_shares"; the older name is an alias on reading. */
enum { ULB_SCHEMA_VERSION = 3, ULB_SCHEMA_OLDEST = 1 };

/* A set of PUs as --set names it, with the ":n" of its first n cores; longer ones are refused. */
enum { ULB_SET_BYTES = 256, ULB_SET_MOST = ULB_SET_BYTES - 8 };

struct ulb_beta_cell {
    char set[ULB_SET_BYTES]; /* "P", "E", "LP-E", "core", "all" or a PU list; "SET:n" for its first n cores */
    unsigned threads;
    char level[8]; /* "L1", "L2", "LLC", "mem" */
    double gbps, gbps_mad;
    double bytes_per_cycle;        /* per core */
    char reason[ULB_REASON_BYTES]; /* of bytes_per_cycle */
    char variant[48];              /* which reader won: "avx512-2s-t1-512+huge" */
    size_t buffer_bytes;           /* per thread */
    size_t n_samples;
    double *gbps_samples; /* copied by ulb_record_add_*; owned by the array that a reader hands out */
};

struct ulb_yardstick {
    char set[ULB_SET_BYTES];
    unsigned threads;
    double gbps; /* median over the run */
    double gbps_mad;
    double drift; /* (max - min) / median of the round medians */
    char variant[48];
    size_t n_samples;
    double *gbps_samples; /* medians of the grid's rounds */
    size_t n_hz;
    double *hz_samples; /* core frequency in the same rounds; none where it could not be had */
};

struct ulb_gamma_cell {
    char kernel[64], format[16], isa[16], cls[8];
    double gamma_cycles, gamma_min_cycles, gamma_mad_cycles;
    double bytes_per_step, ebw_bytes_per_cycle; /* min(beta, B/gamma) */
    char reason[ULB_REASON_BYTES];              /* of gamma_*_cycles and ebw_bytes_per_cycle */
    bool verified;
    size_t n_samples;
    double *gamma_samples;
};

/* How a kernel's memory and compute time overlap on one set of cores:
 * us = fork/join + max + overlap * min + tiles * tile_us + call_us + k * column_ns / 1000. */
struct ulb_overlap_cell {
    char kernel[64], format[16], set[ULB_SET_BYTES];
    unsigned threads;
    double overlap, overlap_mad, tile_us, call_us, column_ns;
    char reason[ULB_REASON_BYTES]; /* of the five */
    char shapes[128];              /* "4096x1792,...": what it was measured on */
    size_t n_samples;
    double *overlap_samples; /* one of each round */
};

/* The compute limit as one register-only loop reaches it on a set of cores. */
struct ulb_peak_cell {
    char isa[16], activation[8], set[ULB_SET_BYTES]; /* activation: "a8", "f32", "bf16" */
    unsigned threads;
    double gops, gops_mad;
    size_t n_samples;
    double *gops_samples;
};

struct ulb_cell {
    char kernel[64], format[16], model[64], layer[32], set[ULB_SET_BYTES], split[16];
    char layout[32];  /* of the packed weights: "vnni4-interleaved" */
    char mode[8];     /* "cold", "warm" */
    char prefetch[8]; /* "L1", "L2+1024" or "none", as was faster; "" for a kernel without the choice */
    char bound[16];   /* "memory", "compute", "overhead"; "" without a prediction */
    size_t m, k, n;
    unsigned threads;
    double us, us_mad, us_min, us_ci_lo, us_ci_hi;
    double gbps, gops, yardstick_gbps,
        efficiency;                          /* efficiency: median of gbps / yardstick, sample by sample */
    char yardstick_reason[ULB_REASON_BYTES]; /* of yardstick_gbps and efficiency */
    /* Time of a plain read of as many bytes / us, median over the rounds: what fork, join and the first
     * bytes' latency leave of the yardstick to so small a matrix is in both. NAN with warm weights. */
    double read_share;
    double peak_gops, peak_share; /* of the best loop for the kernel's activations, beside the samples */
    char peak_reason[ULB_REASON_BYTES]; /* of both */
    double gamma_cycles;                /* with the whole team at work: what the prediction uses */
    /* With the kernel's overlap. residual: median over the rounds of observed / predicted, each predicted for
     * the machine as it was beside its samples, - 1; predicted_us = us / (1 + residual). */
    double predicted_us, residual;
    double predicted_plain_us, residual_plain; /* the roofline's max(memory, compute) alone */
    char predicted_reason[ULB_REASON_BYTES];   /* of all four and of bound */
    double noise; /* half the 95 % interval of 1 + residual, relative; without a residual of the efficiency */
    char verdict[128];
    size_t weight_bytes, ring_bytes;
    bool verified;
    size_t samples_per_round; /* taken one after the other; 0: not known */
    double
        noise_floor; /* how far the cell differs from itself, relative: A/A (results/compare/noise_floor.h) */
    size_t n_samples;
    double *us_samples; /* round after round */
    size_t n_disturbed;
    double *disturbed_samples; /* their places in us_samples: taken although a core was not free of
                                  interference */
    /* Of a device alone; device "": the CPU, and none of these is in the document. us is the host's time. */
    char device[32], path[16], tile[16], quantise[8];
    double us_event, launch_us; /* by the device's clock; of an empty kernel, by the host's. 0: not known */
};

/* What a kernel's inner loop executes, in instructions: a figure without noise. */
struct ulb_count_cell {
    char kernel[64], format[16], isa[16];
    char source[16];               /* "perf", "callgrind"; "" without a count */
    double instructions_per_step;  /* of 32 weights */
    char reason[ULB_REASON_BYTES]; /* of both */
};

/* Milliseconds of a token by what they went into, mean over the threads; fork_join: waiting for others. The
 * five add up to the token. */
struct ulb_decode_split {
    double gemv, attention, other, quantise, fork_join;
};

/* Milliseconds of a prompt by what they went into, mean over the threads; norms: all between products that is
 * not the others'; wait: for other threads. The five add up to the prompt. NAN in older records. */
struct ulb_prefill_split {
    double gemm, attention, quantise, norms, wait;
};

/* A prompt computed from an empty cache. */
struct ulb_prompt_time {
    size_t tokens;
    double ms, tokens_per_s, gops;
    struct ulb_prefill_split split_ms;
    double peak_share, memory_share; /* of the compute limit, of the yardstick */
    char bound[16]; /* the largest part: "attention", "quantise", "norms", "wait"; of gemm the nearer limit:
                       "memory", "compute" */
    char reason[ULB_REASON_BYTES]; /* of all that is absent */
};

/* The prompt of a run in steps of many tokens. */
struct ulb_prefill {
    struct ulb_prompt_time whole;
    size_t ubatch; /* most tokens of one step; 0 without a prompt, and in older records */
    char kernel_qkv[64], kernel_o[64], kernel_gate_up[64], kernel_down[64];     /* "" without a prompt */
    char prefetch_qkv[8], prefetch_o[8], prefetch_gate_up[8], prefetch_down[8]; /* as of a cell */
    /* What decided between layouts as fast with one token: "one-token" (nothing: no other is), "many-tokens",
     * "order"; "" without a prompt, and in older records. */
    char choice_qkv[16], choice_o[16], choice_gate_up[16], choice_down[16];
};

/* One model decoded with the matrices of its blocks in one format, beside what 16 bits and the bandwidth
 * allow. Times are the mean over the middle half of the tokens. */
struct ulb_decode_run {
    char model[64], format[16], set[ULB_SET_BYTES], split[16];
    unsigned threads;
    size_t tokens, context, prompt; /* measured; in the cache before the first; of those, computed here */
    size_t batch; /* sequences that are decoded together, each with so many tokens; 0 in older records: 1 */
    size_t layers_run, layers; /* fewer run than the model has: times are extrapolated to all */
    bool extrapolated;
    double tokens_per_s, ms_per_token, ms_mad; /* of all sequences; of a step, a token of each sequence */
    double sequence_tokens_per_s;              /* of each sequence; NAN in older records */
    struct ulb_decode_split split_ms;
    double qkv_ms, o_ms, gate_up_ms, down_ms, router_ms, head_ms; /* of split_ms.gemv */
    double gemv_cold_ms;          /* the same products one by one, each timed apart with cold weights */
    double barrier_ms[4];         /* waiting, mean over the threads of class P, E, LP-E, core; NAN: none */
    double alpha;                 /* share of the 16-bit token that the blocks' products take */
    double byte_ratio, bit_ratio; /* 16-bit bytes of the blocks to this format's, packed; 16 / bits */
    double amdahl_speedup, amdahl_nominal_speedup, observed_speedup; /* by byte_ratio, by bit_ratio */
    struct ulb_decode_split missing_ms; /* what the token takes beyond Amdahl's bound by byte_ratio, */
    double missing_memory_ms;           /* and beyond that because memory ran slower than in the 16-bit run */
    char baseline_reason[ULB_REASON_BYTES]; /* of alpha and what follows from it */
    double yardstick_gbps, roofline_tokens_per_s, roofline_share;
    size_t weight_bytes, bytes_per_token, kv_bytes_per_token;
    size_t
        bytes_per_step; /* weights once, of experts those of one token, and all caches; 0 in older records */
    size_t kv_bytes;    /* of all caches behind the last token, all layers */
    char kv_type[8];
    double kv_gbps, kv_share; /* what the attention phase alone reads of it; of the yardstick read in turn;
                                 NAN in older records */
    double queries_per_key;   /* heads that share a key and a value; NAN in older records */
    double peak_rss_bytes, huge_bytes;   /* NAN: /proc does not tell */
    double joule_per_token;              /* without what the machine takes at rest */
    double joule_per_token_gross;        /* with it */
    double watts, idle_watts;            /* while decoding; at rest */
    char joule_reason[ULB_REASON_BYTES]; /* of these four */
    char energy_source[64];              /* "powercap: package-0"; "none" */
    struct ulb_prefill prefill;
    size_t n_prefill_curve;
    struct ulb_prompt_time
        *prefill_curve; /* by number of tokens; none unless several prompts were asked for */
    char kernel_qkv[64], kernel_o[64], kernel_gate_up[64], kernel_down[64], kernel_head[64];
    char prefetch_qkv[8], prefetch_o[8], prefetch_gate_up[8], prefetch_down[8], prefetch_head[8];
    char token_digest[17]; /* of the tokens decoded: the same for any threads and split */
    bool verified; /* each kernel against its scalar reference, the whole step against the decoder's */
    size_t n_samples;
    double *ms_samples; /* of each token, as run */
    size_t n_joule_samples;
    double *joule_samples; /* of each token, without what the machine takes at rest; none without energy */
};

struct ulb_record {
    json_t *root; /* the whole document */
};

/* A new record with schema_version, created (UTC, ISO 8601) and empty sections. */
enum ulb_status ulb_record_new(struct ulb_record *record, struct ulb_error *err);
void ulb_record_free(struct ulb_record *record);

/* Sets a top-level section ("machine", "build", "topology", "clock", ...); takes the reference of value. NULL
 * is ULB_ENVIRONMENT: jansson gives it for want of memory and for a number that is not finite. */
enum ulb_status ulb_record_set(struct ulb_record *record, const char *section, json_t *value,
                               struct ulb_error *err);

/* Says what the cycles of the sections beta and gamma were counted with: "papi", "perf", "chain", "tsc",
 * "emulated". */
enum ulb_status ulb_record_set_cycles_sources(struct ulb_record *record, const char *beta, const char *gamma,
                                              struct ulb_error *err);

/* Append one measured figure. The struct's strings and samples are copied. ULB_BAD_INPUT names a figure that
 * must be finite and is not. */
enum ulb_status ulb_record_add_beta(struct ulb_record *record, const struct ulb_beta_cell *cell,
                                    struct ulb_error *err);
enum ulb_status ulb_record_add_yardstick(struct ulb_record *record, const struct ulb_yardstick *yardstick,
                                         struct ulb_error *err);
enum ulb_status ulb_record_add_gamma(struct ulb_record *record, const struct ulb_gamma_cell *cell,
                                     struct ulb_error *err);
enum ulb_status ulb_record_add_overlap(struct ulb_record *record, const struct ulb_overlap_cell *cell,
                                       struct ulb_error *err);
enum ulb_status ulb_record_add_peak(struct ulb_record *record, const struct ulb_peak_cell *cell,
                                    struct ulb_error *err);
enum ulb_status ulb_record_add_cell(struct ulb_record *record, const struct ulb_cell *cell,
                                    struct ulb_error *err);
/* The section "counts" is there once something was counted, and absent in other records. */
enum ulb_status ulb_record_add_count(struct ulb_record *record, const struct ulb_count_cell *cell,
                                     struct ulb_error *err);

/* Appends to decode.runs, which it makes where decode is still null. */
enum ulb_status ulb_record_add_decode(struct ulb_record *record, const struct ulb_decode_run *run,
                                      struct ulb_error *err);

/* Sets the section "prediction": median and 95th percentile of |residual| over the cells that have one, with
 * the overlap and without. Cells whose own noise is beyond ULB_NOISE_MAX judge nothing and are counted apart.
 */
#define ULB_NOISE_MAX 0.15
/* A larger share of a token's roofline was measured while memory was faster than the yardstick beside it. */
#define ULB_SHARE_BELIEVED 1.1
enum ulb_status ulb_record_judge_predictions(struct ulb_record *record, struct ulb_error *err);

/* Sets the sections "best", the fastest kernel of each format at each shape and N, and "crossover", the N at
 * which another kernel takes over: one whose 95 % interval lies below that of the kernel it takes over from.
 * Made from the cells alone. */
enum ulb_status ulb_record_judge_tokens(struct ulb_record *record, struct ulb_error *err);

/* What a set of cores reads from memory, GB/s: measured once by the beta stage and, over the whole run, as
 * the yardstick. Both read the same cold ring and disturbance can only slow that down: where they differ by
 * more than ULB_BETA_MARGIN of the larger, the larger is the sounder one. NAN for what the record does not
 * hold. */
#define ULB_BETA_MARGIN 0.10
struct ulb_resolved_beta {
    double gbps; /* of the sounder one; where memory has two states, of the more frequent one */
    double stage_gbps, yardstick_gbps;
    bool disagree, from_yardstick;
    double other_gbps; /* another speed that memory had: of its less frequent state, else the one of stage and
                          yardstick that is not gbps where they disagree, else of an earlier run; NAN: none */
    const char *other_created; /* when that run began; NULL: it was this one */
};
struct ulb_resolved_beta ulb_record_resolved_beta(const struct ulb_record *record, const char *set);

/* Speeds of memory between which a run went to and fro, the more frequent first; n 0: not known. There are
 * two when of at least 60 samples a tenth lies in each, more than 15 % apart, and at most a tenth between
 * them. */
enum { ULB_MEMORY_STATES = 2 };
struct ulb_memory_states {
    size_t n;
    double gbps[ULB_MEMORY_STATES], share[ULB_MEMORY_STATES]; /* share: of the samples */
};
/* Of samples over a whole run, which it sorts. */
struct ulb_memory_states ulb_memory_states_of(double *gbps, size_t n);
/* Sets "memory" of the section "beta", of the set that the samples are of. */
enum ulb_status ulb_record_set_memory_states(struct ulb_record *record, const char *set, double *gbps,
                                             size_t n, struct ulb_error *err);
struct ulb_memory_states ulb_record_memory_states(const struct ulb_record *record, const char *set);

/* Adds to that section what an earlier run on the same cores read, where it is more than 15 % apart from what
 * this one reads. */
enum ulb_status ulb_record_set_earlier_memory(struct ulb_record *record, const char *set, double gbps,
                                              const char *created, struct ulb_error *err);

/* Warns in the record when the two disagree. */
enum ulb_status ulb_record_check_beta(struct ulb_record *record, const char *set, struct ulb_error *err);

/* Says the same text once. */
enum ulb_status ulb_record_warn(struct ulb_record *record, struct ulb_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Typed reading of the sections back; *out is an array (never NULL on success) to be freed with the function
 * beside it. ULB_BAD_INPUT names the place: "beta.cells[3].gbps: ...". */
enum ulb_status ulb_record_beta_cells(const struct ulb_record *record, struct ulb_beta_cell **out, size_t *n,
                                      struct ulb_error *err);
void ulb_beta_cells_free(struct ulb_beta_cell *cells, size_t n);
enum ulb_status ulb_record_yardsticks(const struct ulb_record *record, struct ulb_yardstick **out, size_t *n,
                                      struct ulb_error *err);
void ulb_yardsticks_free(struct ulb_yardstick *yardsticks, size_t n);
enum ulb_status ulb_record_gamma_cells(const struct ulb_record *record, struct ulb_gamma_cell **out,
                                       size_t *n, struct ulb_error *err);
void ulb_gamma_cells_free(struct ulb_gamma_cell *cells, size_t n);
enum ulb_status ulb_record_overlaps(const struct ulb_record *record, struct ulb_overlap_cell **out, size_t *n,
                                    struct ulb_error *err);
void ulb_overlaps_free(struct ulb_overlap_cell *cells, size_t n);
enum ulb_status ulb_record_peaks(const struct ulb_record *record, struct ulb_peak_cell **out, size_t *n,
                                 struct ulb_error *err);
void ulb_peaks_free(struct ulb_peak_cell *cells, size_t n);
enum ulb_status ulb_record_cells(const struct ulb_record *record, struct ulb_cell **out, size_t *n,
                                 struct ulb_error *err);
void ulb_cells_free(struct ulb_cell *cells, size_t n);
/* No counts when the record has no such section. */
enum ulb_status ulb_record_counts(const struct ulb_record *record, struct ulb_count_cell **out, size_t *n,
                                  struct ulb_error *err);
void ulb_counts_free(struct ulb_count_cell *cells, size_t n);

/* None when decode is null. */
enum ulb_status ulb_record_decode_runs(const struct ulb_record *record, struct ulb_decode_run **out,
                                       size_t *n, struct ulb_error *err);
void ulb_decode_runs_free(struct ulb_decode_run *runs, size_t n);

/* What is at a place ("machine.cpu_model", "clock.hz.P"), NULL when absent; as a text or a number, NULL or
 * NAN also when it is of another type. */
const json_t *ulb_record_at(const struct ulb_record *record, const char *place);
const char *ulb_record_text(const struct ulb_record *record, const char *place);
double ulb_record_number(const struct ulb_record *record, const char *place);

/* Value of a key of one row of a table; NAN and "" when it is absent or of another type. row may be NULL. */
double ulb_row_number(const json_t *row, const char *key);
const char *ulb_row_text(const json_t *row, const char *key);

/* The record's runs of decode; NULL when it has no such section. */
const json_t *ulb_decode_runs(const struct ulb_record *record);

/* How far the tokens of decoded runs vary: the largest relative deviation of a run; NAN: there are none. What
 * a token's rest is made of beyond ULB_DECODED_NOISY says little. */
#define ULB_DECODED_NOISY 0.08
double ulb_decoded_noise(const struct ulb_record *record);

/* Atomic: written to a temporary file beside path, synced, renamed. On failure path is as it was before.
 * ULB_ENVIRONMENT names the path and the reason (full disk, permission). */
enum ulb_status ulb_record_write(const struct ulb_record *record, const char *path, struct ulb_error *err);
/* The same under a name that no file has yet, which path is afterwards: see ulb_write_new_file(). */
enum ulb_status ulb_record_write_new(const struct ulb_record *record, char *path, size_t path_bytes,
                                     struct ulb_error *err);

/* Reads and checks a record: missing or broken file, unknown schema version or wrong types are ULB_BAD_INPUT
 * with a message that names the file and the place; one that a newer version wrote is ULB_ENVIRONMENT: the
 * file is right, the program too old. */
enum ulb_status ulb_record_read(struct ulb_record *record, const char *path, struct ulb_error *err);

/* Takes the cells of a record one by one, in their order; json is the cell in the document. The cell's arrays
 * are freed after the call; a visit that keeps them sets them to NULL. A failure ends it. */
struct ulb_cell_visitor {
    enum ulb_status (*visit)(struct ulb_cell *cell, const json_t *json, void *context, struct ulb_error *err);
    void *context;
};
enum ulb_status ulb_record_visit_cells(const struct ulb_record *record,
                                       const struct ulb_cell_visitor *visitor, struct ulb_error *err);

/* Reads a record without holding its cells: each is checked, visited and forgotten, and the array "cells" of
 * the record is empty. Visits may come before a fault of the file is found. Only cells that stand before the
 * file's schema_version are held until that is known. */
enum ulb_status ulb_record_read_visiting(struct ulb_record *record, const char *path,
                                         const struct ulb_cell_visitor *visitor, struct ulb_error *err);

/* The same from memory; name stands for the file in messages. visitor NULL: the record holds its cells. */
enum ulb_status ulb_record_parse_visiting(struct ulb_record *record, const char *text, size_t bytes,
                                          const char *name, const struct ulb_cell_visitor *visitor,
                                          struct ulb_error *err);
enum ulb_status ulb_record_parse(struct ulb_record *record, const char *text, size_t bytes, const char *name,
                                 struct ulb_error *err);

/* ---- The arrays of a record as tables of fields, so that a key is spelled once for writing and for reading.
 * Internal to results/. ---- */

enum ulb_field_kind {
    ULB_FIELD_TEXT,   /* char[size] */
    ULB_FIELD_WORD,   /* char[size], one of words; null when "" and a reason is given for that */
    ULB_FIELD_COUNT,  /* size_t */
    ULB_FIELD_SMALL,  /* unsigned; 0 is null when a reason is given for that */
    ULB_FIELD_FLAG,   /* bool */
    ULB_FIELD_NUMBER, /* double, finite; NAN is null when a reason is given for that */
};

struct ulb_field {
    const char *key; /* "split_ms.gemv": gemv of the object split_ms */
    enum ulb_field_kind kind;
    size_t offset, size;
    const char *const *words; /* NULL-terminated */
    size_t reason;       /* offset of the reason's char[ULB_REASON_BYTES]; 0: none (no struct begins with its
                            reason) */
    const char *because; /* the reason where it is always the same */
    int since;           /* schema version that brought it; older records may lack it */
    bool optional;       /* records of any version may lack it: came without a new version */
    bool whole;          /* a number without a fraction, as which it is written */
    bool left_out;       /* when it is "" or not above 0 */
};

/* A list of numbers in each item of an array. */
struct ulb_list {
    const char *key;  /* NULL: there is none */
    size_t values, n; /* offsets of the double * and of its size_t */
    int since;        /* as of a field */
    bool optional;
};

/* An array of structs in each item of an array; absent where it is empty. */
struct ulb_inner {
    const struct ulb_section *section; /* at the top level, optional; NULL: there is none */
    size_t items, n;                   /* offsets of the pointer to structs and of its size_t */
};

/* One array of a record. */
struct ulb_section {
    const char *parent; /* "beta", or NULL at the top level */
    const char *key;    /* "cells" */
    const struct ulb_field *fields;
    size_t n_fields;
    size_t struct_bytes;
    struct ulb_list samples, more;
    struct ulb_inner inner;
    bool optional; /* a record may lack the array, or its parent may be null: then it has no items */
};

extern const struct ulb_section ulb_section_beta, ulb_section_yardstick, ulb_section_gamma,
    ulb_section_overlap, ulb_section_peak, ulb_section_cells, ulb_section_counts, ulb_section_decode;

/* All of them in the order of the file, NULL-terminated. */
extern const struct ulb_section *const ulb_sections[];

/* A field's value in the object that stands for an item; NULL when it is absent. */
json_t *ulb_field_of(const json_t *object, const struct ulb_field *field);

/* "beta.cells" */
const char *ulb_section_name(const struct ulb_section *section, char out[32]);

/* The array inside root; NULL when it is absent or no array. */
json_t *ulb_section_array(const json_t *root, const struct ulb_section *section);

/* Appends the struct at item to the array; at the top level it is made where it is absent. */
enum ulb_status ulb_section_append(json_t *root, const struct ulb_section *section, const void *item,
                                   struct ulb_error *err);

/* The version that a record says it has; 0 where it says none. */
int ulb_schema_version(const json_t *root);

/* Reads item number `at` of the array of a record of that version into the struct at item, whose lists are to
 * be freed. ULB_BAD_INPUT names the place. */
enum ulb_status ulb_section_read_item(const struct ulb_section *section, const json_t *object, size_t at,
                                      int version, void *item, struct ulb_error *err);

/* Reads the whole array into a new one of structs. */
enum ulb_status ulb_section_read(const json_t *root, const struct ulb_section *section, void **out, size_t *n,
                                 struct ulb_error *err);
void ulb_section_free(const struct ulb_section *section, void *items, size_t n);

#endif
