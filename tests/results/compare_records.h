/* Records of a made-up run, to be changed and compared. */
#ifndef TESTS_RESULTS_COMPARE_RECORDS_H
#define TESTS_RESULTS_COMPARE_RECORDS_H

#include "tests/results/sample_record.h"

enum { ROUNDS = 16, SHAPES = 12 };

#define COMPUTE_BOUND "int1a8-blend-avxvnni-32x1x4"
#define MEMORY_BOUND  "int8a8-dp-avxvnni-32x1x4"
extern struct ulb_error err;

/* Noise that repeats: about +-1 %, another one in each round and cell. */
double noise(size_t cell, size_t round, unsigned seed);
/* A record of 16 rounds of three samples; the middle one of the three is the best. */
struct ulb_record make(unsigned seed);
json_t *yardstick_of(struct ulb_record *record);
void scale(json_t *array, double factor, size_t from);
/* Makes the cells of a kernel (NULL: all) slower by a factor, from one sample on. */
void slow_down(struct ulb_record *record, const char *kernel, double factor, size_t from);

#endif
