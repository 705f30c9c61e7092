/* Runs of llama.cpp's llama-bench, from what it writes with -o json or -o jsonl. */
#ifndef ULB_RESULTS_LLAMA_BENCH_H
#define ULB_RESULTS_LLAMA_BENCH_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

/* One run that generates tokens, without a prompt among them. */
struct ulb_llama_run {
    char model[64];      /* "llama 1B Q4_0" */
    char build[16];      /* commit; "": not stated */
    double weight_bytes; /* of all weights, the embedding included */
    double weights;      /* their number */
    unsigned threads;
    unsigned tokens, depth; /* generated; in the cache before */
    double tokens_per_s, stddev;
    bool gpu; /* layers were on a GPU, whose memory the bounds know nothing of */
};

struct ulb_llama_runs {
    struct ulb_llama_run *items;
    size_t n;
    size_t prompts; /* runs left out because they process a prompt */
};

/* An array of runs, or one run after the other. ULB_BAD_INPUT names the file, the run, and what is wrong; a
 * file without a run that only generates is wrong, too. */
enum ulb_status ulb_llama_bench_read(const char *path, struct ulb_llama_runs *runs, struct ulb_error *err);
void ulb_llama_bench_free(struct ulb_llama_runs *runs);

#endif
