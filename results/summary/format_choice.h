/* What each weight format of a record makes of a model: tokens per second, bytes, error; and which to take.
 */
#ifndef ULB_RESULTS_SUMMARY_FORMAT_CHOICE_H
#define ULB_RESULTS_SUMMARY_FORMAT_CHOICE_H

#include "results/record/record.h"

enum { ULB_FORMAT_CHOICES = 128 }; /* twice as many as there are formats */

/* What choices are made from. cells: of one token, cold, one set of cores (ulb_choose_cells). model: an
 * object as in the record's section "models". */
struct ulb_choice_input {
    const struct ulb_record *record;
    const struct ulb_cell *const *cells;
    size_t n;
    double memory_gbps, other_gbps; /* other: another speed of memory; NAN: there is none */
    double head_share;              /* of ulb_head_share */
    const json_t *model;
};

/* What a user asks for. */
struct ulb_wants {
    double min_tps;         /* tokens per second */
    bool needs_tps;         /* without it the fastest that fits will do */
    double max_error;       /* on normal weights; of a model trained in few bits, of its own formats 0 */
    double available_bytes; /* for weights and cache; NAN: any number */
};

struct ulb_format_choice {
    const char *format;
    const struct ulb_cell *slowest; /* of the matrix that takes the most of a token */
    double us, limit_us;            /* of a token; limit_us by the yardstick beside each cell, or NAN */
    double memory_us;               /* of us, what goes with the speed of memory */
    double other_us;                /* of a token at the other speed of memory; NAN: there is none */
    double weight_bytes;            /* of the whole model: blocks and the 16-bit head */
    double kv_bytes;
    double bits, error; /* NAN: not in the record */
    bool fits, pareto;  /* pareto: no other is faster without a larger error */
};

/* Fills choices, slowest first; returns how many there are. A token takes the sum over the matrices that it
 * reads of the fastest cell of that size, or in proportion to its bytes of the cell nearest in size, and for
 * head, cache and, where the record holds a decoded model, the rest of a token what ulb_choice_other_us says.
 */
size_t ulb_format_choices(const struct ulb_choice_input *input, const struct ulb_wants *wants,
                          struct ulb_format_choice choices[ULB_FORMAT_CHOICES]);

/* Of memory's speed, what products in bf16 reach, the head's format; NAN: none were measured. Fails without
 * memory alone. */
enum ulb_status ulb_head_share(const struct ulb_cell *const *cells, size_t n, double *share,
                               struct ulb_error *err);

/* Microseconds of a token beside the products of the blocks: the 16-bit head at the share of memory_gbps that
 * products in bf16 reach, or at memory_gbps where there are none, attention as
 * decoded models of the record show it for a query and byte of the cache, at memory_gbps at most, and the
 * rest as they show it for each layer. */
double ulb_choice_other_us(const struct ulb_choice_input *input);

/* Of these, what the cache takes; it goes with the context. */
double ulb_choice_cache_us(const struct ulb_choice_input *input);

/* What that is made of, as a sentence. */
const char *ulb_choice_basis(const struct ulb_choice_input *input);

/* Of those that fit, with an error of at most max_error: the least error at min_tps or more, at the slower
 * speed of memory where it has two; else, where that will do, the fastest. NULL: none. Writes the reason. */
enum { ULB_CHOICE_REASON = 192 };
const struct ulb_format_choice *ulb_suggest_format(const struct ulb_format_choice *choices, size_t n,
                                                   const struct ulb_wants *wants,
                                                   char reason[ULB_CHOICE_REASON]);

/* The document of one model: its formats, slowest first, which to take, why, and what that is made of; NULL
 * without memory. */
json_t *ulb_choices_json(const struct ulb_choice_input *input, const struct ulb_wants *wants);

/* Of such a document, the row of the suggested format; NULL: none is suggested. */
const json_t *ulb_suggested_row(const json_t *model);

/* Sets key to a number, or to null with "<key>_reason". Not 0: no memory. */
int ulb_summary_set(json_t *row, const char *key, double value, const char *reason);

#endif
