/* LIKWID's own programs: likwid-bench as an independent reading of the memory bandwidth. */
#ifndef ULB_HARNESS_COUNTERS_LIKWID_H
#define ULB_HARNESS_COUNTERS_LIKWID_H

#include "common/status.h"

#include <stddef.h>

/* Read bandwidth in GB/s that likwid-bench's plain load kernel reaches with one thread on each of the n PUs,
 * over bytes split among them. Takes some seconds, 30 at most. ULB_ENVIRONMENT with the reason where
 * likwid-bench is not installed, fails, or prints no figure. */
enum ulb_status ulb_likwid_bench_bandwidth(const unsigned *pus, size_t n, size_t bytes, double *gbps,
                                           struct ulb_error *err);

/* Finds the figure in the text that likwid-bench printed. */
enum ulb_status ulb_likwid_bench_parse(const char *text, double *gbps, struct ulb_error *err);

#endif
