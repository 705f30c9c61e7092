/* Decode speeds that others publish (results/reference/published-decode-speeds.csv, part of the binary), and
 * whether a speed can be true: no token comes faster than its bytes. */
#ifndef ULB_RESULTS_REFERENCE_PUBLISHED_SPEEDS_H
#define ULB_RESULTS_REFERENCE_PUBLISHED_SPEEDS_H

#include "common/status.h"

#include <stdbool.h>
#include <stddef.h>

enum ulb_bandwidth_kind {
    ULB_BANDWIDTH_MEASURED,
    ULB_BANDWIDTH_STATED,   /* as what can be had in practice */
    ULB_BANDWIDTH_MAX_SEEN, /* stated as the most that was seen: more may be possible */
    ULB_BANDWIDTH_THEORETICAL,
};

struct ulb_published_speed {
    char cpu[48], model[32], quant[48], runtime[64], source[80];
    char our_model[32], our_format[16]; /* names of the same in the catalogue and among our formats; "" */
    enum ulb_bandwidth_kind kind;
    double bandwidth;  /* bytes/s */
    double bytes_read; /* per token: the weights without the embedding where it is not the head */
    unsigned threads;  /* 0: not stated */
    double tokens_per_s;
    bool broken; /* the source says that this build's output was wrong */
};

/* The table of the binary; the caller frees *rows. */
enum ulb_status ulb_published_speeds(struct ulb_published_speed **rows, size_t *n, struct ulb_error *err);

/* Sound speeds of a model and a format, by our names: the fastest of each machine, in the order in which the
 * machines come. fastest has room for n; returns how many there are. */
size_t ulb_fastest_published(const struct ulb_published_speed *rows, size_t n, const char *model,
                             const char *format, const struct ulb_published_speed **fastest);

/* Whether so many tokens per second are possible under a bound from a bandwidth of that kind: up to 2 % above
 * it, which is how well a bandwidth is known, 5 % where it is only the most that was seen. */
bool ulb_speed_possible(double tokens_per_s, double bound, enum ulb_bandwidth_kind kind);

#endif
