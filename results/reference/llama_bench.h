/* Runs of llama.cpp's llama-bench, from what it writes with -o json or -o jsonl. */
#ifndef ULB_RESULTS_REFERENCE_LLAMA_BENCH_H
#define ULB_RESULTS_REFERENCE_LLAMA_BENCH_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

/* One run that generates tokens, without a prompt among them. */
struct ulb_llama_run {
    char model[64];      /* "llama 1B Q4_0" */
    char build[16];      /* commit; "": not stated */
    char cpu[96];        /* the CPU's name as llama.cpp has it; "": not stated */
    double weight_bytes; /* of all weights, the embedding included */
    double weights;      /* their number */
    unsigned threads;
    unsigned tokens, depth;        /* generated; in the cache before */
    double key_bytes, value_bytes; /* of an element of the cache; NAN: a type that is not known */
    double tokens_per_s, stddev;
    bool gpu; /* layers were on a GPU, whose memory the bounds know nothing of */
};

struct ulb_llama_runs {
    struct ulb_llama_run *items;
    size_t n;
    size_t prompts; /* runs left out because they process a prompt, and no more */
    size_t mixed;   /* those that process one and generate, in one figure */
    size_t cut;     /* files that end inside a run, which is left out */
};

/* Appends the runs of a file, "-": of standard input; runs begins as {0}. Objects are read one after the
 * other, whether an array holds them, closed or not, or not; lines of other text, which messages of a loader
 * are, are passed over. UTF-8 with or without a byte-order mark, and UTF-16. ULB_BAD_INPUT names the file,
 * the run, and what is wrong, as with a file without a run that only generates, or of another of
 * llama-bench's formats. Frees runs where it fails. */
enum ulb_status ulb_llama_bench_read(const char *path, struct ulb_llama_runs *runs, struct ulb_error *err);
void ulb_llama_bench_free(struct ulb_llama_runs *runs);

#endif
