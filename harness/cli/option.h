/* Values of options, read the same way by every command. */
#ifndef ULB_HARNESS_CLI_OPTION_H
#define ULB_HARNESS_CLI_OPTION_H

#include "common/status.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arrays of a record that can be exported by themselves: choices for --help and for completion. */
#define ULB_EXPORT_SECTIONS                                                                                  \
    "cells, gamma.cells, beta.cells, beta.yardstick, overlap.cells, peak, counts, decode.runs"

/* "--OPTION 'VALUE': WANTED", for argp to return. */
error_t ulb_refuse_option(struct ulb_error *err, const char *option, const char *value, const char *wanted);

/* A whole number in decimal digits from least to most at *text, which moves behind it. */
bool ulb_take_count(const char **text, uint64_t least, uint64_t most, uint64_t *value);

/* The whole text is one. */
bool ulb_read_count(const char *text, uint64_t least, uint64_t most, uint64_t *value);

/* The whole text is a number from least to most. */
bool ulb_read_number(const char *text, double least, double most, double *value);

/* The same in percent, "5" or "5%"; *share is the hundredth part. */
bool ulb_read_percent(const char *text, double least, double most, double *share);

/* The place of the text among n words; n when it is none of them. */
size_t ulb_read_word(const char *text, const char *const *words, size_t n);

/* Visits the options of a parser and of its children, those that --help shows, until a visitor returns true;
 * whether one did. */
typedef bool ulb_option_visitor(const struct argp_option *option, void *context);
bool ulb_visit_options(const struct argp *parser, ulb_option_visitor *visitor, void *context);

/* Lower case, in place: formats are written TQ2_0 and Q4_K elsewhere. Returns text. */
char *ulb_lower(char *text);

/* The kernels that an option names: text as it is, or the present name if text is exactly a kernel's name in
 * an earlier version. A note on stderr says the present name. The result stands until the next call. */
const char *ulb_current_kernels(const char *text);

#endif
